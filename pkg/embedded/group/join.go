package group

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/timers"
)

// Versions of JoinGroup from which on something is so.
const (
	joinNeedsMemberID   = 4 // KIP-394
	joinSkipsAssignment = 9 // KIP-814
)

// join is GroupCoordinatorService.joinGroup and GroupMetadataManager.classicGroupJoin.
func (s *Shard) join(in Request, req *kmsg.JoinGroupRequest) {
	if req.Version == 0 {
		req.RebalanceTimeoutMillis = req.SessionTimeoutMillis
	}
	switch {
	case req.Group == "":
		s.refuseJoin(in, req, req.MemberID, InvalidGroupID)
		return
	case req.SessionTimeoutMillis < s.cfg.MinSessionTimeoutMs || req.SessionTimeoutMillis > s.cfg.MaxSessionTimeoutMs:
		s.refuseJoin(in, req, req.MemberID, InvalidSessionTimeout)
		return
	}
	g, found := s.groups[req.Group]
	if !found {
		if req.MemberID != "" {
			s.refuseJoin(in, req, req.MemberID, UnknownMemberID)
			return
		}
		g = newGroup(req.Group, s.now.WallMs)
		s.groups[g.id] = g
	}
	before := s.writes.lastID
	switch {
	case !s.accepts(g, req.MemberID):
		if m := g.member(req.MemberID); m != nil {
			s.remove(g, m)
		}
		s.forgetPending(g, req.MemberID)
		s.refuseJoin(in, req, "", GroupMaxSizeReached)
	case !g.supports(req.ProtocolType, req.Protocols):
		s.refuseJoin(in, req, req.MemberID, InconsistentGroupProtocol)
	case req.MemberID == "":
		s.joinNew(in, req, g)
	default:
		s.joinExisting(in, req, g)
	}
	if !found && s.writes.lastID == before {
		// A group is in the log from its first request on.
		s.write([]change{groupChange{id: g.id, value: emptyValue(g)}}, false, nil)
	}
}

// accepts is GroupMetadataManager.acceptJoiningMember. While members join, those
// that wait are counted: so the last ones to come back are those that go, if the
// limit was lowered.
func (s *Shard) accepts(g *group, memberID string) bool {
	m := g.member(memberID)
	switch g.state {
	case PreparingRebalance:
		return m != nil && m.joining != nil || g.awaitingJoin() < s.cfg.MaxSize
	case CompletingRebalance, Stable:
		return m != nil || len(g.members) < s.cfg.MaxSize
	}
	return true
}

func (s *Shard) joinNew(in Request, req *kmsg.JoinGroupRequest, g *group) {
	if req.InstanceID != nil {
		id := s.newMemberID(*req.InstanceID)
		if old, ok := g.static[*req.InstanceID]; ok {
			s.replaceStatic(in, req, g, g.member(old), id)
			return
		}
		s.addMember(in, req, g, id)
		return
	}
	id := s.newMemberID(in.ClientID)
	if req.Version < joinNeedsMemberID {
		s.addMember(in, req, g, id)
		return
	}
	t := &timers.Timer{}
	t.Ring = func() { s.pendingExpired(g, id) }
	g.pending[id] = t
	s.after(t, int64(req.SessionTimeoutMillis))
	s.refuseJoin(in, req, id, MemberIDRequired)
}

// joinExisting is GroupMetadataManager.classicGroupJoinExistingMember.
func (s *Shard) joinExisting(in Request, req *kmsg.JoinGroupRequest, g *group) {
	if _, ok := g.pending[req.MemberID]; ok {
		if req.InstanceID != nil {
			// An id that was given to a dynamic member. Kafka fails here.
			s.refuseJoin(in, req, req.MemberID, UnknownMemberID)
			return
		}
		s.addMember(in, req, g, req.MemberID)
		return
	}
	if code := g.validate(req.MemberID, req.InstanceID); code != None {
		s.refuseJoin(in, req, req.MemberID, code)
		return
	}
	m := g.member(req.MemberID)
	switch {
	case g.state == PreparingRebalance:
	case g.state == CompletingRebalance && m.matches(req.Protocols):
		// It may not have got the answer: here it is again.
		s.emit(Reply{in.Token, g.joinResponse(req, m, g.leader == m.id)})
		return
	case g.state == Stable && g.leader != m.id && m.matches(req.Protocols):
		s.emit(Reply{in.Token, g.joinResponse(req, m, false)})
		return
	case g.state == Empty:
		s.refuseJoin(in, req, req.MemberID, UnknownMemberID)
		return
	default:
		// It says something new, or is the leader, who may know of new partitions.
	}
	s.update(m, in, req)
	s.rebalanceOrComplete(g)
}

