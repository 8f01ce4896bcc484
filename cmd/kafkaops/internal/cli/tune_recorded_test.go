package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording/recordingtest"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// hiccups is a recording of followers that fall behind now and then.
func hiccups(t *testing.T, seed uint64, lasts time.Duration, perHour float64) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.rec")
	o := recordingtest.Options{Partitions: 2, Lasts: lasts, Rate: 20, StallsPerHour: perHour, StallFor: time.Duration(4+seed%7) * time.Second, Seed: seed}
	if err := recordingtest.Write(file, o); err != nil {
		t.Fatal(err)
	}
	return file
}

// tuneFrom asks for advice with a budget that a few hours can speak to.
func tuneFrom(t *testing.T, file string, args ...string) ran {
	t.Helper()
	return place{}.run(t.Context(), append([]string{"tune", "--from", file, "--max-removals", "1000", "--max-stall", "3m"}, args...)...)
}

func lagAdvice(t *testing.T, r ran) render.AdviceItem {
	t.Helper()
	return adviceOn(t, r, "replica.lag.time.max.ms")[""]
}

// TestTuneSame: the same recording gives the same advice, byte by byte, and a number.
func TestTuneSame(t *testing.T) {
	t.Parallel()
	file := hiccups(t, 1, 40*time.Minute, 40)
	for _, format := range []string{"json", "yaml", "table"} {
		first, again := tuneFrom(t, file, "-o", format), tuneFrom(t, file, "-o", format)
		if first.code != exitOK || first.stdout != again.stdout || first.stderr != again.stderr {
			t.Errorf("exit code %d, %s\n%s\nand again\n%s", first.code, first.stderr, first.stdout, again.stdout)
		}
		if format == "json" && !lagAdvice(t, first).Recommended.IsKnown() {
			t.Errorf("no number: %s", first.stdout)
		}
	}
}

// TestTuneTruncated: of a recording that is cut off anywhere, or broken, all is used that is
// there, and where it is not whole is told; where nothing is there it is said.
func TestTuneTruncated(t *testing.T) {
	t.Parallel()
	whole, err := os.ReadFile(hiccups(t, 1, 12*time.Minute, 10))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cut.rec")
	write := func(in []byte) ran {
		t.Helper()
		if err := os.WriteFile(file, in, 0o600); err != nil {
			t.Fatal(err)
		}
		return tuneFrom(t, file, "-o", "json")
	}
	most := lagAdvice(t, write(whole)).Evidence["looks"]
	if most == 0 {
		t.Fatal("no looks")
	}
	before := 0.0
	for i := range 25 {
		size := i * len(whole) / 25
		r := write(whole[:size])
		if r.code != exitOK {
			if before > 0 || !strings.Contains(r.stderr, "nothing was recorded") && !strings.Contains(r.stderr, "is not a recording of kafkaops") && !strings.Contains(r.stderr, "has no look in the time asked for") {
				t.Errorf("cut to %d bytes of %d: exit code %d: %s", size, len(whole), r.code, r.stderr)
			}
			continue
		}
		rec, err := recording.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		told := fmt.Sprintf("%s: %d bytes at %d, where it ends, are no whole commit", file, rec.Torn(), int64(size)-rec.Torn())
		if strings.Contains(r.stderr, told) != (rec.Torn() > 0) {
			t.Errorf("cut to %d bytes, torn %d: %s", size, rec.Torn(), r.stderr)
		}
		if d := (place{}).run(t.Context(), "diagnose", "--from", file); strings.Contains(d.stderr, told) != (rec.Torn() > 0) {
			t.Errorf("diagnosed, cut to %d bytes, torn %d: %s", size, rec.Torn(), d.stderr)
		}
		looks := lagAdvice(t, r).Evidence["looks"]
		if looks < before || looks > most {
			t.Errorf("cut to %d bytes: %v looks, and %v of less", size, looks, before)
		}
		before = looks
	}
	if before < most/2 {
		t.Errorf("%v looks of %v", before, most)
	}
	at := len(whole) / 2
	broken := slices.Clone(whole)
	copy(broken[at:], "what another program wrote into it, and that is not of this format at all")
	if r := write(broken); r.code != exitOK || !strings.Contains(r.stderr, "are damaged: what they held is left out") || lagAdvice(t, r).Evidence["looks"] < most/4 {
		t.Errorf("broken at %d: exit code %d: %s", at, r.code, r.stderr)
	}
	if r := write([]byte(strings.Repeat("a log of something else\n", 9999))); r.code != exitFailed || r.stdout != "" || !strings.Contains(r.stderr, file+": is not a recording of kafkaops") {
		t.Errorf("foreign: exit code %d: %s", r.code, r.stderr)
	}
}

// TestTuneHalves: what half of a recording leads to lies within the bound that the whole
// states, in 95 of 100. 200 halves with KAFKAOPS_LONG.
func TestTuneHalves(t *testing.T) {
	t.Parallel()
	recordings, lasts, perHour := 1, time.Hour, 40.0
	if os.Getenv("KAFKAOPS_LONG") != "" {
		recordings, lasts, perHour = 100, 4*time.Hour, 10
	}
	candidates := tuning.CandidatesMs()
	place := func(ms inspect.Opt[string]) int {
		return slices.IndexFunc(candidates, func(c int64) bool { return strconv.FormatInt(c, 10) == ms.Or("") })
	}
	given, within := 0, 0
	for seed := range recordings {
		file := hiccups(t, 100+uint64(seed), lasts, perHour+float64(seed%5))
		whole := lagAdvice(t, tuneFrom(t, file, "-o", "json"))
		low, high := place(whole.Bound.Low), place(whole.Bound.High)
		if high < 0 {
			high = len(candidates)
		}
		middle := recordingtest.Begin.Add(lasts / 2).Format(time.RFC3339)
		for _, half := range []string{"--until", "--since"} {
			a := lagAdvice(t, tuneFrom(t, file, "-o", "json", half, middle))
			if !a.Recommended.IsKnown() {
				continue
			}
			given++
			if i := place(a.Recommended); whole.Recommended.IsKnown() && i >= low && i <= high {
				within++
			} else {
				t.Logf("seed %d, %s: %s, of the whole %s in [%s, %s]", 100+seed, half, a.Recommended, whole.Recommended, whole.Bound.Low, whole.Bound.High)
			}
		}
	}
	t.Logf("%d of %d halves give a number, %d of those within the bound", given, 2*recordings, within)
	if given < recordings || within*100 < given*95 {
		t.Errorf("%d of %d halves give a number, %d of those within the bound", given, 2*recordings, within)
	}
}
