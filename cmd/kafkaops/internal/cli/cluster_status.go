package cli

import (
	"context"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/spf13/cobra"
)

// statusOptions are the flags of cluster status.
type statusOptions struct {
	placeOptions
	viewOptions
}

func newClusterStatusCmd(env Env) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "A local cluster's brokers, ports, process, data and the faults in force",
		Long: `What the process that runs it says. How its replication stands is asked as of any
Kafka: kafkaops describe -b with the addresses that this shows.`,
		Example: `  kafkaops cluster status
  kafkaops cluster status -o json | jq -r '.items[].bootstrapServers[]'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	o.placeOptions.register(cmd)
	o.viewOptions.register(cmd)
	return cmd
}

func (o *statusOptions) run(ctx context.Context, env Env) error {
	view, err := o.view(env.Terminal)
	if err != nil {
		return err
	}
	view.Width = env.Terminal.Width
	p, err := o.place(env)
	if err != nil {
		return err
	}
	at := time.Now()
	s, err := o.ask(ctx, env, local.Request{Do: local.VerbStatus})
	if err != nil {
		return err
	}
	item := localItem(p, s)
	id := inspect.Unknown[string]()
	if s.ID != "" {
		id = inspect.Known(s.ID)
	}
	return render.LocalCluster(env.Terminal.Out, view, at, id, &item)
}

// localItem is a status as documents have it.
func localItem(p local.Place, s local.Status) render.LocalClusterItem {
	item := render.LocalClusterItem{
		Name: p.Name, PID: s.PID, Ready: s.Ready, Since: render.Time{Time: s.Since}, Socket: p.Socket,
	}
	if s.Bootstrap != "" {
		item.Bootstrap = strings.Split(s.Bootstrap, ",")
	}
	if s.Data != "" {
		item.Data = inspect.Known(s.Data)
		if s.DataBytes >= 0 {
			item.DataBytes = inspect.Known(s.DataBytes)
		}
	}
	for _, n := range s.Nodes {
		role := "broker"
		if n.Controller {
			role = controllerWord
		}
		node := render.LocalNodeItem{ID: inspect.BrokerID(n.ID), Role: role, Address: n.Address, State: n.State}
		if n.Error != "" {
			node.Error = inspect.Known(n.Error)
		}
		item.Nodes = append(item.Nodes, node)
	}
	id := func(n int) inspect.Opt[inspect.BrokerID] {
		if n == 0 {
			return inspect.Unknown[inspect.BrokerID]()
		}
		return inspect.Known(inspect.BrokerID(n))
	}
	for _, f := range s.Faults {
		fault := render.LocalFaultItem{
			Kind: string(f.Kind), Broker: id(f.Broker), From: id(f.From), To: id(f.To), Since: render.Time{Time: f.Since},
		}
		if f.By != 0 {
			fault.ByMs = inspect.Known(float64(f.By) / float64(time.Millisecond))
		}
		item.Faults = append(item.Faults, fault)
	}
	return item
}
