package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

func newCheckCmd(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check <what>",
		Short: "Yes or no, for scripts and monitoring: the exit code is the answer",
		Example: `  kafkaops check health -b kafka-1:9092
  kafkaops check access -b kafka-1:9092`,
		Args: noSuchCommand,
		RunE: whichOne,
	}
	cmd.AddCommand(newCheckHealthCmd(env), newCheckAccessCmd(env))
	return cmd
}

// healthOptions are the flags of check health.
type healthOptions struct {
	options
	maxLag, maxUncommitted int64
	maxAge                 time.Duration
	nagios                 bool
	unreachable            string
	excludeInternal        bool
	// limitLag, limitUncommitted, limitAge: the flag was on the command line.
	limitLag, limitUncommitted, limitAge bool
}

func newCheckHealthCmd(env Env) *cobra.Command {
	var o healthOptions
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Is the cluster healthy? One line, by describe's verdict",
		Long: `Exit codes: 0 ok; 3 not healthy; 1 could not ask everything; 2 wrong usage.
With --nagios those of monitoring plugins: 0 ok; 1 degraded, or a limit exceeded;
2 at-risk or unavailable; 3 unknown, could not ask, or wrong usage. Where UNKNOWN
pages nobody, --nagios-unreachable critical makes it 2 when no address connects or
replies: a total outage, and every fault of the network on the way. A refusal, of
the credentials for instance, stays 3. While brokers are silent the controllers may
tell why: kafkaops describe quorum --controller host:port.

The limits add a pass over the offsets of every replica. --max-uncommitted-age 5s
looks twice, that long apart (which is not part of --timeout): where the HW of the
second look has not reached the LEO of the first, a record has waited at least so
long. It tells of producers with acks=all that stand still, of whose records few
pile up, because each waits for its answer: --max-uncommitted may never fire then.`,
		Example: `  kafkaops check health -b kafka-1:9092 && ./deploy
  kafkaops check health --max-uncommitted-age 5s -b kafka-1:9092
  kafkaops check health --nagios --max-lag 10000 -b kafka-1:9092`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.limitLag, o.limitUncommitted = cmd.Flags().Changed("max-lag"), cmd.Flags().Changed("max-uncommitted")
			o.limitAge = cmd.Flags().Changed("max-uncommitted-age")
			return o.run(cmd.Context(), env)
		},
	}
	o.register(cmd, env)
	f := cmd.Flags()
	f.Int64Var(&o.maxLag, "max-lag", 0, "not healthy when a replica is more than `N` records behind")
	f.Int64Var(&o.maxUncommitted, "max-uncommitted", 0, "not healthy when a partition has more than `N` records above its HW")
	f.DurationVar(&o.maxAge, "max-uncommitted-age", 0, "not healthy when a record has waited for its commit for at least this `long`: looks twice")
	f.BoolVar(&o.nagios, nagiosFlag, false, "a monitoring plugin's line and exit code")
	f.StringVar(&o.unreachable, unreachableFlag, unreachableUnknown, "what --nagios says when no address connects or replies: `unknown or critical`")
	complete(cmd, unreachableFlag, unreachableUnknown, unreachableCritical)
	f.BoolVar(&o.excludeInternal, "exclude-internal", false, "leave Kafka's internal topics out")
	return cmd
}

func (o *healthOptions) check(s *session) error {
	switch {
	case o.maxLag < 0:
		return usagef("--max-lag %d: a lag is not negative", o.maxLag)
	case o.maxUncommitted < 0:
		return usagef("--max-uncommitted %d: a number of records is not negative", o.maxUncommitted)
	case o.limitAge && (o.maxAge <= 0 || o.maxAge > maxTimeout):
		return usagef("--max-uncommitted-age %s: use a duration above 0, at most %s", o.maxAge, maxTimeout)
	case o.unreachable != unreachableUnknown && o.unreachable != unreachableCritical:
		return usagef("--%s %q: use %s or %s", unreachableFlag, o.unreachable, unreachableUnknown, unreachableCritical)
	case o.unreachable != unreachableUnknown && !o.nagios:
		return usagef("--%s is about --nagios: add that", unreachableFlag)
	case o.nagios && o.watch:
		return usagef("--nagios answers once: leave --watch out")
	case o.nagios && s.view.Format.Structured():
		return usagef("--nagios has a format of its own: leave --output %s out", o.output)
	}
	return nil
}

