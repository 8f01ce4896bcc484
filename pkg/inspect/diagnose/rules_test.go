package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestWell is every rule's other side: nothing is wrong, so nothing is said.
func TestWell(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*Case{
		"busy":     seen(8, nil),
		"one look": seen(1, nil),
		"idle": seen(8, func(_ int, s *inspect.Snapshot) {
			over(s, 0, 0, func(p *inspect.Partition) { write(p, 500) })
		}),
		"no topics": seen(3, func(_ int, s *inspect.Snapshot) { s.Topics = nil }),
		// What a look catches on its way is behind for less than the time between two.
		"in flight": seen(8, func(_ int, s *inspect.Snapshot) {
			over(s, 0, 0, func(p *inspect.Partition) { behind(p, p.Replicas[1], 3) })
		}),
		// Two looks are too few to tell a stall from a fetch, or a slow link from a slow moment.
		"just now": seen(8, func(sec int, s *inspect.Snapshot) {
			if sec > 5 {
				lagging(s, 0, 3, inspect.Offset(sec-5))
			}
		}),
		"too few looks": seen(3, func(_ int, s *inspect.Snapshot) { lagging(s, 0, 3, 5) }),
		// One look in which everybody stalls, as on a machine that is busy.
		"a hiccup": seen(9, func(sec int, s *inspect.Snapshot) {
			if sec == 5 {
				lagging(s, 0, 0, 3)
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.Diagnose()
			want(t, r)
			if !r.Healthy() || len(r.Checks) != len(rules) {
				t.Errorf("healthy %v, %d checks", r.Healthy(), len(r.Checks))
			}
		})
	}
}

// TestMissing: what cannot be told is said to be so.
func TestMissing(t *testing.T) {
	t.Parallel()
	missing := func(c *Case) string {
		var all []string
		for _, c := range c.Diagnose().Checks {
			all = append(all, c.Missing)
		}
		return strings.Join(all, "\n")
	}
	if got := missing(seen(8, nil)); strings.Trim(got, "\n") != "" {
		t.Errorf("all is known, and %q", got)
	}
	bare := func(_ int, s *inspect.Snapshot) {
		s.Quorum = inspect.Unknown[inspect.Quorum]()
		s.Brokers[1].LogDirs = inspect.Unknown[[]inspect.LogDir]()
		s.Brokers[2].Reachable = inspect.Unknown[bool]()
		s.Transactions, s.Brokers[0].Configs = inspect.Unknown[inspect.Transactions](), inspect.Unknown[[]inspect.Config]()
		over(s, 0, 0, func(p *inspect.Partition) { p.MinInsyncReplicas = inspect.Unknown[int32]() })
	}
	for _, part := range []string{
		"it takes a few looks", "broker 2 did not tell its log directories", "brokers were not asked", "they were not asked for", "broker 1 did not tell its settings", "min.insync.replicas is unknown", "none that can be asked",
	} {
		if got := missing(seen(1, bare)); !strings.Contains(got, part) {
			t.Errorf("%q does not have %q", got, part)
		}
	}
	if links := seen(3, nil).Links(); len(links) != 0 {
		t.Errorf("judged by two looks: %+v", links)
	}
	idle := seen(8, func(_ int, s *inspect.Snapshot) { over(s, 0, 0, func(p *inspect.Partition) { write(p, 500) }) })
	if got := missing(idle); !strings.Contains(got, "nothing was written") {
		t.Errorf("nothing was written: %q", got)
	}
	if r := New(Options{}).Diagnose(); len(r.Findings)+len(r.Checks) != 0 {
		t.Errorf("without a look: %+v", r)
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(sec int, s *inspect.Snapshot)
		want   []string
		says   string
	}{
		{"a follower", func(_ int, s *inspect.Snapshot) { lagging(s, 0, 3, 5) }, []string{"slow-follower 3"}, "each of brokers 1 and 2 that it follows"},
		{"a leader", func(_ int, s *inspect.Snapshot) { lagging(s, 2, 0, 5) }, []string{"slow-leader 2"}, "Brokers 1 and 3 lag behind it"},
		{"both", func(_ int, s *inspect.Snapshot) { lagging(s, 0, 3, 5); lagging(s, 3, 0, 4) }, []string{"slow-broker 3"}, "lags behind those that it follows"},
		{"a link", func(_ int, s *inspect.Snapshot) { lagging(s, 1, 3, 5) }, []string{"slow-link 3"}, "lies between these two"},
		{"a link both ways", func(_ int, s *inspect.Snapshot) { lagging(s, 1, 3, 5); lagging(s, 3, 1, 5) }, []string{"slow-link"}, "lies between these two"},
		{"two followers", func(_ int, s *inspect.Snapshot) { lagging(s, 0, 3, 5); lagging(s, 0, 2, 8) }, []string{"slow-follower 2", "slow-follower 3"}, ""},
		{"everybody", func(_ int, s *inspect.Snapshot) { lagging(s, 0, 0, 6) }, []string{"slow-all"}, "no broker and no link stands out"},
		{"less than can be seen", func(_ int, s *inspect.Snapshot) { lagging(s, 0, 3, 1) }, nil, ""},
		{"one partition of several", func(_ int, s *inspect.Snapshot) { behind(&s.Topics[0].Partitions[0], 2, 500) }, nil, ""},
		{"a follower that leads with a little lag", func(_ int, s *inspect.Snapshot) {
			lagging(s, 0, 3, 5)
			lagging(s, 3, 0, 2)
			s.Topics[0].Partitions[2].Offsets.HW = inspect.Known[inspect.Offset](500)
		}, []string{"slow-follower 3: hw-frozen 1"}, ""},
		{"a follower that leads well, and something else", func(_ int, s *inspect.Snapshot) {
			lagging(s, 0, 3, 5)
			s.Topics[0].Partitions[2].Offsets.HW = inspect.Known[inspect.Offset](500)
		}, []string{"slow-follower 3", "hw-frozen 3"}, ""},
		{"catching up", func(sec int, s *inspect.Snapshot) {
			drop(s, 3)
			lagging(s, 0, 3, inspect.Offset(30-3*sec))
		}, []string{"catching-up 3"}, "back by themselves"},
		{"nothing comes", func(sec int, s *inspect.Snapshot) { lagging(s, 1, 3, inspect.Offset(sec+2)) }, []string{"slow-link 3: hw-frozen 3"}, "Not one record came over it"},
		{"two brokers alone, both ways", func(_ int, s *inspect.Snapshot) {
			lagging(s, 0, 3, 5)
			lagging(s, 3, 0, 3)
			stop(s, 2)
		}, []string{"broker-down 2: replica-out 2", "slow-broker 3"}, "no heartbeat"},
		{"with one leader alone", func(_ int, s *inspect.Snapshot) {
			s.Topics[0].Partitions = []inspect.Partition{s.Topics[0].Partitions[0], s.Topics[0].Partitions[3]}
			lagging(s, 1, 3, 5)
		}, []string{"slow-follower 3"}, "it may be the link"},
		{"out of the ISR, and it gets worse", func(sec int, s *inspect.Snapshot) {
			drop(s, 3)
			over(s, 0, 3, func(p *inspect.Partition) { behind(p, 3, inspect.Offset(500+60*sec)) })
		}, []string{"slow-follower 3: cannot-catch-up 3"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := seen(10, tt.change).Diagnose()
			want(t, r, tt.want...)
			if len(r.Findings) > 0 && !strings.Contains(r.Findings[0].Explanation, tt.says) {
				t.Errorf("%q does not say %q", r.Findings[0].Explanation, tt.says)
			}
		})
	}
}

func TestDown(t *testing.T) {
	t.Parallel()
	failed := func(s *inspect.Snapshot, f inspect.Failure) {
		s.Broker(2).Reachable = inspect.Known(false)
		f.Broker = inspect.Known[inspect.BrokerID](2)
		s.Failures = append(s.Failures, f)
		over(s, 2, 0, func(p *inspect.Partition) { p.Offsets = &inspect.Offsets{Followers: p.Offsets.Followers} })
		over(s, 0, 2, func(p *inspect.Partition) {
			for i := range p.Offsets.Followers {
				if p.Offsets.Followers[i].Broker == 2 {
					p.Offsets.Followers[i].LEO = inspect.Unknown[inspect.Offset]()
				}
			}
		})
	}
	stands := func(s *inspect.Snapshot) {
		over(s, 0, 2, func(p *inspect.Partition) { p.Offsets.HW = inspect.Known[inspect.Offset](1000) })
	}
	for _, tt := range []struct {
		name     string
		change   func(sec int, s *inspect.Snapshot)
		want     []string
		says     string
		severity Severity
	}{
		{"fenced", func(_ int, s *inspect.Snapshot) { stop(s, 2) }, []string{"broker-down 2: replica-out 2"}, "no heartbeat for a whole session", SeverityWarning},
		{"fenced, and it answers", func(sec int, s *inspect.Snapshot) {
			stop(s, 2)
			if sec == 9 {
				s.Broker(2).Reachable = inspect.Known(true)
			}
		}, []string{"broker-fenced 2: replica-out 2"}, "Its process runs", SeverityWarning},
		{"fenced, it answered and does not any more", func(sec int, s *inspect.Snapshot) {
			stop(s, 2)
			if sec == 0 {
				s.Broker(2).Reachable = inspect.Known(true)
			}
		}, []string{"broker-down 2: replica-out 2"}, "no heartbeat for a whole session", SeverityWarning},
		{"two of three", func(_ int, s *inspect.Snapshot) { stop(s, 2); stop(s, 3) }, []string{
			"broker-down 2: writes-refused replica-out 2", "broker-down 3: writes-refused replica-out 3",
		}, "", SeverityCritical},
		{"all", func(_ int, s *inspect.Snapshot) { stop(s, 1); stop(s, 2); stop(s, 3) }, []string{
			"broker-down 1: no-leader replica-out 1", "broker-down 2: no-leader replica-out 2", "broker-down 3: no-leader replica-out 3",
		}, "", SeverityCritical},
		{"not listed", func(_ int, s *inspect.Snapshot) {
			stop(s, 2)
			s.Brokers = append(s.Brokers[:1:1], s.Brokers[2])
			s.Gone = ids{2}
		}, []string{"broker-down 2: replica-out 2"}, "was never started", SeverityWarning},
		{"silent", func(_ int, s *inspect.Snapshot) {
			failed(s, inspect.Failure{Phase: inspect.PhaseRequest, TimedOut: true, Error: "no reply within 3s"})
			stands(s)
		}, []string{"broker-silent 2: hw-frozen 2"}, "replies to nothing (no reply within 3s)", SeverityWarning},
		{"refused", func(_ int, s *inspect.Snapshot) {
			failed(s, inspect.Failure{Phase: inspect.PhaseDial, Error: "connection refused"})
			stands(s)
		}, []string{"broker-silent 2: hw-frozen 2"}, "the process has ended", SeverityWarning},
		{"silent in one look", func(sec int, s *inspect.Snapshot) {
			if sec == 9 {
				failed(s, inspect.Failure{Phase: inspect.PhaseRequest, TimedOut: true, Error: "no reply within 3s"})
			}
		}, nil, "", ""},
		{"refused in one look", func(sec int, s *inspect.Snapshot) {
			if sec == 9 {
				failed(s, inspect.Failure{Phase: inspect.PhaseDial, Error: "connection refused"})
			}
		}, []string{"broker-silent 2"}, "the process has ended", SeverityWarning},
		{"silent by turns", func(sec int, s *inspect.Snapshot) {
			if sec%3 != 0 {
				failed(s, inspect.Failure{Phase: inspect.PhaseRequest, TimedOut: true, Error: "no reply within 3s"})
			}
		}, []string{"broker-stalls 2"}, "stands still for seconds", SeverityWarning},
		{"silent in two looks", func(sec int, s *inspect.Snapshot) {
			if sec == 3 || sec == 6 {
				failed(s, inspect.Failure{Phase: inspect.PhaseRequest, TimedOut: true, Error: "no reply within 3s"})
			}
		}, nil, "", ""},
		{"restarted", func(sec int, s *inspect.Snapshot) {
			if sec > 1 && sec < 7 {
				failed(s, inspect.Failure{Phase: inspect.PhaseDial, Error: "connection refused"})
			}
		}, nil, "", ""},
		{"cannot be dialed", func(_ int, s *inspect.Snapshot) {
			failed(s, inspect.Failure{Phase: inspect.PhaseDial, TimedOut: true, Error: "no reply within 3s"})
			stands(s)
		}, []string{"broker-silent 2: hw-frozen 2"}, "takes connections or not", SeverityWarning},
		{"alive a moment ago", func(sec int, s *inspect.Snapshot) {
			failed(s, inspect.Failure{Phase: inspect.PhaseRequest, TimedOut: true, Error: "no reply within 3s"})
			over(s, 0, 2, func(p *inspect.Partition) {
				if p.Index == 0 {
					p.Offsets.HW = inspect.Known[inspect.Offset](1000)
				}
			})
		}, []string{"broker-silent 2: hw-frozen 2"}, "replies to nothing", SeverityWarning},
		{"out of reach from here alone", func(_ int, s *inspect.Snapshot) {
			failed(s, inspect.Failure{Phase: inspect.PhaseDial, TimedOut: true, Error: "no route to host"})
		}, []string{"broker-unreachable 2"}, "the broker works", SeverityWarning},
		{"back again", func(sec int, s *inspect.Snapshot) {
			if sec < 4 {
				stop(s, 2)
			}
		}, nil, "", ""},
		{"out, and nobody knows why", func(_ int, s *inspect.Snapshot) { drop(s, 3); lagging(s, 0, 3, 0) }, []string{"catching-up 3"}, "", SeverityInfo},
		{"one copy left", func(_ int, s *inspect.Snapshot) {
			over(s, 0, 0, func(p *inspect.Partition) { p.ISR, p.MinInsyncReplicas = p.ISR[:1], inspect.Known[int32](1) })
			s.Asked &^= inspect.PartOffsets
		}, []string{"replica-out 1", "replica-out 2", "replica-out 3"}, "", SeverityCritical},
		{"under min ISR, and nobody knows why", func(_ int, s *inspect.Snapshot) {
			over(s, 0, 0, func(p *inspect.Partition) { p.ISR = p.ISR[:1] })
			s.Asked &^= inspect.PartOffsets
		}, []string{"replica-out 1: writes-refused", "replica-out 2: writes-refused", "replica-out 3: writes-refused"}, "", SeverityCritical},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := seen(10, tt.change).Diagnose()
			want(t, r, tt.want...)
			if len(r.Findings) > 0 && (!strings.Contains(r.Findings[0].Explanation, tt.says) || r.Findings[0].Severity != tt.severity) {
				t.Errorf("%s: %q does not say %q", r.Findings[0].Severity, r.Findings[0].Explanation, tt.says)
			}
		})
	}
}

