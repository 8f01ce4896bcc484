package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

// lagGroupsOptions are the flags of lag groups.
type lagGroupsOptions struct {
	options
	groups        []string
	states, types []string
	all, exitCode bool
	time          bool
	min           int64
	top           int
	sort          string
	samples       int
	// minGiven: --min was on the command line, 0 being a value too.
	minGiven bool
}

func newLagGroupsCmd(env Env) *cobra.Command {
	var o lagGroupsOptions
	cmd := &cobra.Command{
		Use:   "groups [GROUP…]",
		Short: "Which consumer group is behind, by how much, in records and in time?",
		Long: `Joins what groups have committed with the ends of the partitions. LAG is HW minus
the committed offset (or the log's start, where retention has passed that), the
same as kafka-consumer-groups.sh, whose LOG-END-OFFSET is the HW. It is never
negative: a group that is past the end is ahead, which is a note and no part of a
sum. A partition without a commit has no lag; a sum with an unknown part is
unknown. Commits are read before ends. Nothing is joined, committed or created.

Without a GROUP, or with several, each group has a line; one GROUP by its exact
name, or -o wide, shows every partition: COMMITTED, the log's start, LSO (as far
as read_committed consumers get), HW, LEO, and the member that has it. TO-LSO is
the lag of a read_committed consumer, LSO minus the committed offset; it is blank
where that is the same as LAG.

TIME, how long the first record that is still to be read has been there, comes from
--time or from --samples N (or --watch). --time asks the log for times, 10 to 20
requests a broker, and goes by the timestamps in the records, to within a
twentieth; no record is read. --samples looks N times at the HW and goes by the
clock, to within one --interval.

A GROUP with any of *?[ is a glob; quote it from the shell. Groups need DESCRIBE
on the group and on its topics; others are not listed.`,
		Example: `  kafkaops lag groups --top 10 -b kafka-1:9092
  kafkaops lag groups billing --time -b kafka-1:9092`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.minGiven = cmd.Flags().Changed("min")
			return o.run(cmd.Context(), env, args)
		},
	}
	o.register(cmd, env)
	f := cmd.Flags()
	f.StringArrayVar(&o.groups, "group", nil, "a group, as an argument is")
	f.StringSliceVar(&o.states, "state", nil, "only groups in these `states`, such as Empty,Dead")
	f.StringSliceVar(&o.types, "type", nil, "only groups of these `types`: classic, consumer, share, streams")
	f.Int64Var(&o.min, "min", 0, "only groups that are at least `N` records behind")
	f.IntVar(&o.top, "top", 0, "only the `N` groups that are worst")
	f.StringVar(&o.sort, "sort", sortLag, "order of the table: lag or name")
	f.IntVar(&o.samples, "samples", 1, "look `N` times, --interval apart, and tell time lag")
	f.BoolVar(&o.time, "time", false, "tell time lag at once, by the records' own timestamps")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when a group is --min N or more behind")
	f.BoolVar(&o.all, "all", false, "do not cut a long list on a terminal")
	complete(cmd, "sort", sortLag, sortName)
	complete(cmd, "state", groupStates...)
	complete(cmd, "type", groupTypes...)
	o.completeGroups(cmd, env, &o.groups)
	return cmd
}

// Kafka's words, of all protocols. A filter by a word that does not exist would
// show nothing, which looks like health.
var (
	groupStates = []string{
		"Stable", "Empty", "Dead", "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "NotReady",
	}
	groupTypes = []string{
		string(inspect.GroupClassic), string(inspect.GroupConsumer), string(inspect.GroupShare), string(inspect.GroupStreams),
	}
)

func (o *lagGroupsOptions) check() error {
	switch {
	case o.minGiven && o.min < 0:
		return usagef("--min %d: a lag is not negative", o.min)
	case o.exitCode && !o.minGiven:
		return usagef("--exit-code needs --min N: how far behind is too far?")
	case o.time && o.samples > 1:
		return usagef("--time and --samples both tell time lag: use one of them")
	case o.top < 0:
		return usagef("--top %d: a number of groups is not negative", o.top)
	case o.samples < 1 || o.samples > history.MaxSamples:
		return usagef("--samples %d: use 1 to %d", o.samples, history.MaxSamples)
	case !slices.Contains([]string{sortLag, sortName}, o.sort):
		return usagef("--sort %q: use lag or name", o.sort)
	}
	if err := checkWords("--state", o.states, groupStates); err != nil {
		return err
	}
	return checkWords("--type", o.types, groupTypes)
}

