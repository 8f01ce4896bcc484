package cli

import (
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/spf13/cobra"
)

// lookOptions are the flags of commands that look at a cluster again and again, and make
// something of all that they saw: record, tune, diagnose.
type lookOptions struct {
	targetOptions
	viewOptions
	timeout, interval time.Duration
	topics            []string
	excludeInternal   bool
}

// register adds them; looks are every far apart unless the flag says otherwise.
func (o *lookOptions) register(cmd *cobra.Command, env Env, every time.Duration) {
	o.targetOptions.register(cmd, env)
	o.viewOptions.register(cmd)
	f := cmd.Flags()
	f.DurationVar(&o.interval, "interval", every, "time between looks")
	f.DurationVar(&o.timeout, "timeout", defaultTimeout, "bounds one look; one request gets a third of it")
	f.StringArrayVar(&o.topics, "topic", nil, "a topic, as an argument is")
	f.BoolVar(&o.excludeInternal, "exclude-internal", false, "leave Kafka's internal topics out")
	o.completeTopics(cmd, env, &o.topics)
}

// shown is how the answer looks, and of which topics it is: those of the arguments and
// of the flag.
func (o *lookOptions) shown(env Env, topics []string) (render.View, topicFilter, error) {
	view, err := o.view(env.Terminal)
	if err != nil {
		return view, topicFilter{}, err
	}
	view.Width = env.Terminal.Width
	if err := checkTimeout(o.timeout); err != nil {
		return view, topicFilter{}, err
	}
	filter, err := newTopicFilter(append(topics, o.topics...), o.excludeInternal)
	return view, filter, err
}