func (o *healthOptions) run(ctx context.Context, env Env) error {
	s, err := o.open(env)
	if err != nil {
		return err
	}
	if err := o.check(s); err != nil {
		return err
	}
	filter := topicFilter{excludeInternal: o.excludeInternal}
	q := filter.query()
	q.Parts = inspect.PartELR | inspect.PartReachable
	looks := 1
	if o.limitAge {
		looks++
	}
	if o.limitLag || o.limitUncommitted || o.limitAge {
		q.Parts |= inspect.PartOffsets
	}
	return s.each(ctx, func(ctx context.Context, out, notes io.Writer) error {
		var first *inspect.Snapshot
		snap, err := s.sample(ctx, q, looks, o.maxAge, func(snap *inspect.Snapshot) {
			if first == nil {
				first = snap
			}
		}, notes)
		if err != nil {
			return err
		}
		verdict := snap.Verdict()
		var aged render.Aged
		if o.limitAge {
			aged = render.Aged{For: inspect.Known(o.maxAge), Waiting: snap.WaitingSince(first)}
		}
		o.applyLimits(snap, &verdict, &aged)
		if o.nagios {
			if !snap.Complete() && verdict.Level == inspect.LevelOK {
				verdict.Worsen(inspect.LevelUnknown, "ok as far as was answered, which is not all")
			}
			err = render.CheckHealthNagios(out, snap, &verdict, &aged, o.limits())
		} else {
			err = render.CheckHealth(out, s.view, snap, &verdict, &aged)
		}
		if err != nil {
			return err
		}
		if o.nagios {
			return nagiosOf(verdict.Level)
		}
		return outcome(snap, verdict.Level == inspect.LevelOK)
	})
}

// applyLimits makes the verdict degraded, or unknown, by the offsets. A lag that
// is unknown may be above the limit.
func (o *healthOptions) applyLimits(snap *inspect.Snapshot, v *inspect.Verdict, aged *render.Aged) {
	limits := o.limits()
	if limits == (render.Limits{}) {
		return
	}
	h := render.NewHealthItem(snap, v, aged)
	limit := func(limit, most inspect.Opt[int64], at *render.PlaceItem, unknown inspect.Opt[int], what string, of func(int) string) {
		allowed, on := limit.Get()
		if !on {
			return
		}
		if n, ok := most.Get(); ok && n > allowed {
			v.Worsen(inspect.LevelDegraded, fmt.Sprintf("%s is %s (%s), above the limit of %d", what, records(n), at, allowed))
		}
		if n := unknown.Or(0); n > 0 {
			v.Worsen(inspect.LevelUnknown, fmt.Sprintf("%s may be above the limit of %d: %s not known", what, allowed, of(n)))
		}
	}
	limit(limits.Lag, h.MaxLag, h.MaxLagAt, h.LagUnknown, "the largest lag of a replica", lagsOf)
	limit(limits.Uncommitted, h.MaxUncommitted, h.MaxUncommittedAt, h.UncommittedUnknown, "the largest LEO-HW of a partition", gapsOf)
	applyAge(&h, v, o.maxAge)
}

