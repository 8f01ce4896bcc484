package connect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
)

// maxSASLFrameBytes bounds what a listener may answer before it is known to be
// Kafka: tokens of Kerberos are the largest, at most 64 KiB.
const maxSASLFrameBytes = 1 << 20

// maxSASLSteps is more than any mechanism takes (SCRAM 2, GSSAPI 3).
const maxSASLSteps = 10

// sessionPercent is the part of a session after which a connection is given up, so
// that its end does not fall into the middle of a pass.
const sessionPercent = 80

// authenticate goes through SaslHandshake v1 and SaslAuthenticate v1 (KIP-43,
// KIP-152) on a connection that has just been opened, so that both clients get
// it authenticated and mechanisms exist once. It returns for how long that lasts, 0
// where the broker sets no end.
func authenticate(ctx context.Context, conn net.Conn, addr string, m sasl.Mechanism) (time.Duration, error) {
	x := exchange{conn: conn, format: kmsg.NewRequestFormatter(kmsg.FormatterClientID(ClientID))}
	if err := x.handshake(m.Name()); err != nil {
		return 0, err
	}
	session, message, err := m.Authenticate(ctx, addr)
	if err != nil {
		return 0, ownTrouble(m, err)
	}
	for range maxSASLSteps {
		challenge, err := x.step(message)
		if err != nil {
			return 0, err
		}
		done, next, err := session.Challenge(challenge)
		switch {
		case err != nil:
			return 0, ownTrouble(m, err)
		case done && len(next) == 0:
			return x.lifetime, nil
		case done:
			_, err = x.step(next)
			return x.lifetime, err
		}
		message = next
	}
	return 0, fmt.Errorf("%s: it did not end after %d steps", m.Name(), maxSASLSteps)
}

// ownTrouble is an error of the mechanism and not of the connection.
func ownTrouble(m sasl.Mechanism, err error) error {
	var own *wordedError
	if errors.Is(err, context.Canceled) || errors.As(err, &own) {
		return err
	}
	return &wordedError{text: fmt.Sprintf("%s: %v", m.Name(), err)}
}

// exchange sends single requests, one after another.
type exchange struct {
	conn        net.Conn
	format      *kmsg.RequestFormatter
	correlation int32
	// lifetime is the last answer's.
	lifetime time.Duration
}

func (x *exchange) handshake(mechanism string) error {
	req := kmsg.NewPtrSASLHandshakeRequest()
	req.Mechanism = mechanism
	req.SetVersion(1)
	resp := req.ResponseKind().(*kmsg.SASLHandshakeResponse)
	if err := x.ask(req, resp); err != nil {
		return err
	}
	const illegalSASLState = 34
	if resp.ErrorCode == illegalSASLState {
		return &wordedError{text: "the listener does not ask for SASL: use security.protocol PLAINTEXT or SSL"}
	}
	if resp.ErrorCode != 0 {
		return fmt.Errorf("mechanism %s is not enabled on this listener; it offers %s",
			mechanism, strings.Join(resp.SupportedMechanisms, ", "))
	}
	return nil
}

// errCredentials: the listener speaks the mechanism and refuses the credentials.
var errCredentials = errors.New("authentication failed")

// refusedBy is errCredentials with the broker's reason, which mostly begins with
// the same words.
func refusedBy(reason *string) error {
	if reason == nil || *reason == "" {
		return errCredentials
	}
	text := *reason
	if cut, ok := strings.CutPrefix(text, "Authentication failed"); ok {
		text = strings.TrimLeft(cut, ": ")
	}
	return fmt.Errorf("%w: %s", errCredentials, text)
}

func (x *exchange) step(message []byte) ([]byte, error) {
	req := kmsg.NewPtrSASLAuthenticateRequest()
	req.SASLAuthBytes = message
	req.SetVersion(1)
	resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
	if err := x.ask(req, resp); err != nil {
		return nil, err
	}
	if resp.ErrorCode != 0 {
		return nil, refusedBy(resp.ErrorMessage)
	}
	x.lifetime = time.Duration(resp.SessionLifetimeMillis) * time.Millisecond
	return resp.SASLAuthBytes, nil
}

// ask writes a request and reads its answer: size, correlation id, body.
func (x *exchange) ask(req kmsg.Request, resp kmsg.Response) error {
	x.correlation++
	if _, err := x.conn.Write(x.format.AppendRequest(nil, req, x.correlation)); err != nil {
		return err
	}
	var head [8]byte
	if _, err := io.ReadFull(x.conn, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:4])
	if size < 4 || size > maxSASLFrameBytes {
		return fmt.Errorf("%w: an answer of %d bytes", errNotKafka, size)
	}
	if got := int32(binary.BigEndian.Uint32(head[4:])); got != x.correlation {
		return fmt.Errorf("%w: answer %d to request %d", errNotKafka, got, x.correlation)
	}
	body := make([]byte, size-4)
	if _, err := io.ReadFull(x.conn, body); err != nil {
		return err
	}
	resp.SetVersion(req.GetVersion())
	if err := resp.ReadFrom(body); err != nil {
		return fmt.Errorf("%w: %w", errNotKafka, err)
	}
	return nil
}