func checkWords(flag string, given, known []string) error {
	for _, word := range given {
		if !slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, word) }) {
			return usagef("%s %q: use %s", flag, word, strings.Join(known, ", "))
		}
	}
	return nil
}

func (o *lagGroupsOptions) run(ctx context.Context, env Env, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := o.open(env)
	if err != nil {
		return err
	}
	filter, err := newNameFilter("group", append(args, o.groups...))
	if err != nil {
		return err
	}
	one := len(filter.exact) == 1 && len(filter.globs) == 0
	if !o.all && o.top == 0 && len(filter.exact) == 0 {
		s.view.Rows = listRows
	}
	draw := render.Groups
	if one || s.view.Format == render.FormatWide {
		draw = render.GroupPartitions
	}
	q := source.Query{
		Parts: inspect.PartGroups | inspect.PartOffsets, ForGroups: true, QuorumBeside: true,
		Groups: source.GroupQuery{Names: filter.exact, States: o.states, Types: o.types, Times: o.time},
	}
	if len(filter.globs) > 0 {
		q.Groups.Keep = filter.matches
	}
	past := history.New(0)
	return s.each(ctx, func(ctx context.Context, out, notes io.Writer) error {
		snap, err := s.sample(ctx, q, o.samples, s.opts.interval, past.Add, notes)
		if err != nil {
			return err
		}
		o.tellUnmatched(&filter, snap, notes)
		rows := o.rows(snap, past, notes)
		if err := draw(out, s.view, snap, rows); err != nil {
			return err
		}
		return outcome(snap, !o.exitCode || len(rows) == 0)
	})
}

// tellUnmatched prints the globs that no group answers to, and adds them to the
// failures. Exact names are there already. Where a filter by state or type is
// beside them, nothing may well be the answer.
func (o *lagGroupsOptions) tellUnmatched(filter *nameFilter, snap *inspect.Snapshot, notes io.Writer) {
	if len(o.states)+len(o.types) > 0 {
		return
	}
	tellUnmatchedGroups(filter, snap, notes)
}

// rows selects and orders as the flags say.
func (o *lagGroupsOptions) rows(snap *inspect.Snapshot, past *history.History, notes io.Writer) []render.GroupRow {
	var rows []render.GroupRow
	undecided := 0
	for _, lag := range snap.GroupLags() {
		row := render.GroupRow{GroupLag: lag}
		switch {
		case o.time:
			row.Times = foundTimes(&lag, snap.TakenAt)
		case o.samples > 1 || o.watch:
			row.AddTimes(past)
		}
		if o.minGiven && lag.LagKnown.Or(-1) < o.min {
			// What is known of the sum is its lower bound.
			if kind, known := lag.Type.Get(); lag.UnknownPartitions.Or(1) > 0 && !(known && kind.StateOnly()) {
				undecided++
			}
			continue
		}
		rows = append(rows, row)
	}
	switch {
	case undecided == 1:
		fmt.Fprintf(notes, "kafkaops: 1 group whose lag is unknown is not shown by --min %d\n", o.min)
	case undecided > 1:
		fmt.Fprintf(notes, "kafkaops: %d groups whose lag is unknown are not shown by --min %d\n", undecided, o.min)
	}
	worst := render.MostBehindFirst(rows)
	if o.top > 0 && len(worst) > o.top {
		worst = worst[:o.top]
	}
	if o.sort == sortName {
		slices.SortFunc(worst, func(a, b render.GroupRow) int { return strings.Compare(a.Name, b.Name) })
	}
	return worst
}

// foundTimes is what the log told when it was asked for times.
func foundTimes(lag *inspect.GroupLag, now time.Time) []render.ReadTime {
	times := make([]render.ReadTime, len(lag.Partitions))
	for i := range lag.Partitions {
		p := &lag.Partitions[i]
		since, found := p.UnreadSinceMs.Get()
		switch {
		case p.Lag == inspect.Known[int64](0):
			times[i].LagMs = inspect.Known[int64](0)
		case found:
			times[i].LagMs = inspect.Known(max(0, now.UnixMilli()-since))
		}
	}
	return times
}
