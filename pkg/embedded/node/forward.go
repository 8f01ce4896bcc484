package node

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// A broker tries for forwardForMs to have a request answered by the controller
// (BrokerServer's forwarding channel, retryTimeoutMs), with pauses that grow between
// two failures (reconnect.backoff.ms, .max.ms).
const (
	forwardForMs        int64 = 60_000
	forwardBackoffMs    int64 = 50
	forwardBackoffMaxMs int64 = 1000
)

// forwarded is a request that was sent on to the controller as it is (Kafka wraps
// it in an Envelope), and whose answer goes back.
//
// Where the connection was lost it is sent again, as Kafka does
// (NodeToControllerRequestThread.handleResponse): nobody knows whether the controller
// has carried it out, so a topic that was just made may be said to exist already.
type forwarded struct {
	token machine.Token
	req   kmsg.Request
	// merge, where there is one, completes the controller's answer.
	merge func(kmsg.Response)

	untilMs  int64
	failures int
	pause    alarm
}

// forward asks the controller in the name of a client.
func (n *Node) forward(token machine.Token, req kmsg.Request, merge func(kmsg.Response)) {
	f := &forwarded{token: token, req: req, merge: merge, untilMs: n.now.Mono + forwardForMs}
	f.pause.Ring = func() { n.send(machine.Controller, f.req, f) }
	n.send(machine.Controller, req, f)
}

// ended is ender's. Kafka says REQUEST_TIMED_OUT at the end of its patience, which is
// longer than that of its clients; here the connection is closed.
func (f *forwarded) ended(n *Node, body kmsg.Response) {
	if body == nil {
		again := n.now.Mono + backoff(forwardBackoffMs, forwardBackoffMaxMs, f.failures)
		if again >= f.untilMs {
			n.hangUp(f.token)
			return
		}
		f.failures++
		n.alarms.set(&f.pause, again)
		return
	}
	if f.merge != nil {
		f.merge(body)
	}
	n.reply(f.token, body)
}
