package group

import "github.com/twmb/franz-go/pkg/kmsg"

// sync is GroupMetadataManager.classicGroupSync.
func (s *Shard) sync(in Request, req *kmsg.SyncGroupRequest) {
	refuse := func(code Code) { s.emit(Reply{in.Token, refusedSync(req, code)}) }
	g := s.groups[req.Group]
	switch {
	case req.Version >= 5 && (req.ProtocolType == nil || req.Protocol == nil):
		refuse(InconsistentGroupProtocol) // KIP-559
		return
	case req.Group == "":
		refuse(InvalidGroupID)
		return
	case g == nil || g.state == Empty:
		refuse(UnknownMemberID)
		return
	}
	if code := g.validate(req.MemberID, req.InstanceID); code != None {
		refuse(code)
		return
	}
	m := g.member(req.MemberID)
	switch {
	case req.Generation != g.generation:
		refuse(IllegalGeneration)
	case differs(req.ProtocolType, g.protocolType) || differs(req.Protocol, g.protocol):
		refuse(InconsistentGroupProtocol)
	case g.state == PreparingRebalance:
		refuse(RebalanceInProgress)
	case g.state == CompletingRebalance:
		s.syncFailed(m, RebalanceInProgress) // of a connection that it has given up
		m.syncing = &waiting{in.Token, req}
		s.synced(g, m)
		if g.leader == m.id {
			s.assign(g, req)
		}
	default:
		s.synced(g, m)
		s.emit(Reply{in.Token, g.syncResponse(req, m)})
	}
}

func differs(said, have *string) bool { return said != nil && have != nil && *said != *have }

// synced takes note that a member has asked for its share of the generation.
func (s *Shard) synced(g *group, m *member) {
	m.pendingSync = false
	for _, other := range g.members {
		if other.pendingSync {
			return
		}
	}
	s.timers.Clear(&g.syncTimer)
}

// assign stores what the leader gives to whom. Who is given nothing gets an empty
// assignment.
func (s *Shard) assign(g *group, req *kmsg.SyncGroupRequest) {
	given := map[string][]byte{}
	for _, a := range req.GroupAssignment {
		given[a.MemberID] = a.MemberAssignment
	}
	shares := map[*member][]byte{}
	value := g.value()
	for i, m := range g.members {
		share := given[m.id]
		if share == nil {
			share = []byte{}
		}
		shares[m], value.Members[i].Assignment = share, share
	}
	generation := g.generation
	s.write([]change{groupChange{id: g.id, value: value}}, false, func(code Code) {
		if g.state != CompletingRebalance || g.generation != generation {
			return // it has gone on meanwhile
		}
		if code != None {
			s.propagate(g, code)
			s.rebalanceOrComplete(g)
			return
		}
		for _, m := range g.members {
			m.assignment = shares[m]
		}
		s.propagate(g, None)
		g.become(Stable, s.now.WallMs)
	})
}

// propagate answers all who wait for their share, with an error if there is one.
func (s *Shard) propagate(g *group, code Code) {
	for _, m := range g.members {
		if code != None {
			m.assignment = []byte{}
		}
		w := m.syncing
		if w == nil {
			continue
		}
		if code != None {
			s.syncFailed(m, code)
		} else {
			m.syncing = nil
			s.emit(Reply{w.token, g.syncResponse(w.req.(*kmsg.SyncGroupRequest), m)})
		}
		// Its session may have ended while it waited, which counts for nothing.
		s.keepAlive(m)
	}
}

func (g *group) syncResponse(req *kmsg.SyncGroupRequest, m *member) *kmsg.SyncGroupResponse {
	resp := req.ResponseKind().(*kmsg.SyncGroupResponse)
	resp.ProtocolType, resp.Protocol, resp.MemberAssignment = g.protocolType, g.protocol, m.assignment
	return resp
}

func refusedSync(req *kmsg.SyncGroupRequest, code Code) *kmsg.SyncGroupResponse {
	resp := req.ResponseKind().(*kmsg.SyncGroupResponse)
	resp.ErrorCode, resp.MemberAssignment = int16(code), []byte{}
	return resp
}

// syncFailed ends a member's wait for its share.
func (s *Shard) syncFailed(m *member, code Code) {
	if w := m.syncing; w != nil {
		m.syncing = nil
		s.emit(Reply{w.token, refusedSync(w.req.(*kmsg.SyncGroupRequest), code)})
	}
}
