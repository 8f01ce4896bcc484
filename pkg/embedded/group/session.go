package group

import "github.com/twmb/franz-go/pkg/kmsg"

// heartbeat is GroupMetadataManager.classicGroupHeartbeat.
func (s *Shard) heartbeat(in Request, req *kmsg.HeartbeatRequest) {
	code := s.alive(req)
	s.whenCommitted(func(late Code) {
		resp := req.ResponseKind().(*kmsg.HeartbeatResponse)
		resp.ErrorCode = int16(code)
		if late != None {
			resp.ErrorCode = int16(late)
		}
		s.emit(Reply{in.Token, resp})
	})
}

func (s *Shard) alive(req *kmsg.HeartbeatRequest) Code {
	g := s.groups[req.Group]
	switch {
	case req.Group == "":
		return InvalidGroupID
	case g == nil:
		return UnknownMemberID
	}
	if code := g.validate(req.MemberID, req.InstanceID); code != None {
		return code
	}
	if req.Generation != g.generation {
		return IllegalGeneration
	}
	s.keepAlive(g.member(req.MemberID))
	if g.state == PreparingRebalance {
		return RebalanceInProgress
	}
	return None
}

// keepAlive begins a member's session anew.
func (s *Shard) keepAlive(m *member) { s.after(&m.session, int64(m.sessionTimeoutMs)) }

// sessionExpired is expireClassicGroupMemberHeartbeat. Who waits for an answer cannot
// send heartbeats, and need not.
func (s *Shard) sessionExpired(g *group, m *member) {
	if !m.isNew && (m.joining != nil || m.syncing != nil) {
		return
	}
	s.notef("group %s: member %s has failed: removed", g.id, m.id)
	s.remove(g, m)
	s.left(g)
}

// pendingExpired: an id that nobody has joined with.
func (s *Shard) pendingExpired(g *group, id string) {
	delete(g.pending, id)
	s.maybeAllJoined(g)
}

// left goes on after a member has gone.
func (s *Shard) left(g *group) {
	if g.in(Stable, CompletingRebalance) {
		s.prepareRebalance(g)
		return
	}
	s.maybeAllJoined(g)
}

// maybeAllJoined ends the joining where the one that was waited for has gone.
func (s *Shard) maybeAllJoined(g *group) {
	if g.state == PreparingRebalance && g.allJoined() {
		s.completeJoin(g)
	}
}
