package diagnose

import (
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// set gives a broker a setting.
func set(s *inspect.Snapshot, id inspect.BrokerID, name, value string) {
	b := s.Broker(id)
	all, _ := b.Configs.Get()
	b.Configs = inspect.Known(append(all[:len(all):len(all)], inspect.Config{
		Name: name, Value: inspect.Known(value), Source: inspect.SourceStatic,
		Synonyms: []inspect.ConfigSynonym{{Name: name, Value: inspect.Known(value), Source: inspect.SourceStatic}, {Name: name, Source: inspect.SourceDefault}},
	}))
}

func setAll(s *inspect.Snapshot, name, value string) {
	for id := range inspect.BrokerID(3) {
		set(s, id+1, name, value)
	}
}

// lead moves leaders to a broker, which all partitions have.
func lead(s *inspect.Snapshot, id inspect.BrokerID) {
	over(s, 0, 0, func(p *inspect.Partition) {
		leo := p.Offsets.LEOBefore.Or(0)
		p.Leader, p.Offsets = id, &inspect.Offsets{}
		for _, r := range p.Replicas {
			if r != id {
				p.Offsets.Followers = append(p.Offsets.Followers, inspect.FollowerOffset{Broker: r})
			}
		}
		write(p, leo)
	})
}

func TestLeaders(t *testing.T) {
	t.Parallel()
	// prefer makes the leaders that there are the preferred ones.
	prefer := func(s *inspect.Snapshot) {
		over(s, 0, 0, func(p *inspect.Partition) {
			order := ids{p.Leader}
			for _, id := range p.Replicas {
				if id != p.Leader {
					order = append(order, id)
				}
			}
			p.Replicas = order
		})
	}
	for _, tt := range []struct {
		name     string
		change   func(sec int, s *inspect.Snapshot)
		want     []string
		severity Severity
	}{
		{"moved away, and nobody moves them back", func(_ int, s *inspect.Snapshot) { lead(s, 1); setAll(s, "auto.leader.rebalance.enable", "false") }, []string{"leaders-not-preferred: hot-broker 1"}, SeverityWarning},
		{"a few, and nobody moves them back", func(_ int, s *inspect.Snapshot) {
			setAll(s, "auto.leader.rebalance.enable", "false")
			s.Topics[0].Partitions[0].Replicas = ids{2, 1, 3}
		}, []string{"leaders-not-preferred"}, SeverityWarning},
		{"the controller will", func(_ int, s *inspect.Snapshot) {
			setAll(s, "auto.leader.rebalance.enable", "true")
			p := &s.Topics[0].Partitions[0]
			p.Replicas = ids{2, 1, 3}
		}, []string{"leaders-not-preferred"}, SeverityInfo},
		{"they cannot lead", func(_ int, s *inspect.Snapshot) {
			p := &s.Topics[0].Partitions[0]
			p.Replicas, p.ISR = ids{2, 1, 3}, ids{1, 3}
			behind(p, 2, 900)
		}, []string{"replica-out 2"}, SeverityWarning},
		{"all on one by assignment", func(_ int, s *inspect.Snapshot) { lead(s, 1); prefer(s) }, []string{"hot-broker 1"}, SeverityWarning},
		{"one is slow for it", func(_ int, s *inspect.Snapshot) { lead(s, 1); prefer(s); lagging(s, 1, 0, 5) }, []string{"hot-broker 1: slow-leader 1"}, SeverityWarning},
		{"the load is, leaders are not", func(sec int, s *inspect.Snapshot) {
			over(s, 2, 0, func(p *inspect.Partition) { write(p, 1000) })
			over(s, 3, 0, func(p *inspect.Partition) { write(p, 1000) })
		}, []string{"hot-broker 1"}, SeverityInfo},
		{"hardly anything is written", func(sec int, s *inspect.Snapshot) {
			lead(s, 1)
			prefer(s)
			over(s, 0, 0, func(p *inspect.Partition) { write(p, inspect.Offset(1000+sec)) })
		}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := seen(10, tt.change).Diagnose()
			want(t, r, tt.want...)
			if len(r.Findings) > 0 && r.Findings[0].Severity != tt.severity {
				t.Errorf("severity %s, want %s", r.Findings[0].Severity, tt.severity)
			}
		})
	}
}

