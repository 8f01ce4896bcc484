package inspect

import (
	"slices"
	"strings"
	"testing"
)

// part builds a partition from the shorthand of the tests: a list of ids is a
// string of digits.
func part(leader BrokerID, replicas, isr string, minISR int32) *Partition {
	p := &Partition{
		Topic: "t", Leader: leader, Replicas: ids(replicas), ISR: ids(isr),
		Adding: Known[[]BrokerID](nil), Removing: Known[[]BrokerID](nil),
	}
	if minISR > 0 {
		p.MinInsyncReplicas = Known(minISR)
	}
	return p
}

func ids(digits string) []BrokerID {
	var out []BrokerID
	for _, d := range digits {
		out = append(out, BrokerID(d-'0'))
	}
	return out
}

func (p *Partition) moving(adding, removing string) *Partition {
	p.Adding, p.Removing = Known(ids(adding)), Known(ids(removing))
	return p
}

func words(h Health) string {
	out := make([]string, len(h.Status))
	for i, s := range h.Status {
		out[i] = string(s)
	}
	return strings.Join(out, " ")
}

func TestHealth(t *testing.T) {
	t.Parallel()
	unknownMoves := part(1, "123", "123", 2)
	unknownMoves.Adding, unknownMoves.Removing = Unknown[[]BrokerID](), Unknown[[]BrokerID]()
	for _, tt := range []struct {
		name     string
		p        *Partition
		want     string
		headroom string
	}{
		{"healthy", part(1, "123", "123", 2), "ok", "1"},
		{"isr in another order", part(1, "123", "312", 2), "ok", "1"},
		{"lost one", part(1, "123", "12", 1), "under-replicated", "1"},
		{"lost one, at min", part(1, "123", "12", 2), "at-min-isr under-replicated", "0"},
		{"lost two, under min", part(1, "123", "1", 2), "under-min-isr under-replicated", "-1"},
		// Built that way is not at-min: nothing was lost.
		{"at min by construction", part(1, "12", "12", 2), "ok", "0"},
		{"RF 1", part(1, "1", "1", 1), "ok", "0"},
		// https://github.com/apache/kafka/pull/14594: the effective minimum is 1.
		{"min above RF", part(2, "2", "2", 2), "ok", "0"},
		// https://github.com/birdayz/kaf/pull/114, and Kafka 4's empty ISR.
		{"leaderless, ISR kept", part(NoBroker, "123", "2", 1), "offline at-min-isr under-replicated", "0"},
		{"leaderless, ISR empty", part(NoBroker, "123", "", 1), "offline under-min-isr under-replicated", "-1"},
		{"leaderless, RF 1", part(NoBroker, "1", "", 1), "offline under-min-isr under-replicated", "-1"},
		// https://github.com/segmentio/topicctl/pull/155: two independent words.
		{"lost one and wrong leader", part(1, "312", "12", 1), "under-replicated wrong-leader", "1"},
		{"wrong leader alone", part(2, "123", "123", 2), "wrong-leader", "1"},
		// https://github.com/apache/kafka/pull/8837 (KAFKA-10125).
		{"reassigning", part(1, "1234", "123", 2).moving("4", "1"), "reassigning", "1"},
		{"reassigning and lost one", part(1, "1234", "12", 1).moving("4", "1"), "under-replicated reassigning", "1"},
		// By number 3 of 3 are in sync; the added one must not hide the lost one.
		{"added one hides a lost one", part(1, "1234", "124", 2).moving("4", ""), "under-replicated reassigning", "1"},
		{"reassignment ended between the calls", part(2, "234", "234", 2).moving("4", "1"), "ok", "1"},
		{"ended, and lost one", part(2, "234", "23", 1).moving("4", "1"), "under-replicated", "1"},
		{"reassignment began between the calls", part(1, "123", "123", 2).moving("4", ""), "ok", "1"},
		{"min unknown", part(1, "123", "123", 0), "unknown", "-"},
		{"min unknown, lost one", part(1, "123", "12", 0), "under-replicated unknown", "-"},
		{"min unknown, ISR empty", part(NoBroker, "12", "", 0), "offline under-min-isr under-replicated unknown", "-"},
		{"reassignments unknown", unknownMoves, "unknown", "1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := tt.p.Health()
			if got := words(h); got != tt.want {
				t.Errorf("status = %q, want %q", got, tt.want)
			}
			if got := h.Headroom.String(); got != tt.headroom {
				t.Errorf("headroom = %s, want %s", got, tt.headroom)
			}
		})
	}
}

func TestHealthFindings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		p    *Partition
		want []FindingID
	}{
		{"headroom", part(1, "123", "123", 2), nil},
		{"lost its headroom", part(1, "123", "12", 2), nil},
		{"none by construction", part(1, "12", "12", 2), []FindingID{FindingNoHeadroom}},
		{"min above RF", part(2, "2", "2", 2), []FindingID{FindingSingleReplica, FindingNoHeadroom, FindingMinISRExceedsRF}},
		{"min unknown", part(2, "2", "2", 0), []FindingID{FindingSingleReplica}},
	} {
		if got := tt.p.Health().Findings; !slices.Equal(got, tt.want) {
			t.Errorf("%s: findings = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestRawHealth holds kafka-topics.sh's rules against ours on the states where
// they differ, as seen on Kafka 4.4.0.
func TestRawHealth(t *testing.T) {
	t.Parallel()
	live := func(id BrokerID) bool { return id < 9 }
	for _, tt := range []struct {
		name, ours, raw string
		p               *Partition
	}{
		{"RF 1, min 2", "ok", "under-min-isr", part(2, "2", "2", 2)},
		{"RF = min", "ok", "at-min-isr", part(1, "12", "12", 2)},
		{"leaderless, ISR kept", "offline under-replicated", "offline under-min-isr under-replicated", part(NoBroker, "123", "12", 1)},
		{"leader is not live", "ok", "offline", part(9, "912", "912", 2)},
		{"added one hides a lost one", "under-replicated reassigning", "reassigning", part(1, "1234", "124", 2).moving("4", "")},
		// Its rule counts a stale answer as a reassignment, and so misses the loss.
		{"ended, and lost one", "under-replicated", "ok", part(2, "234", "23", 1).moving("4", "1")},
	} {
		if got := words(tt.p.Health()); got != tt.ours {
			t.Errorf("%s: ours = %q, want %q", tt.name, got, tt.ours)
		}
		if got := words(tt.p.RawHealth(live)); got != tt.raw {
			t.Errorf("%s: raw = %q, want %q", tt.name, got, tt.raw)
		}
	}
}
