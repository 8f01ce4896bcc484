package group

import "github.com/twmb/franz-go/pkg/kmsg"

// rebalanceOrComplete begins a rebalance, or looks whether one is complete
// (GroupMetadataManager.maybePrepareRebalanceOrCompleteJoin).
func (s *Shard) rebalanceOrComplete(g *group) {
	if g.in(Stable, CompletingRebalance, Empty) {
		s.prepareRebalance(g)
		return
	}
	s.maybeComplete(g)
}

// prepareRebalance has the members join. The first rebalance of a group waits a
// while, for more members to come.
func (s *Shard) prepareRebalance(g *group) {
	if g.state == CompletingRebalance {
		s.propagate(g, RebalanceInProgress)
	}
	for _, m := range g.members {
		m.pendingSync = false
	}
	s.timers.Clear(&g.syncTimer)
	first := g.state == Empty
	g.become(PreparingRebalance, s.now.WallMs)
	if first {
		delay := s.cfg.InitialRebalanceDelayMs
		s.extend(g, delay, delay, max(g.rebalanceTimeoutMs()-delay, 0))
		return
	}
	if g.allJoined() {
		s.completeJoin(g)
		return
	}
	s.completeLater(g, g.rebalanceTimeoutMs())
}

func (s *Shard) completeLater(g *group, ms int64) {
	g.joinTimer.Ring = func() { s.completeJoin(g) }
	s.after(&g.joinTimer, ms)
}

// extend waits for delay ms of a first rebalance, and again for as long as members
// come and there is time (GroupMetadataManager.tryCompleteInitialRebalanceElseSchedule).
func (s *Shard) extend(g *group, waitMs, delayMs, remainingMs int64) {
	g.joinTimer.Ring = func() {
		if !g.newMemberAdded || remainingMs == 0 {
			s.completeJoin(g)
			return
		}
		g.newMemberAdded = false
		s.extend(g, min(s.cfg.InitialRebalanceDelayMs, remainingMs), min(s.cfg.InitialRebalanceDelayMs, remainingMs), max(remainingMs-delayMs, 0))
	}
	// With a delay of 0 it is due with the next tick, not within this step: members
	// that join at once join together, as Kafka's timer thread lets them.
	s.timers.Set(&g.joinTimer, s.now.MonoMs+waitMs)
}

// maybeComplete ends the joining when all have joined (maybeCompleteJoinPhase).
func (s *Shard) maybeComplete(g *group) {
	if g.state == PreparingRebalance && g.previous != Empty && g.allJoined() {
		s.completeJoin(g)
	}
}

// completeJoin begins the next generation with those who have joined, and static
// members, whose session decides (GroupMetadataManager.completeClassicGroupJoin).
func (s *Shard) completeJoin(g *group) {
	s.timers.Clear(&g.joinTimer)
	for i := len(g.members) - 1; i >= 0; i-- {
		if m := g.members[i]; m.joining == nil && m.instance == nil {
			s.remove(g, m)
		}
	}
	if !g.electJoined() && len(g.members) > 0 {
		// Nobody has come back. Sessions will end, or somebody does come.
		s.completeLater(g, g.rebalanceTimeoutMs())
		return
	}
	g.newMemberAdded = false
	g.nextGeneration(s.now.WallMs)
	if g.state == Empty {
		s.write([]change{groupChange{id: g.id, value: g.value()}}, false, nil)
		return
	}
	for _, m := range g.members {
		if w := m.joining; w != nil {
			m.joining = nil
			s.emit(Reply{w.token, g.joinResponse(w.req.(*kmsg.JoinGroupRequest), m, g.leader == m.id)})
		}
		s.keepAlive(m)
		m.isNew = false
		m.pendingSync = true
	}
	generation := g.generation
	g.syncTimer.Ring = func() { s.syncExpired(g, generation) }
	s.after(&g.syncTimer, g.rebalanceTimeoutMs())
}

// syncExpired removes those who did not send a SyncGroup in time (KAFKA-9752).
func (s *Shard) syncExpired(g *group, generation int32) {
	if g.generation != generation || !g.in(CompletingRebalance, Stable) {
		return
	}
	removed := false
	for i := len(g.members) - 1; i >= 0; i-- {
		if m := g.members[i]; m.pendingSync {
			s.remove(g, m)
			removed = true
		}
	}
	if removed {
		s.prepareRebalance(g)
	}
}

// remove takes a member out, answers its requests and stops its session.
func (s *Shard) remove(g *group, m *member) {
	s.timers.Clear(&m.session)
	s.joinFailed(m, "", UnknownMemberID)
	s.syncFailed(m, UnknownMemberID)
	g.without(m)
}

func (s *Shard) forgetPending(g *group, id string) {
	if t, ok := g.pending[id]; ok {
		s.timers.Clear(t)
		delete(g.pending, id)
	}
}
