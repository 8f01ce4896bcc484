package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

// accessOptions are the flags of check access.
type accessOptions struct {
	options
	topics, groups  []string
	transactional   []string
	excludeInternal bool
}

func newCheckAccessCmd(env Env) *cobra.Command {
	var o accessOptions
	cmd := &cobra.Command{
		Use:   "access",
		Short: "Which commands work with these credentials, and which ACLs do the others need?",
		Long: `Sends every request that any command sends, once, and says which commands work, what
is missing in the others, and the kafka-acls.sh calls that grant it. Nothing is
changed or created.

  works        everything that it is for may be seen; what is MISSING is beside it
  partly       a part is refused, or some topics or groups are
  refused      what the command is for is refused, or nothing of it may be seen
  unknown      nobody answered who could tell
  unavailable  this cluster cannot do it, whoever asks

Topics, groups and transactions without DESCRIBE are invisible: Kafka leaves them out
and does not tell how many. Who has DESCRIBE on the cluster is told of every topic
that has logs, and of every group. Name topics, groups and transactional ids, or what
they begin with ('team-*'), to ask about these alone, be they there or not: then no
more is proposed than to grant these.

READ, which also lets its holder consume, is proposed apart from the rest, and so is
CLUSTER_ACTION, which lets its holder act as a broker: a monitor can do without either,
and to lack them is no reason for exit code 3. Without CLUSTER_ACTION, or where no
controller can be reached, isr has no history, and isr --follow and export compare
looks at the metadata. Where the connection needs a --command-config, so does
kafka-acls.sh: put that of who may change ACLs in place of admin.properties.

Exit codes: 0 all commands work; 3 something is missing; 1 could not ask.`,
		Example: `  kafkaops check access -b kafka-1:9092
  kafkaops check access --topic orders --group billing -b kafka-1:9092`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	o.register(cmd, env)
	f := cmd.Flags()
	f.StringArrayVar(&o.topics, "topic", nil, "ask about this `topic` alone, or those that match the glob; may be repeated")
	f.StringArrayVar(&o.groups, "group", nil, "ask about this `group` alone, or those that match the glob; may be repeated")
	f.StringArrayVar(&o.transactional, "transactional-id", nil, "ask about this `id` alone, or those that begin with id*; may be repeated")
	f.BoolVar(&o.excludeInternal, "exclude-internal", false, "leave Kafka's internal topics out")
	o.completeTopics(cmd, env, &o.topics)
	o.completeGroups(cmd, env, &o.groups)
	cmd.ValidArgsFunction = cobra.NoFileCompletions // names are values of flags alone
	return cmd
}

func (o *accessOptions) run(ctx context.Context, env Env) error {
	s, err := o.open(env)
	if err != nil {
		return err
	}
	topics, err := newTopicFilter(o.topics, o.excludeInternal)
	if err != nil {
		return err
	}
	groups, err := newNameFilter("group", o.groups)
	if err != nil {
		return err
	}
	if slices.Contains(o.transactional, "") {
		return usagef("an empty transactional id")
	}
	ids, err := newNameFilter("transactional id", o.transactional)
	if err != nil {
		return err
	}
	asked := map[inspect.ResourceType]inspect.Scope{
		inspect.ResourceTopic: topics.scope(), inspect.ResourceGroup: groups.scope(), inspect.ResourceTransactionalID: ids.scope(),
	}
	if globs := asked[inspect.ResourceTransactionalID].Globs; len(globs) > 0 { // Kafka lists none to match it with
		return usagef("transactional id %q: use a name, or what names begin with and a * after it", globs[0])
	}
	q := topics.query()
	q.Parts = access.Asks
	q.Access = source.AccessQuery{Asked: asked}
	if !groups.all() {
		q.Groups.Keep = groups.matches
	}
	security := s.target.brokers.Security
	who := render.Credentials{Bootstrap: s.target.brokers.Bootstrap[0], Principal: security.Principal(), Secured: security != nil}
	return s.each(ctx, func(ctx context.Context, out, notes io.Writer) error {
		snap, err := s.ask(ctx, q, io.Discard)
		if err != nil {
			return err
		}
		s.tryLog(ctx, snap)
		if err := ctx.Err(); err != nil {
			return err
		}
		report := access.Judge(snap)
		// What was refused is the answer here, and no failure to get one.
		snap.Failures = slices.DeleteFunc(snap.Failures, func(f inspect.Failure) bool { return f.Missing != inspect.ACL{} })
		asked := len(snap.Failures)
		topics.tellUnmatched(snap, io.Discard)
		tellUnmatchedGroups(&groups, snap, io.Discard)
		for i := range snap.Failures {
			f := &snap.Failures[i]
			f.Notice = f.Notice || i >= asked || access.Answers(f)
			fmt.Fprintln(notes, render.FailureLine(*f))
		}
		if err := render.Access(out, s.view, snap, &report, who); err != nil {
			return err
		}
		return outcome(snap, report.OK())
	})
}

// tryLog asks the active controller for its log, the history of the ISR, which a broker
// cannot tell of. What stands in the way beside an ACL is a line, and no failure: a
// closed controller is nothing that credentials could change.
func (s *session) tryLog(ctx context.Context, snap *inspect.Snapshot) {
	at, ok := s.target.controllersOf(snap)
	if !ok {
		return // of the quorum another line tells
	}
	bounded, cancel := context.WithTimeout(ctx, s.opts.timeout/3)
	defer cancel()
	err := isrlog.NewLog(s.target.brokers, &at, s.opts.timeout).Try(bounded)
	var refused *isrlog.RefusedError
	switch {
	case errors.As(err, &refused):
		snap.Failures = append(snap.Failures, inspect.Failure{Address: refused.Address, Request: refused.Request, Phase: inspect.PhaseRequest, Missing: refused.Missing})
	case err != nil:
		f := *isrlog.FailureOf(err)
		f.Notice, f.Lost = true, "isr has no history, and export compares looks"
		snap.Failures = append(snap.Failures, f)
	}
	granted := snap.Access.Or(inspect.Access{})
	granted.MetadataLog, granted.NoController = err == nil, err != nil && refused == nil
	snap.Access = inspect.Known(granted)
}

// tellUnmatchedGroups is about globs: of a name, whether it may be described is
// told even where there is no such group.
func tellUnmatchedGroups(filter *nameFilter, snap *inspect.Snapshot, notes io.Writer) {
	names := make([]string, len(snap.Groups))
	for i := range snap.Groups {
		names[i] = snap.Groups[i].Name
	}
	for _, u := range filter.unmatchedGlobs(names) {
		fail(snap, inspect.Failure{
			Request: "ListGroups", Phase: inspect.PhaseRequest, Error: fmt.Sprintf("no group matches %q", u),
		}, notes)
	}
}
