package node

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// lifeState is what the broker is to the controller (Kafka's BrokerState, as
// BrokerLifecycleManager has it).
type lifeState string

const (
	registering lifeState = "registering"
	// starting: it waits until the metadata says what its own registration led to.
	starting lifeState = "starting"
	running  lifeState = "running"
	// leaving: a controlled shutdown (KIP-841).
	leaving lifeState = "leaving"
	// closing: the disk finishes what it has, then the directory is closed.
	closing lifeState = "closing"
)

// life is the broker's registration and its heartbeats.
//
//	registering -> starting    registered
//	starting    -> running     a heartbeat's answer says that it is caught up
//	any         -> registering the controller does not know this life (any more)
//	any         -> leaving     Shutdown
//	leaving     -> closing     the controller lets it go, or its time is up
type life struct {
	state       lifeState
	directory   kraft.UUID
	incarnation kraft.UUID
	// previous is the epoch of the life before, if that ended cleanly; else -1.
	previous int64
	epoch    int64
	// lastEpoch is epoch, or while it registers again the one before: a Fetch without
	// an epoch would be one of an old broker, which leaders take into the ISR unchecked
	// (KIP-903).
	lastEpoch int64
	// ran: it has run.
	ran bool
	// seen says that the image has this registration. obeying: it has had one of
	// this process; from then on partitions are obeyed.
	seen, obeying bool
	inFlight      bool
	// soon: a heartbeat is to follow the one in flight at once.
	soon     bool
	failures int
	refused  int16 // what the last registration was
	next     alarm
	giveUp   alarm
}

func (l *life) begin(n *Node, directory kraft.UUID) {
	l.state, l.directory, l.incarnation, l.epoch, l.lastEpoch = registering, directory, kraft.DrawUUID(n.opts.Rand), -1, -1
	l.previous = -1
	if epoch, clean := n.dir.CleanShutdown(); clean {
		l.previous = epoch
	}
	l.next.Ring = func() { l.speak(n) }
	l.giveUp.Ring = func() {
		n.notef("controlled shutdown took longer than %d ms: stopping without it", n.cfg.shutdownMs)
		l.state = closing
	}
	n.alarms.set(&l.next, n.now.Mono)
}

// speak sends what is due: one request at a time.
func (l *life) speak(n *Node) {
	switch {
	case l.state == closing:
	case l.inFlight:
		l.soon = true
	case l.epoch < 0:
		n.alarms.Clear(&l.next)
		l.inFlight = true
		n.send(machine.Controller, l.registration(n), l)
	default:
		n.alarms.Clear(&l.next)
		l.inFlight = true
		n.send(machine.Controller, l.heartbeat(n), l)
	}
}

// supportedFeatures are those that a broker of Kafka 4.4 names, of which this one
// needs to obey what changes the metadata log.
var supportedFeatures = []kraft.FeatureRange{
	{Name: "eligible.leader.replicas.version", MinSupportedVersion: 0, MaxSupportedVersion: 1},
	{Name: "group.version", MinSupportedVersion: 0, MaxSupportedVersion: 1},
	{Name: "kraft.version", MinSupportedVersion: 0, MaxSupportedVersion: 1},
	{Name: "metadata.version", MinSupportedVersion: 7, MaxSupportedVersion: 33},
	{Name: "transaction.version", MinSupportedVersion: 0, MaxSupportedVersion: 2},
}

func (l *life) registration(n *Node) *kmsg.BrokerRegistrationRequest {
	req := kmsg.NewPtrBrokerRegistrationRequest()
	req.Version = req.MaxVersion()
	req.BrokerID, req.ClusterID, req.IncarnationID = n.opts.ID, n.opts.ClusterID, l.incarnation
	for _, e := range n.opts.EndPoints {
		listener := kmsg.NewBrokerRegistrationRequestListener()
		listener.Name, listener.Host, listener.Port, listener.SecurityProtocol = e.Name, e.Host, e.Port, e.SecurityProtocol
		req.Listeners = append(req.Listeners, listener)
	}
	for _, f := range supportedFeatures {
		feature := kmsg.NewBrokerRegistrationRequestFeature()
		feature.Name, feature.MinSupportedVersion, feature.MaxSupportedVersion = f.Name, f.MinSupportedVersion, f.MaxSupportedVersion
		req.Features = append(req.Features, feature)
	}
	if n.opts.Rack != "" {
		req.Rack = kmsg.StringPtr(n.opts.Rack)
	}
	req.LogDirs = [][16]byte{l.directory}
	req.PreviousBrokerEpoch = l.previous
	return req
}

func (l *life) heartbeat(n *Node) *kmsg.BrokerHeartbeatRequest {
	req := kmsg.NewPtrBrokerHeartbeatRequest()
	req.Version = req.MaxVersion()
	req.BrokerID, req.BrokerEpoch = n.opts.ID, l.epoch
	// The last offset that was applied, not the one behind it.
	req.CurrentMetadataOffset = n.follow.applied - 1
	req.WantFence = l.state == starting
	req.WantShutdown = l.state == leaving
	return req
}

