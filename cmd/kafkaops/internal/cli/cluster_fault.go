package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/spf13/cobra"
)

// faultKind is one fault as a command.
type faultKind struct {
	kind        local.FaultKind
	short, long string
	// flag, where there is one, takes the fault's duration.
	flag, usage string
	usual       time.Duration
	examples    string
	// tell says what is so now.
	tell string
}

// faults are all that there are.
func faults() []faultKind {
	return []faultKind{
		{
			kind: local.SlowDisk, short: "Every write of a broker's disk takes long",
			long: `Writes of its logs and checkpoints wait. It goes on answering, so that neither its
session nor its connections end: what grows is LEO-HW, where it is in the ISR.`,
			flag: "per-write", usage: "how long a write takes", usual: 250 * time.Millisecond,
			examples: "  kafkaops cluster fault slow-disk --broker 3\n  kafkaops cluster fault slow-disk --broker 3 --per-write 2s",
			tell:     "each write of its disk takes %s",
		},
		{
			kind: local.FailDisk, short: "A broker's disk fails: the broker halts, as Kafka's does with its last log directory",
			examples: "  kafkaops cluster fault fail-disk --broker 2\n  kafkaops cluster fault fail-disk --broker 2 && kafkaops describe brokers",
			tell:     "its disk fails at the next write",
		},
		{
			kind: local.FillDisk, short: "A broker's disk is full: the broker halts at its next write",
			examples: "  kafkaops cluster fault fill-disk --broker 2\n  kafkaops cluster fault fill-disk --broker 2 --name demo",
			tell:     "its disk is full",
		},
		{
			kind: local.Pause, short: "A node stands still with its connections open, as one in a long garbage collection",
			examples: "  kafkaops cluster fault pause --broker 1\n  kafkaops cluster fault pause --broker controller",
			tell:     "it stands still",
		},
		{
			kind: local.Kill, short: "A node dies as by SIGKILL: what it wrote is still on its disk",
			examples: "  kafkaops cluster fault kill --broker 1\n  kafkaops cluster fault kill --broker controller",
			tell:     "it is dead",
		},
		{
			kind: local.PowerLoss, short: "A broker dies and its disk forgets what was not synced",
			examples: "  kafkaops cluster fault power-loss --broker 1\n  kafkaops cluster fault power-loss --broker 1 && kafkaops cluster heal",
			tell:     "it is dead, and what was not synced is lost",
		},
		{
			kind: local.Stop, short: "A broker shuts down cleanly, and stays down",
			long:     "A controlled shutdown: it gives its leaderships away first. restart or heal start it again.",
			examples: "  kafkaops cluster fault stop --broker 2\n  kafkaops cluster fault stop --broker 2 --name demo",
			tell:     "it is shut down",
		},
		{
			kind: local.Fence, short: "A broker's heartbeats do not reach the controller, all else does",
			examples: "  kafkaops cluster fault fence --broker 2\n  kafkaops cluster fault fence --broker 2 && kafkaops describe brokers",
			tell:     "its heartbeats do not reach the controller: it is fenced when its session is over",
		},
		{
			kind: local.JumpClock, short: "A broker's time of day jumps",
			long: "Timeouts go by another clock. Jumps add up; heal leaves clocks as they are: a jump\nback by as much sets one right.", flag: "by", usage: "how far; back where it is negative", usual: time.Hour,
			examples: "  kafkaops cluster fault jump-clock --broker 1\n  kafkaops cluster fault jump-clock --broker 1 --by -24h",
			tell:     "its time of day has jumped by %s",
		},
		{
			kind: local.Cut, short: "What one node sends to another does not arrive, nor do the answers it sends there",
			long: `One direction; with --both the other one too. Nothing is lost while somebody waits for
it: as in TCP it arrives after heal, unless the connection is given up before.`,
			examples: "  kafkaops cluster fault cut --from 1 --to 2\n  kafkaops cluster fault cut --from 3 --to controller --both",
			tell:     "nothing arrives",
		},
		{
			kind: local.SlowLink, short: "What one node sends to another takes long to arrive",
			flag: "one-way", usage: "how long", usual: 50 * time.Millisecond,
			examples: "  kafkaops cluster fault slow-link --from 1 --to 2\n  kafkaops cluster fault slow-link --from 1 --to 2 --both --one-way 5ms",
			tell:     "it takes %s",
		},
	}
}

func newClusterFaultCmd(env Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fault <which>",
		Short: "Break a broker, its disk, its clock or a link, until heal",
		Long: `A fault is in force until kafkaops cluster heal, but for jump-clock: a clock stays as it
is until it jumps back. kafkaops cluster status lists them.
Clients' connections are never broken but by what becomes of their broker.`,
		Example: `  kafkaops cluster fault slow-disk --broker 3
  kafkaops cluster fault cut --from 1 --to 2 --both`,
		Args: noSuchCommand,
		RunE: whichOne,
	}
	for _, k := range faults() {
		cmd.AddCommand(newFaultCmd(env, k))
	}
	return cmd
}

