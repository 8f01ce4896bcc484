package fakekafka

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Faults are how a broker misbehaves. The zero value is a healthy one.
type Faults struct {
	// Refuse closes the listener and all connections, as a stopped broker does.
	Refuse bool
	// Mute accepts connections, reads what comes and answers nothing.
	Mute bool
	// HangAfter answers that many more requests and hangs then; 0 never hangs.
	HangAfter int
	// HangOn hangs on these requests. Since a broker answers in order, nothing
	// that follows on the same connection is answered either; a new connection is.
	HangOn []Key
	// CloseOn closes the connection on these requests.
	CloseOn []Key
	// Delay waits before these requests are answered.
	Delay map[Key]time.Duration
	// ReplicaReads is what happens to ListOffsets with replica id −2.
	ReplicaReads ReplicaReads
}

// ReplicaReads says how a service that is not quite Kafka treats replica id −2.
type ReplicaReads int

const (
	// ReplicaReadsServed answers with the asked replica's own LEO, as Kafka does.
	ReplicaReadsServed ReplicaReads = iota
	// ReplicaReadsAsConsumer takes the id for −1: followers answer
	// NOT_LEADER_OR_FOLLOWER, the leader its HW.
	ReplicaReadsAsConsumer
	// ReplicaReadsClosed closes the connection.
	ReplicaReadsClosed
	// ReplicaReadsInvalid answers INVALID_REQUEST for each partition.
	ReplicaReadsInvalid
)

// Break replaces a broker's faults, from its next request on. What a connection
// has missed while its broker was mute or hung stays unanswered, even after Heal.
func (c *Cluster) Break(broker int32, f Faults) {
	s := c.server(broker)
	s.mu.Lock()
	was := s.faults.Refuse
	s.faults, s.answered = f, 0
	s.mu.Unlock()
	switch {
	case f.Refuse && !was:
		s.stop()
	case was && !f.Refuse:
		s.mustListenAgain()
	}
}

// Heal makes a broker healthy again, at its old address.
func (c *Cluster) Heal(broker int32) { c.Break(broker, Faults{}) }

// reaction is what a broker does with a request.
type reaction int

const (
	reactAnswer reaction = iota
	reactHang
	reactClose
)

// react decides on a request and counts it.
func (s *server) react(key Key, body kmsg.Request) (reaction, time.Duration, ReplicaReads) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.faults
	offsets, _ := body.(*kmsg.ListOffsetsRequest)
	switch {
	case f.Mute,
		f.HangAfter > 0 && s.answered >= f.HangAfter,
		slices.Contains(f.HangOn, key):
		return reactHang, 0, f.ReplicaReads
	case slices.Contains(f.CloseOn, key),
		f.ReplicaReads == ReplicaReadsClosed && offsets != nil && offsets.ReplicaID == debuggingReplica:
		return reactClose, 0, f.ReplicaReads
	}
	s.answered++
	return reactAnswer, f.Delay[key], f.ReplicaReads
}
