package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

// isrOptions are the flags of isr and isr summary.
type isrOptions struct {
	targetOptions
	viewOptions
	timeout, interval time.Duration
	since, until      string
	broker            int
	causes, topics    []string
	excludeInternal   bool
	metadataDir       string
	store             string
	jmx               []string
	follow            bool
	// brokerGiven and the others: they were on the command line.
	brokerGiven, sinceGiven, storeGiven bool
}

func newIsrCmd(env Env) *cobra.Command {
	var o isrOptions
	cmd := &cobra.Command{
		Use:   "isr [TOPIC…]",
		Short: "What left the ISR, when, for how long, and why?",
		Long: `Lists every change of an ISR, with its time and its cause, and the elections and
reassignments that go with it. They are read from the metadata log of the active
controller, which has hours to days of them, the controller's own changes included,
of which brokers' meters know nothing. That needs a controller that can be reached
(--controller where brokers do not tell one) and CLUSTER_ACTION on the cluster, which
also lets its holder act as a broker and read SCRAM secrets: grant it with care, or
copy a broker's __cluster_metadata-0 and name it by --metadata-dir.

Where neither can be had, --follow looks at the metadata every --interval and
compares: a lower bound from then on, with the causes that looks can tell, until the
log can be had.

--follow --store FILE also keeps what it sees in FILE, for longer than the log does:
every event, whatever the other flags show of them. A new FILE begins with all that the
log has. Started again it goes on where FILE ends, so that nothing is missing and
nothing twice; what the log no longer has by then is told as a gap. Without --follow,
--store reads FILE, and then what the cluster has beyond it, or FILE alone where no
cluster is named. FILE belongs to one cluster, and has one writer.

--jmx shows Kafka's own meters of ISR changes beside the events, from agents in the
brokers; where it is not given, from those of the context's jmx. They count since the
process began, and what leaders changed because of lag alone: a broker that was fenced
or stopped is in none of them.

A TOPIC with any of *?[ is a glob; quote it from the shell. A topic named summary:
isr --topic summary.

` + causeHelp(),
		Example: `  kafkaops isr --since 1h --broker 3 -b kafka-1:9092
  kafkaops isr 'payments-*' --follow -o json -b kafka-1:9092
  kafkaops isr --metadata-dir /var/lib/kafka/__cluster_metadata-0 --since 7d
  kafkaops isr --follow --store /var/lib/kafkaops/prod.isr -b kafka-1:9092
  kafkaops isr --store /var/lib/kafkaops/prod.isr --since 90d`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given(cmd)
			return o.run(cmd.Context(), env, args)
		},
	}
	o.register(cmd, env)
	f := cmd.Flags()
	f.BoolVar(&o.follow, "follow", false, "go on with what happens from now on (and since --since, where that is given)")
	f.DurationVar(&o.interval, "interval", defaultInterval, "time between looks of --follow where the log cannot be had")
	cmd.AddCommand(newIsrSummaryCmd(env))
	return cmd
}

