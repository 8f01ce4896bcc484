package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
	"github.com/spf13/cobra"
)

// lagOptions are the flags of lag.
type lagOptions struct {
	describeOptions
	topics  []string
	all     bool
	min     int64
	top     int
	sort    string
	samples int
	// minGiven: --min was on the command line, 0 being a value too.
	minGiven bool
}

func newLagCmd(env Env) *cobra.Command {
	var o lagOptions
	cmd := &cobra.Command{
		Use:   "lag [TOPIC…]",
		Short: "Which replica is behind, by how much, in records and in time?",
		Long: `Reads the log end offset (LEO) of every replica from the broker that hosts it, and
the high watermark (HW) from the leader. LEO-HW are records that are written but
not committed: no consumer sees them. LAG is how many records a replica is behind
its leader, the certain lower bound of what moves while it is read (-o wide has the
upper one too). Both need no more than DESCRIBE on the topic. Consumers' lag is
kafkaops lag groups (a topic of that name: lag --topic groups).

With --samples N (or --watch) it looks N times and tells TIME: how old the end of
the replica's log is, to within one --interval. Yes or no, for scripts: kafkaops
check health with --max-lag, --max-uncommitted or --max-uncommitted-age.

A TOPIC with any of *?[ is a glob; quote it from the shell.`,
		Example: `  kafkaops lag --top 10 -b kafka-1:9092
  kafkaops lag orders --samples 5 --interval 1s -o wide -b kafka-1:9092`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.minGiven = cmd.Flags().Changed("min")
			return o.run(cmd.Context(), env, args)
		},
	}
	o.register(cmd, env)
	f := cmd.Flags()
	f.StringArrayVar(&o.topics, "topic", nil, "a topic, as an argument is")
	f.Int64Var(&o.min, "min", 0, "only partitions with a replica that is at least `N` records behind")
	f.IntVar(&o.top, "top", 0, "only the `N` partitions that are worst")
	f.StringVar(&o.sort, "sort", sortLag, "order of the table: lag, uncommitted or name")
	f.IntVar(&o.samples, "samples", 1, "look `N` times, --interval apart, and tell time lag and rates")
	f.BoolVar(&o.exitCode, "exit-code", false, "exit with 3 when the verdict is not ok or, with --min N, a replica is N or more behind")
	f.BoolVar(&o.excludeInternal, "exclude-internal", false, "leave Kafka's internal topics out")
	f.BoolVar(&o.all, "all", false, "do not cut a long list on a terminal")
	complete(cmd, "sort", sortLag, sortUncommitted, sortName)
	o.completeTopics(cmd, env, &o.topics)
	cmd.AddCommand(newLagGroupsCmd(env))
	return cmd
}

// The values of --sort.
const (
	sortLag         = "lag"
	sortUncommitted = "uncommitted"
	sortName        = "name"
)

func (o *lagOptions) check() error {
	switch {
	case o.minGiven && o.min < 0:
		return usagef("--min %d: a lag is not negative", o.min)
	case o.top < 0:
		return usagef("--top %d: a number of partitions is not negative", o.top)
	case o.samples < 1 || o.samples > history.MaxSamples:
		return usagef("--samples %d: use 1 to %d", o.samples, history.MaxSamples)
	case !slices.Contains([]string{sortLag, sortUncommitted, sortName}, o.sort):
		return usagef("--sort %q: use lag, uncommitted or name", o.sort)
	}
	return nil
}

func (o *lagOptions) run(ctx context.Context, env Env, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := o.open(env)
	if err != nil {
		return err
	}
	filter, err := newTopicFilter(append(args, o.topics...), o.excludeInternal)
	if err != nil {
		return err
	}
	if !o.all && o.top == 0 && len(filter.exact) == 0 {
		s.view.Rows = listRows
	}
	q := filter.query()
	q.Parts = inspect.PartOffsets
	q.QuorumBeside = !o.exitCode // the verdict alone needs it
	past := history.New(0)
	return s.each(ctx, func(ctx context.Context, out, notes io.Writer) error {
		snap, err := s.sample(ctx, q, o.samples, s.opts.interval, past.Add, notes)
		if err != nil {
			return err
		}
		filter.tellUnmatched(snap, notes)
		rows, hidden, undecided := o.rows(snap, past)
		if hidden > 0 {
			told := inspect.Failure{
				Request: "ListOffsets", Phase: inspect.PhaseRequest, Notice: !undecided,
				Error: fmt.Sprintf("--min %d leaves out %s with a replica whose lag is unknown", o.min, partitions(hidden)),
			}
			fail(snap, told, notes)
		}
		if err := render.Lag(out, s.view, snap, rows); err != nil {
			return err
		}
		return outcome(snap, !o.exitCode || o.healthy(snap, rows))
	})
}

// rows judges every partition, and selects and orders as the flags say. It counts
// those that --min hides though a lag is unknown; undecided is whether one of them
// could have been known. That of a replica which is offline, or has no leader, is
// unknown by nature.
func (o *lagOptions) rows(snap *inspect.Snapshot, past *history.History) (rows []render.LagRow, hidden int, undecided bool) {
	for p := range snap.Partitions {
		row := render.NewLagRow(p)
		if o.samples > 1 || o.watch {
			row.AddTiming(past, 0)
		}
		if o.minGiven {
			most, unknown, silent := worst(&row.Lag)
			if most < o.min {
				if unknown {
					hidden++
				}
				undecided = undecided || silent && p.Leader != inspect.NoBroker
				continue
			}
		}
		rows = append(rows, row)
	}
	switch o.sort {
	case sortLag:
		rows = render.WorstLagFirst(rows)
	case sortUncommitted:
		slices.SortStableFunc(rows, func(a, b render.LagRow) int {
			return cmp.Compare(b.Lag.Uncommitted.Or(-1), a.Lag.Uncommitted.Or(-1)) // unknown comes last
		})
	}
	if o.top > 0 && len(rows) > o.top {
		if o.sort == sortName {
			rows = topByLag(rows, o.top)
		}
		rows = rows[:o.top]
	}
	return rows, hidden, undecided
}

// topByLag keeps the worst partitions, in the order in which they came.
func topByLag(rows []render.LagRow, n int) []render.LagRow {
	keep := map[*inspect.Partition]bool{}
	for _, r := range render.WorstLagFirst(rows)[:n] {
		keep[r.Partition] = true
	}
	return slices.DeleteFunc(rows, func(r render.LagRow) bool { return !keep[r.Partition] })
}

// worst is the largest certain lag, whether one is unknown, and whether that is so
// for a replica which is not offline.
func worst(l *inspect.PartitionLag) (most int64, unknown, silent bool) {
	for i := range l.Replicas {
		r := &l.Replicas[i]
		lag, ok := r.Lag.Get()
		most = max(most, lag)
		unknown = unknown || !ok
		silent = silent || !ok && r.State != inspect.ReplicaOffline
	}
	return most, unknown, silent
}

// healthy: the verdict is ok and, where --min is given, nobody is that far behind.
func (o *lagOptions) healthy(snap *inspect.Snapshot, rows []render.LagRow) bool {
	if snap.Verdict().Level != inspect.LevelOK {
		return false
	}
	return !o.minGiven || len(rows) == 0
}
