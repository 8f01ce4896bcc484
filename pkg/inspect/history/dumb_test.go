package history

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kafkaops/kafkaops/internal/isrrule"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// drawLooks draws a life of a partition: it idles, writes, loses answers, samples
// and leaders, and changes its leader.
func drawLooks(t *rapid.T) []look {
	var looks []look
	k := look{leader: 1, f: offsets(0, 0)}
	leo := map[inspect.BrokerID]inspect.Offset{1: 0, 2: 0, 3: 0}
	for range rapid.IntRange(1, 40).Draw(t, "samples") {
		k.sec += rapid.Int64Range(1, 3).Draw(t, "sec")
		switch rapid.IntRange(0, 9).Draw(t, "event") {
		case 0:
			k.leader = rapid.SampledFrom([]inspect.BrokerID{1, 2, 3, inspect.NoBroker}).Draw(t, "leader")
			k.epoch++
		case 1, 2, 3, 4:
			if k.leader != inspect.NoBroker {
				leo[k.leader] += inspect.Offset(rapid.IntRange(0, 5).Draw(t, "append"))
			}
		}
		for id := range inspect.BrokerID(4) {
			if l := leo[k.leader]; id != 0 && id != k.leader && k.leader != inspect.NoBroker {
				leo[id] = min(l, leo[id]+inspect.Offset(rapid.IntRange(0, 4).Draw(t, "fetch")))
			}
		}
		silent := func(what string, o inspect.Offset) inspect.Offset {
			if rapid.IntRange(0, 9).Draw(t, what) == 0 {
				return no
			}
			return o
		}
		k.l, k.hw, k.f = no, no, nil
		if k.leader != inspect.NoBroker {
			k.l = silent("l", leo[k.leader])
			k.hw = silent("hw", min(leo[1], leo[2], leo[3]))
		}
		for id := range inspect.BrokerID(4) {
			if id != 0 && id != k.leader {
				k.f = append(k.f, silent("f", leo[id]))
			}
		}
		k.noPart = rapid.IntRange(0, 9).Draw(t, "noPart") == 0
		looks = append(looks, k)
	}
	return looks
}

// of returns the LEO of one replica in a look.
func (k look) of(id inspect.BrokerID) inspect.Offset {
	if id == k.leader {
		return k.l
	}
	ids := slices.DeleteFunc([]inspect.BrokerID{1, 2, 3}, func(i inspect.BrokerID) bool { return i == k.leader })
	return k.f[slices.Index(ids, id)]
}

// TestAgainstDumb compares the ring of merged samples with the plain list of all
// samples.
func TestAgainstDumb(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		looks := drawLooks(t)
		h := historyOf(looks...)
		last := looks[len(looks)-1]
		for id := inspect.BrokerID(1); id <= 3; id++ {
			wantLag, wantBehind := Lag{State: LagUnknown}, Lag{State: LagUnknown}
			if !last.noPart && last.l != no && last.of(id) != no {
				wantLag = lagOf(isrrule.TimeLag(samplesOf(looks, id, false), int64(last.of(id))))
				wantBehind = lagOf(isrrule.Behind(samplesOf(looks, id, true)))
			}
			if diff := cmp.Diff(wantLag, h.TimeLag("t", 0, id)); diff != "" {
				t.Fatalf("TimeLag of %d, -want +got:\n%s", id, diff)
			}
			if diff := cmp.Diff(wantBehind, h.Behind("t", 0, id)); diff != "" {
				t.Fatalf("Behind of %d, -want +got:\n%s", id, diff)
			}
		}
		if diff := cmp.Diff(dumbAppendPerSec(looks), h.Rates("t", 0, 0).AppendPerSec); diff != "" {
			t.Fatalf("AppendPerSec, -want +got:\n%s", diff)
		}
	})
}

func samplesOf(looks []look, id inspect.BrokerID, both bool) func(func(isrrule.Sample) bool) {
	return func(yield func(isrrule.Sample) bool) {
		for _, k := range slices.Backward(looks) {
			if k.noPart || k.l == no || both && k.of(id) == no {
				continue
			}
			if !yield(isrrule.Sample{AtMs: k.sec * 1000, LeaderLEO: int64(k.l), ReplicaLEO: int64(k.of(id))}) {
				return
			}
		}
	}
}

func dumbAppendPerSec(looks []look) inspect.Opt[float64] {
	var grown, sec int64
	var prev *look
	for i := range looks {
		k := &looks[i]
		if k.noPart || k.l == no {
			continue
		}
		if prev != nil && k.l >= prev.l {
			grown += int64(k.l - prev.l)
			sec += k.sec - prev.sec
		}
		prev = k
	}
	last := looks[len(looks)-1]
	if last.noPart || last.l == no || sec == 0 {
		return inspect.Unknown[float64]()
	}
	return inspect.Known(float64(grown) / float64(sec))
}
