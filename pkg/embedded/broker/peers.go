package broker

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// sendTimeout is how long a request to another node may take.
const sendTimeout = time.Duration(machine.RequestTimeoutMs) * time.Millisecond

// route is what has a connection of its own: a peer and an API, so that a long poll
// holds up none but its like.
type route struct {
	to  machine.Peer
	key int16
}

// outgoing is one connection to another node, opened when it is needed, with the
// requests that wait for it. Its goroutine sends one at a time.
type outgoing struct {
	s     *Server
	route route
	there *Link // for requests
	back  *Link // for responses

	mu    sync.Mutex
	queue []sending
	wake  chan struct{} // holds one word while the queue is not empty

	// Of the goroutine alone.
	nc            net.Conn
	r             *bufio.Reader
	used          time.Time // last
	format        *kmsg.RequestFormatter
	correlationID int32
}

type sending struct {
	machine.Send
	at time.Time
}

// send hands a request to its connection's goroutine, and does not wait.
func (s *Server) send(e machine.Send) {
	k := route{to: e.To, key: e.Request.Key()}
	o := s.out[k]
	if o == nil {
		o = &outgoing{
			s: s, route: k, wake: make(chan struct{}, 1),
			there: s.opts.Links.Link(s.opts.Self, e.To), back: s.opts.Links.Link(e.To, s.opts.Self),
			format: kmsg.NewRequestFormatter(kmsg.FormatterClientID(s.opts.Name)),
		}
		s.out[k] = o
		s.wg.Add(1)
		go o.run()
	}
	o.mu.Lock()
	o.queue = append(o.queue, sending{e, time.Now()})
	o.mu.Unlock()
	signal(o.wake)
}

// take returns what is in the queue.
func (o *outgoing) take() []sending {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.queue
	o.queue = nil
	return all
}

func (o *outgoing) run() {
	defer o.s.wg.Done()
	defer o.hangUp()
	for {
		select {
		case <-o.s.gone:
			return
		case <-o.wake:
			for _, f := range o.take() {
				o.deliver(f)
			}
		}
	}
}

// deliver sends a request and tells the node what came of it.
func (o *outgoing) deliver(f sending) {
	resp, frame, err := o.exchange(f)
	if err != nil {
		// The node hears that the connection was lost, and tries again as it sees fit.
		o.hangUp()
		o.s.post(event{in: machine.Response{Token: f.Token}})
		return
	}
	o.s.post(event{in: machine.Response{Token: f.Token, Body: resp, Frame: o.s.given(frame)}})
}

// exchange sends a request and waits for its response, which points into frame.
func (o *outgoing) exchange(f sending) (resp kmsg.Response, frame []byte, err error) {
	deadline := f.at.Add(sendTimeout)
	late := func() error { return fmt.Errorf("%s: no answer in %v", kmsg.NameForKey(f.Request.Key()), sendTimeout) }
	if !o.there.pass(f.Request.Key(), f.at, deadline, o.s.gone) {
		return nil, nil, late()
	}
	if err := o.dial(deadline); err != nil {
		return nil, nil, err
	}
	o.used = time.Now()
	o.correlationID++
	if err := o.write(f.Request, deadline); err != nil {
		return nil, nil, err
	}
	if err := o.nc.SetReadDeadline(deadline); err != nil {
		return nil, nil, err
	}
	if frame, err = readResponse(o.r); err != nil {
		return nil, nil, err
	}
	resp = f.Request.ResponseKind()
	id, err := wire.ParseResponse(frame, resp)
	if err == nil && id != o.correlationID {
		err = fmt.Errorf("answer to request %d, want %d", id, o.correlationID)
	}
	if err != nil {
		return nil, nil, err
	}
	if !o.back.pass(-1, time.Now(), deadline, o.s.gone) {
		return nil, nil, late()
	}
	return resp, frame, nil
}

func (o *outgoing) write(req kmsg.Request, deadline time.Time) error {
	b := outboxes.Get().(*outbox)
	defer b.done()
	b.pieces.Head = o.format.AppendRequest(b.pieces.Head[:0], req, o.correlationID)
	b.pieces.All = append(b.pieces.All[:0], b.pieces.Head)
	return b.write(o.nc, func() time.Time { return deadline })
}

// readResponse reads a response without its size prefix.
func readResponse(r *bufio.Reader) ([]byte, error) {
	var prefix [wire.SizePrefix]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	size := int32(binary.BigEndian.Uint32(prefix[:]))
	if size < 0 {
		return nil, fmt.Errorf("response of %d bytes", size)
	}
	return readTowards(r, int(size), int(size)) // a node's word is good
}

// dial opens the connection if there is none, or none that the other side has not
// given up meanwhile. That needs both ways, as nothing is opened without an answer.
func (o *outgoing) dial(deadline time.Time) error {
	if o.nc != nil && time.Since(o.used) < maxIdle/2 {
		return nil
	}
	o.hangUp()
	if !o.back.pass(-1, time.Time{}, deadline, o.s.gone) {
		return fmt.Errorf("dial: no answer in %v", sendTimeout)
	}
	address := o.s.opts.Address(o.route.to)
	ctx, cancel := context.WithDeadline(o.s.ctx, deadline)
	defer cancel()
	nc, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	o.nc, o.r = nc, bufio.NewReaderSize(nc, readerBytes)
	o.there.adopt(nc)
	// The server may have ended since, and closed what it knew of.
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if o.s.ended {
		return net.ErrClosed
	}
	o.s.dialed[nc] = struct{}{}
	return nil
}

func (o *outgoing) hangUp() {
	if o.nc == nil {
		return
	}
	o.there.drop(o.nc)
	o.s.mu.Lock()
	delete(o.s.dialed, o.nc)
	o.s.mu.Unlock()
	_ = o.nc.Close()
	o.nc, o.r = nil, nil
}
