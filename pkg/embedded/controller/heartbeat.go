package controller

import "github.com/kafkaops/kafkaops/pkg/embedded/metadata"

// Heartbeat keeps a broker's session alive, and asks for what the broker wants to
// be. It is answered with a [HeartbeatReply].
type Heartbeat struct {
	BrokerID    int32
	BrokerEpoch int64
	// CurrentMetadataOffset is the last one that the broker has applied.
	CurrentMetadataOffset int64
	WantFence             bool // it wants to be fenced, as while it recovers its logs
	WantShutDown          bool // it wants to stop
	Directories
}

// HeartbeatReply tells the broker what it is.
type HeartbeatReply struct {
	Err *Error
	// IsCaughtUp: it has seen its own registration, so also what its last life
	// missed until then.
	IsCaughtUp           bool
	IsFenced             bool
	InControlledShutdown bool
	ShouldShutDown       bool // it may stop now
}

// brokerState is Kafka's BrokerControlState. DESIGN.md draws the transitions.
type brokerState int8

const (
	fenced brokerState = iota
	unfenced
	controlledShutdown // it leads, or the others do not know yet that it does not
	shutdownNow
)

// decide is ReplicationControlManager.processBrokerHeartbeat.
func (h Heartbeat) decide(op *operation) HeartbeatReply {
	b, err := op.broker(h.BrokerID, h.BrokerEpoch)
	if err != nil {
		return HeartbeatReply{Err: err}
	}
	s := op.session(h.BrokerID)
	s.heard(op.nowMs)
	before := s.state(b)
	after := op.nextState(before, s, h)
	if before != after {
		switch after {
		case fenced, shutdownNow:
			op.fence(b)
		case unfenced:
			op.unfence(b)
		case controlledShutdown:
			op.startShutdown(b)
		}
	}
	s.metadataOffset = h.CurrentMetadataOffset
	isFenced := after == fenced || after == shutdownNow
	if isFenced {
		s.shutdownOffset = -1
	}
	op.updateDirectories(b, h.Directories)
	if after == controlledShutdown && s.shutdownOffset < 0 {
		// Brokers that have applied this know all the new leaders.
		s.shutdownOffset = op.end() - 1
	}
	return HeartbeatReply{
		IsCaughtUp:           h.CurrentMetadataOffset >= s.registeredAt,
		IsFenced:             isFenced,
		InControlledShutdown: after == controlledShutdown,
		ShouldShutDown:       after == shutdownNow,
	}
}

// nextState is BrokerHeartbeatManager.calculateNextBrokerState.
func (op *operation) nextState(before brokerState, s *session, h Heartbeat) brokerState {
	switch {
	case before == fenced && h.WantShutDown:
		return shutdownNow
	case before == fenced && !h.WantFence && h.CurrentMetadataOffset >= s.registeredAt:
		return unfenced
	case before == fenced:
		return fenced
	case before == unfenced && h.WantFence && !h.WantShutDown:
		return fenced
	case before == unfenced && !h.WantShutDown:
		return unfenced
	case before == unfenced && h.WantFence, before == unfenced && !op.leads(h.BrokerID):
		return shutdownNow
	case before == unfenced:
		return controlledShutdown
	case op.leads(h.BrokerID) || s.shutdownOffset > op.lowestActiveOffset():
		return controlledShutdown
	}
	return shutdownNow
}

// lowestActiveOffset is the least metadata offset that a broker which is neither
// fenced nor stopping has reported; the largest number if there is none.
func (op *operation) lowestActiveOffset() int64 {
	lowest := int64(1<<63 - 1)
	for id, b := range op.image.Brokers() {
		if s := op.session(id); s.state(b) == unfenced {
			lowest = min(lowest, s.metadataOffset)
		}
	}
	return lowest
}

// session is what a controller knows of a broker and does not write down.
type session struct {
	contactMs      int64 // when it was last heard of
	open           bool  // whether it was, since it registered or its last session ended
	metadataOffset int64 // as it last said; -1: never
	// shutdownOffset is what all others must have applied before the broker may
	// stop; -1: it is not in a controlled shutdown that this controller began.
	shutdownOffset int64
	// registeredAt is the offset of its registration, or, if it was registered
	// before this controller began, the last offset before that.
	registeredAt int64
	// down: the driver has said that this life is over; see Options.BrokersDown.
	down bool
}

func newSession(registeredAt int64) *session {
	return &session{metadataOffset: -1, shutdownOffset: -1, registeredAt: registeredAt}
}

func (s *session) heard(nowMs int64) { s.contactMs, s.open = nowMs, true }

// over reports whether another life may register.
func (s *session) over(nowMs, timeoutMs int64) bool { return s.down || s.expired(nowMs, timeoutMs) }

func (s *session) expired(nowMs, timeoutMs int64) bool {
	return !s.open || nowMs > s.contactMs+timeoutMs
}

// state is currentBrokerState.
func (s *session) state(b *metadata.Broker) brokerState {
	switch {
	case s.shutdownOffset >= 0:
		return controlledShutdown
	case b.Fenced:
		return fenced
	}
	return unfenced
}

func (op *operation) session(id int32) *session { return op.c.sessions[id] }
