package cli

import (
	"context"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/spf13/cobra"
)

// timelineParts is how many parts a summary cuts its span into.
const timelineParts = 24

func newIsrSummaryCmd(env Env) *cobra.Command {
	var o isrOptions
	cmd := &cobra.Command{
		Use:   "summary",
		Short: "Which broker was missing from ISRs, how often, for how long, and why?",
		Long: `Sums up who left ISRs, by broker and cause. OUT is for how long at least one
partition was without it, TIMES counts every partition that it left, LONGEST is the
longest that one was without it. The timeline has a bar for each part of the span,
as high as partitions were left in it. Who is taken away by a reassignment is not
missing. What --since, --until, --cause and the others select is as with isr. --jmx
shows Kafka's own meters beside that, which count since the process began what leaders
changed because of lag, and nothing of what the controller changed.`,
		Example: `  kafkaops isr summary --since 24h -b kafka-1:9092
  kafkaops isr summary --broker 3 -o json -b kafka-1:9092 | jq '.items[].partitions[0]'
  kafkaops isr summary --jmx http://kafka-1:8778/jolokia/ --jmx http://kafka-2:9404/metrics -b kafka-1:9092`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.given(cmd)
			return o.runSummary(cmd.Context(), env)
		},
	}
	o.register(cmd, env)
	return cmd
}

func (o *isrOptions) runSummary(ctx context.Context, env Env) error {
	r, err := o.open(ctx, env, nil)
	if err != nil {
		return err
	}
	// Who comes back does so for another cause than that for which they left, and
	// both are needed.
	broker, causes := o.brokerGiven, o.causes
	o.brokerGiven, o.causes = false, nil
	sum := isrlog.NewSummary()
	if err := r.gather(ctx, func(e inspect.IsrEvent) { sum.See(&e) }); err != nil {
		return err
	}
	o.brokerGiven, o.causes = broker, causes
	until := r.span.Until
	if until.IsZero() {
		until = r.now
	}
	from := r.span.Since
	if since, ok := r.evidence.Since.Get(); ok && since.After(from) && since.Before(until) {
		from = since // before that nothing is known
	}
	var shown []isrlog.Absences
	for _, a := range sum.Absences(from, until, timelineParts) {
		if r.wanted(&inspect.IsrEvent{Topic: a.Partitions[0].Topic, Cause: a.Cause, Brokers: []inspect.BrokerID{a.Broker}}) {
			shown = append(shown, a)
		}
	}
	meters, err := r.meters(ctx)
	if err != nil {
		return err
	}
	if !r.view.Terminal && !r.view.Format.Structured() {
		r.tellEvidence()
	}
	if err := render.IsrSummary(env.Terminal.Out, r.view, r.snap, &r.evidence, from, until, shown, meters); err != nil {
		return err
	}
	return outcome(r.snap, true)
}
