package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/spf13/cobra"
)

// demoOptions are the flags of demo.
type demoOptions struct {
	scenario string
	keep     bool
	name     string
	port     int
}

// scenario is one story.
type scenario struct {
	name, short string
	// settings are the cluster's, said at the beginning.
	settings map[string]string
	tell     func(context.Context, *demo) error
}

// demoName is the local cluster in which a demo plays.
const demoName = "demo"

func scenarios() []scenario {
	return []scenario{slowDiskScenario(), slowAcksScenario(), writePathScenario(), rollingRestartScenario(), splitBrainScenario(), flappingScenario(), tuningScenario()}
}

func newDemoCmd(env Env) *cobra.Command {
	var (
		o     demoOptions
		names []string
		list  strings.Builder
	)
	for _, s := range scenarios() {
		names = append(names, s.name)
		fmt.Fprintf(&list, "\n  %-16s %s", s.name, s.short)
	}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "A cluster, a workload and an incident, told by the commands you would type",
		Long: `Starts three brokers in memory, puts load on them and breaks something. Every command
is shown as it would be typed, with what it really printed; every number is of this run.
It takes less than half a minute, unless it says so, and leaves nothing behind.

The scenarios:` + list.String() + `

Exit codes: 0 told to its end; 1 something did not come about in its time.`,
		Example: `  kafkaops demo
  kafkaops demo --scenario write-path`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	f := cmd.Flags()
	f.StringVar(&o.scenario, "scenario", names[0], strings.Join(names, ", "))
	complete(cmd, "scenario", names...)
	f.BoolVar(&o.keep, "keep", false, "leave the cluster up at the end, until ^C or kafkaops cluster down")
	f.StringVar(&o.name, "name", demoName, "which local cluster the demo is, to other commands")
	f.IntVar(&o.port, "port", 0, "port of broker 1; 0 for free ports")
	return cmd
}

func (o *demoOptions) find() (scenario, error) {
	var names []string
	for _, s := range scenarios() {
		if s.name == o.scenario {
			return s, nil
		}
		names = append(names, s.name)
	}
	return scenario{}, usagef("--scenario %q: use one of %s", o.scenario, strings.Join(names, ", "))
}

func (o *demoOptions) run(ctx context.Context, env Env) (err error) {
	s, err := o.find()
	if err != nil {
		return err
	}
	if o.port < 0 || o.port+defaultBrokers-1 > maxPort {
		return usagef("--port %d: use 1 to %d, or 0 for free ones", o.port, maxPort-defaultBrokers+1)
	}
	p, err := local.Find(env.Getenv, o.name, "")
	if err != nil {
		return usageError{err}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := newDemo(env, p, o.port, cancel)
	// Whatever becomes of it, what it started ends with it.
	defer func() {
		err = errors.Join(err, d.end())
		if d.up != nil && errors.Is(err, context.Canceled) {
			fmt.Fprintln(env.Terminal.Err, "kafkaops: the demo's cluster has ended; it was in memory, and nothing is left")
		}
	}()
	if err := d.start(ctx, s.settings); err != nil {
		return err
	}
	d.tellWhere()
	if err := s.tell(ctx, d); err != nil {
		if d.wasStopped() {
			return fmt.Errorf("demo: its cluster was stopped by %s", typed("cluster down", p.Flags()...))
		}
		return err
	}
	if !o.keep {
		return nil
	}
	d.stopLoad()
	d.say("")
	if len(d.up.status().Faults) > 0 {
		d.say("The faults that are still in force end:", "")
		if err := d.kafkaops(ctx, "cluster heal"); err != nil {
			return err
		}
	}
	d.say("Nothing is written to it any more. The cluster stays up, until ^C or:", "")
	d.show(typed("cluster down", p.Flags()...))
	<-ctx.Done()
	if cause := context.Cause(ctx); !d.wasStopped() && !isTerminated(cause) {
		return cause
	}
	return nil
}

// start brings the cluster up and tells where it is.
func (d *demo) start(ctx context.Context, settings map[string]string) error {
	const patience = 20 * time.Second
	up, err := startLocal(ctx, d.env, d.place, embedded.Options{Brokers: defaultBrokers, Config: settings}, d.port, patience)
	if err != nil {
		return err
	}
	d.up = up
	context.AfterFunc(up.asked, d.stop)
	return d.tellStart(settings)
}