// register adds what isr and isr summary have in common.
func (o *isrOptions) register(cmd *cobra.Command, env Env) {
	o.quorumAlone, o.interval = true, defaultInterval
	o.targetOptions.register(cmd, env)
	o.viewOptions.register(cmd)
	f := cmd.Flags()
	f.DurationVar(&o.timeout, "timeout", defaultTimeout, "bounds the reading, but for what --follow waits; one request gets a third of it")
	f.StringVar(&o.since, "since", "24h", "a duration back from now (such as 90m, 24h, 7d), or an RFC 3339 time")
	f.StringVar(&o.until, "until", "", "the same, for the end")
	f.IntVar(&o.broker, "broker", 0, "only events that concern the broker with this `id`")
	f.StringSliceVar(&o.causes, "cause", nil, "only events with one of these causes")
	f.StringArrayVar(&o.topics, "topic", nil, "a topic, as an argument is")
	f.BoolVar(&o.excludeInternal, "exclude-internal", false, "leave Kafka's internal topics out")
	f.StringVar(&o.metadataDir, "metadata-dir", "", "read a copy of the metadata log in this `directory` of a broker or controller, and no cluster")
	_ = cmd.MarkFlagDirname("metadata-dir")
	f.StringVar(&o.store, "store", "", "a `file` of events that isr --follow --store keeps: read it too, or alone where no cluster is named")
	_ = cmd.MarkFlagFilename("store")
	f.StringArrayVar(&o.jmx, "jmx", nil, "the `URL` of a Jolokia agent or a Prometheus JMX exporter in a broker or controller (repeatable): show Kafka's own meters beside the events; those of the context's jmx where not given")
	var causes []string
	for _, c := range inspect.IsrCauses() {
		causes = append(causes, string(c))
	}
	complete(cmd, "cause", causes...)
	o.completeTopics(cmd, env, &o.topics)
}

// causeHelp lists the causes.
func causeHelp() string {
	var b strings.Builder
	b.WriteString("Causes:")
	width := len("Causes:")
	for i, c := range inspect.IsrCauses() {
		text := " " + string(c)
		if i > 0 {
			b.WriteByte(',')
			width++
		}
		if width+len(text) > 78 {
			b.WriteString("\n ")
			width = 1
		}
		b.WriteString(text)
		width += len(text)
	}
	return b.String() + "."
}

func (o *isrOptions) given(cmd *cobra.Command) {
	f := cmd.Flags()
	o.brokerGiven, o.sinceGiven, o.storeGiven = f.Changed("broker"), f.Changed("since"), f.Changed("store")
}

// isrReading is what the options lead to.
type isrReading struct {
	opts   *isrOptions
	env    Env
	view   render.View
	filter topicFilter
	span   isrlog.Span
	now    time.Time
	// target is nil with --metadata-dir.
	target *target
	snap   *inspect.Snapshot
	source isrlog.Source
	// agents are those of --jmx, or the context's, and answers theirs.
	agents  []string
	answers []chan agentAnswer
	// stored is what --store reads, nil for none.
	stored *recording.Reader
	// evidence is the newest that the source told.
	evidence isrlog.Evidence
}

// open checks the options, and finds out what to read.
func (o *isrOptions) open(ctx context.Context, env Env, args []string) (*isrReading, error) {
	r := &isrReading{opts: o, env: env, now: time.Now()}
	if err := r.check(args); err != nil {
		return nil, err
	}
	r.snap = &inspect.Snapshot{TakenAt: r.now}
	if o.metadataDir != "" {
		dir, err := isrlog.OpenDir(o.metadataDir)
		if err != nil {
			return nil, fmt.Errorf("--metadata-dir: %w", err)
		}
		r.source = dir
		return r, nil
	}
	if o.storeGiven && !o.follow {
		err := r.openStored(ctx)
		return r, err
	}
	var err error
	if r.target, err = o.resolve(env); err != nil {
		return nil, err
	}
	if err = r.useAgents(); err == nil {
		err = r.openLive(ctx)
	}
	return r, err
}

// openLive finds out which cluster it is, and that it is the one that is meant.
func (r *isrReading) openLive(ctx context.Context) error {
	o := r.opts
	r.target.tellWarnings(r.env)
	src := source.New(r.target.brokers, o.timeout, r.target.options()...)
	snap, err := src.Snapshot(ctx, source.Query{Parts: inspect.PartQuorum, Keep: noTopics, QuorumAlone: true, QuorumBeside: true, NoMinISR: true, NoReassignments: true})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return r.target.explain(err)
	}
	r.snap.ClusterID, r.snap.Controller = snap.ClusterID, snap.Controller
	r.source = isrlog.NewLog(r.target.brokers, &r.target.controllersAt, o.timeout)
	if f := unheard(snap); f != nil && r.target.controllers == nil && !o.follow {
		r.source = &noControllerError{*f} // which is not asked for a second time, as long
	}
	return nil
}

