package broker

import (
	"bufio"
	"errors"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// conn is a connection that somebody has opened to this node. Its goroutine reads a
// request, waits for the reply, writes it and reads the next: Kafka's SocketServer
// mutes a connection likewise, so that requests of one are carried out in order and
// answered in order.
type conn struct {
	s    *Server
	id   uint64
	nc   net.Conn
	host string // as machine.Request has it
	// reply has room for one: the owner never waits for a connection.
	reply chan machine.Reply
}

func (c *conn) serve() {
	defer c.close()
	r := bufio.NewReaderSize(c.nc, readerBytes)
	for {
		_ = c.nc.SetReadDeadline(time.Now().Add(maxIdle)) // who has closed it reads no more
		frame, err := readFrame(r)
		if err != nil {
			c.tell(err)
			return
		}
		req, err := wire.ParseRequest(frame)
		var reply machine.Reply
		switch {
		case err == nil:
			var ok bool
			if reply, ok = c.ask(req, frame); !ok {
				return
			}
		case req.Key == int16(kmsg.ApiVersions) && errors.As(err, new(*wire.VersionError)):
			reply.Response = c.s.opts.APIs.AnswerUnknownVersion()
		default:
			c.tell(err)
			return
		}
		if reply.Close && reply.Response == nil {
			c.s.opts.Log.Info("connection closed without an answer", "from", c.nc.RemoteAddr().String(),
				"request", kmsg.NameForKey(req.Key), "version", req.Version)
		}
		if reply.Response != nil && c.write(req.CorrelationID, reply.Response) != nil || reply.Close {
			return
		}
	}
}

// ask hands the owner a request and waits for the reply; false if there will be none.
func (c *conn) ask(req wire.Request, frame []byte) (machine.Reply, bool) {
	clientID := ""
	if req.ClientID != nil {
		clientID = *req.ClientID
	}
	c.s.post(event{conn: c, in: machine.Request{
		Conn: c.id, ClientID: clientID, ClientHost: c.host, Body: req.Body, Frame: c.s.given(frame),
	}})
	select {
	case r := <-c.reply:
		return r, true
	case <-c.s.gone:
		return machine.Reply{}, false
	}
}

// maxIdle is connections.max.idle.ms: a connection ends if nobody has asked anything
// for so long, or has not read so much as a piece of an answer.
const maxIdle = 10 * time.Minute

func (c *conn) write(correlationID int32, resp kmsg.Response) error {
	o := outboxes.Get().(*outbox)
	defer o.done()
	fetch, ok := resp.(*kmsg.FetchResponse)
	if ok {
		o.pieces.FetchResponse(correlationID, fetch)
	} else {
		o.pieces.Head = wire.AppendResponse(o.pieces.Head[:0], correlationID, resp)
		o.pieces.All = append(o.pieces.All[:0], o.pieces.Head)
	}
	err := o.write(c.nc, func() time.Time { return time.Now().Add(maxIdle) })
	if ok && c.s.opts.Buffers {
		pool.takeBack(fetch)
	}
	return err
}

// tell logs why a connection is closed, unless its client did that, or this node.
func (c *conn) tell(err error) {
	var size *wire.SizeError
	var key *wire.KeyError
	var version *wire.VersionError
	var body *wire.BodyError
	if errors.As(err, &size) || errors.As(err, &key) || errors.As(err, &version) || errors.As(err, &body) || errors.Is(err, wire.ErrTruncated) {
		c.s.opts.Log.Info("connection closed: what came is no request", "from", c.nc.RemoteAddr().String(), "reason", err)
	}
}

func (c *conn) close() {
	_ = c.nc.Close()
	c.s.forget(c)
	c.s.post(event{in: machine.Closed{Conn: c.id}})
}
