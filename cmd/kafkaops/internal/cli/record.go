package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/looks"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

// What record asks for at each look, and what it asks for every seldomEvery.
const (
	recordOften  = inspect.PartOffsets | inspect.PartReachable | inspect.PartFenced | inspect.PartELR
	recordSeldom = inspect.PartLogDirs | inspect.PartConfigs | inspect.PartFeatures | inspect.PartQuorum | inspect.PartGroups
	seldomEvery  = 30 * time.Second

	// forEver is how long record goes on without --for.
	forEver = 100 * 365 * 24 * time.Hour
)

// recordOptions are the flags of record.
type recordOptions struct {
	lookOptions
	agents agentsFlag
	lasts  time.Duration
}

func newRecordCmd(env Env) *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record FILE [TOPIC…]",
		Short: "Keep what the cluster did, for later questions",
		Long: `Looks at the cluster every --interval and keeps in FILE what it saw: the log end
offset of every replica and the high watermark of every partition, ISRs, who answers and
how fast; every 30 s configs, log directories, the quorum, and what groups have committed;
and beside that every change of an ISR with its cause, as isr --follow --store does. It
ends after --for, or when it is interrupted.

FILE is written every ten seconds: a crash costs no more than that. Started again,
record goes on with it, and the time between is a gap. A day of 1,000 busy partitions
takes about 110 MiB, of idle ones 3. FILE belongs to one cluster, and has one writer;
isr --store FILE reads its events.

--jmx records Kafka's own meters beside that, for diagnose --from. An agent that does not
answer is told, and no error.

A TOPIC with any of *?[ is a glob; quote it from the shell. All topics are recorded
where none is named.`,
		Example: `  kafkaops record prod.rec --for 24h -b kafka-1:9092
  kafkaops record orders.rec 'orders-*' --interval 1s --for 8h -b kafka-1:9092`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), env, args) },
	}
	o.register(cmd, env, defaultInterval)
	o.agents.register(cmd, "record how busy the brokers are")
	f := cmd.Flags()
	f.DurationVar(&o.lasts, "for", 0, "end after this `duration`, such as 90m or 24h; 0 until interrupted")
	return cmd
}

// recordRun is one record.
type recordRun struct {
	opts   *recordOptions
	env    Env
	view   render.View
	target *target
	filter topicFilter
	source *source.Source
	w      *recording.Writer
	carry  looks.Carrier
	meters *agents
	// mute are agents' troubles that were told.
	mute map[string]bool
	// seldomAt is when a look last asked for all.
	seldomAt time.Time
	// last is the newest look, and handed has it for who compares looks.
	last   *inspect.Snapshot
	handed isrlog.Handed
	done   render.RecordingItem
	// events are those that were written, by another goroutine.
	events atomic.Int64
	// troubles are what the last look lacked, or the last whole one, which seldom has:
	// each is told when it comes.
	troubles, seldom []string
	notes            lineWriter
}

func (o *recordOptions) run(ctx context.Context, env Env, args []string) error {
	r := &recordRun{opts: o, env: env}
	if err := r.open(args); err != nil {
		return err
	}
	file := args[0]
	first, err := r.take(ctx)
	if err != nil {
		return r.target.explain(err)
	}
	if r.w, err = recording.Open(file, first.ClusterID.Or("")); err != nil {
		return err
	}
	r.done.File = file
	tellResumed(r.w, r.notes.say)
	ended := r.record(ctx, first)
	if err := r.w.Close(); err != nil && ended == nil {
		ended = err
	}
	r.done.Bytes, r.done.Events = r.w.Size(), r.events.Load()
	summed := r.summed()
	if err := render.Recorded(env.Terminal.Out, r.view, summed, &r.done); err != nil {
		return err
	}
	switch {
	case ended != nil:
		return ended
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return outcome(summed, true)
}

// summed is what all looks lacked, in a line.
func (r *recordRun) summed() *inspect.Snapshot {
	s := &inspect.Snapshot{ClusterID: r.last.ClusterID, Controller: r.last.Controller, TakenAt: r.last.TakenAt}
	if n := r.done.Missed + r.done.Partial; n > 0 {
		s.Failures = []inspect.Failure{{Phase: inspect.PhaseRequest, Error: fmt.Sprintf("%d of %d looks were not answered in full", n, r.done.Looks+r.done.Missed)}}
	}
	return s
}

// open checks the options.
func (r *recordRun) open(args []string) (err error) {
	o := r.opts
	switch {
	case o.lasts < 0:
		return usagef("--for %s is negative", o.lasts)
	case o.interval < minInterval:
		return usagef("--interval %s is too short: the least is %s", o.interval, minInterval)
	}
	if err := o.agents.check(); err != nil {
		return err
	}
	if r.view, r.filter, err = o.shown(r.env, args[min(1, len(args)):]); err != nil {
		return err
	}
	r.notes.out, r.notes.hold = r.env.Terminal.Err, r.view.Terminal
	if r.target, err = o.resolve(r.env); err != nil {
		return err
	}
	if r.meters, err = o.agents.of(r.target, o.timeout); err != nil {
		return err
	}
	if len(args) == 0 || args[0] == "" {
		return usagef("record needs a FILE to write to")
	}
	r.target.tellWarnings(r.env)
	r.source = source.New(r.target.brokers, o.timeout, r.target.options()...)
	return nil
}

// take takes a look, whole at times.
func (r *recordRun) take(ctx context.Context) (*inspect.Snapshot, error) {
	q := r.filter.query()
	q.Parts, q.NoMinISR = recordOften, true
	now := time.Now()
	if now.Sub(r.seldomAt) >= seldomEvery {
		q.Parts, q.NoMinISR = recordOften|recordSeldom, false
	}
	s, err := r.source.Snapshot(ctx, q)
	if err == nil && q.Parts.Has(recordSeldom) {
		r.seldomAt = now
	}
	return s, err
}

// record goes on until the time is over, it is interrupted, or the file cannot be written.
func (r *recordRun) record(ctx context.Context, first *inspect.Snapshot) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	until := time.Now().Add(cmp.Or(r.opts.lasts, forEver))
	if r.view.Terminal {
		defer r.env.Terminal.BeginWatch()()
	}
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel(nil)
	following.Go(func() {
		if err := r.follow(ctx); err != nil {
			cancel(err)
		}
	})
	s, err := first, error(nil)
	for next := time.Now(); ; {
		if err := r.keep(s, err); err != nil {
			return err
		}
		if err := r.show(); err != nil {
			return err
		}
		if next = next.Add(r.opts.interval); next.Before(time.Now()) {
			next = time.Now() // a look took longer: none is made up for
		}
		if next.After(until) {
			_ = sleep(ctx, time.Until(until))
			return ended(ctx)
		}
		r.meters.ask(ctx, r.last.Brokers)
		if sleep(ctx, time.Until(next)) != nil {
			return ended(ctx)
		}
		s, err = r.take(ctx)
		if ctx.Err() != nil {
			return ended(ctx)
		}
	}
}