func TestController(t *testing.T) {
	t.Parallel()
	quorum := func(s *inspect.Snapshot, change func(q *inspect.Quorum)) {
		q, _ := s.Quorum.Get()
		now, _ := q.Voters[0].LastFetch.Get()
		for id := range inspect.BrokerID(2) {
			q.Voters = append(q.Voters, inspect.QuorumReplica{ID: 101 + id, LEO: q.Voters[0].LEO, LastFetch: inspect.Known(now), LastCaughtUp: inspect.Known(now)})
		}
		change(&q)
		s.Quorum = inspect.Known(q)
	}
	lost := func(q *inspect.Quorum, i int) {
		now, _ := q.Voters[i].LastFetch.Get()
		q.Voters[i].LastFetch = inspect.Known(now.Add(-time.Minute))
	}
	for _, tt := range []struct {
		name   string
		change func(sec int, s *inspect.Snapshot)
		want   []string
	}{
		{"three are well", func(_ int, s *inspect.Snapshot) { quorum(s, func(*inspect.Quorum) {}) }, nil},
		{"no leader", func(_ int, s *inspect.Snapshot) {
			s.Quorum = inspect.Known(inspect.Quorum{Leader: inspect.NoBroker, Silent: ids{1, 2, 3}})
		}, []string{"no-controller"}},
		{"one of three is lost", func(_ int, s *inspect.Snapshot) { quorum(s, func(q *inspect.Quorum) { lost(q, 1) }) }, []string{"quorum-at-risk"}},
		{"one of five is lost", func(_ int, s *inspect.Snapshot) {
			quorum(s, func(q *inspect.Quorum) {
				for _, id := range (ids{103, 104}) {
					v := q.Voters[1]
					v.ID = id
					q.Voters = append(q.Voters, v)
				}
				lost(q, 1)
			})
		}, []string{"voter-lost"}},
		{"it moves", func(sec int, s *inspect.Snapshot) {
			quorum(s, func(q *inspect.Quorum) {
				q.Epoch = inspect.Known(inspect.Epoch(sec / 2))
			})
		}, []string{"controller-moves"}},
		{"it moves once", func(sec int, s *inspect.Snapshot) {
			quorum(s, func(q *inspect.Quorum) { q.Epoch = inspect.Known(inspect.Epoch(sec / 5)) })
		}, []string{"controller-moves"}},
		{"an answer that was slow", func(sec int, s *inspect.Snapshot) {
			if sec == 3 {
				q, _ := s.Quorum.Get()
				q.Voters[0].LastFetch = inspect.Known(s.TakenAt.Add(6 * second))
				s.Quorum = inspect.Known(q)
			}
		}, nil},
		{"another clock", func(_ int, s *inspect.Snapshot) {
			q, _ := s.Quorum.Get()
			q.Voters[0].LastFetch = inspect.Known(s.TakenAt.Add(-time.Hour))
			s.Quorum = inspect.Known(q)
		}, []string{"clock-skew 100"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := seen(8, tt.change).Diagnose()
			want(t, r, tt.want...)
			if r.Healthy() != (len(tt.want) == 0 || tt.name == "it moves once") {
				t.Errorf("healthy %v", r.Healthy())
			}
		})
	}
}

