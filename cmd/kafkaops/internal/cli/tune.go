package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/looks"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/kafkaops/kafkaops/pkg/tuning"
	"github.com/spf13/cobra"
)

// tuneOptions are the flags of tune.
type tuneOptions struct {
	lookOptions
	changeOptions
	lasts              time.Duration
	from, since, until string
	apply              bool
	undoOf, canary     string
	goal               string
	removals           float64
	stall, refused     time.Duration
	// forGiven and the others: they were on the command line.
	forGiven, removalsGiven, stallGiven, refusedGiven, undoGiven, canaryGiven bool
}

func newTuneCmd(env Env) *cobra.Command {
	var o tuneOptions
	cmd := &cobra.Command{
		Use:   "tune [TOPIC…]",
		Short: "What should the replication settings be, by what this cluster did?",
		Long: `Advises on replica.lag.time.max.ms, the session timeout, num.replica.fetchers,
replica.fetch.max.bytes, min.insync.replicas and the producers' acks. Each advice has its
evidence: followers that fell behind and came back are replayed through Kafka's own rule
for other lag times, the history of the ISRs for other minimums; brokers that were fenced
and came back in the same life tell of the session, lags by leader and follower of what
is fetched with. Where the evidence does not suffice it says so, and how long to record; what it offers
then is a starting point for the --goal, and no recommendation.

The evidence is a recording (--from FILE, see kafkaops record), or what is seen in the
next --for, which is little; ISRs are known for as long as the metadata log reaches back.

Goals: durable (being refused is what durability is bought with), throughput (writers do
not wait, so removals are what costs), latency (a stuck follower may hold up a write for
a short time only), balanced. --max-removals, --max-stall and --max-refused say it in
numbers.

--apply changes what can be changed while brokers run: it shows the plan, lets the cluster
say whether it would do it, asks (or does not, with --yes), changes it, looks whether that
is in force, and keeps what leads back in a file, for --undo FILE. For the rest it shows
the lines of the properties files and in which order to restart. --dry-run ends before the
change. A context that is readonly is not changed.

A TOPIC with any of *?[ is a glob; quote it from the shell.`,
		Example: `  kafkaops tune --from day.rec
  kafkaops tune --from day.rec --goal durable 'payments-*' -o json
  kafkaops tune --for 5m -b kafka-1:9092`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f := cmd.Flags()
			o.forGiven, o.removalsGiven = f.Changed("for"), f.Changed("max-removals")
			o.undoGiven, o.canaryGiven, o.undoFileGiven = f.Changed("undo"), f.Changed("canary"), f.Changed("undo-file")
			o.stallGiven, o.refusedGiven = f.Changed("max-stall"), f.Changed("max-refused")
			return o.run(cmd.Context(), env, args)
		},
	}
	o.lookOptions.register(cmd, env, time.Second)
	f := cmd.Flags()
	f.StringVar(&o.from, "from", "", "a `file` of kafkaops record")
	f.StringVar(&o.since, "since", "", "only what --from has since a duration back from now (such as 90m, 24h, 7d), or an RFC 3339 time")
	f.StringVar(&o.until, "until", "", "the same, for the end")
	f.DurationVar(&o.lasts, "for", time.Minute, "without --from: look for this `duration`")
	f.StringVar(&o.goal, "goal", string(tuning.GoalBalanced), "what the cluster is for: "+goalWords())
	f.Float64Var(&o.removals, "max-removals", 0, "in how many episodes a `week` replicas may leave an ISR that would come back by themselves (default: the goal's)")
	f.DurationVar(&o.stall, "max-stall", 0, "for how long a write with acks=all may wait for a follower that is stuck (default: the goal's)")
	f.DurationVar(&o.refused, "max-refused", 0, "for how long a week writes with acks=all may be refused (default: the goal's)")
	f.BoolVar(&o.apply, "apply", false, "change what can be changed while brokers run, after the plan was shown and confirmed")
	f.StringVar(&o.undoOf, "undo", "", "take back what the undo `file` of an --apply says, and advise nothing")
	f.StringVar(&o.canary, "canary", "", "write to this `topic`, to measure what acks=all costs: 220 records of 100 bytes with acks=1 and as many with acks=all, in 5 s")
	o.changeOptions.register(cmd)
	_ = cmd.MarkFlagFilename("undo")
	_ = cmd.MarkFlagFilename("from")
	var goals []string
	for _, g := range tuning.Goals() {
		goals = append(goals, string(g))
	}
	complete(cmd, "goal", goals...)
	return cmd
}