// ended is why a context has, unless that was to be.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// keep writes a look.
func (r *recordRun) keep(s *inspect.Snapshot, failed error) error {
	if failed != nil {
		r.done.Missed++
		r.trouble([]string{r.target.explain(failed).Error()})
		return nil
	}
	var lines []string
	for _, f := range s.Failures {
		lines = append(lines, render.FailureLine(f))
	}
	if s.Asked.Has(recordSeldom) {
		r.seldom = lines
	}
	for _, line := range r.seldom { // what was not asked again is not answered either
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	r.trouble(lines)
	r.carry.Carry(s)
	r.takeMeters(s)
	if err := r.w.AppendLook(s); err != nil {
		return err
	}
	r.last = s
	at := inspect.Known(render.Time{Time: s.TakenAt})
	if !r.done.Since.IsKnown() {
		r.done.Since = at
	}
	r.done.Until = at
	r.done.Looks++
	if !s.Complete() {
		r.done.Partial++
	}
	r.done.Partitions = 0
	for range s.Partitions {
		r.done.Partitions++
	}
	r.handed.Leave(s)
	return nil
}

// takeMeters takes what the agents told since the look before. Each trouble is told once.
func (r *recordRun) takeMeters(s *inspect.Snapshot) {
	for _, f := range r.meters.take(s) {
		if line := render.FailureLine(f); !r.mute[line] {
			if r.mute == nil {
				r.mute = map[string]bool{}
			}
			r.mute[line] = true
			r.notes.say("%s", line)
		}
	}
}

// trouble tells what is wrong that was not so at the look before.
func (r *recordRun) trouble(lines []string) {
	if !r.view.Terminal {
		for _, line := range lines {
			if !slices.Contains(r.troubles, line) {
				r.notes.say("%s", line)
			}
		}
		if len(lines) == 0 && len(r.troubles) > 0 {
			r.notes.say("%s: all that is asked is answered again", time.Now().UTC().Format(time.RFC3339))
		}
	}
	r.troubles = lines
}

// show draws how far it is.
func (r *recordRun) show() error {
	if !r.view.Terminal {
		return nil
	}
	r.env.Terminal.Measure()
	r.view.Width = r.env.Terminal.Width
	r.done.Bytes, r.done.Events = r.w.Size(), r.events.Load()
	screen := render.RecordingScreen(r.view, r.last, &r.done, r.troubles, r.notes.lately())
	return r.env.Terminal.Redraw([]byte(screen))
}

// follow keeps the changes of ISRs, from the log where it can be had. It ends with the
// context, or where the file cannot be written.
func (r *recordRun) follow(ctx context.Context) error {
	told := inspect.IsrSource("")
	to := isrlog.Listener{
		Event: func(inspect.IsrEvent) { r.events.Add(1) },
		Evidence: func(e isrlog.Evidence) {
			if told != e.Source {
				told = e.Source
				r.notes.say("ISR events: %s", render.EvidenceLine(&e))
			}
		},
		Note: func(line string, _ bool) { r.notes.say("%s", line) },
	}
	log := isrlog.NewLog(r.target.brokers, &r.target.controllersAt, r.opts.timeout)
	f := isrlog.Follow{
		Log: log, Await: log.Await, Into: r.w,
		Looks: func() *isrlog.Poll { return r.handed.Poll(r.opts.interval, len(r.filter.query().Topics) == 0) },
		Fell: func(err error) {
			f := *isrlog.FailureOf(err)
			f.Notice, f.Lost = true, "comparing looks at the metadata instead, until it can be had"
			r.notes.say("%s", render.FailureLine(f))
		},
	}
	err := f.Run(ctx, isrlog.Span{}, to)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was to end
	}
	return err
}