// unheard is that no broker has got an answer of the active controller, nil where one has.
func unheard(s *inspect.Snapshot) *inspect.Failure {
	for i := range s.Failures {
		if f := &s.Failures[i]; f.Request == "DescribeQuorum" && f.TimedOut && !s.Controller.IsKnown() {
			return f
		}
	}
	return nil
}

// noControllerError is a log that cannot be had, because brokers that would say where get no
// answer themselves. A controller that is named may be another matter.
type noControllerError struct{ failure inspect.Failure }

func (e *noControllerError) Error() string { return e.failure.Error }

// Read implements [isrlog.Source].
func (e *noControllerError) Read(context.Context, isrlog.Span, isrlog.Listener) error { return e }

func (r *isrReading) check(args []string) (err error) {
	o := r.opts
	if r.view, err = o.view(r.env.Terminal); err != nil {
		return err
	}
	r.view.Width, r.view.Stream = r.env.Terminal.Width, o.follow
	if err := checkTimeout(o.timeout); err != nil {
		return err
	}
	if r.filter, err = newTopicFilter(append(args, o.topics...), o.excludeInternal); err != nil {
		return err
	}
	for _, c := range o.causes {
		if !slices.Contains(inspect.IsrCauses(), inspect.IsrCause(c)) {
			return usagef("--cause %q is none: see kafkaops isr --help", c)
		}
	}
	switch {
	case o.brokerGiven && o.broker < 0:
		return usagef("--broker %d: an id is not negative", o.broker)
	case o.follow && len(o.jmx) > 0:
		return usagef("--jmx is read once: not with --follow")
	case o.storeGiven && o.store == "":
		return usagef("--store \"\": name a file")
	case o.storeGiven && o.metadataDir != "":
		return usagef("--store and --metadata-dir: a directory is read alone")
	case o.follow && o.metadataDir != "":
		return usagef("--follow needs a cluster: a directory is read as it is")
	case o.interval < minInterval:
		return usagef("--interval %s is too short: the least is %s", o.interval, minInterval)
	}
	if err := r.checkAgents(); err != nil {
		return err
	}
	r.span.Follow = o.follow
	if !o.follow || o.sinceGiven {
		if r.span.Since, err = moment("since", o.since, r.now); err != nil {
			return err
		}
	} else {
		r.span.Since = r.now
	}
	if o.until != "" {
		if r.span.Until, err = moment("until", o.until, r.now); err != nil {
			return err
		}
		if o.follow && !o.sinceGiven && !r.span.Until.After(r.now) {
			return usagef("--until %s is over, and --follow begins now: give it a --since", o.until)
		}
		if !r.span.Until.After(r.span.Since) {
			return usagef("--until %s is not after --since %s", o.until, o.since)
		}
	}
	return nil
}

// moment reads a duration back from now, or a time.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 36500 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return time.Time{}, usagef("--%s %q is neither a duration (such as 90m, 24h, 7d) nor a time (such as 2026-11-29T20:15:00Z)", flag, text)
	}
	return now.Add(-d), nil
}

// wanted reports whether the flags let the event through.
func (r *isrReading) wanted(e *inspect.IsrEvent) bool {
	o := r.opts
	return r.filter.keep(e.Topic, strings.HasPrefix(e.Topic, "__")) &&
		(!o.brokerGiven || slices.Contains(e.Brokers, inspect.BrokerID(o.broker))) &&
		(len(o.causes) == 0 || slices.Contains(o.causes, string(e.Cause)))
}

// listener tells notes, keeps the evidence, and passes events on that are wanted.
func (r *isrReading) listener(event func(inspect.IsrEvent)) isrlog.Listener {
	return isrlog.Listener{
		Event: func(e inspect.IsrEvent) {
			if r.wanted(&e) {
				event(e)
			}
		},
		Evidence: func(e isrlog.Evidence) { r.evidence = e },
		Note: func(line string, lost bool) {
			r.fail(inspect.Failure{Phase: inspect.PhaseRequest, Error: line, Notice: !lost})
		},
	}
}

