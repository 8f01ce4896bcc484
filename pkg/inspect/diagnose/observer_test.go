package diagnose_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/looks"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// observer looks at a cluster as kafkaops does.
type observer struct {
	t                      *testing.T
	bootstrap, controllers []string
	interval, timeout      time.Duration
	// atLast is what the last look asks for besides.
	atLast inspect.Parts
	// since is from when on the ISR's history counts; zero: all of it.
	since time.Time
	// settings: those of topics are judged too.
	settings bool
}

// snapshot is one of all that there is, nil where that failed.
func (o *observer) snapshot(parts inspect.Parts) *inspect.Snapshot {
	s, err := source.New(connect.Config{Bootstrap: o.bootstrap}, o.timeout).Snapshot(o.t.Context(), source.Query{Parts: parts})
	if err != nil {
		return nil
	}
	return s
}

// look looks so many times, and diagnoses.
func (o *observer) look(n int) (c *diagnose.Case, r diagnose.Report) {
	o.t.Helper()
	src := source.New(connect.Config{Bootstrap: o.bootstrap}, o.timeout)
	c = diagnose.New(diagnose.Options{Interval: o.interval, Looks: n})
	var carry looks.Carrier
	q := source.Query{Parts: inspect.PartOffsets | inspect.PartReachable | inspect.PartFenced | inspect.PartQuorum | inspect.PartELR}
	for i := range n {
		q := q
		if i == 0 || i == n-1 {
			q.Parts |= inspect.PartConfigs | inspect.PartLogDirs
		}
		if i == n-1 {
			q.Parts |= o.atLast
		}
		var groups []inspect.Group
		if i == n-1 && c.Frozen() { // as the command does
			if s := o.snapshot(inspect.PartGroups); s != nil {
				groups = s.Groups
			}
		}
		begun := time.Now()
		s, err := src.Snapshot(o.t.Context(), q)
		if err != nil {
			o.t.Logf("look %d: %v", i, err)
			continue
		}
		carry.Carry(s)
		if groups != nil {
			s.Groups = groups
		}
		c.Look(s)
		time.Sleep(o.interval - time.Since(begun))
	}
	o.readLog(c)
	var others []diagnose.Finding
	if o.settings {
		others = misconfigured(c.Last())
	}
	r = c.Diagnose(others...)
	return c, r
}

// misconfigured is what package tuning says of topics' settings, as the command adds it.
func misconfigured(s *inspect.Snapshot) (out []diagnose.Finding) {
	for i := range s.Topics {
		t := &s.Topics[i]
		if len(t.Partitions) == 0 {
			continue
		}
		rf := len(t.Partitions[0].Replicas)
		for _, p := range t.Partitions {
			rf = min(rf, len(p.Replicas)-len(p.Removing.Or(nil)))
		}
		settings := tuning.TopicSettings{Topic: t.Name, MinISR: int(t.MinInsyncReplicas.Or(0)), Unclean: t.UncleanElection.Or(false)}
		for _, f := range tuning.FindTopic(settings, rf, 0) {
			out = append(out, diagnose.BuiltIn(diagnose.Finding{
				ID: diagnose.ID(f.ID), Severity: diagnose.SeverityWarning, Title: f.Title, Topics: []string{t.Name}, Explanation: f.Explanation, Remedy: f.Remedy,
			}))
		}
	}
	return out
}

// readLog takes in the ISR's history, where there is a controller to tell it.
func (o *observer) readLog(c *diagnose.Case) {
	ctx, cancel := context.WithTimeout(o.t.Context(), o.timeout)
	defer cancel()
	var events []inspect.IsrEvent
	var evidence isrlog.Evidence
	brokers, controllers := connect.Config{Bootstrap: o.bootstrap}, connect.Config{Bootstrap: o.controllers}
	err := isrlog.NewLog(brokers, &controllers, o.timeout).Read(ctx, isrlog.Span{Since: o.since}, isrlog.Listener{
		Event: func(e inspect.IsrEvent) { events = append(events, e) }, Evidence: func(e isrlog.Evidence) { evidence = e }, Note: func(string, bool) {},
	})
	if since, ok := evidence.Since.Get(); err == nil && ok {
		if since.Before(o.since) {
			since = o.since
		}
		c.Events(events, since, c.Last().TakenAt)
	}
}

