package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// GroupQuery says which groups [inspect.PartGroups] is to hold. The zero value is
// all that the credentials may see.
type GroupQuery struct {
	// Names are exact names to ask about. One that no broker lists is a Failure;
	// where all are listed, a broker that does not answer may cost nothing.
	Names []string
	// Keep, where it is not nil, says which groups to ask about besides Names.
	Keep func(name string) bool
	// States and Types, where there are any, are those to keep, in Kafka's words
	// and any case.
	States, Types []string
	// Times finds [inspect.Commit.UnreadSinceMs], with [inspect.PartOffsets]: 10 to
	// 20 more ListOffsets a broker, at most timeRounds.
	Times bool
}

// wants judges what is known of a group so far; what is unknown may yet turn out
// to be wanted.
func (q *GroupQuery) wants(g *inspect.Group) bool {
	named := len(q.Names) == 0 && q.Keep == nil || slices.Contains(q.Names, g.Name) || q.Keep != nil && q.Keep(g.Name)
	if !named {
		return false
	}
	among := func(words []string, word string, known bool) bool {
		return len(words) == 0 || !known || slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
	}
	state, hasState := g.State.Get()
	kind, hasKind := g.Type.Get()
	return among(q.States, state, hasState) && among(q.Types, string(kind), hasKind)
}

// groups asks every broker for the groups that it coordinates: a coordinator is
// who lists a group, for asking who it is (FindCoordinator) creates the topic
// that groups live in where it does not exist.
//
// It returns when every broker has told its groups' commits or has used up its
// time, so that whatever is read after it bounds lag from below by 0.
func (p *pass) groups(ctx context.Context, boot *connect.Conn) {
	var asked []*coordinator
	for i := range p.snap.Brokers {
		if b := &p.snap.Brokers[i]; !b.Fenced.Or(false) {
			asked = append(asked, &coordinator{pass: p, broker: b, refused: map[string]groupRefusal{}})
		}
	}
	var wg sync.WaitGroup
	for _, c := range asked {
		if p.query.ForGroups && c.broker.Address() == boot.Addr() {
			c.conn = boot // nothing else needs it any more
		}
		wg.Go(func() { c.ask(ctx) })
	}
	wg.Wait()
	p.mergeGroups(asked)
	found := p.tellMissingGroups(asked)
	for _, c := range asked {
		c.tellFailure(p.query.Groups.Keep == nil && found)
	}
	if p.query.ForGroups {
		used := p.groupsTopics()
		p.unseenTopicsOfGroups(ctx, boot, used)
		p.keepGroupsTopics(used)
	}
}

// mergeGroups collects the coordinators' groups. A group that moves to another
// coordinator meanwhile may be listed by both; then the one that could tell of it
// is right.
func (p *pass) mergeGroups(asked []*coordinator) {
	from := map[string]*coordinator{}
	chosen := map[string]*inspect.Group{}
	for _, c := range asked {
		for _, g := range c.groups {
			other := chosen[g.Name]
			switch {
			case other == nil:
				chosen[g.Name], from[g.Name] = g, c
			case other.Error != "" && g.Error == "":
				g.AlsoListedBy = append(slices.Clone(other.AlsoListedBy), other.Coordinator)
				chosen[g.Name], from[g.Name] = g, c
			default:
				other.AlsoListedBy = append(other.AlsoListedBy, g.Coordinator)
			}
		}
	}
	p.snap.Groups = make([]inspect.Group, 0, len(chosen))
	for _, g := range chosen {
		if p.query.Groups.wants(g) {
			p.snap.Groups = append(p.snap.Groups, *g)
		}
	}
	slices.SortFunc(p.snap.Groups, func(a, b inspect.Group) int { return strings.Compare(a.Name, b.Name) })
	for _, c := range asked {
		c.tellRefused(func(name string) bool { return from[name] == c })
	}
}

