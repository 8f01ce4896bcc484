package group

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/timers"
)

// consumerProtocol is the protocol type whose subscriptions the coordinator reads.
const consumerProtocol = "consumer"

// group is a classic group (ClassicGroup).
type group struct {
	id              string
	state, previous State
	// stateMs is since when, by the time of day; -1 where an old record does not say.
	stateMs    int64
	generation int32
	// protocolType is nil before the first member, and for groups that only commit.
	protocolType, protocol *string
	leader                 string // a member's id, "" for none

	// members are in the order in which they came.
	members []*member
	// pending are ids that were given out and have not joined yet (KIP-394).
	pending map[string]*timers.Timer
	// static are member ids by group instance id.
	static map[string]string

	// topics are those that members subscribe to, if the group is one of consumers
	// and says so in a way that is understood.
	topics      []string
	topicsKnown bool

	// newMemberAdded: the first rebalance may wait longer.
	newMemberAdded       bool
	joinTimer, syncTimer timers.Timer
}

func newGroup(id string, wallMs int64) *group {
	return &group{
		id: id, state: Empty, previous: Dead, stateMs: wallMs, pending: map[string]*timers.Timer{}, static: map[string]string{},
	}
}

func (g *group) in(states ...State) bool { return slices.Contains(states, g.state) }

func (g *group) become(state State, wallMs int64) {
	g.previous, g.state, g.stateMs = g.state, state, wallMs
}

func (g *group) member(id string) *member {
	for _, m := range g.members {
		if m.id == id {
			return m
		}
	}
	return nil
}

// add lets a member in (ClassicGroup.add).
func (g *group) add(m *member) {
	if len(g.members) == 0 {
		g.protocolType = &m.protocolType
	}
	if m.instance != nil {
		g.static[*m.instance] = m.id
	}
	if g.leader == "" {
		g.leader = m.id
	}
	g.members = append(g.members, m)
}

// without takes a member out. Its timer and those who wait are the caller's.
func (g *group) without(m *member) {
	g.members = slices.DeleteFunc(g.members, func(other *member) bool { return other == m })
	if m.instance != nil && g.static[*m.instance] == m.id {
		delete(g.static, *m.instance)
	}
	if g.leader == m.id {
		g.leader = ""
		if len(g.members) > 0 {
			g.leader = g.members[0].id
		}
	}
}

// validate is ClassicGroup.validateMember: an instance that has another member id by
// now is fenced (KIP-345).
func (g *group) validate(memberID string, instance *string) Code {
	if instance != nil {
		switch id, ok := g.static[*instance]; {
		case !ok:
			return UnknownMemberID
		case id != memberID:
			return FencedInstanceID
		}
	}
	if g.member(memberID) == nil {
		return UnknownMemberID
	}
	return None
}

func (g *group) awaitingJoin() int {
	n := 0
	for _, m := range g.members {
		if m.joining != nil {
			n++
		}
	}
	return n
}

func (g *group) allJoined() bool { return len(g.pending) == 0 && g.awaitingJoin() == len(g.members) }

func (g *group) rebalanceTimeoutMs() int64 {
	longest := int32(0)
	for _, m := range g.members {
		longest = max(longest, m.rebalanceTimeoutMs)
	}
	return int64(longest)
}

// electJoined makes a member that has joined the leader, if the leader has not. It
// is false where nobody has (ClassicGroup.maybeElectNewJoinedLeader).
func (g *group) electJoined() bool {
	if m := g.member(g.leader); m != nil && m.joining != nil {
		return true
	}
	for _, m := range g.members {
		if m.joining != nil {
			g.leader = m.id
			return true
		}
	}
	return false
}

// supports reports whether a member with these protocols fits in.
func (g *group) supports(protocolType string, protocols []kmsg.JoinGroupRequestProtocol) bool {
	if g.state == Empty {
		return protocolType != "" && len(protocols) > 0
	}
	if g.protocolType == nil || *g.protocolType != protocolType {
		return false
	}
	return slices.ContainsFunc(protocols, func(p kmsg.JoinGroupRequestProtocol) bool { return g.common(p.Name) })
}

// common reports whether all members know a protocol.
func (g *group) common(name string) bool {
	return !slices.ContainsFunc(g.members, func(m *member) bool { return !m.supports(name) })
}

// selectProtocol takes the one with the most votes: each member votes for the first
// of its own that all know. Of two with as many votes Kafka takes the one that its
// hash table has last; here it is the one that was voted for first.
func (g *group) selectProtocol() string {
	var names []string
	votes := map[string]int{}
	for _, m := range g.members {
		for _, p := range m.protocols {
			if g.common(p.Name) {
				if votes[p.Name] == 0 {
					names = append(names, p.Name)
				}
				votes[p.Name]++
				break
			}
		}
	}
	best := ""
	for _, name := range names {
		if best == "" || votes[name] > votes[best] {
			best = name
		}
	}
	return best
}

// nextGeneration ends the joining (ClassicGroup.initNextGeneration).
func (g *group) nextGeneration(wallMs int64) {
	g.generation++
	if len(g.members) > 0 {
		name := g.selectProtocol()
		g.protocol = &name
		g.become(CompletingRebalance, wallMs)
	} else {
		g.protocol = nil
		g.become(Empty, wallMs)
	}
	g.readSubscriptions()
	for _, m := range g.members {
		m.pendingSync = false
	}
}