// applyAge is applyLimits for the age of what is not committed.
func applyAge(h *render.HealthItem, v *inspect.Verdict, limit time.Duration) {
	if n := h.UncommittedAged.Or(0); n > 0 {
		at := h.UncommittedAgeAt.String()
		if n > 1 {
			at += " and " + count(n-1, "more partition")
		}
		v.Worsen(inspect.LevelDegraded, fmt.Sprintf("a record has waited for its commit for at least %s (%s)", limit, at))
	}
	if n := h.UncommittedAgeUnknown.Or(0); n > 0 {
		v.Worsen(inspect.LevelUnknown, fmt.Sprintf("a record may have waited for its commit for %s: that of %s is not known", limit, partitions(n)))
	}
}

func lagsOf(n int) string {
	if n == 1 {
		return "that of 1 replica is"
	}
	return fmt.Sprintf("those of %d replicas are", n)
}

func gapsOf(n int) string {
	if n == 1 {
		return "that of 1 partition is"
	}
	return fmt.Sprintf("those of %d partitions are", n)
}

func records(n int64) string {
	if n == 1 {
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}

// limits are those that were given.
func (o *healthOptions) limits() render.Limits {
	var l render.Limits
	if o.limitLag {
		l.Lag = inspect.Known(o.maxLag)
	}
	if o.limitUncommitted {
		l.Uncommitted = inspect.Known(o.maxUncommitted)
	}
	if o.limitAge {
		l.Age = inspect.Known(o.maxAge)
	}
	return l
}

const (
	nagiosFlag      = "nagios"
	unreachableFlag = "nagios-unreachable"

	unreachableUnknown  = "unknown"
	unreachableCritical = "critical"
)

// askControllers is where to look while no broker replies.
const askControllers = "kafkaops describe quorum --controller host:port"

// The exit codes of monitoring plugins, beside 0 for ok.
const (
	nagiosWarning  = 1
	nagiosCritical = 2
	nagiosUnknown  = 3
)

// nagiosOf maps the verdict. What is certainly critical stays so where another
// part was not answered.
func nagiosOf(level inspect.Level) error {
	switch level {
	case inspect.LevelUnavailable, inspect.LevelAtRisk:
		return nagiosError{nagiosCritical}
	case inspect.LevelDegraded:
		return nagiosError{nagiosWarning}
	case inspect.LevelOK:
		return nil
	}
	return nagiosError{nagiosUnknown}
}

// asksNagios reports whether the command line is a monitoring plugin's. The flag
// may stand behind the mistake that ended parsing, so the words count too.
func asksNagios(cmd *cobra.Command, args []string) bool {
	if !strings.HasPrefix(cmd.CommandPath()+" ", cmd.Root().Name()+" check ") {
		return false
	}
	on, _ := cmd.Flags().GetBool(nagiosFlag) // an error is a command without it
	return on || slices.Contains(args, "--"+nagiosFlag)
}

// asNagios tells what ended the check in a plugin's way: one line on stdout.
// Wrong usage would be exit code 2, which pages someone for a broken cluster; so
// is a cluster of which no address replies, where that was asked for.
func asNagios(err error, env Env, cmd *cobra.Command) error {
	var status nagiosError
	switch code := exitCode(err, env.Terminal.Err, cmd.CommandPath()); {
	case errors.As(err, &status), code == exitOK, code == exitInterrupted:
		return err
	}
	why := strings.ReplaceAll(render.Clean(err.Error()), "|", "/") // a bar begins the performance data
	var boot *source.BootstrapError
	if errors.As(err, &boot) && boot.Silent() {
		why += ". The controllers may tell more: " + askControllers
	}
	// An error is a command without the flag.
	if as, _ := cmd.Flags().GetString(unreachableFlag); as == unreachableCritical && boot != nil && boot.Unreachable() {
		fmt.Fprintf(env.Terminal.Out, "KAFKA CRITICAL - %s\n", why)
		return nagiosError{nagiosCritical}
	}
	fmt.Fprintf(env.Terminal.Out, "KAFKA UNKNOWN - %s\n", why)
	return nagiosError{nagiosUnknown}
}