// tellMissingGroups tells of groups that nobody could list: those that were asked
// for by name, and those on partitions of the offsets topic without a leader. It
// reports whether there are names and all of them were listed.
func (p *pass) tellMissingGroups(asked []*coordinator) (found bool) {
	unlisted := slices.ContainsFunc(asked, func(c *coordinator) bool { return !c.listed })
	leaderless, of := p.leaderless, p.coordinators
	listed := map[string]bool{}
	for _, c := range asked {
		for _, name := range c.names {
			listed[name] = true
		}
	}
	for name := range listed {
		if p.query.Groups.Keep != nil && !p.query.Groups.wants(&inspect.Group{Name: name}) {
			p.snap.UnkeptGroups++
		}
	}
	names := p.query.Groups.Names
	found = len(names) > 0
	for _, name := range names {
		if listed[name] {
			continue
		}
		found = false
		f := inspect.Failure{
			Request: listGroups, Phase: inspect.PhaseRequest,
			Error: fmt.Sprintf("no group %q, or no permission to see it", name),
		}
		at := inspect.OffsetsPartition(name, of)
		switch {
		case slices.Contains(leaderless, at):
			f.Error = fmt.Sprintf("group %q has no coordinator: %s-%d has no leader", name, offsetsTopic, at)
		case unlisted:
			f.Error = fmt.Sprintf("group %q is not listed by the brokers that answered", name)
		}
		p.fail(f)
	}
	if (len(names) == 0 || p.query.Groups.Keep != nil) && len(leaderless) > 0 {
		p.fail(inspect.Failure{
			Topic: offsetsTopic, Request: listGroups, Phase: inspect.PhaseRequest,
			Error: fmt.Sprintf("%d of %d partitions have no leader", len(leaderless), of),
			Lost:  "the groups on them have no coordinator and are not shown",
		})
	}
	return found
}

// offsetsTopic is where groups live; the leader of a group's partition of it
// coordinates the group.
const offsetsTopic = "__consumer_offsets"

// findCoordinators finds the partitions of the offsets topic that have no leader, and
// how many there are in all. The topic may be one that is not kept.
func (p *pass) findCoordinators() {
	p.leaderless, p.coordinators = nil, 0
	i := slices.IndexFunc(p.snap.Topics, func(t inspect.Topic) bool { return t.Name == offsetsTopic })
	if i < 0 {
		return
	}
	parts := p.snap.Topics[i].Partitions
	p.coordinators = len(parts)
	for j := range parts {
		if parts[j].Leader == inspect.NoBroker {
			p.leaderless = append(p.leaderless, parts[j].Index)
		}
	}
	slices.Sort(p.leaderless)
}

// groupsTopics are those that groups have committed for or been assigned.
func (p *pass) groupsTopics() map[string]bool {
	used := map[string]bool{}
	for i := range p.snap.Groups {
		g := &p.snap.Groups[i]
		for _, c := range g.Commits.Or(nil) {
			used[c.Topic] = true
		}
		for _, m := range g.Members.Or(nil) {
			for _, tp := range m.Assigned {
				used[tp.Topic] = true
			}
		}
	}
	return used
}

// keepGroupsTopics drops the topics that no group has to do with, and what could
// not be told of them.
func (p *pass) keepGroupsTopics(used map[string]bool) {
	p.snap.Topics = slices.DeleteFunc(p.snap.Topics, func(t inspect.Topic) bool { return !used[t.Name] })
	p.mu.Lock() // the quorum is asked meanwhile, and may fail
	defer p.mu.Unlock()
	p.failures = slices.DeleteFunc(p.failures, func(f inspect.Failure) bool {
		return f.Request == "Metadata" && f.Topic != "" && !used[f.Topic]
	})
}

// groupsBounded gives one broker's groups half of the pass, so that a coordinator
// that answers slowly leaves time to read offsets; each request still has its own
// share.
func (s *Source) groupsBounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout/2)
}

func compareCommits(a, b inspect.Commit) int {
	return comparePartitions(a.TopicPartition, b.TopicPartition)
}

func comparePartitions(a, b inspect.TopicPartition) int {
	return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}
