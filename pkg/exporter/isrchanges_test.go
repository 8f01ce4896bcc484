package exporter

import (
	"slices"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// seen is one look at a partition; its replicas are 1, 2, 3 unless said otherwise.
type seen struct {
	leader   inspect.BrokerID // 0: none
	isr      []inspect.BrokerID
	elr      []inspect.BrokerID // nil: not told
	replicas []inspect.BrokerID
	min      int32
	topic    string // id
	missing  bool
	unclean  inspect.Opt[bool]
}

type ids = []inspect.BrokerID

// look makes the i-th Snapshot, i seconds after the first.
func (l seen) look(i int, keepsELR bool) *inspect.Snapshot {
	s := &inspect.Snapshot{TakenAt: day.Add(time.Duration(i) * time.Second), KeepsELR: inspect.Known(keepsELR)}
	if l.missing {
		return s
	}
	p := inspect.Partition{
		Topic: "t", Leader: l.leader, LeaderEpoch: inspect.Known(inspect.Epoch(i)),
		ISR: l.isr, Replicas: l.replicas,
	}
	if l.leader == 0 {
		p.Leader = inspect.NoBroker
	}
	if l.elr != nil {
		p.ELR = inspect.Known(l.elr)
	}
	if p.Replicas == nil {
		p.Replicas = ids{1, 2, 3}
	}
	if l.min > 0 {
		p.MinInsyncReplicas = inspect.Known(l.min)
	}
	id := l.topic
	if id == "" {
		id = "first"
	}
	s.Topics = []inspect.Topic{{Name: "t", ID: inspect.Known(id), UncleanElection: l.unclean, Partitions: []inspect.Partition{p}}}
	return s
}

var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func TestISRChanges(t *testing.T) {
	t.Parallel()
	whole := seen{leader: 1, isr: ids{1, 2, 3}}
	for _, tt := range []struct {
		name             string
		keepsELR         bool
		looks            []seen
		shrinks, expands float64 // events
		left, came       map[inspect.BrokerID]float64
		unclean          float64
	}{
		{name: "the first look counts nothing", looks: []seen{{leader: 1, isr: ids{1}}}},
		{name: "nothing happens", looks: []seen{whole, whole, {leader: 1, isr: ids{1, 2, 3}}}},
		{name: "another order is no change", looks: []seen{whole, {leader: 1, isr: ids{3, 1, 2}}}},
		{
			name: "two leave at once and come back one by one", looks: []seen{whole, {leader: 1, isr: ids{1}}, {leader: 1, isr: ids{1, 2}}, whole},
			shrinks: 1, expands: 2, left: map[inspect.BrokerID]float64{2: 1, 3: 1}, came: map[inspect.BrokerID]float64{2: 1, 3: 1},
		},
		{
			name: "one leaves while another comes", looks: []seen{{leader: 1, isr: ids{1, 2}}, {leader: 1, isr: ids{1, 3}}},
			shrinks: 1, expands: 1, left: map[inspect.BrokerID]float64{2: 1}, came: map[inspect.BrokerID]float64{3: 1},
		},
		{name: "over a look that missed it", looks: []seen{whole, {missing: true}, {leader: 1, isr: ids{1, 2}}}, shrinks: 1, left: map[inspect.BrokerID]float64{3: 1}},
		{name: "created anew", looks: []seen{whole, {leader: 1, isr: ids{1, 2}, topic: "second"}}},
		{
			name: "a reassignment takes one away and adds one", looks: []seen{
				whole,
				{leader: 1, isr: ids{1, 2, 3}, replicas: ids{1, 2, 3, 4}},
				{leader: 1, isr: ids{1, 2, 3, 4}, replicas: ids{1, 2, 3, 4}},
				{leader: 1, isr: ids{1, 2, 4}, replicas: ids{1, 2, 4}},
			},
			expands: 1, came: map[inspect.BrokerID]float64{4: 1},
		},
		{name: "an election within the ISR", looks: []seen{whole, {leader: 2, isr: ids{2, 3}}}, shrinks: 1, left: map[inspect.BrokerID]float64{1: 1}},
		{
			name: "unclean", looks: []seen{{leader: 1, isr: ids{1}}, {isr: ids{1}}, {leader: 2, isr: ids{2}}},
			shrinks: 1, expands: 1, left: map[inspect.BrokerID]float64{1: 1}, came: map[inspect.BrokerID]float64{2: 1}, unclean: 1,
		},
		{
			name: "unclean, straight", looks: []seen{{leader: 1, isr: ids{1}}, {leader: 2, isr: ids{2}}},
			shrinks: 1, expands: 1, left: map[inspect.BrokerID]float64{1: 1}, came: map[inspect.BrokerID]float64{2: 1}, unclean: 1,
		},
		{
			name: "it had joined the ISR before", looks: []seen{{leader: 1, isr: ids{1}}, {leader: 2, isr: ids{1, 2}}},
			expands: 1, came: map[inspect.BrokerID]float64{2: 1},
		},
		{
			name: "from the ELR", keepsELR: true,
			looks: []seen{{leader: 1, isr: ids{1}, min: 2}, {elr: ids{1, 2}}, {leader: 2, isr: ids{2}}},
			// It left the ISR, and is back in it.
			shrinks: 1, expands: 1, left: map[inspect.BrokerID]float64{1: 1}, came: map[inspect.BrokerID]float64{2: 1},
		},
		{
			name: "unclean where there is an ELR", keepsELR: true,
			looks:   []seen{{leader: 1, isr: ids{1}, min: 1}, {elr: ids{1}}, {leader: 2, isr: ids{2}}},
			shrinks: 1, expands: 1, left: map[inspect.BrokerID]float64{1: 1}, came: map[inspect.BrokerID]float64{2: 1}, unclean: 1,
		},
		{
			name: "the ELR was not told", keepsELR: true,
			looks:   []seen{{leader: 1, isr: ids{1}, min: 1}, {}, {leader: 2, isr: ids{2}}},
			shrinks: 1, expands: 1, left: map[inspect.BrokerID]float64{1: 1}, came: map[inspect.BrokerID]float64{2: 1},
		},
		{
			name: "straight, and the ELR may have had it", keepsELR: true,
			looks:   []seen{{leader: 1, isr: ids{1}, min: 2}, {leader: 2, isr: ids{2}}},
			shrinks: 1, expands: 1, left: map[inspect.BrokerID]float64{1: 1}, came: map[inspect.BrokerID]float64{2: 1},
		},
		{
			name: "straight, and the ELR was empty", keepsELR: true,
			looks:   []seen{{leader: 1, isr: ids{1}, min: 1}, {leader: 2, isr: ids{2}}},
			shrinks: 1, expands: 1, left: map[inspect.BrokerID]float64{1: 1}, came: map[inspect.BrokerID]float64{2: 1}, unclean: 1,
		},
		{
			name:    "moved to other brokers altogether",
			looks:   []seen{whole, {leader: 4, isr: ids{4, 5}, replicas: ids{4, 5}}},
			shrinks: 0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newISRChanges()
			for i, l := range tt.looks {
				c.look(l.look(i, tt.keepsELR), time.Minute)
			}
			p := c.of("t", 0)
			if p.shrinks != tt.shrinks || p.expands != tt.expands || c.unclean != tt.unclean {
				t.Errorf("got %v shrinks, %v expands, %v unclean; want %v, %v, %v", p.shrinks, p.expands, c.unclean, tt.shrinks, tt.expands, tt.unclean)
			}
			for id := inspect.BrokerID(1); id <= 5; id++ {
				if c.shrinks[id] != tt.left[id] || c.expands[id] != tt.came[id] {
					t.Errorf("broker %d: got %v left, %v came; want %v, %v", id, c.shrinks[id], c.expands[id], tt.left[id], tt.came[id])
				}
			}
		})
	}
}

