package isrlog

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// told is a look, and who told it of which leader epoch.
type told struct {
	by     string
	epoch  int
	leader inspect.BrokerID // 0: none
	isr    ids
	elr    ids // nil: not told
}

// tallied are the events of looks, by what they are.
type tallied struct{ shrinks, expands, elections, unclean int }

func tally(d *Diff, looks []*inspect.Snapshot) (n tallied) {
	for _, s := range looks {
		for _, e := range d.Look(s, false) {
			switch {
			case e.Type == inspect.IsrShrink:
				n.shrinks++
			case e.Type == inspect.IsrExpand:
				n.expands++
			case e.Type == inspect.IsrLeader && e.Cause == inspect.CauseUncleanElection:
				n.unclean++
			case e.Type == inspect.IsrLeader && e.Leader != inspect.NoBroker:
				n.elections++
			}
		}
	}
	return n
}

// TestDiffBehind: brokers that were paused or cut off tell an older state. Nothing of
// that is told, however often they are asked in between.
func TestDiffBehind(t *testing.T) {
	t.Parallel()
	whole, shrunk := ids{1, 2, 3}, ids{2, 3}
	for _, tt := range []struct {
		name  string
		looks []told
		want  tallied
	}{
		{"one that was paused answers once, by the leader epoch", []told{
			{"a", 5, 1, whole, nil}, {"b", 6, 2, shrunk, nil}, {"a", 5, 1, whole, nil}, {"a", 6, 2, shrunk, nil}, {"a", 6, 2, whole, nil},
		}, tallied{1, 1, 1, 0}},
		{"of a partition that it does not lead", []told{
			{"a", 5, 2, whole, nil}, {"b", 5, 2, shrunk, nil}, {"b", 5, 2, shrunk, nil}, {"a", 5, 2, whole, nil}, {"a", 5, 2, shrunk, nil}, {"a", 5, 2, whole, nil},
		}, tallied{1, 1, 0, 0}},
		{"an unclean election is one", []told{
			{"a", 5, 1, ids{1}, nil}, {"b", 6, 2, ids{2}, nil}, {"a", 5, 1, ids{1}, nil}, {"b", 6, 2, ids{2}, nil}, {"a", 5, 1, ids{1}, nil}, {"b", 6, 2, ids{2}, nil},
		}, tallied{1, 1, 0, 1}},
		{"another one tells what is newer", []told{{"a", 5, 2, whole, nil}, {"b", 6, 2, shrunk, nil}}, tallied{shrinks: 1}},
		{"another one tells what is the same", []told{{"a", 5, 2, whole, nil}, {"b", 5, 2, whole, nil}, {"b", 5, 2, shrunk, nil}}, tallied{shrinks: 1}},
		{"what nobody is said to have told is the controller's own", []told{
			{"a", 5, 2, whole, nil}, {"", 5, 2, shrunk, nil}, {"a", 5, 2, whole, nil}, {"a", 5, 2, shrunk, nil}, {"", 5, 2, whole, nil},
		}, tallied{1, 1, 0, 0}},
	} {
		var looks []*inspect.Snapshot
		for i, l := range tt.looks {
			looks = append(looks, seen{leader: l.leader, isr: l.isr, by: l.by, noELR: true}.look(i, l.epoch))
		}
		if got := tally(NewDiff(), looks); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestDiffOlderForGood: a state that stays older is what there is, and nothing is told by
// it. A topic that was created anew is none.
func TestDiffOlderForGood(t *testing.T) {
	t.Parallel()
	d := NewDiff()
	d.Look(seen{leader: 1, isr: ids{1}}.look(0, 100), false)
	older := seen{leader: 2, isr: ids{2, 3}}
	for i := range maxOlder {
		s := older.look(i+1, i)
		if !d.IsOlder(s) {
			t.Fatalf("look %d is not older", i)
		}
		d.Look(s, false)
	}
	if d.Restarts() != 0 {
		t.Errorf("after %d older looks it has begun anew", maxOlder)
	}
	if d.IsOlder(older.look(maxOlder+1, maxOlder)) {
		t.Error("it is passed over for good")
	}
	if got := d.Look(older.look(maxOlder+1, maxOlder), false); len(got) > 0 || d.Restarts() != 1 {
		t.Errorf("after one more: %v, begun anew %d times; want no event, and once", got, d.Restarts())
	}
	if got := d.Look(seen{leader: 2, isr: ids{2}}.look(maxOlder+2, maxOlder), false); len(got) != 1 {
		t.Errorf("then %v, want one shrink", got)
	}
	if d.IsOlder(seen{leader: 1, isr: ids{1}, id: "anew"}.look(maxOlder+3, 0)) {
		t.Error("a topic that was created anew is older")
	}
}

// TestDiffForgets topics that are gone, after a while.
func TestDiffForgets(t *testing.T) {
	t.Parallel()
	d := NewDiff()
	d.Look(seen{leader: 1, isr: ids{1, 2, 3}}.look(0, 0), false)
	gone := seen{missing: true}
	d.Look(gone.look(int(forgetAfter/time.Second), 0), false)
	if len(d.topics) != 1 {
		t.Error("it is forgotten at once")
	}
	if d.Look(gone.look(int(forgetAfter/time.Second)+1, 0), false); len(d.topics) != 0 {
		t.Errorf("%d topics are remembered that are gone", len(d.topics))
	}
}

// TestDiffUncleanAfterLeaderless: a partition without a leader, and who leads it then.
// The epochs are as a controller gives them: one more with every leader, and without one.
func TestDiffUncleanAfterLeaderless(t *testing.T) {
	t.Parallel()
	before, alone, none := told{"b", 1, 2, ids{2, 3}, nil}, told{"a", 2, 2, ids{2}, nil}, ids{}
	leaderless := func(by string, elr ids) told { return told{by, 3, 0, none, elr} }
	led := func(by string, who inspect.BrokerID) told { return told{by, 4, who, ids{who}, nil} }
	for _, tt := range []struct {
		name    string
		looks   []told
		unclean int
	}{
		{"plain", []told{alone, leaderless("a", ids{2}), led("a", 3), led("a", 3)}, 1},
		{"the election falls into the last look without a leader", []told{
			alone, leaderless("a", ids{2}), leaderless("a", ids{2}), leaderless("a", nil), led("a", 3), led("a", 3),
		}, 1},
		{"and another broker tells the leader", []told{
			alone, leaderless("a", ids{2}), leaderless("b", nil), led("c", 3), led("a", 3), led("b", 3),
		}, 1},
		{"one that was paused tells what was before, first and in between", []told{
			before, alone, leaderless("a", ids{2}), before, leaderless("a", ids{2}),
			before, led("a", 3), leaderless("b", ids{2}), led("b", 3), led("a", 3),
		}, 1},
		{"no look without a leader", []told{alone, led("b", 3), led("a", 3)}, 1},
		{"nobody eligible is left, and the last leader is taken", []told{
			alone, leaderless("a", ids{2}), leaderless("a", none), led("a", 2),
		}, 1},
		{"nobody eligible is left, and another is taken", []told{leaderless("a", none), led("a", 3)}, 1},
		{"from the ELR", []told{alone, leaderless("a", ids{2, 3}), leaderless("a", nil), led("a", 3)}, 0},
		{"its leader comes back", []told{alone, leaderless("a", ids{2}), leaderless("a", nil), led("a", 2)}, 0},
		{"the ELR was never told", []told{alone, leaderless("a", nil), leaderless("a", nil), led("a", 3)}, 0},
		{"it was told of a time without a leader before", []told{
			alone, leaderless("a", ids{2}), {"a", 5, 0, none, nil}, {"a", 6, 3, ids{3}, nil},
		}, 0},
		{"it is told again", []told{
			alone, leaderless("a", ids{2}), {"a", 5, 0, none, nil}, {"a", 5, 0, none, ids{2}}, {"a", 6, 3, ids{3}, nil},
		}, 1},
		{"the leader is not alive, and still is the leader", []told{alone, {"a", 2, 0, ids{2}, nil}, {"a", 3, 3, ids{3}, nil}}, 0},
		{"the first look knows nothing of before", []told{leaderless("a", nil), led("a", 3)}, 0},
	} {
		var looks []*inspect.Snapshot
		for i, l := range tt.looks {
			looks = append(looks, seen{leader: l.leader, isr: l.isr, elr: l.elr, replicas: ids{2, 3}, min: 1, by: l.by}.look(i, l.epoch))
		}
		if got := tally(NewDiff(), looks); got.unclean != tt.unclean {
			t.Errorf("%s: got %d unclean elections, want %d", tt.name, got.unclean, tt.unclean)
		}
	}
}

// TestDiffUncleanStraight: a leader that goes and one that comes, with no look in
// between. Where no unclean election is allowed, who comes had joined the ISR before: a
// broker of a rolling restart, and the next one that is stopped at once.
func TestDiffUncleanStraight(t *testing.T) {
	t.Parallel()
	yes, no, unknown := inspect.Known(true), inspect.Known(false), inspect.Unknown[bool]()
	for _, tt := range []struct {
		name    string
		configs []inspect.Opt[bool] // at each look
		unclean int
	}{
		{"allowed", []inspect.Opt[bool]{yes, yes}, 1},
		{"not allowed", []inspect.Opt[bool]{no, no}, 0},
		{"not allowed, as a sample does not tell", []inspect.Opt[bool]{no, unknown}, 0},
		{"not known", []inspect.Opt[bool]{unknown, unknown}, 1},
		{"allowed since", []inspect.Opt[bool]{no, yes}, 1},
	} {
		var looks []*inspect.Snapshot
		for i, may := range tt.configs {
			leader := inspect.BrokerID(2 + i)
			looks = append(looks, seen{leader: leader, isr: ids{leader}, replicas: ids{2, 3}, min: 1, unclean: may}.look(i, i))
		}
		if got := tally(NewDiff(), looks); got.unclean != tt.unclean {
			t.Errorf("%s: got %d unclean elections, want %d", tt.name, got.unclean, tt.unclean)
		}
	}
	var looks []*inspect.Snapshot
	for i, l := range []seen{{leader: 2, isr: ids{2}, unclean: no}, {isr: ids{}, elr: ids{2}, unclean: no}, {leader: 3, isr: ids{3}, unclean: no}} {
		looks = append(looks, l.look(i, i))
	}
	if got := tally(NewDiff(), looks); got.unclean != 1 {
		t.Errorf("asked for by an administrator: got %d unclean elections, want 1", got.unclean)
	}
}

// TestDiffReassignmentIsNotUnclean: what a reassignment takes away had been joined before.
func TestDiffReassignmentIsNotUnclean(t *testing.T) {
	t.Parallel()
	for _, looks := range [][]seen{
		{{leader: 3, isr: ids{3}, replicas: ids{1, 3}}, {leader: 1, isr: ids{1}, replicas: ids{1}}},
		{{leader: 3, isr: ids{3}, replicas: ids{2, 1, 3}}, {leader: 1, isr: ids{1}, replicas: ids{2, 1}}},
	} {
		for _, noELR := range []bool{false, true} {
			var taken []*inspect.Snapshot
			for i, l := range looks {
				l.noELR = noELR
				taken = append(taken, l.look(i, i))
			}
			if got := tally(NewDiff(), taken); got.unclean != 0 || got.elections != 1 {
				t.Errorf("%+v, no ELR %v: got %+v, want one election that is clean", looks, noELR, got)
			}
		}
	}
}

// TestDiffRebase: what somebody else has told is not told again, though the last look
// knew less or more of it; and what comes then is, once it stands.
func TestDiffRebase(t *testing.T) {
	t.Parallel()
	d := NewDiff()
	whole, two, one := seen{leader: 1, isr: ids{1, 2, 3}, by: "a"}, seen{leader: 1, isr: ids{1, 2}, by: "a"}, seen{leader: 1, isr: ids{1}, by: "a"}
	own := two
	own.by = ""
	d.Look(whole.look(0, 7), false)
	d.Look(one.look(1, 8), false)
	d.Rebase(own.look(2, 7))
	var got []string
	for i, l := range []seen{two, whole, whole, one} {
		for _, e := range d.Look(l.look(i+3, 8), false) {
			got = append(got, brief(&e))
		}
	}
	want := []string{
		"t-0 expand caught-up [3] isr [1 2 3] leader 1",
		"t-0 shrink unknown [2 3] isr [1] leader 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	d.Rebase(own.look(7, 8))
	for i, l := range []seen{one, two, two} { // a broker that is a moment behind, and is not
		l.still = true
		if events := d.Look(l.look(i+8, 8), false); len(events) > 0 {
			t.Errorf("look %d after it: %v", i, events)
		}
	}
	// A topic that was created anew, and one that no look has seen.
	d.Rebase(seen{leader: 2, isr: ids{2, 3}, id: "anew"}.look(11, 0))
	if events := d.Look(seen{leader: 2, isr: ids{2}, id: "anew", by: "a"}.look(12, 1), false); len(events) != 1 || events[0].Type != inspect.IsrShrink {
		t.Errorf("of a topic that was created anew: %v", events)
	}
}
