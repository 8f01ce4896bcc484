package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/looks"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

// What diagnose asks for at each look, and at the first and the last.
const (
	diagnoseOften = inspect.PartOffsets | inspect.PartReachable | inspect.PartFenced | inspect.PartELR
	diagnoseWhole = inspect.PartConfigs | inspect.PartLogDirs
	// eventsBefore is how far back changes of ISRs count.
	eventsBefore = time.Hour
)

// diagnoseOptions are the flags of diagnose.
type diagnoseOptions struct {
	lookOptions
	agents      agentsFlag
	lasts       time.Duration
	from, until string
}

func newDiagnoseCmd(env Env) *cobra.Command {
	var o diagnoseOptions
	cmd := &cobra.Command{
		Use:   "diagnose [TOPIC…]",
		Short: "What is the cause, and what to do now?",
		Long: `Looks at the cluster for a while (--for), and names what is wrong by its cause: a broker
that is down or hangs, one that is slow as a follower, as a leader, or both, a link
between two, replicas that will never catch up. What a cause accounts for is told with
it and not beside it: 48 partitions that lost one broker are one finding. Each has what
it rests on, what to do, and the next command to type.

The worst comes first, then what accounts for most. What could not be told is said; with
nothing wrong it says what was checked. --from FILE diagnoses the end of a recording (see
kafkaops record), or with --until any moment of it.

--jmx reads Kafka's own meters beside that: how idle request handlers and network threads
are, and how long flushes take. An agent that does not answer is told, and no error.

Exit codes: 0 nothing, or nothing to worry about; 3 a warning or something critical;
1 could not ask everything; 2 wrong usage.

A TOPIC with any of *?[ is a glob; quote it from the shell.`,
		Example: `  kafkaops diagnose -b kafka-1:9092
  kafkaops diagnose --for 30s 'orders*' -o json -b kafka-1:9092
  kafkaops diagnose --jmx 'http://{host}:8778/jolokia/' -b kafka-1:9092
  kafkaops diagnose --from day.rec --until 2026-11-29T03:14:00Z --for 2m`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	}
	o.register(cmd, env, time.Second)
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "a `file` of kafkaops record")
	f.StringVar(&o.until, "until", "", "with --from: where to end, a duration back from now (such as 90m, 24h, 7d) or an RFC 3339 time (default: the end of the file)")
	f.DurationVar(&o.lasts, "for", 10*time.Second, "look for this `duration`; of a recording, so much of its end. 0: one look")
	o.agents.register(cmd, "tell how busy the brokers are")
	_ = cmd.MarkFlagFilename("from")
	return cmd
}

// diagnoseRun is one diagnose.
type diagnoseRun struct {
	opts   *diagnoseOptions
	env    Env
	view   render.View
	filter topicFilter
	until  time.Time
	// snap is what the answer says of the cluster: who it is, and what was missing.
	snap *inspect.Snapshot
	// fetching is what package tuning makes of the same looks.
	fetching *advise.Collector
}

func (o *diagnoseOptions) run(ctx context.Context, env Env, args []string) error {
	r := &diagnoseRun{opts: o, env: env, snap: &inspect.Snapshot{}}
	if err := r.check(args); err != nil {
		return err
	}
	gather := r.live
	if o.from != "" {
		gather = r.recorded
	}
	c, err := gather(ctx)
	if err != nil {
		return err
	}
	last := c.Last()
	r.snap.ClusterID, r.snap.Controller, r.snap.TakenAt = last.ClusterID, last.Controller, last.TakenAt
	others := append(advise.Findings(last, r.filter.keep), r.fetching.FetchFindings()...)
	report := c.Diagnose(others...)
	if err := render.Diagnosis(env.Terminal.Out, r.view, r.snap, &report); err != nil {
		return err
	}
	return outcome(r.snap, report.Healthy())
}

func (r *diagnoseRun) check(args []string) (err error) {
	o := r.opts
	if r.view, r.filter, err = o.shown(r.env, args); err != nil {
		return err
	}
	switch {
	case o.from == "" && o.until != "":
		return usagef("--until chooses from a recording: name one by --from")
	case o.from != "" && len(o.agents.jmx) > 0:
		return usagef("--jmx reads what is now, and --from is a recording: use kafkaops record --jmx")
	case o.lasts < 0:
		return usagef("--for %s is negative", o.lasts)
	case o.interval < minInterval:
		return usagef("--interval %s is too short: the least is %s", o.interval, minInterval)
	case o.from == "" && o.lasts/o.interval >= history.MaxSamples:
		return usagef("--for %s is more than %d looks: use kafkaops record, and --from", o.lasts, history.MaxSamples)
	}
	if err := o.agents.check(); err != nil {
		return err
	}
	if o.until != "" {
		r.until, err = moment("until", o.until, time.Now())
	}
	return err
}

func (r *diagnoseRun) begin(interval time.Duration, looks int) *diagnose.Case {
	r.fetching = advise.NewCollector(advise.Options{Interval: interval, Keep: r.filter.keep})
	return diagnose.New(diagnose.Options{Interval: interval, Looks: looks, Keep: r.filter.keep})
}

func (r *diagnoseRun) look(c *diagnose.Case, s *inspect.Snapshot) {
	c.Look(s)
	r.fetching.Look(s)
}

