package cli

import (
	"reflect"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestInOrder: what has to come first does, where the times allow it, and times stay as
// they were seen.
func TestInOrder(t *testing.T) {
	t.Parallel()
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	ack := func(after int) load.Step { return load.Step{What: load.StepAcknowledged, After: us(after)} }
	hw := func(after, unseen int) load.Step {
		return load.Step{What: load.StepCommitted, Broker: 1, After: us(after), Unseen: us(unseen)}
	}
	log := func(id inspect.BrokerID, after, unseen int) load.Step {
		return load.Step{What: load.StepAppended, Broker: id, After: us(after), Unseen: us(unseen)}
	}
	for name, tt := range map[string]struct {
		acks      load.Acks
		seen, out []load.Step
	}{
		"answered, then seen to be appended": {load.AcksLeader, []load.Step{ack(234), log(1, 265, 265)}, []load.Step{log(1, 265, 265), ack(234)}},
		"sent before anybody has it":         {load.AcksNone, []load.Step{ack(85), log(1, 548, 548)}, []load.Step{ack(85), log(1, 548, 548)}},
		"with others between": {
			load.AcksLeader, []load.Step{ack(10), log(2, 20, 5), log(1, 30, 30)}, []load.Step{log(1, 30, 30), ack(10), log(2, 20, 5)},
		},
		"the answer before the HW": {load.AcksAll, []load.Step{ack(142), hw(146, 26)}, []load.Step{hw(146, 26), ack(142)}},
		"acks=1 does not wait for the HW": {
			load.AcksLeader, []load.Step{hw(5, 5), log(1, 6, 6), ack(9)}, []load.Step{log(1, 6, 6), hw(5, 5), ack(9)},
		},
		"certainly the other way round": {load.AcksAll, []load.Step{ack(100), hw(146, 26)}, []load.Step{ack(100), hw(146, 26)}},
	} {
		if got := inOrder(tt.seen, 1, tt.acks); !reflect.DeepEqual(got, tt.out) {
			t.Errorf("%s: got %v, want %v", name, got, tt.out)
		}
	}
}

// TestFitted: prose is broken anew where it does not fit; what is indented keeps its lines.
func TestFitted(t *testing.T) {
	t.Parallel()
	text := []string{"one two three four five six", "seven", "  acks=0  after 1ms", "", "eight"}
	for width, want := range map[int][]string{
		0: text, 80: text,
		20: {"one two three four", "five six seven", "  acks=0  after 1ms", "", "eight"},
		12: {"one two", "three four", "five six", "seven", "  acks=0", "    after 1ms", "", "eight"},
	} {
		if got := fitted(text, width); !reflect.DeepEqual(got, want) {
			t.Errorf("width %d: got %q, want %q", width, got, want)
		}
	}
}
