package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/tui"
)

const (
	// embeddedName is the local cluster that top --embedded runs, to other commands.
	embeddedName = "top"
	// embeddedTopic is what it has, as the demo does.
	embeddedTopic = "orders"
	// embeddedPerWrite is how slow a slow disk is: a replica on it is seen to fall behind at
	// the next look.
	embeddedPerWrite = 8 * time.Second
)

// topEmbedded is a cluster of top's own, with a load on it.
type topEmbedded struct {
	demo *demo
	stop context.CancelFunc
}

// startEmbedded starts three brokers in memory with the demo's topic and workload.
func startEmbedded(ctx context.Context, env Env) (_ *topEmbedded, err error) {
	p, err := local.Find(env.Getenv, embeddedName, "")
	if err != nil {
		return nil, usageError{err}
	}
	// What the demo would tell is not to be seen.
	quiet := *env.Terminal
	quiet.Out, quiet.Err = io.Discard, io.Discard
	ctx, cancel := context.WithCancel(ctx)
	e := &topEmbedded{demo: newDemo(Env{Terminal: quiet.Transcript(), Getenv: env.Getenv}, p, 0, cancel), stop: cancel}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if err := e.demo.start(ctx, map[string]string{lagTime: fmt.Sprint(slowDiskLagTime.Milliseconds())}); err != nil {
		return nil, err
	}
	if _, _, err := e.demo.startOrders(ctx, embeddedTopic, slowDiskAssignment, false); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *topEmbedded) close() error {
	e.stop()
	return e.demo.end()
}

// bootstrap is where it listens.
func (e *topEmbedded) bootstrap() string { return strings.Join(e.demo.conn.Bootstrap, ",") }

// actions are the faults that it can be given, and their end.
func (e *topEmbedded) actions() []tui.Action {
	of := func(key, name, means string, f local.Fault) tui.Action {
		return tui.Action{
			Key: key, Name: name + " (on a broker)", On: func(t tui.Target) bool { return t.Broker.IsKnown() },
			Plan: func(_ context.Context, t tui.Target) (tui.Plan, error) {
				id, ok := t.Broker.Get()
				if !ok {
					return tui.Plan{}, fmt.Errorf("choose a broker first")
				}
				f.Broker = int(id)
				return tui.Plan{
					Title: fmt.Sprintf("%s of broker %d", name, id), Lines: []string{means, "it ends with ctrl+r, or by kafkaops cluster heal --name " + embeddedName},
					Do: e.asks(local.Request{Do: local.VerbFault, Fault: &f}, fmt.Sprintf("broker %d: %s", id, means)),
				}, nil
			},
		}
	}
	return []tui.Action{
		of("ctrl+d", "slow the disk", fmt.Sprintf("each write of its disk takes %s", embeddedPerWrite), local.Fault{Kind: local.SlowDisk, By: embeddedPerWrite}),
		of("ctrl+t", "pause the process", "it stands still with its connections open", local.Fault{Kind: local.Pause}),
		of("ctrl+k", "kill the process", "it dies as by SIGKILL; what it wrote is on its disk", local.Fault{Kind: local.Kill}),
		{
			Key: "ctrl+r", Name: "heal: end all faults, start who is dead",
			Plan: func(ctx context.Context, _ tui.Target) (tui.Plan, error) {
				var lines []string
				for _, f := range e.demo.up.host.Handle(ctx, local.Request{Do: local.VerbStatus}).Status.Faults {
					lines = append(lines, fmt.Sprintf("ends: %s of broker %d", f.Kind, f.Broker))
				}
				if len(lines) == 0 {
					return tui.Plan{}, fmt.Errorf("no fault is in force")
				}
				return tui.Plan{Title: "heal the cluster", Lines: lines, Do: e.asks(local.Request{Do: local.VerbHeal}, "healed: every broker is up")}, nil
			},
		},
	}
}

// asks is a request to the cluster, and what is said when it is done.
func (e *topEmbedded) asks(req local.Request, done string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if a := e.demo.up.host.Handle(ctx, req); a.Error != "" {
			return "", errors.New(a.Error)
		}
		return done, nil
	}
}