// awaitCaughtUp waits until all replicas are in their ISRs.
func (o *observer) awaitCaughtUp() {
	o.t.Helper()
	await(o.t, "all are in sync", func() bool {
		s := o.snapshot(0)
		if s == nil || len(s.Topics) == 0 {
			return false
		}
		for p := range s.Partitions {
			if len(p.ISR) < len(p.Replicas) {
				return false
			}
		}
		return true
	})
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for begun := time.Now(); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begun) > 90*time.Second {
			t.Fatalf("it did not come about that %s", what)
		}
	}
}

// ranked are a report's findings in its order, each as "id broker"; information is marked.
func ranked(r diagnose.Report) (got []string) {
	for _, f := range r.Findings {
		text := string(f.ID)
		if id, ok := f.Broker.Get(); ok {
			text = cause(f.ID, int(id))
		}
		if f.Severity == diagnose.SeverityInfo {
			text += informs
		}
		got = append(got, text)
	}
	return got
}

// informs marks information.
const informs = " (info)"

// named reports whether just these causes are named: they are the first of all findings, in
// any order, and whatever comes after them is information.
func named(got, want []string) bool {
	return len(got) >= len(want) && alarms(got[len(want):]) == 0 && paired(got[:len(want)], want)
}

// paired reports whether each of want can be given one of got for itself.
func paired(got, want []string) bool {
	if len(want) == 0 {
		return len(got) == 0
	}
	for i, g := range got {
		if matches(g, want[0]) && paired(append(append([]string{}, got[:i]...), got[i+1:]...), want[1:]) {
			return true
		}
	}
	return false
}

// alarms counts what is more than information.
func alarms(got []string) (n int) {
	for _, g := range got {
		if !strings.HasSuffix(g, informs) {
			n++
		}
	}
	return n
}

// TestNamed: causes have to be the first findings, one each, and nothing else an alarm.
func TestNamed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		got, want []string
		named     bool
	}{
		{nil, nil, true},
		{[]string{"a 1"}, []string{"a 1"}, true},
		{[]string{"a 1"}, []string{"b 1|a 1"}, true},
		{[]string{"a 1"}, []string{"a 2"}, false},
		{nil, []string{"a 1"}, false},
		{[]string{"a 1"}, nil, false},
		{[]string{"i (info)"}, nil, true},
		{[]string{"a 1", "i (info)"}, []string{"a 1"}, true},
		{[]string{"i (info)", "a 1"}, []string{"a 1"}, false},
		{[]string{"a 1", "b 2"}, []string{"a 1"}, false},
		{[]string{"b 2", "a 1"}, []string{"a 1", "b 2"}, true},
		{[]string{"a 1", "i (info)"}, []string{"a 1", "b 2"}, false},
		{[]string{"a 1", "i (info)", "b 2"}, []string{"a 1", "b 2"}, false},
		{[]string{"a 1", "b 2"}, []string{"a 1|b 2", "a 1"}, true},
		{[]string{"a 1", "c 3"}, []string{"a 1|b 2", "a 1"}, false},
	} {
		if got := named(tt.got, tt.want); got != tt.named {
			t.Errorf("%q of %q is %v", tt.got, tt.want, got)
		}
	}
}

func show(r diagnose.Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s: %s %v\n", f.Severity, f.ID, f.Title, f.Evidence)
		for _, s := range f.Symptoms {
			fmt.Fprintf(&b, "    %s %s: %s\n", s.Severity, s.ID, s.Title)
		}
	}
	for _, c := range r.Checks {
		fmt.Fprintf(&b, "  checked %s %s\n", c.What, c.Missing)
	}
	return b.String()
}