// faultOptions are the flags of one fault.
type faultOptions struct {
	placeOptions
	broker, from, to nodeFlag
	both             bool
	by               time.Duration
}

func newFaultCmd(env Env, k faultKind) *cobra.Command {
	var o faultOptions
	cmd := &cobra.Command{
		Use: string(k.kind), Short: k.short, Long: k.long, Example: k.examples,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env, k) },
	}
	o.register(cmd)
	f := cmd.Flags()
	if k.kind.OfLink() {
		f.Var(&o.from, "from", "who sends: a broker's `id`, or controller")
		f.Var(&o.to, "to", "who should receive: a broker's `id`, or controller")
		f.BoolVar(&o.both, "both", false, "the other direction too")
	} else {
		f.Var(&o.broker, "broker", "which one: its `id`, or controller")
	}
	if k.flag != "" {
		f.DurationVar(&o.by, k.flag, k.usual, k.usage)
	}
	return cmd
}

// maxSlow is far beyond every timeout of Kafka: what is slower stands still.
const maxSlow = time.Hour

// check finds wrong usage.
func (o *faultOptions) check(k faultKind) error {
	if !k.kind.OfLink() {
		if err := o.broker.given("broker"); err != nil {
			return err
		}
	} else {
		if err := o.from.given("from"); err != nil {
			return err
		}
		if err := o.to.given("to"); err != nil {
			return err
		}
		if o.from.id == o.to.id {
			return usagef("--from and --to are both %s: a link is between two nodes", nodeName(o.to.id))
		}
	}
	if k.kind == local.JumpClock && o.by == 0 {
		return usagef("--by 0s: a clock that jumps by nothing has not jumped; use 1h, or -1h to set it back")
	}
	if k.flag != "" && k.kind != local.JumpClock && (o.by <= 0 || o.by > maxSlow) {
		return usagef("--%s %s: use a duration above 0 and up to %s; heal makes it as it was", k.flag, o.by, maxSlow)
	}
	return nil
}

func (o *faultOptions) run(ctx context.Context, env Env, k faultKind) error {
	if err := o.check(k); err != nil {
		return err
	}
	f := local.Fault{Kind: k.kind, Broker: o.broker.id, From: o.from.id, To: o.to.id, By: o.by}
	all := []local.Fault{f}
	if o.both {
		f.From, f.To = f.To, f.From
		all = append(all, f)
	}
	for _, f := range all {
		s, err := o.ask(ctx, env, local.Request{Do: local.VerbFault, Fault: &f})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(env.Terminal.Out, faultLine(s, f, k)); err != nil {
			return err
		}
	}
	return nil
}

// faultLine says what is so now, and how the node stands.
func faultLine(s local.Status, f local.Fault, k faultKind) string {
	what := k.tell
	if k.flag != "" {
		what = fmt.Sprintf(k.tell, f.By)
	}
	if f.Kind.OfLink() {
		return fmt.Sprintf("%s to %s: %s", nodeName(f.From), nodeName(f.To), what)
	}
	line := nodeName(f.Broker) + ": " + what
	for _, n := range s.Nodes {
		if n.ID == f.Broker {
			line += " (" + n.State + ")"
		}
	}
	return line
}

// nodeFlag is a broker's id, or controller.
type nodeFlag struct{ id int }

const (
	controllerWord = "controller"
	nodeFlagType   = "node"
)

// String, Set and Type implement pflag.Value.
func (n *nodeFlag) String() string {
	switch n.id {
	case 0:
		return ""
	case embedded.ControllerID:
		return controllerWord
	}
	return strconv.Itoa(n.id)
}

// Set takes what the user gave.
func (n *nodeFlag) Set(s string) error {
	if s == controllerWord {
		n.id = embedded.ControllerID
		return nil
	}
	id, err := strconv.Atoi(s)
	if err != nil || id < 1 {
		return fmt.Errorf("%q: use a broker's id, from 1, or %s", s, controllerWord)
	}
	n.id = id
	return nil
}

// Type names it in errors.
func (n *nodeFlag) Type() string { return nodeFlagType }

// given refuses to guess.
func (n *nodeFlag) given(flag string) error {
	if n.id == 0 {
		return usagef("which one? Give --%s, a broker's id or %s", flag, controllerWord)
	}
	return nil
}

func nodeName(id int) string {
	if id == embedded.ControllerID {
		return "the controller"
	}
	return "broker " + strconv.Itoa(id)
}
