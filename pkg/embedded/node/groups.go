package node

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/group"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// offsetsTopic is where groups are stored.
const offsetsTopic = "__consumer_offsets"

// groups are the coordinators of this broker, one for each partition of the offsets
// topic that it leads.
type groups struct {
	cfg group.Config
	led []*coordinator // by partition
	// woken have something to do at the end of the step.
	woken []*coordinator
	// after is what is done with the answer to a request of which the coordinator had
	// only a part.
	after   map[group.Token]func(kmsg.Response)
	fetches slab[func(kmsg.OffsetFetchResponseGroup)]
	deletes slab[func([]group.Code)]
	// creating: the offsets topic has been asked for, and no answer is here.
	creating bool
}

// coordinator is a shard with its partition.
//
//	loading -> active  all that the log had when this broker became its leader is read,
//	                   and the HW has passed it
//	any     -> closed  the partition is led elsewhere, or an append came to nothing
//	loading -> broken  the log cannot be read
type coordinator struct {
	p     *partition
	shard *group.Shard
	// next and until bound what is not loaded yet.
	next, until replica.Offset
	load        alarm
	deadline    alarm
	// inputs are stepped when the step of the node ends: where they come up, the
	// replica's effects are still being carried out.
	inputs []group.Input
	woken  bool
	// lost: an append was refused. gone: it is no coordinator any more.
	lost, gone, broken bool
}

func (gs *groups) begin(n *Node) {
	gs.cfg = n.cfg.groups
	gs.after = map[group.Token]func(kmsg.Response){}
}

// groupRole follows the role of a partition of the offsets topic.
func (n *Node) groupRole(p *partition, role replica.Role) {
	if p.name.Topic != offsetsTopic {
		return
	}
	c := p.coordinator
	switch {
	case role == replica.Leader && c == nil:
		cfg := n.groups.cfg
		cfg.MaxBatchBytes = p.cfg.rules.MaxBatchBytes
		c = &coordinator{p: p, shard: group.New(&cfg, n.opts.Rand)}
		c.next, _, c.until = p.replica.Bounds()
		c.load.Ring = func() { n.loadGroups(c) }
		c.deadline.Ring = func() { n.stepGroups(c, group.Tick{}) }
		p.coordinator = c
		at, _ := slices.BinarySearchFunc(n.groups.led, c, compareCoordinators)
		n.groups.led = slices.Insert(n.groups.led, at, c)
		n.alarms.set(&c.load, n.now.Mono)
	case role != replica.Leader && c != nil:
		n.groupsGone(c)
	}
}

func compareCoordinators(a, b *coordinator) int {
	return cmp.Compare(a.p.name.Partition, b.p.name.Partition)
}

// groupsGone ends a coordinator: who waits is told when the step ends.
func (n *Node) groupsGone(c *coordinator) {
	c.gone, c.p.coordinator = true, nil
	n.groups.led = slices.DeleteFunc(n.groups.led, func(other *coordinator) bool { return other == c })
	n.alarms.Clear(&c.load)
	n.alarms.Clear(&c.deadline)
	n.wakeGroups(c)
}

func (n *Node) wakeGroups(c *coordinator) {
	if !c.woken {
		c.woken = true
		n.groups.woken = append(n.groups.woken, c)
	}
}

// groupsHW tells a coordinator of the HW.
func (n *Node) groupsHW(p *partition, hw replica.Offset) {
	if c := p.coordinator; c != nil {
		if c.shard.Active() {
			c.inputs = append(c.inputs, group.HW{Offset: int64(hw)})
		}
		n.wakeGroups(c)
	}
}

