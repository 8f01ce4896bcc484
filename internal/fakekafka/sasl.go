package fakekafka

import (
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Logins are what clients showed to a cluster of StartSASL.
type Logins struct {
	mechanisms []string

	mu       sync.Mutex
	messages []string
	session  time.Duration
}

// StartSASL is Start with brokers that offer mechanisms, and let everyone in who
// sends one message by one of them, as PLAIN and OAUTHBEARER do. They do not ask
// for a login. Intercept is taken.
func StartSASL(tb testing.TB, m *Model, mechanisms ...string) (*Cluster, *Logins) {
	tb.Helper()
	if m.APIs == nil {
		m.APIs = APIs()
	}
	m.APIs[kmsg.SASLHandshake] = VersionRange{Min: 1, Max: 1}
	m.APIs[kmsg.SASLAuthenticate] = VersionRange{Min: 0, Max: 2}
	c, l := Start(tb, m), &Logins{mechanisms: mechanisms}
	c.Intercept(l.answer)
	return c, l
}

func (l *Logins) answer(_ int32, req kmsg.Request) (kmsg.Response, bool) {
	switch r := req.(type) {
	case *kmsg.SASLHandshakeRequest:
		resp := kmsg.NewPtrSASLHandshakeResponse()
		resp.SetVersion(r.GetVersion())
		resp.SupportedMechanisms = l.mechanisms
		return resp, true
	case *kmsg.SASLAuthenticateRequest:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.messages = append(l.messages, string(r.SASLAuthBytes))
		resp := r.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.SessionLifetimeMillis = l.session.Milliseconds()
		return resp, true
	}
	return nil, false
}

// Last sets for how long the logins from now on last, in whole milliseconds, by the
// brokers' word (KIP-368). They do not hold anybody to it.
func (l *Logins) Last(session time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = session
}

// Messages are the logins' messages, oldest first.
func (l *Logins) Messages() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.messages...)
}
