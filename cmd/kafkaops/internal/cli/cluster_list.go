package cli

import (
	"context"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/spf13/cobra"
)

func newClusterListCmd(env Env) *cobra.Command {
	var o viewOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "The clusters of this machine: those that are up, and those that have data",
		Long: `By name: the clusters that processes of yours run, and those whose data lies in
$XDG_STATE_HOME/kafkaops/clusters. One whose data lies elsewhere (--data) is listed
while it is up.`,
		Example: `  kafkaops cluster list
  kafkaops cluster list -o json | jq -r '.items[] | select(.state == "up") | .name'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.listLocal(cmd.Context(), env) },
	}
	o.register(cmd)
	return cmd
}

func (o *viewOptions) listLocal(ctx context.Context, env Env) error {
	view, err := o.view(env.Terminal)
	if err != nil {
		return err
	}
	view.Width = env.Terminal.Width
	at := time.Now()
	found, err := local.List(ctx, env.Getenv)
	if err != nil {
		return err
	}
	items := []render.LocalEntryItem{}
	for i := range found {
		items = append(items, entryOf(&found[i]))
	}
	return render.LocalClusters(env.Terminal.Out, view, at, items)
}

func entryOf(f *local.Found) render.LocalEntryItem {
	item := render.LocalEntryItem{Name: f.Place.Name, State: render.LocalDown}
	if f.HasData {
		item.Data = inspect.Known(f.Place.Data)
	}
	s := f.Status
	switch {
	case f.Silent:
		item.State = render.LocalSilent
	case s == nil:
		if n, err := embedded.BrokersIn(f.Place.Data); err == nil {
			item.Brokers = inspect.Known(n)
		}
	default:
		item.State, item.PID = render.LocalStarting, inspect.Known(s.PID)
		item.Data = inspect.Unknown[string]()
		if s.Data != "" {
			item.Data = inspect.Known(s.Data)
		}
		if s.Ready {
			item.State = render.LocalUp
			item.Brokers = inspect.Known(len(s.Nodes) - 1) // the last one is the controller
			item.Bootstrap = strings.Split(s.Bootstrap, ",")
		}
	}
	return item
}