// coordinate does what has come up for coordinators in this step.
func (n *Node) coordinate() {
	for len(n.groups.woken) > 0 && !n.stopped {
		c := n.groups.woken[0]
		n.groups.woken = n.groups.woken[1:]
		c.woken = false
		inputs := c.inputs
		c.inputs = nil
		switch {
		case c.gone:
			n.obeyGroups(c, c.shard.Close(n.groupTime(), nil))
		case c.lost:
			// What the shard made of the records is not in the log: it is read anew.
			p := c.p
			n.groupsGone(c)
			if p.live() && p.replica.Status().Role == replica.Leader {
				n.groupRole(p, replica.Leader)
			}
		case !c.shard.Active():
			n.maybeActivate(c)
		default:
			for i, in := range inputs {
				if c.lost || c.gone {
					c.inputs = append(inputs[i:], c.inputs...)
					break
				}
				n.stepGroups(c, in)
			}
		}
	}
}

func (n *Node) groupTime() group.Time { return group.Time{MonoMs: n.now.Mono, WallMs: n.now.Wall} }

// stepGroups steps a shard and carries out what it orders.
func (n *Node) stepGroups(c *coordinator, in group.Input) {
	if c.gone || c.lost || !c.shard.Active() {
		return
	}
	n.obeyGroups(c, c.shard.Step(n.groupTime(), in, nil))
}

// obeyGroups has one line for each effect.
func (n *Node) obeyGroups(c *coordinator, effects []group.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case group.Reply:
			if f, ok := n.groups.after[e.Token]; ok {
				delete(n.groups.after, e.Token)
				f(e.Response)
				continue
			}
			n.reply(machine.Token(e.Token), e.Response)
		case group.Fetched:
			n.groups.fetches.take(replica.Token(e.Token))(e.Group)
		case group.Deleted:
			n.groups.deletes.take(replica.Token(e.Token))(e.Codes)
		case group.Append:
			n.appendGroups(c, e)
		case group.Note:
			n.notef("%s: %s", c.p.name, e.Text)
		}
	}
	if c.gone {
		return
	}
	n.alarms.set(&c.deadline, c.shard.NextDeadline())
}

// groupAppend is an append of a coordinator's, in the place of a client's.
type groupAppend struct {
	c     *coordinator
	id    uint64
	count int
}

// appendGroups writes a batch as the coordinator of Kafka does
// (CoordinatorPartitionWriter): with acks=1, and who waits is answered by the HW. So
// the records are in the log once they are appended, whatever becomes of the ISR.
func (n *Node) appendGroups(c *coordinator, e group.Append) {
	if c.lost || c.gone {
		return
	}
	b := record.NewBuilder(record.Options{})
	for _, r := range e.Records {
		if err := b.Add(record.Entry{TimestampMs: n.now.Wall, Key: r.Key, Value: r.Value}); err != nil {
			c.lost = true
			n.wakeGroups(c)
			n.notef("%s: a record of a group does not fit its batch: %v", c.p.name, err)
			return
		}
	}
	bytes, err := b.AppendTo(nil, nil)
	if err != nil {
		panic(fmt.Sprintf("node: a batch that is not compressed: %v", err))
	}
	part := producePart{p: c.p, bytes: bytes, group: &groupAppend{c: c, id: e.ID, count: len(e.Records)}}
	n.step(c.p, replica.Produce{Token: n.asked.produces.put(part), Acks: 1, Batch: storage.StateOf(bytes)})
}

// groupsAppended is the replica's word on such a batch.
func (n *Node) groupsAppended(a *groupAppend, e replica.ProduceReply) {
	if a.c.gone {
		return
	}
	if e.Err != replica.None {
		n.notef("%s: an append of groups was refused with error %d", a.c.p.name, e.Err)
		a.c.lost = true
	} else {
		a.c.inputs = append(a.c.inputs, group.Appended{ID: a.id, End: int64(e.Base) + int64(a.count)})
	}
	n.wakeGroups(a.c)
}

// groupTopicsGone has coordinators forget the offsets of topics that were deleted.
func (n *Node) groupTopicsGone(topics []string) {
	for _, c := range n.groups.led {
		if c.shard.Active() {
			c.inputs = append(c.inputs, group.TopicsDeleted{Topics: topics})
			n.wakeGroups(c)
		}
	}
}