// fail adds to what is incomplete, and tells it.
func (r *isrReading) fail(f inspect.Failure) { fail(r.snap, f, r.env.Terminal.Err) }

// gather reads the span, event by event. Where the log cannot be had there are none.
func (r *isrReading) gather(ctx context.Context, event func(inspect.IsrEvent)) error {
	r.askAgents(ctx)
	bounded, cancel := context.WithDeadline(ctx, r.now.Add(r.opts.timeout))
	defer cancel()
	err := r.source.Read(bounded, r.span, r.listener(event))
	var silent *connect.Error // which is about who did not answer
	var none *noControllerError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &silent):
		r.fail(inspect.Failure{
			Request: "Fetch", Phase: inspect.PhaseRequest, Error: fmt.Sprintf("the log was not read to its end within %s", r.opts.timeout),
			Hint: "Give it a longer --timeout, or a later --since",
		})
	case errors.As(err, &none):
		f := none.failure
		f.Lost, f.Hint = r.lost(), "If a controller can be reached, name it by --controller"
		r.fail(f)
	case err != nil:
		f := *isrlog.FailureOf(err)
		f.Lost = r.lost()
		r.fail(f)
	}
	// A log whose start nobody has moved has nothing before it; its first batch is the leader's.
	begins := r.evidence.From.Or(2) <= 1
	if since, ok := r.evidence.Since.Get(); ok && since.After(r.span.Since) && r.opts.sinceGiven && !begins {
		fmt.Fprintf(r.env.Terminal.Err, "kafkaops: asked since %s, and the evidence begins at %s: what was before is not known\n",
			r.span.Since.UTC().Format(time.RFC3339), since.UTC().Format(time.RFC3339))
	}
	return nil
}

// lost is what is missing where the log cannot be had.
func (r *isrReading) lost() string {
	if r.stored == nil {
		return "there is no history: --follow compares looks at the metadata from now on, --metadata-dir reads a copy of a broker's log"
	}
	if until, ok := r.evidence.Until.Get(); ok {
		return fmt.Sprintf("what happened after %s, where %s ends, is missing", until.UTC().Format(time.RFC3339), r.stored.Name())
	}
	return fmt.Sprintf("there is no history beyond that of %s", r.stored.Name())
}

func (o *isrOptions) run(ctx context.Context, env Env, args []string) error {
	r, err := o.open(ctx, env, args)
	if err != nil {
		return err
	}
	if o.follow {
		return r.followed(ctx)
	}
	if r.view.Format.Structured() {
		return r.document(ctx)
	}
	return r.table(ctx)
}

// document writes all events as one.
func (r *isrReading) document(ctx context.Context) error {
	spool := render.NewIsrSpool()
	var broken error
	if err := r.gather(ctx, func(e inspect.IsrEvent) { broken = cmp.Or(broken, spool.Add(&e)) }); err != nil || broken != nil {
		return cmp.Or(err, broken)
	}
	meters, err := r.meters(ctx)
	if err != nil {
		return err
	}
	if err := spool.Write(r.env.Terminal.Out, r.view, r.snap, &r.evidence, meters); err != nil {
		return err
	}
	return outcome(r.snap, true)
}

// mostHeld is how many rows a terminal's table is made of, whose columns are as wide as
// all of them need. There may be a million: those are written as they are read, as in a
// pipe.
const mostHeld = 20_000