func TestDisk(t *testing.T) {
	t.Parallel()
	disk := func(change func(d *inspect.LogDir)) func(int, *inspect.Snapshot) {
		return func(_ int, s *inspect.Snapshot) {
			dirs, _ := s.Brokers[1].LogDirs.Get()
			change(&dirs[0])
		}
	}
	for _, tt := range []struct {
		name     string
		change   func(int, *inspect.Snapshot)
		want     []string
		severity Severity
	}{
		{"half full", disk(func(*inspect.LogDir) {}), nil, ""},
		{"nearly full", disk(func(d *inspect.LogDir) { d.UsableBytes = inspect.Known[int64](60) }), []string{"disk-full 2"}, SeverityWarning},
		{"full", disk(func(d *inspect.LogDir) { d.UsableBytes = inspect.Known[int64](0) }), []string{"disk-full 2"}, SeverityCritical},
		{"of no known size", disk(func(d *inspect.LogDir) {
			d.TotalBytes, d.UsableBytes = inspect.Unknown[int64](), inspect.Unknown[int64]()
		}), nil, ""},
		{"failed", func(i int, s *inspect.Snapshot) {
			disk(func(d *inspect.LogDir) { d.Error = "KAFKA_STORAGE_ERROR" })(i, s)
			drop(s, 2)
			over(s, 0, 2, func(p *inspect.Partition) { p.Offline = ids{2}; behind(p, 2, 900) })
		}, []string{"log-dir-offline 2: replica-out 2"}, SeverityCritical},
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
