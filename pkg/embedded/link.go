package embedded

import (
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/broker"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// Link is the way from one node to another: requests that the first one sends to the
// second, and its answers to requests of the second. Clients are not concerned.
type Link struct {
	link *broker.Link
}

// Link returns the way from one node to another, by their ids; [ControllerID] is the
// controller. It panics where there is no such node. A node sends itself nothing, so
// that what is done to the way from one to itself changes nothing.
func (c *Cluster) Link(from, to int) *Link {
	return &Link{c.links.Link(c.peer(from), c.peer(to))}
}

func (c *Cluster) peer(id int) machine.Peer {
	switch {
	case id == ControllerID:
		return machine.Controller
	case id < 1 || id > len(c.brokers):
		panic(fmt.Sprintf("embedded: there is no node %d: brokers are 1 to %d, the controller is %d", id, len(c.brokers), ControllerID))
	}
	return machine.Peer(id)
}

// Cut keeps back what is sent, until Heal. As with TCP it arrives then, unless its
// sender has given up, which it does after 30 s.
func (l *Link) Cut() { l.link.Cut() }

// Slow makes what is sent arrive later.
func (l *Link) Slow(oneWay time.Duration) { l.link.Slow(oneWay) }

// Reset closes the connections that the first node has opened to the second.
func (l *Link) Reset() { l.link.Reset() }

// Heal ends Cut and Slow.
func (l *Link) Heal() { l.link.Heal() }
