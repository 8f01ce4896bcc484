package diagnose

import (
	"slices"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

type ids = []inspect.BrokerID

var begin = time.Date(2026, 11, 29, 3, 14, 0, 0, time.UTC)

const second = time.Second

// well is a look at three brokers, at a second, with six partitions of orders, each
// written to 100 times a second and replicated at once, and nothing wrong.
func well(sec int) *inspect.Snapshot {
	s := &inspect.Snapshot{
		Transactions: inspect.Known(inspect.Transactions{Complete: true}),
		ClusterID:    inspect.Known("c"), TakenAt: begin.Add(time.Duration(sec) * second),
		Asked: inspect.PartOffsets | inspect.PartReachable | inspect.PartFenced | inspect.PartQuorum | inspect.PartLogDirs | inspect.PartConfigs,
		Quorum: inspect.Known(inspect.Quorum{Leader: 100, Epoch: inspect.Known(inspect.Epoch(3)), Voters: []inspect.QuorumReplica{
			{ID: 100, LEO: inspect.Known(inspect.Offset(50)), LastFetch: inspect.Known(begin.Add(time.Duration(sec) * second))},
		}}),
	}
	for id := range inspect.BrokerID(3) {
		s.Brokers = append(s.Brokers, inspect.Broker{
			ID: id + 1, Host: "kafka", Port: 9092, Fenced: inspect.Known(false), Reachable: inspect.Known(true),
			LogDirs: inspect.Known([]inspect.LogDir{{Path: "/data", TotalBytes: inspect.Known[int64](1000), UsableBytes: inspect.Known[int64](500)}}),
			Load:    inspect.Known(rested(sec)),
			Configs: inspect.Known([]inspect.Config{{Name: "broker.session.timeout.ms", Value: inspect.Known("9000")}}),
		})
	}
	t := inspect.Topic{Name: "orders", MinInsyncReplicas: inspect.Known[int32](2), UncleanElection: inspect.Known(false)}
	for i, order := range []ids{{1, 2, 3}, {2, 3, 1}, {3, 1, 2}, {1, 3, 2}, {2, 1, 3}, {3, 2, 1}} {
		p := inspect.Partition{
			Topic: "orders", Index: int32(i), Leader: order[0], LeaderEpoch: inspect.Known(inspect.Epoch(4)),
			Replicas: order, ISR: slices.Clone(order), MinInsyncReplicas: inspect.Known[int32](2),
			Adding: inspect.Known(ids{}), Removing: inspect.Known(ids{}), Offsets: &inspect.Offsets{},
		}
		for _, id := range order[1:] {
			p.Offsets.Followers = append(p.Offsets.Followers, inspect.FollowerOffset{Broker: id})
		}
		t.Partitions = append(t.Partitions, p)
		write(&t.Partitions[i], inspect.Offset(1000+100*sec))
	}
	s.Topics = []inspect.Topic{t}
	return s
}

// write sets all of a partition's offsets to one.
func write(p *inspect.Partition, leo inspect.Offset) {
	o := p.Offsets
	o.LEOBefore, o.LEOAfter, o.HW, o.LSO = inspect.Known(leo), inspect.Known(leo), inspect.Known(leo), inspect.Known(leo)
	for i := range o.Followers {
		o.Followers[i].LEO = inspect.Known(leo)
	}
}

// behind sets a follower back.
func behind(p *inspect.Partition, id inspect.BrokerID, records inspect.Offset) {
	for i := range p.Offsets.Followers {
		if f := &p.Offsets.Followers[i]; f.Broker == id {
			f.LEO = inspect.Known(p.Offsets.LEOBefore.Or(0) - records)
		}
	}
}

// over calls do for each partition that leads or follows as said; 0 is any.
func over(s *inspect.Snapshot, leader, follower inspect.BrokerID, do func(p *inspect.Partition)) {
	for p := range s.Partitions {
		if leader != 0 && p.Leader != leader || follower != 0 && (p.Leader == follower || !slices.Contains(p.Replicas, follower)) {
			continue
		}
		do(p)
	}
}

// lagging sets back who follows, as said, by so many seconds of records.
func lagging(s *inspect.Snapshot, leader, follower inspect.BrokerID, seconds inspect.Offset) {
	over(s, leader, follower, func(p *inspect.Partition) {
		for _, id := range p.Replicas {
			if id != p.Leader && (follower == 0 || id == follower) {
				behind(p, id, 100*seconds)
				if hw := p.Offsets.LEOBefore.Or(0) - 100*seconds; slices.Contains(p.ISR, id) {
					p.Offsets.HW = inspect.Known(min(p.Offsets.HW.Or(0), hw))
				}
			}
		}
	})
}

// drop takes a broker out of all ISRs of partitions that it follows.
func drop(s *inspect.Snapshot, id inspect.BrokerID) {
	over(s, 0, id, func(p *inspect.Partition) {
		p.ISR = slices.DeleteFunc(slices.Clone(p.ISR), func(b inspect.BrokerID) bool { return b == id })
	})
}

// stop is a broker that the controller has fenced: who is next leads.
func stop(s *inspect.Snapshot, id inspect.BrokerID) {
	s.Broker(id).Fenced, s.Broker(id).Reachable = inspect.Known(true), inspect.Unknown[bool]()
	for p := range s.Partitions {
		p.ISR = slices.DeleteFunc(slices.Clone(p.ISR), func(b inspect.BrokerID) bool { return b == id })
		p.Offline = append(p.Offline, id)
		if p.Leader != id {
			continue
		}
		leo := p.Offsets.LEOBefore.Or(0)
		p.Leader, p.LeaderEpoch = inspect.NoBroker, inspect.Known(inspect.Epoch(5))
		p.Offsets = &inspect.Offsets{}
		if len(p.ISR) > 0 {
			p.Leader = p.ISR[0]
			for _, r := range p.Replicas {
				if r != p.Leader {
					p.Offsets.Followers = append(p.Offsets.Followers, inspect.FollowerOffset{Broker: r})
				}
			}
			write(p, leo)
		}
	}
	for p := range s.Partitions {
		for i := range p.Offsets.Followers {
			if f := &p.Offsets.Followers[i]; s.Broker(f.Broker).Fenced.Or(false) {
				f.LEO = inspect.Unknown[inspect.Offset]()
			}
		}
	}
}

// seen is a case of so many looks, a second apart, each changed by change.
func seen(n int, change func(sec int, s *inspect.Snapshot)) *Case {
	c := New(Options{Interval: second, Looks: n})
	for sec := range n {
		s := well(sec)
		if change != nil {
			change(sec, s)
		}
		c.Look(s)
	}
	c.Events(nil, begin.Add(-time.Hour), c.Last().TakenAt)
	return c
}

// want checks what a report has: each finding as "id broker", with its symptoms behind a
// colon.
func want(t *testing.T, r Report, findings ...string) {
	t.Helper()
	var got []string
	for i := range r.Findings {
		f := &r.Findings[i]
		text := named(f)
		for j := range f.Symptoms {
			if j == 0 {
				text += ":"
			}
			text += " " + named(&f.Symptoms[j])
		}
		got = append(got, text)
	}
	if !slices.Equal(got, findings) {
		t.Errorf("got %q, want %q", got, findings)
		for _, f := range r.Findings {
			t.Logf("%s: %s. %s", f.Severity, f.Title, f.Explanation)
		}
	}
}

func named(f *Finding) string {
	if id, ok := f.Broker.Get(); ok {
		return string(f.ID) + " " + list(ids{id})
	}
	return string(f.ID)
}