// TestReassignmentIsNotUnclean: what a reassignment takes away had been joined before.
func TestReassignmentIsNotUnclean(t *testing.T) {
	t.Parallel()
	for _, looks := range [][]seen{
		{{leader: 3, isr: ids{3}, replicas: ids{1, 3}}, {leader: 1, isr: ids{1}, replicas: ids{1}}},
		{{leader: 3, isr: ids{3}, replicas: ids{2, 1, 3}}, {leader: 1, isr: ids{1}, replicas: ids{2, 1}}},
	} {
		for _, keepsELR := range []bool{false, true} {
			c := newISRChanges()
			for i, l := range looks {
				c.look(l.look(i, keepsELR), time.Minute)
			}
			if c.unclean != 0 {
				t.Errorf("%+v, keeps ELR %v: %v unclean elections", looks, keepsELR, c.unclean)
			}
		}
	}
}

// TestISRGaps counts looks that are too far apart, and forgets topics that are gone.
func TestISRGaps(t *testing.T) {
	t.Parallel()
	c := newISRChanges()
	whole := seen{leader: 1, isr: ids{1, 2, 3}}
	for _, at := range []int{0, 1, 2, 30, 31} {
		c.look(whole.look(at, false), 6*time.Second)
	}
	if c.gaps != 1 {
		t.Errorf("got %v gaps, want 1", c.gaps)
	}
	for _, at := range slices.Sorted(slices.Values([]int{32, 300, 340})) {
		c.look(seen{missing: true}.look(at, false), time.Hour)
	}
	if len(c.topics) != 0 {
		t.Errorf("%d topics are remembered that are gone", len(c.topics))
	}
}