// update takes over what a member's new join says.
func (s *Shard) update(m *member, in Request, req *kmsg.JoinGroupRequest) {
	// Its older request is one of a connection that it has given up. Kafka leaves that
	// unanswered.
	s.joinFailed(m, m.id, RebalanceInProgress)
	m.protocols = req.Protocols
	m.rebalanceTimeoutMs, m.sessionTimeoutMs = req.RebalanceTimeoutMillis, req.SessionTimeoutMillis
	m.joining = &waiting{in.Token, req}
}

// addMember is GroupMetadataManager.addMemberThenRebalanceOrCompleteJoin.
func (s *Shard) addMember(in Request, req *kmsg.JoinGroupRequest, g *group, id string) {
	s.forgetPending(g, id)
	m := &member{
		id: id, instance: req.InstanceID, clientID: in.ClientID, clientHost: in.ClientHost,
		protocolType: req.ProtocolType, protocols: req.Protocols, assignment: []byte{},
		rebalanceTimeoutMs: req.RebalanceTimeoutMillis, sessionTimeoutMs: req.SessionTimeoutMillis,
		joining: &waiting{in.Token, req}, isNew: true,
	}
	m.session.Ring = func() { s.sessionExpired(g, m) }
	if g.state == PreparingRebalance && g.previous == Empty {
		g.newMemberAdded = true
	}
	g.add(m)
	// It cannot send heartbeats, and a client that gave up and came back would leave a
	// member behind each time: so its join has a bound.
	s.after(&m.session, newMemberJoinMs)
	s.rebalanceOrComplete(g)
}

// refuseJoin answers a join that nothing comes of, or not yet.
func (s *Shard) refuseJoin(in Request, req *kmsg.JoinGroupRequest, memberID string, code Code) {
	s.emit(Reply{in.Token, refusedJoin(req, memberID, code)})
}

func refusedJoin(req *kmsg.JoinGroupRequest, memberID string, code Code) *kmsg.JoinGroupResponse {
	resp := req.ResponseKind().(*kmsg.JoinGroupResponse)
	resp.ErrorCode, resp.MemberID, resp.Generation = int16(code), memberID, -1
	resp.Members = []kmsg.JoinGroupResponseMember{}
	return resp
}

// joinFailed ends a member's wait for a join.
func (s *Shard) joinFailed(m *member, memberID string, code Code) {
	if w := m.joining; w != nil {
		m.joining = nil
		s.emit(Reply{w.token, refusedJoin(w.req.(*kmsg.JoinGroupRequest), memberID, code)})
	}
}

// joinResponse is the present generation; all are told who leads, and the leader who
// the others are.
func (g *group) joinResponse(req *kmsg.JoinGroupRequest, m *member, all bool) *kmsg.JoinGroupResponse {
	resp := req.ResponseKind().(*kmsg.JoinGroupResponse)
	resp.Generation, resp.ProtocolType, resp.Protocol = g.generation, g.protocolType, g.protocol
	resp.LeaderID, resp.MemberID = g.leader, m.id
	resp.Members = []kmsg.JoinGroupResponseMember{}
	if all {
		for _, other := range g.members {
			out := kmsg.NewJoinGroupResponseMember()
			out.MemberID, out.InstanceID, out.ProtocolMetadata = other.id, other.instance, other.metadata(g.protocol)
			resp.Members = append(resp.Members, out)
		}
	}
	return resp
}
