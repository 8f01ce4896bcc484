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
// or the log moved, moves nothing, but for the offsets of one at the same place: a leader
// tells a session a new HW only once. The one that is waited for is taken.
func TestAnswerToAnOlderQuestion(t *testing.T) {
	t.Parallel()
	asked := FetchPosition{Offset: 7, LeaderEpoch: 4, LastFetchedEpoch: 0}
	olderEpoch := FetchPosition{Offset: 7, LeaderEpoch: 3, LastFetchedEpoch: 0}
	for name, tt := range map[string]struct {
		answer FetchResponse
		hw     Offset
	}{
		"at an offset before":         {FetchResponse{Position: FetchPosition{Offset: 5, LeaderEpoch: 4, LastFetchedEpoch: 0}}, 3},
		"of another log":              {FetchResponse{Position: FetchPosition{Offset: 7, LeaderEpoch: 4, LastFetchedEpoch: -1}}, 3},
		"an older epoch's error":      {FetchResponse{Position: olderEpoch, Err: FencedLeaderEpoch}, 3},
		"an older epoch's divergence": {FetchResponse{Position: olderEpoch, Diverging: logstate.EpochEnd{Epoch: 0, End: 2}}, 3},
		"an older epoch's records": {FetchResponse{Position: olderEpoch, Batches: []Batch{{
			BaseOffset: 7, LastOffset: 7, ProducerID: logstate.NoProducerID,
		}}}, 3},
		"an older epoch's offsets": {FetchResponse{Position: olderEpoch}, 7},
		"what is waited for":       {FetchResponse{Position: asked}, 7},
	} {
		w := newWorld(2, Settings{MinISR: 1})
		cfg := w.cfg
		cfg.Self, cfg.Brokers = 2, w
		r := New(&cfg, w.settings, Log{End: 7, HW: 3, Epochs: logstate.NewEpochs([]logstate.EpochStart{{Epoch: 0, Start: 0}})})
		r.Step(0, Partition{LeaderEpoch: 4, Leader: 1, Replicas: []BrokerID{1, 2}, ISR: []BrokerID{1, 2}}, nil)
		in := tt.answer
		in.HW = 7
		if in.Diverging == (logstate.EpochEnd{}) {
			in.Diverging = logstate.UndefinedEnd
		}
		effects := r.Step(1, in, nil)
		if got := r.Status().HW; got != tt.hw || tt.hw == 3 && len(effects) > 0 {
			t.Errorf("%s: HW %d, want %d; %+v", name, got, tt.hw, effects)
		}
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
