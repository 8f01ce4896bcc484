package replica

import (
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// TestNotEnoughReplicasAfterAppend: the gate of the HW makes this unreachable by
// steps, so the rule is asked directly.
func TestNotEnoughReplicasAfterAppend(t *testing.T) {
	t.Parallel()
	w := newWorld(3, Settings{MinISR: 2})
	w.fail = t.Fatalf
	w.elect(1, []BrokerID{1}, w.ids)
	r := w.nodes[1].r
	if got := r.enoughReplicas(); got != NotEnoughReplicasAfterAppend {
		t.Errorf("ISR of 1, minimum 2: %s", codeName(got))
	}
	// The maximal ISR counts here, the committed one at the gate.
	w.fetch(w.nodes[2])
	if got := r.enoughReplicas(); got != None || !r.underMinISR() {
		t.Errorf("one more proposed: %s, under min ISR %v", codeName(got), r.underMinISR())
	}
}

// TestCutToHWWithoutEpochs: only a log of which no epoch is known is cut to its
// HW, as there is nothing to ask the leader with.
func TestCutToHWWithoutEpochs(t *testing.T) {
	t.Parallel()
	w := newWorld(2, Settings{MinISR: 1})
	cfg := w.cfg
	cfg.Self, cfg.Brokers = 2, w
	for _, tt := range []struct {
		name   string
		epochs []logstate.EpochStart
		want   Effect
	}{
		{"none", nil, Truncate{To: 3}},
		{"one", []logstate.EpochStart{{Epoch: 0, Start: 0}}, FetchFrom{
			Leader: 1, Position: FetchPosition{Offset: 7, LeaderEpoch: 4, LastFetchedEpoch: 0},
		}},
	} {
		r := New(&cfg, w.settings, Log{End: 7, HW: 3, Epochs: logstate.NewEpochs(tt.epochs)})
		effects := r.Step(0, Partition{LeaderEpoch: 4, Leader: 1, Replicas: []BrokerID{1, 2}, ISR: []BrokerID{1, 2}}, nil)
		if got := effects[len(effects)-1]; got != tt.want {
			t.Errorf("epochs %s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestAnswerToAnOlderQuestion: an answer that is late, to what was asked before the epoch
// or the log moved, moves nothing; the one that is waited for does.
func TestAnswerToAnOlderQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(2, Settings{MinISR: 1})
	cfg := w.cfg
	cfg.Self, cfg.Brokers = 2, w
	r := New(&cfg, w.settings, Log{End: 7, HW: 3, Epochs: logstate.NewEpochs([]logstate.EpochStart{{Epoch: 0, Start: 0}})})
	r.Step(0, Partition{LeaderEpoch: 4, Leader: 1, Replicas: []BrokerID{1, 2}, ISR: []BrokerID{1, 2}}, nil)
	asked := FetchPosition{Offset: 7, LeaderEpoch: 4, LastFetchedEpoch: 0}
	answer := func(asked FetchPosition) []Effect {
		return r.Step(1, FetchResponse{Position: asked, HW: 7, Diverging: logstate.UndefinedEnd}, nil)
	}
	for _, older := range []FetchPosition{
		{Offset: 5, LeaderEpoch: 4, LastFetchedEpoch: 0},
		{Offset: 7, LeaderEpoch: 3, LastFetchedEpoch: 0},
		{Offset: 7, LeaderEpoch: 4, LastFetchedEpoch: -1},
	} {
		if effects := answer(older); len(effects) > 0 || r.Status().HW != 3 {
			t.Errorf("%+v is not what was asked: %+v, HW %d", older, effects, r.Status().HW)
		}
	}
	if answer(asked); r.Status().HW != 7 {
		t.Errorf("HW %d, want the leader's 7", r.Status().HW)
	}
}

// TestNew: the HW of a checkpoint is within the log (Partition.createLog).
func TestNew(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ checkpoint, want Offset }{{0, 5}, {5, 5}, {7, 7}, {9, 9}, {12, 9}} {
		r := New(&Config{}, Settings{}, Log{Start: 5, End: 9, HW: tt.checkpoint})
		if got := r.Status().HW; got != tt.want {
			t.Errorf("checkpoint %d: HW %d, want %d", tt.checkpoint, got, tt.want)
		}
	}
}

// TestBrokenPromises: what only a faulty node can do is a panic, not an error.
func TestBrokenPromises(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(){
		"a log that ends before it starts": func() { New(&Config{}, Settings{}, Log{Start: 2, End: 1}) },
		"an answer without an order":       func() { New(&Config{}, Settings{}, Log{}).Step(0, Synced{}, nil) },
		"an unknown input":                 func() { New(&Config{}, Settings{}, Log{}).Step(0, nil, nil) },
		"two orders": func() {
			r := New(&Config{}, Settings{}, Log{})
			r.order(syncing, Sync{})
			r.order(syncing, Sync{})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			do()
		}()
	}
}
