package storage

import (
	"bytes"
	"errors"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

func TestTruncateTo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		to         Offset
		start, end Offset
		first      Offset // of the first segment
		whole      Offset // batches before it are there
	}{
		{"nothing", 300, 0, 300, 0, 300},
		{"beyond the end", 400, 0, 300, 0, 300},
		{"within the active segment", 297, 0, 297, 0, 297},
		{"through a batch", 296, 0, 296, 0, 294},
		{"several segments", 100, 0, 100, 0, 99},
		{"all", 0, 0, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			disk, d, l := newLog(t, small())
			fill(t, l, 100)
			all := readAll(t, l, 1<<20)
			l.SetHW(280)
			must(t, l.TruncateTo(tt.to, testNowMs))
			if l.Start() != tt.start || l.End() != tt.end || l.HW() != min(280, tt.end) || l.segs[0].base != tt.first {
				t.Fatalf("[%d, %d), HW %d, segments from %d", l.Start(), l.End(), l.HW(), l.segs[0].base)
			}
			var want []byte
			for _, b := range batches(all) {
				if Offset(b.LastOffset()) < tt.whole {
					want = append(want, b...)
				}
			}
			var got []byte
			if tt.whole > 0 {
				for _, b := range batches(all) {
					if o := Offset(b.BaseOffset()); o < tt.whole {
						var err error
						got, err = l.Read(got, Fetch{From: o, UpTo: l.End(), MinOne: true})
						must(t, err)
					}
				}
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bytes, want %d", len(got), len(want))
			}
			// The next append is at the end, also where that is within a batch that went.
			b := build(t, record.Options{BaseOffset: int64(l.End()), LeaderEpoch: 9}, record.Entry{TimestampMs: testNowMs})
			must(t, l.Append(b, testNowMs))
			fill(t, l, 40)
			got = readAll(t, l, 500)
			checkIndexes(t, l)
			must(t, d.Close(1, testNowMs))
			d = open(t, disk, small())
			if again := readAll(t, d.Log(testTP), 500); !bytes.Equal(got, again) {
				t.Fatal("another log after a clean stop")
			}
			must(t, d.Abandon())
			if again := readAll(t, open(t, disk, small()).Log(testTP), 500); !bytes.Equal(got, again) {
				t.Fatal("another log after a crash")
			}
		})
	}
}

// KAFKA-10706: an epoch that begins at the end goes, though no record does.
func TestTruncateToEndDropsEpoch(t *testing.T) {
	t.Parallel()
	_, _, l := newLog(t, small())
	fill(t, l, 2)
	must(t, l.StoreEpoch(logstate.EpochStart{Epoch: 5, Start: 6}))
	if got := l.epochs.LatestEpoch(); got != 5 {
		t.Fatalf("latest epoch %d", got)
	}
	must(t, l.TruncateTo(6, testNowMs))
	if got := l.epochs.LatestEpoch(); got != 0 {
		t.Errorf("latest epoch %d", got)
	}
	stored, _, err := l.readEpochs()
	must(t, err)
	if stored.LatestEpoch() != 0 {
		t.Errorf("latest stored epoch %d", stored.LatestEpoch())
	}
}

func TestTruncateFullyAndStartAt(t *testing.T) {
	t.Parallel()
	for _, to := range []Offset{500, 100, 0} {
		disk, d, l := newLog(t, small())
		mixed(t, l, 60)
		must(t, l.TruncateFullyAndStartAt(to, testNowMs))
		if l.Start() != to || l.End() != to || l.HW() != to || l.producers.Len() != 0 || len(l.epochs.Entries()) != 0 || l.SizeBytes() != 0 {
			t.Errorf("[%d, %d), %d producers, epochs %v", l.Start(), l.End(), l.producers.Len(), l.epochs.Entries())
		}
		fill(t, l, 3)
		want := readAll(t, l, 500)
		must(t, d.Abandon())
		l = open(t, disk, small()).Log(testTP)
		if got := readAll(t, l, 500); l.Start() != to || !bytes.Equal(got, want) {
			t.Errorf("after a crash: [%d, %d)", l.Start(), l.End())
		}
	}
}

// A producer's state after a cut is that of the log that is left.
func TestTruncateProducers(t *testing.T) {
	t.Parallel()
	_, _, l := newLog(t, small())
	mixed(t, l, 100)
	all := batches(readAll(t, l, 1<<20))
	for _, to := range []Offset{396, 200, 4, 0} {
		must(t, l.TruncateTo(to, testNowMs))
		if to > 0 {
			checkState(t, l, all)
		} else if l.producers.Len() > 0 {
			t.Errorf("an empty log knows %d producers", l.producers.Len())
		}
	}
}

