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
			if reply, ok = c.ask(req); !ok {
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
func (c *conn) ask(req wire.Request) (machine.Reply, bool) {
	clientID := ""
	if req.ClientID != nil {
		clientID = *req.ClientID
	}
	c.s.post(event{conn: c, in: machine.Request{Conn: c.id, ClientID: clientID, ClientHost: c.host, Body: req.Body}})
	select {
	case r := <-c.reply:
		return r, true
	case <-c.s.gone:
		return machine.Reply{}, false
	}
}

const (
	// maxIdle is connections.max.idle.ms: a connection ends if nobody has asked anything
	// for so long, or has not read so much as a piece of an answer.
	maxIdle = 10 * time.Minute
	// writeBytes is a piece.
	writeBytes = 1 << 20
)

func (c *conn) write(correlationID int32, resp kmsg.Response) error {
	b := getFrame()
	defer putFrame(b)
	*b = wire.AppendResponse((*b)[:0], correlationID, resp)
	return writeAll(c.nc, *b, func() time.Time { return time.Now().Add(maxIdle) })
}

// writeAll writes b in pieces, each until a deadline of its own.
func writeAll(nc net.Conn, b []byte, deadline func() time.Time) error {
	for len(b) > 0 {
		piece := b[:min(len(b), writeBytes)]
		if err := nc.SetWriteDeadline(deadline()); err != nil {
			return err
		}
		if _, err := nc.Write(piece); err != nil {
			return err
		}
		b = b[len(piece):]
	}
	return nil
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