// recorded looks at a stretch of a file.
func (r *diagnoseRun) recorded(context.Context) (*diagnose.Case, error) {
	rec, err := openFrom(r.opts.from, r.env.Terminal.Err)
	if err != nil {
		return nil, err
	}
	end, ok := rec.LastLook()
	if ok && !r.until.IsZero() && r.until.Before(end) {
		end = r.until
	}
	interval, err := intervalOf(rec)
	if err != nil {
		return nil, err
	}
	c := r.begin(interval, int(r.opts.lasts/interval)+2)
	// One look may have been taken a little before its time.
	err = rec.Looks(end.Add(-r.opts.lasts-interval/2), end, func(s *inspect.Snapshot) error {
		r.look(c, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if c.Looks() == 0 {
		return nil, fmt.Errorf("%s has no look in the time asked for: nothing can be said", r.opts.from)
	}
	return c, r.recordedEvents(rec, c, end)
}

// recordedEvents takes in the changes of ISRs of the hour before, as far as they are known.
func (r *diagnoseRun) recordedEvents(rec *recording.Reader, c *diagnose.Case, end time.Time) error {
	since := end.Add(-eventsBefore)
	known := false
	for _, cov := range rec.Coverages() {
		if !cov.Until.Before(c.Last().TakenAt.Add(-eventsBefore)) && !cov.Since.After(end) {
			known = true
			if cov.Since.After(since) {
				since = cov.Since
			}
		}
	}
	if !known {
		return nil
	}
	var events []inspect.IsrEvent
	err := rec.Events(func(e inspect.IsrEvent) error {
		if !e.Time.Before(since) && !e.Time.After(end) {
			events = append(events, e)
		}
		return nil
	})
	c.Events(events, since, end)
	return err
}

// live looks at the cluster for a while, and reads the last hour of its metadata log.
func (r *diagnoseRun) live(ctx context.Context) (*diagnose.Case, error) {
	o := r.opts
	t, err := o.resolve(r.env)
	if err != nil {
		return nil, err
	}
	meters, err := o.agents.of(t, o.timeout)
	if err != nil {
		return nil, err
	}
	t.tellWarnings(r.env)
	n := int(o.lasts/o.interval) + 1
	c := r.begin(o.interval, n)
	s := &session{
		opts: options{timeout: o.timeout, interval: o.interval}, target: t, terminal: r.env.Terminal,
		source: source.New(t.brokers, o.timeout, t.options()...),
	}
	var own ownHost
	own.begin()
	var carry looks.Carrier
	told := map[string]bool{}
	for i := range n {
		q := r.filter.query()
		q.Parts = diagnoseOften
		if i == 0 || i == n-1 {
			q.Parts |= diagnoseWhole
		}
		if i == n-1 {
			q.Parts |= inspect.PartTransactions | inspect.PartFencedReachable
		}
		var groups []inspect.Group
		if i == n-1 && c.Frozen() {
			groups = r.groups(ctx, s, c.Last())
		}
		begun := time.Now()
		snap, err := s.ask(ctx, q, io.Discard)
		if err != nil {
			return nil, err
		}
		meters.ask(ctx, snap.Brokers)
		if i == n-1 {
			meters.wait()
		}
		for _, f := range append(meters.take(snap), snap.Failures...) {
			if line := render.FailureLine(f); !told[line] {
				told[line] = true
				fail(r.snap, f, r.env.Terminal.Err)
			}
		}
		carry.Carry(snap)
		if groups != nil {
			snap.Groups = groups
		}
		r.look(c, snap)
		if i == n-1 {
			own.end(c, snap)
			topics := inspect.Snapshot{Topics: snap.Topics}
			r.filter.tellUnmatched(&topics, r.env.Terminal.Err)
			r.snap.Failures = append(r.snap.Failures, topics.Failures...)
			break
		}
		if err := sleep(ctx, max(0, o.interval-time.Since(begun))); err != nil {
			return nil, err
		}
	}
	return c, r.readLog(ctx, t, c)
}

// groups asks for the groups of topics that are looked at, which only who waits for a high
// watermark takes: in a pass of their own, since a coordinator that does not answer would
// hold up the others' answers. It costs nothing that was asked for, so that it cannot fail.
func (r *diagnoseRun) groups(ctx context.Context, s *session, last *inspect.Snapshot) []inspect.Group {
	snap, err := s.ask(ctx, source.Query{Parts: inspect.PartGroups, ForGroups: true}, io.Discard)
	if err != nil || snap.ClusterID != last.ClusterID {
		return nil
	}
	return snap.Groups
}

// readLog takes in the changes of ISRs of the last hour. Without it they are known from
// look to look.
func (r *diagnoseRun) readLog(ctx context.Context, t *target, c *diagnose.Case) error {
	var events []inspect.IsrEvent
	since, until, err := readEvents(ctx, t, r.opts.timeout, isrlog.Span{Since: c.Last().TakenAt.Add(-eventsBefore)}, func(e inspect.IsrEvent) {
		if r.filter.keep(e.Topic, false) {
			events = append(events, e)
		}
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		f := noEvents(err)
		f.Lost = "brokers that come and go are seen in these looks alone"
		fail(r.snap, f, r.env.Terminal.Err)
		return nil
	}
	c.Events(events, since, until)
	return nil
}