// TestOlderLooks: brokers that were paused or cut off tell an older state. Nothing of
// that is counted, however often they are asked in between.
func TestOlderLooks(t *testing.T) {
	t.Parallel()
	type look struct {
		by     string
		epoch  int
		leader inspect.BrokerID
		isr    ids
	}
	whole, shrunk := ids{1, 2, 3}, ids{2, 3}
	for _, tt := range []struct {
		name                      string
		looks                     []look
		shrinks, expands, unclean float64
	}{
		{"one that was paused answers once, by the leader epoch", []look{
			{"a", 5, 1, whole}, {"b", 6, 2, shrunk}, {"a", 5, 1, whole}, {"a", 6, 2, shrunk}, {"a", 6, 2, whole},
		}, 1, 1, 0},
		{"of a partition that it does not lead", []look{
			{"a", 5, 2, whole}, {"b", 5, 2, shrunk}, {"b", 5, 2, shrunk}, {"a", 5, 2, whole}, {"a", 5, 2, shrunk}, {"a", 5, 2, whole},
		}, 1, 1, 0},
		{"an unclean election is one", []look{
			{"a", 5, 1, ids{1}}, {"b", 6, 2, ids{2}}, {"a", 5, 1, ids{1}}, {"b", 6, 2, ids{2}}, {"a", 5, 1, ids{1}}, {"b", 6, 2, ids{2}},
		}, 1, 1, 1},
		{"another one tells what is newer", []look{{"a", 5, 2, whole}, {"b", 6, 2, shrunk}}, 1, 0, 0},
		{"another one tells what is the same", []look{{"a", 5, 2, whole}, {"b", 5, 2, whole}, {"b", 5, 2, shrunk}}, 1, 0, 0},
	} {
		c := newISRChanges()
		for i, l := range tt.looks {
			s := seen{leader: l.leader, isr: l.isr}.look(i, false)
			s.ToldBy, s.Topics[0].Partitions[0].LeaderEpoch = l.by, inspect.Known(inspect.Epoch(l.epoch))
			c.look(s, time.Minute)
		}
		p := c.of("t", 0)
		if p.shrinks != tt.shrinks || p.expands != tt.expands || c.unclean != tt.unclean {
			t.Errorf("%s: got %v shrinks, %v expands, %v unclean; want %v, %v, %v", tt.name, p.shrinks, p.expands, c.unclean, tt.shrinks, tt.expands, tt.unclean)
		}
	}
}

// TestUncleanAfterLeaderless: a partition without a leader, and who leads it then. The
// epochs are as a controller gives them: one more with every leader, and without one.
func TestUncleanAfterLeaderless(t *testing.T) {
	t.Parallel()
	type look struct {
		by     string
		epoch  int
		leader inspect.BrokerID // 0: none
		isr    ids
		elr    ids // nil: not told
	}
	before, alone, none := look{"b", 1, 2, ids{2, 3}, nil}, look{"a", 2, 2, ids{2}, nil}, ids{}
	leaderless := func(by string, elr ids) look { return look{by, 3, 0, none, elr} }
	led := func(by string, who inspect.BrokerID) look { return look{by, 4, who, ids{who}, nil} }
	for _, tt := range []struct {
		name    string
		looks   []look
		unclean float64
	}{
		{"plain", []look{alone, leaderless("a", ids{2}), led("a", 3), led("a", 3)}, 1},
		{"the election falls into the last look without a leader", []look{
			alone, leaderless("a", ids{2}), leaderless("a", ids{2}), leaderless("a", nil), led("a", 3), led("a", 3),
		}, 1},
		{"and another broker tells the leader", []look{
			alone, leaderless("a", ids{2}), leaderless("b", nil), led("c", 3), led("a", 3), led("b", 3),
		}, 1},
		{"one that was paused tells what was before, first and in between", []look{
			before, alone, leaderless("a", ids{2}), before, leaderless("a", ids{2}),
			before, led("a", 3), leaderless("b", ids{2}), led("b", 3), led("a", 3),
		}, 1},
		{"no look without a leader", []look{alone, led("b", 3), led("a", 3)}, 1},
		{"nobody eligible is left, and the last leader is taken", []look{
			alone, leaderless("a", ids{2}), leaderless("a", none), led("a", 2),
		}, 1},
		{"nobody eligible is left, and another is taken", []look{leaderless("a", none), led("a", 3)}, 1},
		{"from the ELR", []look{alone, leaderless("a", ids{2, 3}), leaderless("a", nil), led("a", 3)}, 0},
		{"its leader comes back", []look{alone, leaderless("a", ids{2}), leaderless("a", nil), led("a", 2)}, 0},
		{"the ELR was never told", []look{alone, leaderless("a", nil), leaderless("a", nil), led("a", 3)}, 0},
		{"it was told of a time without a leader before", []look{
			alone, leaderless("a", ids{2}), {"a", 5, 0, none, nil}, {"a", 6, 3, ids{3}, nil},
		}, 0},
		{"it is told again", []look{
			alone, leaderless("a", ids{2}), {"a", 5, 0, none, nil}, {"a", 5, 0, none, ids{2}}, {"a", 6, 3, ids{3}, nil},
		}, 1},
		{"the leader is not alive, and still is the leader", []look{alone, {"a", 2, 0, ids{2}, nil}, {"a", 3, 3, ids{3}, nil}}, 0},
		{"the first look knows nothing of before", []look{leaderless("a", nil), led("a", 3)}, 0},
	} {
		c := newISRChanges()
		for i, l := range tt.looks {
			s := seen{leader: l.leader, isr: l.isr, elr: l.elr, replicas: ids{2, 3}, min: 1}.look(i, true)
			s.ToldBy, s.Topics[0].Partitions[0].LeaderEpoch = l.by, inspect.Known(inspect.Epoch(l.epoch))
			c.look(s, time.Minute)
		}
		if c.unclean != tt.unclean {
			t.Errorf("%s: got %v unclean elections, want %v", tt.name, c.unclean, tt.unclean)
		}
	}
}

