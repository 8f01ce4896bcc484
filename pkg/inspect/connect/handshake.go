package connect

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

const requestTLS = "TLS handshake"

// handshake is what happened in one, for the words of failures: in TLS 1.3 the
// broker looks at the client's certificate after the client is done.
type handshake struct {
	// asked says that the broker wanted a client certificate.
	asked bool
	// shown is what it got; empty where the key store has none that it accepts.
	shown *tls.Certificate
	// keys is how many the key store has.
	keys int
}

// explain puts what the broker refused in words, and leaves all else as it is.
func (h *handshake) explain(err error) error {
	alert, refused := alertOf(err)
	switch {
	case refused && h.asked && aboutCertificate(alert):
		return h.words("the broker refused the handshake (%s): %s", alert, h.certificate())
	case refused:
		return h.words("the broker refused the handshake: %s", alert)
	case h.asked && isClosed(err):
		// As brokers do behind proxies that swallow the alert.
		return h.words("closed the connection after the TLS handshake, in which it asked for a client certificate: %s", h.certificate())
	}
	return err
}

func (h *handshake) words(format string, args ...any) error {
	return &wordedError{phase: inspect.PhaseTLS, request: requestTLS, text: fmt.Sprintf(format, args...)}
}

// certificate says what was shown.
func (h *handshake) certificate() string {
	switch {
	case h.keys == 0:
		return "it wants a client certificate, and none is configured; set ssl.keystore.location"
	case h.shown == nil || len(h.shown.Certificate) == 0:
		return "it wants a client certificate, and the key store has none of an authority that it accepts"
	case h.shown.Leaf == nil:
		return "it does not accept the client certificate"
	}
	leaf := h.shown.Leaf
	if now := time.Now(); now.After(leaf.NotAfter) {
		return fmt.Sprintf("the client certificate %s expired on %s", leaf.Subject, leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("it does not accept the client certificate %s, issued by %s", leaf.Subject, leaf.Issuer)
}

// alertOf is the alert that the peer sent, without the prefix of Go's words.
func alertOf(err error) (string, bool) {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return "", false
	}
	return strings.TrimPrefix(op.Err.Error(), "tls: "), true
}

// aboutCertificate: the alerts of RFC 8446 §6.2 that answer a certificate, and
// handshake failure, which is what TLS 1.2 says where one is missing.
func aboutCertificate(alert string) bool {
	for _, word := range []string{"certificate", "authority", "access denied", "handshake failure", "decrypt error"} {
		if strings.Contains(alert, word) {
			return true
		}
	}
	return false
}