// ended is ender's.
func (l *life) ended(n *Node, body kmsg.Response) {
	l.inFlight = false
	switch resp := body.(type) {
	case *kmsg.BrokerRegistrationResponse:
		l.registered(n, resp)
	case *kmsg.BrokerHeartbeatResponse:
		l.heard(n, resp)
	default:
		l.failed(n)
	}
	if l.soon && !l.inFlight {
		l.soon = false
		l.speak(n)
	}
}

// registrationBackoffMs and broker.session.timeout.ms bound the pause after a
// request that failed (BrokerLifecycleManager.resendExponentialBackoff).
const registrationBackoffMs = 100

func (l *life) failed(n *Node) {
	l.soon = false
	pause := backoff(registrationBackoffMs, n.cfg.sessionTimeoutMs, l.failures)
	if l.epoch >= 0 {
		pause = min(pause, n.cfg.heartbeatMs)
	}
	l.failures++
	n.alarms.set(&l.next, n.now.Mono+pause)
}

func (l *life) registered(n *Node, resp *kmsg.BrokerRegistrationResponse) {
	if resp.ErrorCode != 0 {
		if resp.ErrorCode != l.refused {
			n.notef("registration refused with error %d: trying on", resp.ErrorCode)
		}
		l.refused = resp.ErrorCode
		l.failed(n)
		return
	}
	l.failures, l.refused, l.seen = 0, 0, false
	l.epoch, l.lastEpoch = resp.BrokerEpoch, resp.BrokerEpoch
	if l.state == registering {
		l.state = starting
	}
	l.check(n)
	l.speak(n)
}

func (l *life) heard(n *Node, resp *kmsg.BrokerHeartbeatResponse) {
	switch code := replica.Code(resp.ErrorCode); code {
	case replica.None:
	case staleBrokerEpoch, brokerIDNotRegistered:
		// The controller does not know this life: it begins anew, with the same
		// incarnation, so that it goes on if it is known after all.
		n.notef("heartbeat of broker epoch %d refused with error %d: registering again", l.epoch, code)
		l.epoch = -1
		if l.state != leaving {
			l.state = registering
		}
		l.failed(n)
		return
	default:
		l.failed(n)
		return
	}
	l.failures = 0
	n.alarms.set(&l.next, n.now.Mono+n.cfg.heartbeatMs)
	switch {
	case l.state == leaving && resp.ShouldShutdown:
		l.state = closing
	case l.state == starting && resp.IsCaughtUp && l.seen:
		l.state, l.ran = running, true
		l.soon = true
		if n.opts.EarlyIDs {
			n.ids.ask(n)
		}
	}
}

// check looks whether the image has the registration, and is called when either is
// new (BrokerServer waits for initialCatchUpFuture). Then it says at once how far it
// is.
func (l *life) check(n *Node) {
	if l.seen || l.epoch < 0 {
		return
	}
	b, ok := n.follow.image.Broker(n.opts.ID)
	if !ok || b.BrokerEpoch != l.epoch || b.IncarnationID != l.incarnation {
		return
	}
	l.seen = true
	n.alarms.set(&l.next, n.now.Mono)
	if !l.obeying {
		l.obeying = true
		n.publishAll(true)
	}
}

func (l *life) shutDown(n *Node) {
	if l.state == leaving || l.state == closing {
		return
	}
	if l.epoch < 0 {
		l.state = closing
		return
	}
	l.state = leaving
	n.alarms.set(&l.giveUp, n.now.Mono+n.cfg.shutdownMs)
	l.speak(n)
}

// StopNow is Shutdown without the controller's leave, for when the whole cluster goes:
// nobody is to lead in this broker's place. Its logs are closed all the same with the
// mark of a clean stop.
func (n *Node) StopNow(now machine.Time, out []machine.Effect) []machine.Effect {
	n.now, n.out = now, out
	n.life.state = closing
	return n.finish()
}

// closeOrder closes the directory.
type closeOrder struct {
	n     *Node
	epoch int64
	wall  int64
	err   error
}

// Run is Order's.
func (o *closeOrder) Run() { o.err = o.n.dir.Close(o.epoch, o.wall) }

func (o *closeOrder) done(n *Node) {
	if o.err != nil {
		n.stop(fmt.Errorf("close: %w", o.err))
		return
	}
	n.stop(nil)
}

// maybeClose closes the directory once the disk has nothing else to do.
func (n *Node) maybeClose() {
	if n.life.state != closing || n.running > 0 {
		return
	}
	// What comes from now on has no log to go to.
	for _, p := range n.parts {
		p.closed = true
	}
	n.run(directoryLane, &closeOrder{n: n, epoch: n.life.lastEpoch, wall: n.now.Wall})
}

// diskFailed ends the broker: it has one log directory, and Kafka halts when all
// have failed (LogManager.handleLogDirFailure). It does not tell the controller
// first, and neither does Kafka then.
func (n *Node) diskFailed(err error) {
	n.stop(fmt.Errorf("the log directory failed: %w", err))
}