func TestMoves(t *testing.T) {
	t.Parallel()
	adding := func(s *inspect.Snapshot, leo inspect.Offset) {
		p := &s.Topics[0].Partitions[0]
		p.ISR, p.Adding = ids{1, 2}, inspect.Known(ids{3})
		behind(p, 3, p.Offsets.LEOBefore.Or(0)-leo)
	}
	throttled := func(s *inspect.Snapshot) {
		s.Topics[0].Configs = inspect.Known([]inspect.Config{{Name: "follower.replication.throttled.replicas", Value: inspect.Known("*"), Source: inspect.SourceTopic}})
	}
	for _, tt := range []struct {
		name     string
		change   func(sec int, s *inspect.Snapshot)
		want     []string
		severity Severity
	}{
		{"it goes on", func(sec int, s *inspect.Snapshot) { adding(s, inspect.Offset(200*sec)) }, nil, ""},
		{"it stands still", func(_ int, s *inspect.Snapshot) { adding(s, 0) }, []string{"reassignment-stuck"}, SeverityWarning},
		{"throttled while it goes on", func(sec int, s *inspect.Snapshot) {
			adding(s, inspect.Offset(200*sec))
			throttled(s)
			setAll(s, "follower.replication.throttled.rate", "1000")
		}, nil, ""},
		{"a list that was left", func(_ int, s *inspect.Snapshot) { throttled(s) }, []string{"throttle-left"}, SeverityInfo},
		{"a throttle that was left", func(_ int, s *inspect.Snapshot) {
			throttled(s)
			setAll(s, "follower.replication.throttled.rate", "1000")
		}, []string{"throttle-left"}, SeverityWarning},
		{"and it holds somebody", func(sec int, s *inspect.Snapshot) {
			throttled(s)
			setAll(s, "follower.replication.throttled.rate", "1000")
			drop(s, 3)
			over(s, 0, 3, func(p *inspect.Partition) { behind(p, 3, inspect.Offset(500+60*sec)) })
		}, []string{"throttle-left: slow-follower 3 cannot-catch-up 3"}, SeverityWarning},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := seen(10, tt.change).Diagnose()
			want(t, r, tt.want...)
			if len(r.Findings) > 0 && r.Findings[0].Severity != tt.severity {
				t.Errorf("severity %s, want %s", r.Findings[0].Severity, tt.severity)
			}
		})
	}
}

func TestHanging(t *testing.T) {
	t.Parallel()
	open := func(ago time.Duration) func(int, *inspect.Snapshot) {
		return func(_ int, s *inspect.Snapshot) {
			p := &s.Topics[0].Partitions[2]
			p.Offsets.LSO = inspect.Known[inspect.Offset](900)
			tp := inspect.TopicPartition{Topic: "orders", Partition: 2}
			s.Transactions = inspect.Known(inspect.Transactions{
				Complete: true, Told: []inspect.TopicPartition{tp},
				Coordinated: []inspect.Transaction{{
					ID: "checkout", ProducerID: 7, State: "Ongoing", Timeout: inspect.Known(time.Minute), Started: inspect.Known(s.TakenAt.Add(-ago)),
					Partitions: inspect.Known([]inspect.TopicPartition{tp}),
				}},
				Producers: []inspect.OpenProducer{{TopicPartition: tp, ProducerID: 7, Start: 900, Confirmed: true}},
			})
		}
	}
	want(t, seen(2, open(10*second)).Diagnose())
	want(t, seen(2, open(time.Hour)).Diagnose(), "hanging-transaction")
}

func TestDiffering(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		change   func(sec int, s *inspect.Snapshot)
		want     []string
		severity Severity
	}{
		{"alike", func(_ int, s *inspect.Snapshot) { setAll(s, "replica.lag.time.max.ms", "30000") }, nil, ""},
		{"what matters", func(_ int, s *inspect.Snapshot) {
			setAll(s, "replica.lag.time.max.ms", "30000")
			b := s.Broker(2)
			configs, _ := b.Configs.Get()
			configs[len(configs)-1].Value = inspect.Known("10000")
		}, []string{"configs-differ"}, SeverityWarning},
		{"what does not", func(_ int, s *inspect.Snapshot) { set(s, 1, "num.io.threads", "8"); set(s, 2, "num.io.threads", "16") }, []string{"configs-differ"}, SeverityInfo},
		{"racks", func(_ int, s *inspect.Snapshot) { set(s, 1, "broker.rack", "a"); set(s, 2, "broker.rack", "b") }, nil, ""},
		{"versions", func(_ int, s *inspect.Snapshot) {
			s.Brokers[0].VersionRange, s.Brokers[1].VersionRange = inspect.Known("4.3"), inspect.Known("4.4")
		}, []string{"versions-differ"}, SeverityInfo},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := seen(2, tt.change).Diagnose()
			want(t, r, tt.want...)
			if len(r.Findings) > 0 && r.Findings[0].Severity != tt.severity {
				t.Errorf("severity %s, want %s", r.Findings[0].Severity, tt.severity)
			}
		})
	}
}

// TestBuiltIn: what is wrong by itself comes after what happens, and accounts for nothing.
func TestBuiltIn(t *testing.T) {
	t.Parallel()
	other := BuiltIn(Finding{ID: "min-isr-one", Severity: SeverityWarning, Topics: []string{"orders"}})
	want(t, seen(10, func(_ int, s *inspect.Snapshot) { lagging(s, 0, 3, 5) }).Diagnose(other), "slow-follower 3", "min-isr-one")
}
