package fakekafka

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// serve takes one request after the other off the connection and answers each
// before the next, as Kafka does. It returns when the connection is done with.
func (s *server) serve(conn net.Conn) {
	r := bufio.NewReaderSize(conn, 64<<10)
	var out []byte
	hung := false
	for {
		frame, err := readFrame(r)
		if err != nil {
			var size *wire.SizeError
			if errors.As(err, &size) {
				s.c.log.add(Request{Broker: s.broker.ID, Err: err}, 0)
			}
			return
		}
		req, err := wire.ParseRequest(frame)
		negotiate := false
		if err == nil || errors.As(err, new(*wire.VersionError)) {
			negotiate, err = s.c.admit(s, req)
		}
		s.record(req, len(frame), err)
		if err != nil {
			return
		}
		react, delay, reads := s.react(Key(req.Key), req.Body)
		if hung = hung || react == reactHang; hung {
			continue // a client must not notice more than silence
		}
		if react == reactClose || !s.c.wait(delay) {
			return
		}
		if negotiate {
			out = s.c.negotiate(s, out[:0], req)
		} else {
			out = s.c.respond(s, out[:0], req, reads)
		}
		if out == nil {
			return
		}
		if _, err := conn.Write(out); err != nil {
			return
		}
	}
}

// readFrame returns a buffer that nobody else uses: the parsed request points
// into it. It grows as bytes come in, for the size is only a claim.
func readFrame(r *bufio.Reader) ([]byte, error) {
	var prefix [wire.SizePrefix]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	size, err := wire.FrameSize(prefix)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if _, err := io.CopyN(&buf, r, int64(size)); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func (s *server) record(req wire.Request, frameBytes int, err error) {
	r := Request{Broker: s.broker.ID, Key: Key(req.Key), Version: req.Version, Body: req.Body, Err: err}
	if req.ClientID != nil {
		r.ClientID = *req.ClientID
	}
	s.c.log.add(r, frameBytes)
}

// admit lets in what the broker advertises. Kafka closes the connection on all
// else, but for an ApiVersions that is too new: that one is to be negotiated.
func (c *Cluster) admit(s *server, req wire.Request) (negotiate bool, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v := c.view(s, ReplicaReadsServed)
	r, ok := v.serves()[Key(req.Key)]
	if ok && req.Version >= r.Min && req.Version <= r.Max && req.Body != nil {
		return false, nil
	}
	if Key(req.Key) == kmsg.ApiVersions {
		return true, nil
	}
	return false, fmt.Errorf("%s v%d is not advertised by broker %d", kmsg.NameForKey(req.Key), req.Version, s.broker.ID)
}

// wait says false when the cluster was closed meanwhile.
func (c *Cluster) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.done:
		return false
	}
}
