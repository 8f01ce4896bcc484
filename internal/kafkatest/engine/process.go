package engine

import (
	"context"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/embedded"
)

// within bounds a start and a stop in order.
const within = 40 * time.Second

// node is a broker of the engine, or its controller.
type node interface {
	Kill()
	Stop(ctx context.Context) error
	Pause()
	Resume()
	Restart(ctx context.Context) error
	State() embedded.State
}

// process is a node as kafkatest sees it.
type process struct{ broker node }

func (p *process) State() kafkatest.State {
	switch p.broker.State() {
	case embedded.Running:
		return kafkatest.Running
	case embedded.Paused:
		return kafkatest.Paused
	case embedded.Failed:
		return kafkatest.Dead
	}
	return kafkatest.Down
}

// Start waits until the node is of use, which is more than it must.
func (p *process) Start() error {
	if s := p.State(); s == kafkatest.Running || s == kafkatest.Paused {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return p.broker.Restart(ctx)
}

func (p *process) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return p.broker.Stop(ctx)
}

func (p *process) Kill() error {
	p.broker.Kill()
	return nil
}

func (p *process) Pause() error {
	p.broker.Pause()
	return nil
}

func (p *process) Resume() error {
	p.broker.Resume()
	return nil
}