func TestRetention(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		cfg   func(c *Config)
		hw    Offset
		start Offset // by DeleteRecords
		nowMs int64
		want  Offset // log start
	}{
		{"nothing", func(*Config) {}, 300, 0, testNowMs, 0},
		{"by size", func(c *Config) { c.RetentionBytes = 9000 }, 300, 0, testNowMs, 114},
		{"by size, never past the HW", func(c *Config) { c.RetentionBytes = 9000 }, 100, 0, testNowMs, 57},
		{"by size, all", func(c *Config) { c.RetentionBytes = 0 }, 300, 0, testNowMs, 300},
		{"by time", func(c *Config) { c.RetentionMs = 1000 }, 300, 0, testNowMs + 1000 + 120, 114},
		{"by time, all", func(c *Config) { c.RetentionMs = 1000 }, 300, 0, testNowMs + 9000, 300},
		{"by time, never past the HW", func(c *Config) { c.RetentionMs = 1000 }, 299, 0, testNowMs + 9000, 285},
		{"by start", func(*Config) {}, 300, 120, testNowMs, 120},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := small()
			tt.cfg(&cfg)
			disk, d, l := newLog(t, cfg)
			fill(t, l, 100)
			l.SetHW(tt.hw)
			must(t, l.SetStart(tt.start))
			_, err := l.ApplyRetention(tt.nowMs)
			must(t, err)
			if l.Start() != tt.want || l.End() != 300 || l.segs[0].base > l.Start() || len(l.segs) > 1 && l.segs[1].base <= l.Start() {
				t.Fatalf("[%d, %d), first segment %d, want start %d", l.Start(), l.End(), l.segs[0].base, tt.want)
			}
			if _, err := l.Read(nil, Fetch{From: tt.want - 1, UpTo: 300}); !errors.Is(err, ErrOffsetOutOfRange) {
				t.Errorf("read before the start: %v", err)
			}
			checkIndexes(t, l)
			must(t, d.Abandon())
			if l := open(t, disk, cfg).Log(testTP); l.Start() != tt.want || l.End() != 300 {
				t.Errorf("after a crash: [%d, %d)", l.Start(), l.End())
			}
		})
	}
}

func TestSetStart(t *testing.T) {
	t.Parallel()
	_, _, l := newLog(t, small())
	fill(t, l, 10)
	l.SetHW(20)
	if err := l.SetStart(21); !errors.Is(err, ErrOffsetOutOfRange) {
		t.Errorf("beyond the HW: %v", err)
	}
	must(t, l.SetStart(20))
	must(t, l.SetStart(5)) // never back
	if l.Start() != 20 || l.epochs.Entries()[0].Start != 20 {
		t.Errorf("start %d, epochs %v", l.Start(), l.epochs.Entries())
	}
	checkIndexes(t, l)
}

// Idle producers are forgotten by time, but none with an open transaction.
func TestExpireProducers(t *testing.T) {
	t.Parallel()
	_, _, l := newLog(t, small())
	mixed(t, l, 30)
	before := l.producers.Len()
	l.ExpireProducers(testNowMs + 1_000_000)
	if _, open := l.producers.FirstUnstable(); !open || before != 2 || l.producers.Len() != 1 {
		t.Errorf("%d producers, then %d", before, l.producers.Len())
	}
	must(t, l.Append(marker(t, l.End(), 5, 1002, record.EndTxn{}), testNowMs))
	l.ExpireProducers(testNowMs + 1_000_000)
	if l.producers.Len() != 0 {
		t.Errorf("%d producers after the transaction", l.producers.Len())
	}
}

func TestSnapshotRoundTrip(t *testing.T) {
	t.Parallel()
	var ps logstate.Producers
	ps.Apply(logstate.Batch{ProducerID: 7, ProducerEpoch: 2, BaseOffset: 10, LastOffset: 13, BaseSequence: 5, MaxTimestampMs: 99, Transactional: true})
	ps.Apply(logstate.Batch{ProducerID: 9, ProducerEpoch: 1, BaseOffset: 14, LastOffset: 14, BaseSequence: -1, MaxTimestampMs: 98, Control: true, CoordinatorEpoch: 77})
	b := formatSnapshot(ps.Snapshot())
	got, err := parseSnapshot(b)
	must(t, err)
	if again := formatSnapshot(got); !bytes.Equal(b, again) {
		t.Errorf("% x\nthen\n% x", b, again)
	}
	if got[0].TxnStart != 10 || got[1].TxnStart != NoOffset || got[0].LastSequence() != 8 || got[0].CoordinatorEpoch != -1 || got[1].CoordinatorEpoch != 77 || len(got[1].Batches()) != 0 {
		t.Errorf("%+v", got)
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 1
		if _, err := parseSnapshot(bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d flipped: %v", i, err)
		}
		if _, err := parseSnapshot(b[:i]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut to %d bytes: %v", i, err)
		}
	}
}
