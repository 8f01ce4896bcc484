// Package machine is how the nodes of a cluster are driven: what goes into one
// and what comes out. A node has no clock, no network and no goroutine of its
// own, so a server and a simulator can drive the same code.
//
// A driver's loop, in short:
//
//	for {
//		in := next() // a message, a disk order that is done, or Tick at m.NextDeadline()
//		for _, e := range m.Step(now(), in, effects[:0]) {
//			switch e := e.(type) {
//			case machine.Reply:
//				connections.answer(e.Token, e.Response)
//			case machine.Send:
//				peers.send(e.To, e.Token, e.Request) // its end is a machine.Response
//			case machine.Run:
//				disk.queue(e.Order) // e.Order.Run(), then machine.Ran{Order: e.Order}
//			case machine.Stop:
//				return e.Err
//			}
//		}
//	}
//
// Messages are the structs of kmsg: bytes, framing and versions that a client
// may not use are the driver's.
package machine

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Never is a deadline that does not come.
const Never int64 = math.MaxInt64

// Time is a node's two clocks, in ms.
type Time struct {
	// Mono never goes back: timeouts, sessions and lag are measured on it.
	Mono int64
	// Wall is the time of day, since 1970, and may jump: timestamps of records and
	// retention go by it.
	Wall int64
}

// Machine is a node. It is for one goroutine.
type Machine interface {
	// Step takes in what has happened and appends to out what is to be done, in
	// order. What in holds belongs to the machine from then on, and what comes out
	// to the driver.
	Step(now Time, in Input, out []Effect) []Effect
	// NextDeadline is when a Tick is due on the clock Mono, Never if none is, in
	// the past if one is already. Ask after every step.
	NextDeadline() int64
}

// Token is how what belongs together is known again. Those of requests are
// drawn by the driver, those of sends by the node; neither uses one twice.
type Token uint64

// Input is what goes in: one of the types below.
type Input interface{ isInput() }

type (
	// Request is a request to this node, of the version that Body has. It is
	// answered with one Reply, however late, unless the machine is stopped.
	Request struct {
		Token Token
		// Conn tells connections apart, for what a node remembers of one, and for
		// Closed.
		Conn uint64
		// ClientID is the request header's client id, "" where it has none. ClientHost
		// is the address of the client as Kafka writes it, like "/127.0.0.1". Groups show
		// both to people.
		ClientID, ClientHost string
		Body                 kmsg.Request
		// Frame is what the records in Body point into, nil where nobody wants it back:
		// see Buffers.
		Frame []byte
	}
	// Closed says that a connection has ended. Its requests are carried out all the
	// same; nobody waits for their replies.
	Closed struct{ Conn uint64 }
	// Response ends a Send.
	Response struct {
		Token Token
		// Body is nil where the connection was lost: the request may have been
		// carried out, or not, or will be yet.
		Body kmsg.Response
		// Frame is as in Request.
		Frame []byte
	}
	// Ran says that an order's Run has returned.
	Ran struct{ Order Order }
	// Tick says that time has passed.
	Tick struct{}
)

// Effect is what comes out: one of the types below.
type Effect interface{ isEffect() }

type (
	// Reply answers a Request.
	Reply struct {
		Token Token
		// Response is nil where there is nothing to send: a Produce with acks=0.
		Response kmsg.Response
		// Close ends the connection after that.
		Close bool
	}
	// Send sends a request to another node, or drops it where there is no way;
	// either way a Response follows. The driver bounds how long that takes, if only
	// by RequestTimeoutMs.
	Send struct {
		Token   Token
		To      Peer
		Request kmsg.Request
	}
	// Run hands the disk an order. Those of one lane run one after another, in the
	// order in which they came, and each is reported by Ran. Different lanes do not
	// wait for each other.
	//
	// A driver may leave the syncs of a log to be done behind an order's Run, and report
	// the order then. For that it goes by the lanes: 2n and 2n+1 are of one log, and what
	// says which data is durable is written by orders of lane 0.
	Run struct {
		Lane  uint64
		Order Order
	}
	// Note is a line for the node's log: what a person who looks for a fault would
	// want to read. It changes nothing.
	Note struct {
		Text string
		// Warn: what was written is damaged, lost or cannot be used, and somebody should
		// know who is looking for nothing.
		Warn bool
	}
	// Stop says that the node cannot go on, because its disk failed (Err), or has
	// stopped as it was asked to (nil). Nothing may be stepped afterwards.
	Stop struct{ Err error }
)

// RequestTimeoutMs is how long a driver waits for the end of a Send
// (replica.socket.timeout.ms, controller.socket.timeout.ms).
const RequestTimeoutMs int64 = 30_000

// Peer is another node: a broker by its id, or Controller.
type Peer int32

// Controller is the controller, where brokers send what only it decides.
const Controller Peer = -1

// Order is work for a disk. Run is called once, and what became of it the node
// finds in the order itself. While it runs nothing else may use what it works on:
// see package node about what may run beside it.
type Order interface{ Run() }

// Buffers are room for records that is used again, so that it is neither cleared nor
// collected each time. They are for several goroutines.
//
// Who has a buffer is as with all that goes in and out. A machine may read into one,
// and what it replies is the driver's: a FetchResponse's records go back when they are
// written, so a machine with Buffers keeps nothing of them and sends no part of them
// twice. The Frame of an input is the machine's, which gives it back when nothing of
// it is used any more, or never.
type Buffers interface {
	// Get returns n bytes of any content.
	Get(n int) []byte
	// Put takes back what Get has returned, or any other bytes. Nobody may use them.
	Put(b []byte)
}

func (Request) isInput()  {}
func (Closed) isInput()   {}
func (Response) isInput() {}
func (Ran) isInput()      {}
func (Tick) isInput()     {}

func (Reply) isEffect() {}
func (Send) isEffect()  {}
func (Run) isEffect()   {}
func (Note) isEffect()  {}
func (Stop) isEffect()  {}