// TestUncleanStraight: a leader that goes and one that comes, with no look in between.
// Where no unclean election is allowed, who comes had joined the ISR before: a broker
// of a rolling restart, and the next one that is stopped at once.
func TestUncleanStraight(t *testing.T) {
	t.Parallel()
	yes, no, unknown := inspect.Known(true), inspect.Known(false), inspect.Unknown[bool]()
	for _, tt := range []struct {
		name    string
		configs []inspect.Opt[bool] // at each look
		unclean float64
	}{
		{"allowed", []inspect.Opt[bool]{yes, yes}, 1},
		{"not allowed", []inspect.Opt[bool]{no, no}, 0},
		{"not allowed, as a sample does not tell", []inspect.Opt[bool]{no, unknown}, 0},
		{"not known", []inspect.Opt[bool]{unknown, unknown}, 1},
		{"allowed since", []inspect.Opt[bool]{no, yes}, 1},
	} {
		c := newISRChanges()
		for i, may := range tt.configs {
			leader := inspect.BrokerID(2 + i)
			c.look(seen{leader: leader, isr: ids{leader}, replicas: ids{2, 3}, min: 1, unclean: may}.look(i, true), time.Minute)
		}
		if c.unclean != tt.unclean {
			t.Errorf("%s: got %v unclean elections, want %v", tt.name, c.unclean, tt.unclean)
		}
	}
	c := newISRChanges()
	for i, l := range []seen{{leader: 2, isr: ids{2}, unclean: no}, {isr: ids{}, elr: ids{2}, unclean: no}, {leader: 3, isr: ids{3}, unclean: no}} {
		c.look(l.look(i, true), time.Minute)
	}
	if c.unclean != 1 {
		t.Errorf("asked for by an administrator: got %v unclean elections, want 1", c.unclean)
	}
}

// TestOlderForGood: a state that stays older is what there is, and nothing is counted
// by it. A topic that was created anew is none.
func TestOlderForGood(t *testing.T) {
	t.Parallel()
	c := newISRChanges()
	c.look(seen{leader: 1, isr: ids{1}}.look(100, false), time.Minute)
	for i := range maxOlder {
		c.look(seen{leader: 2, isr: ids{2, 3}}.look(i, false), time.Minute)
	}
	if p := c.of("t", 0); p.leader != 1 {
		t.Errorf("after %d older looks the leader is %d, want 1", maxOlder, p.leader)
	}
	c.look(seen{leader: 2, isr: ids{2, 3}}.look(maxOlder, false), time.Minute)
	if p := c.of("t", 0); p.leader != 2 || p.shrinks+p.expands+c.unclean != 0 {
		t.Errorf("after one more: leader %d, %v shrinks, %v expands, %v unclean; want 2 and none", p.leader, p.shrinks, p.expands, c.unclean)
	}
	if c.isOlder(seen{leader: 1, isr: ids{1}, topic: "anew"}.look(0, false)) {
		t.Error("a topic that was created anew is older")
	}
}
