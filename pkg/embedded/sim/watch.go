package sim

import (
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/node"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// Watch is told what happens in a world, as it happens. All of its functions are
// needed, and none may change anything.
type Watch struct {
	// Stepped is a step of a broker's replica, before its effects are carried out.
	Stepped func(broker End, p node.Partition, in replica.Input, out []replica.Effect)
	// Decided is a batch of the controller's, before it is durable, and what it leads to.
	Decided func(b controller.Batch, after metadata.Image)
	// Noted is a line of a process's log.
	Noted func(process, text string)
	// Stopped is a process that has ended by itself: its disk failed, or it was asked to.
	Stopped func(process string, err error)
}

// Watch has somebody told from now on; nil: nobody.
func (w *World) Watch(by *Watch) { w.watch = by }