// table writes rows.
func (r *isrReading) table(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	held := 0
	if r.view.Terminal {
		held = mostHeld
	}
	out := bufio.NewWriterSize(r.env.Terminal.Out, 64<<10)
	var events []inspect.IsrEvent
	var stream *render.IsrStream
	var broken error // the pipe's
	write := func(e *inspect.IsrEvent) {
		if broken == nil {
			if broken = stream.Event(out, &r.evidence, e); broken != nil {
				cancel()
			}
		}
	}
	err := r.gather(ctx, func(e inspect.IsrEvent) {
		if stream == nil && len(events) < held {
			events = append(events, e)
			return
		}
		if stream == nil {
			stream = render.NewIsrStream(r.view, r.snap)
			for i := range events {
				write(&events[i])
			}
			events = nil
		}
		write(&e)
	})
	if broken == nil {
		broken = out.Flush()
	}
	if broken != nil || err != nil {
		return cmp.Or(broken, err)
	}
	meters, err := r.meters(ctx)
	if err != nil {
		return err
	}
	if stream != nil || !r.view.Terminal {
		r.tellEvidence()
	}
	if stream != nil && r.view.Terminal {
		r.tellMeters(meters)
	}
	if stream == nil { // in a pipe a header alone
		if err := render.Isr(r.env.Terminal.Out, r.view, r.snap, &r.evidence, events, meters); err != nil {
			return err
		}
	}
	return outcome(r.snap, true)
}

// tellEvidence says on stderr what the screen does not: a table of rows alone.
func (r *isrReading) tellEvidence() {
	fmt.Fprintln(r.env.Terminal.Err, "kafkaops: "+render.EvidenceLine(&r.evidence))
}

// follow tells events as they happen, until it is interrupted: those of past first, nil for
// none, and then what is new to the recording, nil for none.
func (r *isrReading) follow(ctx context.Context, into *recording.Writer, past *isrlog.Stored) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := render.NewIsrStream(r.view, r.snap)
	var broken error // the pipe's
	to := r.listener(func(e inspect.IsrEvent) {
		if broken == nil {
			if broken = stream.Event(r.env.Terminal.Out, &r.evidence, &e); broken != nil {
				cancel()
			}
		}
	})
	span, err := r.span, error(nil)
	if past != nil {
		before := to
		before.Evidence = func(isrlog.Evidence) {}
		err = past.Read(ctx, span, before)
	}
	if into != nil {
		span.Since = sinceLast(into.Found(), span.Since)
	}
	if err == nil {
		err = r.following(into).Run(ctx, span, r.tellingSource(to))
	}
	return cmp.Or(broken, err)
}

// tellingSource tells on stderr what the events rest on, whenever that is another source.
func (r *isrReading) tellingSource(to isrlog.Listener) isrlog.Listener {
	told := inspect.IsrSource("")
	to.Evidence = func(e isrlog.Evidence) {
		if r.evidence = e; told != e.Source {
			told = e.Source
			fmt.Fprintln(r.env.Terminal.Err, "kafkaops: "+render.EvidenceLine(&e))
		}
	}
	return to
}

// following reads the log, and compares looks where that cannot be had.
func (r *isrReading) following(into *recording.Writer) *isrlog.Follow {
	log := isrlog.NewLog(r.target.brokers, &r.target.controllersAt, r.opts.timeout)
	return &isrlog.Follow{
		Log: log, Await: log.Await, Looks: r.poll, Into: into,
		Fell: func(err error) {
			f := *isrlog.FailureOf(err)
			f.Notice, f.Lost = true, fmt.Sprintf("comparing looks at the metadata instead, every %s, until it can be had", r.opts.interval)
			r.fail(f)
		},
	}
}

// poll compares looks where the log cannot be had.
func (r *isrReading) poll() *isrlog.Poll {
	src := source.New(r.target.brokers, r.opts.timeout, r.target.options()...)
	q := r.filter.query()
	q.Parts = inspect.PartELR | inspect.PartFenced
	return &isrlog.Poll{
		Every: r.opts.interval, Whole: len(q.Topics) == 0,
		Take: func(ctx context.Context) (*inspect.Snapshot, error) { return src.Snapshot(ctx, q) },
	}
}
