package group

import "github.com/twmb/franz-go/pkg/kmsg"

// replaceStatic is a static member that was born again: it gets a new id, and its
// old one is fenced (GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin).
func (s *Shard) replaceStatic(in Request, req *kmsg.JoinGroupRequest, g *group, m *member, newID string) {
	oldID, oldLeader := m.id, g.leader
	s.fence(g, m, newID)
	before := *m
	s.keepAlive(m)
	s.update(m, in, req)
	switch {
	case g.state == Stable && *g.protocol == g.selectProtocol():
		// The assignment stands. The new id has to be in the log before it is told.
		s.write([]change{groupChange{id: g.id, value: g.value()}}, false, func(code Code) {
			s.staticStored(g, m, before, oldID, oldLeader, code)
		})
	case g.state == CompletingRebalance:
		// The leader may have been told the old id, and would give that one its share.
		s.prepareRebalance(g)
	default:
		s.rebalanceOrComplete(g)
	}
}

// fence gives a member another id (ClassicGroup.replaceStaticMember).
func (s *Shard) fence(g *group, m *member, id string) {
	s.joinFailed(m, m.id, FencedInstanceID)
	s.syncFailed(m, FencedInstanceID)
	if g.leader == m.id {
		g.leader = id
	}
	m.id = id
	g.static[*m.instance] = id
	m.pendingSync, m.isNew = false, false
}

// staticStored answers the member, or takes its new id back where that could not be
// stored.
func (s *Shard) staticStored(g *group, m *member, before member, oldID, oldLeader string, code Code) {
	if m.joining == nil || g.member(m.id) != m {
		return // it was answered or removed meanwhile
	}
	req := m.joining.req.(*kmsg.JoinGroupRequest)
	token := m.joining.token
	if code != None {
		m.joining = nil
		m.protocols, m.rebalanceTimeoutMs, m.sessionTimeoutMs = before.protocols, before.rebalanceTimeoutMs, before.sessionTimeoutMs
		s.fence(g, m, oldID)
		s.keepAlive(m)
		resp := g.joinResponse(req, m, false)
		resp.ErrorCode, resp.MemberID, resp.LeaderID = int16(code), "", oldLeader
		s.emit(Reply{token, resp})
		return
	}
	if g.state != Stable {
		return // a rebalance has begun, and answers it
	}
	m.joining = nil
	if req.Version < joinSkipsAssignment {
		// A client of old that is named as the leader would assign: it is told the id
		// that the leader had, and so takes itself for a follower (KAFKA-7728).
		resp := g.joinResponse(req, m, false)
		resp.LeaderID = oldLeader
		s.emit(Reply{token, resp})
		return
	}
	leads := g.leader == m.id
	resp := g.joinResponse(req, m, leads)
	resp.SkipAssignment = leads
	s.emit(Reply{token, resp})
}
