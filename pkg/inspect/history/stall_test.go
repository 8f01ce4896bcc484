package history

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStall(t *testing.T) {
	t.Parallel()
	at := func(sec int) time.Time { return start.Add(time.Duration(sec) * time.Second) }
	for _, tt := range []struct {
		name  string
		looks []look
		want  *Stall // nil: none
		weak  bool
	}{
		{"no sample", nil, nil, false},
		{"one sample", []look{{l: 20, hw: 10}}, nil, false},
		{"the HW moves", []look{{sec: 0, l: 20, hw: 10}, {sec: 1, l: 30, hw: 20}}, nil, false},
		{"idle", []look{{sec: 0, l: 20, hw: 20}, {sec: 1, l: 20, hw: 20}}, nil, false},
		{"one sample above an idle one", []look{{sec: 0, l: 20, hw: 20}, {sec: 1, l: 25, hw: 20}}, nil, false},
		{"HW beyond L0 is a busy partition", []look{{sec: 0, l: 20, hw: 22}, {sec: 1, l: 22, hw: 22}}, nil, false},
		{
			"standing, nobody writes",
			[]look{{sec: 0, l: 20, hw: 10}, {sec: 3, l: 20, hw: 10}},
			&Stall{HW: 10, Since: at(0), For: 3 * time.Second, Samples: 2, Uncommitted: 10},
			false,
		},
		{
			// acks=all producers may well wait: their ISR has not shrunk yet.
			"a follower is stuck, the ISR is whole",
			[]look{
				{sec: 0, l: 10, hw: 10, minISR: 2}, {sec: 1, l: 20, hw: 10, minISR: 2}, {sec: 2, l: 30, hw: 10, minISR: 2},
			},
			&Stall{HW: 10, Since: at(1), For: time.Second, Samples: 2, Uncommitted: 20, Appended: 20},
			false,
		},
		{
			"written under min ISR",
			[]look{
				{sec: 0, l: 50, hw: 50, minISR: 2, isr: 1},
				{sec: 1, l: 50, hw: 50, minISR: 2, isr: 1},
				{sec: 2, l: 70, hw: 50, minISR: 2, isr: 1},
				{sec: 3, l: 91, hw: 50, minISR: 2, isr: 1},
			},
			&Stall{HW: 50, Since: at(2), For: time.Second, Samples: 2, Uncommitted: 41, Appended: 41, AppendedUnderMinISR: 41},
			true,
		},
		{
			// The leader may have learned of the shrink after the first sample.
			"the first interval proves nothing",
			[]look{
				{sec: 0, l: 50, hw: 50, minISR: 2}, {sec: 1, l: 60, hw: 50, minISR: 2, isr: 1}, {sec: 2, l: 70, hw: 50, minISR: 2, isr: 1},
			},
			&Stall{HW: 50, Since: at(1), For: time.Second, Samples: 2, Uncommitted: 20, Appended: 20},
			false,
		},
		{
			"nor does one with a missed sample",
			[]look{
				{sec: 0, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 1, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 2, noPart: true},
				{sec: 3, l: 60, hw: 40, minISR: 2, isr: 1},
			},
			&Stall{HW: 40, Since: at(0), For: 3 * time.Second, Samples: 3, Uncommitted: 20, Appended: 10},
			false,
		},
		{
			"nor two equal samples with a missed one between",
			[]look{
				{sec: 0, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 1, noPart: true},
				{sec: 2, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 3, l: 60, hw: 40, minISR: 2, isr: 1},
			},
			&Stall{HW: 40, Since: at(0), For: 3 * time.Second, Samples: 3, Uncommitted: 20, Appended: 10},
			false,
		},
		{
			"nor two equal samples of two leader epochs",
			[]look{
				{sec: 0, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 1, l: 50, hw: 40, minISR: 2, isr: 1, epoch: 1},
				{sec: 2, l: 60, hw: 40, minISR: 2, isr: 1, epoch: 1},
			},
			&Stall{HW: 40, Since: at(0), For: 2 * time.Second, Samples: 3, Uncommitted: 20, Appended: 10},
			false,
		},
		{
			"nor one with the ISR restored in between",
			[]look{
				{sec: 0, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 1, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 2, l: 50, hw: 40, minISR: 2, isr: 2},
				{sec: 3, l: 60, hw: 40, minISR: 2, isr: 1},
			},
			&Stall{HW: 40, Since: at(0), For: 3 * time.Second, Samples: 4, Uncommitted: 20, Appended: 10},
			false,
		},
		{
			// A new leader's log may be longer than the sampled one without a write.
			"nor one with a new leader, unseen itself",
			[]look{
				{sec: 0, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 1, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 2, l: no, hw: no, epoch: 1, minISR: 2, isr: 1},
				{sec: 3, l: no, hw: no, epoch: 1, minISR: 2, isr: 1},
				{sec: 4, l: 60, hw: 40, epoch: 1, minISR: 2, isr: 1},
			},
			&Stall{HW: 40, Since: at(0), For: 4 * time.Second, Samples: 3, Uncommitted: 20},
			false,
		},
		{
			"unanswered in between",
			[]look{
				{sec: 0, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 1, l: 50, hw: 40, minISR: 2, isr: 1},
				{sec: 2, l: no, hw: no, minISR: 2, isr: 1},
				{sec: 3, l: 60, hw: 40, minISR: 2, isr: 1},
			},
			&Stall{HW: 40, Since: at(0), For: 3 * time.Second, Samples: 3, Uncommitted: 20, Appended: 10, AppendedUnderMinISR: 10},
			true,
		},
		{
			"the minimum is unknown",
			[]look{
				{sec: 0, l: 50, hw: 40, isr: 1}, {sec: 1, l: 55, hw: 40, isr: 1}, {sec: 2, l: 60, hw: 40, isr: 1},
			},
			&Stall{HW: 40, Since: at(0), For: 2 * time.Second, Samples: 3, Uncommitted: 20, Appended: 10},
			false,
		},
		{
			// Kafka's effective minimum is no more than RF, so acks=all goes on.
			"the minimum is above RF",
			[]look{
				{sec: 0, l: 50, hw: 40, minISR: 5}, {sec: 1, l: 55, hw: 40, minISR: 5}, {sec: 2, l: 60, hw: 40, minISR: 5},
			},
			&Stall{HW: 40, Since: at(0), For: 2 * time.Second, Samples: 3, Uncommitted: 20, Appended: 10},
			false,
		},
		{
			// Cut off by an unclean election, then written anew: two stalls.
			"the waiting records were cut off",
			[]look{
				{sec: 0, l: 50, hw: 40},
				{sec: 1, l: 60, hw: 40},
				{sec: 2, l: 40, hw: 40, epoch: 1},
				{sec: 3, l: 45, hw: 40, epoch: 1},
				{sec: 4, l: 45, hw: 40, epoch: 1},
			},
			&Stall{HW: 40, Since: at(3), For: time.Second, Samples: 2, Uncommitted: 5, Appended: 5},
			false,
		},
		{"unknown now", []look{{sec: 0, l: 20, hw: 10}, {sec: 1, l: 30, hw: 10}, {sec: 2, l: no, hw: no}}, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got *Stall
			if s, ok := historyOf(tt.looks...).Stall("t", 0); ok {
				got = &s
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
			if got != nil && got.ProvesWeakAcks() != tt.weak {
				t.Errorf("ProvesWeakAcks = %v, want %v", !tt.weak, tt.weak)
			}
		})
	}
}
