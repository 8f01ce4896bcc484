package diagnose

import (
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// rested is what a broker's meters tell where nothing is wrong.
func rested(sec int) inspect.Load {
	return inspect.Load{
		HandlerIdle: inspect.Known(0.97), NetworkIdle: inspect.Known(0.95), RequestQueue: inspect.Known[int64](0),
		Flushes: inspect.Known(int64(10 + sec)), FlushP99Ms: inspect.Known(8.0), FlushP999Ms: inspect.Known(20.0),
	}
}

// TestLoaded: handlers, network threads and flushes, each with its other side.
func TestLoaded(t *testing.T) {
	t.Parallel()
	on := func(id inspect.BrokerID, set func(sec int, l *inspect.Load)) func(int, *inspect.Snapshot) {
		return func(sec int, s *inspect.Snapshot) {
			l := rested(sec)
			set(sec, &l)
			s.Broker(id).Load = inspect.Known(l)
		}
	}
	flushing := func(ms float64) func(int, *inspect.Load) {
		return func(_ int, l *inspect.Load) { l.FlushP999Ms = inspect.Known(ms) }
	}
	for name, tt := range map[string]struct {
		change   func(int, *inspect.Snapshot)
		want     []string
		severity Severity
		title    string
	}{
		"handlers have little rest": {
			on(2, func(_ int, l *inspect.Load) { l.HandlerIdle = inspect.Known(0.22) }),
			[]string{"request-handlers-busy 2"},
			SeverityInfo, "the request handlers of broker 2 are idle for 22 % of the time",
		},
		"handlers have none": {
			on(2, func(_ int, l *inspect.Load) { l.HandlerIdle = inspect.Known(0.031) }),
			[]string{"request-handlers-busy 2"},
			SeverityWarning, "idle for 3.1 %",
		},
		"for a moment": {on(2, func(sec int, l *inspect.Load) {
			if sec > 5 {
				l.HandlerIdle, l.NetworkIdle = inspect.Known(0.0), inspect.Known(0.0)
			}
		}), nil, "", ""},
		"network threads have none": {
			on(2, func(_ int, l *inspect.Load) { l.NetworkIdle = inspect.Known(0.0) }),
			[]string{"network-threads-busy 2"},
			SeverityWarning, "the network threads of broker 2 are idle for 0 % of the time",
		},
		"unknown is no 0":        {on(2, func(_ int, l *inspect.Load) { *l = inspect.Load{RequestQueue: inspect.Known[int64](0)} }), nil, "", ""},
		"flushes are slow":       {on(3, flushing(2500)), []string{"slow-flush 3"}, SeverityWarning, "broker 3 flushes slowly: 2.5 s at the 99.9th percentile (others: 0.02 s)"},
		"nothing is flushed":     {on(3, func(_ int, l *inspect.Load) { flushing(2500)(0, l); l.Flushes = inspect.Known[int64](9) }), nil, "", ""},
		"slow, and not for long": {on(3, flushing(900)), nil, "", ""},
		"slow everywhere": {func(sec int, s *inspect.Snapshot) {
			for id := range inspect.BrokerID(3) {
				on(id+1, flushing(1500))(sec, s)
			}
		}, nil, "", ""},
		"a leader without handlers": {func(sec int, s *inspect.Snapshot) {
			lagging(s, 2, 0, 5)
			on(2, func(_ int, l *inspect.Load) { l.HandlerIdle = inspect.Known(0.01) })(sec, s)
		}, []string{"request-handlers-busy 2: slow-leader 2"}, SeverityWarning, ""},
		"a follower is none of the handlers'": {func(sec int, s *inspect.Snapshot) {
			lagging(s, 0, 3, 5)
			on(2, func(_ int, l *inspect.Load) { l.HandlerIdle = inspect.Known(0.01) })(sec, s)
		}, []string{"request-handlers-busy 2", "slow-follower 3"}, SeverityWarning, ""},
		"a follower on a slow disk": {func(sec int, s *inspect.Snapshot) {
			lagging(s, 0, 3, 5)
			on(3, flushing(2500))(sec, s)
		}, []string{"slow-flush 3: slow-follower 3"}, SeverityWarning, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := seen(10, tt.change).Diagnose()
			want(t, r, tt.want...)
			if len(r.Findings) > 0 && (r.Findings[0].Severity != tt.severity || !strings.Contains(r.Findings[0].Title, tt.title)) {
				t.Errorf("%s: %q", r.Findings[0].Severity, r.Findings[0].Title)
			}
		})
	}
}

// TestLoadBeside: a slow broker has its meters' figures with it; one without meters has none.
func TestLoadBeside(t *testing.T) {
	t.Parallel()
	const says = ". Its own meters: request handlers idle for 97 %, network threads for 95 %, 0 requests wait, 9 flushes of 0.02 s at the 99.9th percentile"
	for _, told := range []bool{true, false} {
		c := seen(10, func(_ int, s *inspect.Snapshot) {
			lagging(s, 0, 3, 5)
			if !told {
				s.Broker(3).Load = inspect.Unknown[inspect.Load]()
			}
		})
		f := c.Diagnose().Findings[0]
		figures := 0
		for _, e := range f.Evidence {
			switch e.Name {
			case "handlerIdlePercent", "networkIdlePercent", "requestQueue", "flushP999Ms", "flushes":
				figures++
			}
		}
		if strings.HasSuffix(f.Explanation, says) != told || figures != map[bool]int{true: 5}[told] {
			t.Errorf("told %v: %d figures, %q", told, figures, f.Explanation)
		}
		if missing := c.loadsMissing(); missing != map[bool]string{false: "the meters of broker 3 were not read"}[told] {
			t.Errorf("told %v: missing %q", told, missing)
		}
	}
	none := seen(3, func(_ int, s *inspect.Snapshot) {
		for i := range s.Brokers {
			s.Brokers[i].Load = inspect.Unknown[inspect.Load]()
		}
	})
	if missing := none.loadsMissing(); !strings.Contains(missing, "--jmx") {
		t.Errorf("without meters: missing %q", missing)
	}
}