func goalWords() string {
	var words []string
	for _, g := range tuning.Goals() {
		words = append(words, string(g))
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// tuneRun is one tune.
type tuneRun struct {
	opts         *tuneOptions
	env          Env
	view         render.View
	filter       topicFilter
	since, until time.Time
	advise       advise.Options
	// target is nil where a recording is all that is asked.
	target *target
	// snap is what the answer says of the cluster: who it is, and what was missing.
	snap *inspect.Snapshot
}

func (o *tuneOptions) run(ctx context.Context, env Env, args []string) error {
	r := &tuneRun{opts: o, env: env, snap: &inspect.Snapshot{TakenAt: time.Now()}}
	if err := r.check(args); err != nil {
		return err
	}
	if o.undoOf != "" {
		return r.undo(ctx)
	}
	gather := r.live
	if o.from != "" {
		gather = r.recorded
	}
	c, err := gather(ctx)
	if err != nil {
		return err
	}
	if c.Looks() == 0 {
		return fmt.Errorf("%s has no look in the time asked for: nothing can be said", o.from)
	}
	r.snap.TakenAt = c.Last()
	if o.canary != "" {
		m, err := r.measure(ctx)
		if err != nil {
			return err
		}
		c.Canary(m)
	}
	result := c.Result()
	if err := render.Advice(env.Terminal.Out, r.view, r.snap, result.Advice, result.Findings); err != nil {
		return err
	}
	if n := len(result.Findings); n > 0 && !r.view.Terminal { // there they are a part of the screen
		fmt.Fprintf(env.Terminal.Err, "kafkaops: %s about topics' settings, whatever was observed: kafkaops diagnose has them\n", count(n, "finding"))
	}
	if o.apply {
		if err := r.apply(ctx, c, result.Advice); err != nil {
			return err
		}
	}
	return outcome(r.snap, true)
}

func (r *tuneRun) check(args []string) (err error) {
	o := r.opts
	if r.view, r.filter, err = o.shown(r.env, args); err != nil {
		return err
	}
	switch {
	case !slices.Contains(tuning.Goals(), tuning.Goal(o.goal)):
		return usagef("--goal %q: use %s", o.goal, goalWords())
	case o.from != "" && o.forGiven:
		return usagef("--from and --for: a recording is not looked at for a time; use --since and --until")
	case o.from == "" && o.since+o.until != "":
		return usagef("--since and --until choose from a recording: name one by --from")
	case o.lasts <= 0:
		return usagef("--for %s: look for longer", o.lasts)
	case o.interval < minInterval:
		return usagef("--interval %s is too short: the least is %s", o.interval, minInterval)
	case o.removals < 0:
		return usagef("--max-removals %g is negative", o.removals)
	case o.stall < 0:
		return usagef("--max-stall %s is negative", o.stall)
	case o.refused < 0:
		return usagef("--max-refused %s is negative", o.refused)
	}
	now := time.Now()
	if o.since != "" {
		if r.since, err = moment("since", o.since, now); err != nil {
			return err
		}
	}
	if o.until != "" {
		if r.until, err = moment("until", o.until, now); err != nil {
			return err
		}
	}
	r.advise = advise.Options{Interval: o.interval, Goal: tuning.Goal(o.goal), Budget: r.budget(), Keep: r.filter.keep}
	return r.checkChange(args)
}

// budget is the goal's, but for what was given.
func (r *tuneRun) budget() tuning.Budget {
	o := r.opts
	b := tuning.BudgetOf(tuning.Goal(o.goal))
	if o.removalsGiven {
		b.RemovalsPerWeek = o.removals
	}
	if o.stallGiven {
		b.StallMs = o.stall.Milliseconds()
	}
	if o.refusedGiven {
		b.RefusedMsPerWeek = o.refused.Milliseconds()
	}
	return b
}

// recorded takes the evidence from a file.
func (r *tuneRun) recorded(context.Context) (*advise.Collector, error) {
	rec, err := openFrom(r.opts.from, r.env.Terminal.Err)
	if err != nil {
		return nil, err
	}
	r.snap.ClusterID = inspect.Known(rec.ClusterID())
	if r.advise.Interval, err = intervalOf(rec); err != nil {
		return nil, err
	}
	c := advise.NewCollector(r.advise)
	err = rec.Looks(r.since, r.until, func(s *inspect.Snapshot) error {
		c.Look(s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = rec.Events(func(e inspect.IsrEvent) error {
		if !e.Time.Before(r.since) && (r.until.IsZero() || e.Time.Before(r.until)) {
			c.Event(&e)
		}
		return nil
	})
	var known []advise.Span
	for _, cov := range rec.Coverages() {
		span := advise.Span{Since: cov.Since, Until: cov.Until}
		if span.Since.Before(r.since) {
			span.Since = r.since
		}
		if !r.until.IsZero() && span.Until.After(r.until) {
			span.Until = r.until
		}
		if !span.Until.Before(span.Since) {
			known = append(known, span)
		}
	}
	c.Known(known)
	return c, err
}

// enoughIntervals is how many of a recording's tell how often it looked.
const enoughIntervals = 31

// errEnough ends a reading.
var errEnough = errors.New("enough")

// intervalOf is how often a recording looked, by the median of its first intervals.
func intervalOf(rec *recording.Reader) (time.Duration, error) {
	var intervals []time.Duration
	var last time.Time
	err := rec.Looks(time.Time{}, time.Time{}, func(s *inspect.Snapshot) error {
		if !last.IsZero() {
			intervals = append(intervals, s.TakenAt.Sub(last))
		}
		last = s.TakenAt
		if len(intervals) == enoughIntervals {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return 0, err
	}
	if len(intervals) == 0 {
		return time.Second, nil
	}
	slices.Sort(intervals)
	// Passes begin a little early or late.
	return max(intervals[len(intervals)/2].Round(100*time.Millisecond), minInterval), nil
}

// live looks at the cluster for a while, and reads its metadata log as far as it reaches.
func (r *tuneRun) live(ctx context.Context) (*advise.Collector, error) {
	o, t := r.opts, r.target
	c := advise.NewCollector(r.advise)
	s := &session{
		opts: options{timeout: o.timeout, interval: o.interval}, target: t, terminal: r.env.Terminal,
		source: source.New(t.brokers, o.timeout, t.options()...),
	}
	q := r.filter.query()
	q.Parts = inspect.PartOffsets | inspect.PartReachable | inspect.PartFenced | inspect.PartELR
	var carry looks.Carrier
	whole := q
	whole.Parts |= inspect.PartConfigs
	first, err := s.ask(ctx, whole, r.env.Terminal.Err)
	if err != nil {
		return nil, err
	}
	take := func(snap *inspect.Snapshot) {
		carry.Carry(snap)
		c.Look(snap)
	}
	take(first)
	r.snap.ClusterID, r.snap.Controller, r.snap.Failures = first.ClusterID, first.Controller, first.Failures
	q.NoMinISR = true
	if err := sleep(ctx, o.interval); err != nil {
		return nil, err
	}
	last, err := s.sample(ctx, q, max(1, int(o.lasts/o.interval)), o.interval, take, r.env.Terminal.Err)
	if err != nil {
		return nil, err
	}
	r.snap.Failures = append(r.snap.Failures, last.Failures...)
	return c, r.readLog(ctx, t, c)
}

// readLog takes in all changes that the metadata log has. Without it, ISRs are known from
// look to look.
func (r *tuneRun) readLog(ctx context.Context, t *target, c *advise.Collector) error {
	// Events count for nothing until they are known to be all.
	since, until, err := readEvents(ctx, t, r.opts.timeout, isrlog.Span{}, func(e inspect.IsrEvent) { c.Event(&e) })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		f := noEvents(err)
		f.Lost = "ISRs are known from these looks alone"
		fail(r.snap, f, r.env.Terminal.Err)
		return nil
	}
	c.Known([]advise.Span{{Since: since, Until: until}})
	return nil
}

// errNoEvents: the metadata log was read, and tells nothing.
var errNoEvents = errors.New("the metadata log tells nothing")

// readEvents reads the metadata log, within the timeout, and returns the stretch of time
// of which all events were told.
func readEvents(ctx context.Context, t *target, timeout time.Duration, span isrlog.Span, take func(inspect.IsrEvent)) (since, until time.Time, err error) {
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var evidence isrlog.Evidence
	err = isrlog.NewLog(t.brokers, &t.controllersAt, timeout).Read(bounded, span, isrlog.Listener{
		Event: take, Evidence: func(e isrlog.Evidence) { evidence = e }, Note: func(string, bool) {},
	})
	since, known := evidence.Since.Get()
	if err == nil && !known {
		err = errNoEvents
	}
	until, _ = evidence.Until.Get()
	return since, until, err
}

// noEvents is why they could not be read, which costs no command its answer.
func noEvents(err error) inspect.Failure {
	if errors.Is(err, errNoEvents) {
		return inspect.Failure{Notice: true, Phase: inspect.PhaseRequest, Error: err.Error()}
	}
	f := *isrlog.FailureOf(err)
	f.Notice = true
	return f
}
