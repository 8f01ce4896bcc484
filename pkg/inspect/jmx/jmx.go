package jmx

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Meters are what one process counted since it began.
type Meters struct {
	// Address is the agent's, without credentials.
	Address string
	// Broker is the node that the agent is in; unknown where it does not say.
	Broker inspect.Opt[inspect.BrokerID]
	// Each is unknown where the agent does not have it.
	Shrinks, Expands, FailedUpdates, UncleanElections inspect.Opt[int64]
	// Load is how busy the process is now.
	Load inspect.Load
}

// Any reports whether it has one at least.
func (m *Meters) Any() bool {
	return m.Shrinks.IsKnown() || m.Expands.IsKnown() || m.FailedUpdates.IsKnown() || m.UncleanElections.IsKnown()
}

// meters are Kafka's, by the name of the MBean without PerSec.
var meters = []struct {
	name, mbean string
	of          func(*Meters) *inspect.Opt[int64]
}{
	{"IsrShrinks", "kafka.server:type=ReplicaManager,name=IsrShrinksPerSec", func(m *Meters) *inspect.Opt[int64] { return &m.Shrinks }},
	{"IsrExpands", "kafka.server:type=ReplicaManager,name=IsrExpandsPerSec", func(m *Meters) *inspect.Opt[int64] { return &m.Expands }},
	{"FailedIsrUpdates", "kafka.server:type=ReplicaManager,name=FailedIsrUpdatesPerSec", func(m *Meters) *inspect.Opt[int64] { return &m.FailedUpdates }},
	{"UncleanLeaderElections", "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec", func(m *Meters) *inspect.Opt[int64] { return &m.UncleanElections }},
}

const (
	// maxAnswer bounds a page: one of Kafka's with 10,000 partitions has 20 MB.
	maxAnswer = 64 << 20
	// maxJolokia bounds what an agent says of the few MBeans that are wanted.
	maxJolokia = 1 << 20
)

// ParseURL checks an agent's address. Errors hold no credentials.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		var told *url.Error
		if errors.As(err, &told) { // whose text has the whole address
			err = told.Err
		}
		return nil, fmt.Errorf("not a URL: %w", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("not a URL of http or https, such as http://kafka-1:8778/jolokia/ or http://kafka-1:9404/metrics")
	case u.Hostname() == "":
		return nil, errors.New("names no host")
	}
	return u, nil
}

// Read asks an agent for the meters of ISRs, which ctx bounds: it fails where there is none
// of them. What the address leads to tells which kind it is. An address without a path
// may be either.
func Read(ctx context.Context, address string) (*Meters, error) {
	m, err := read(ctx, address)
	if err == nil && !m.Any() {
		return nil, fmt.Errorf("%s has none of Kafka's meters of ISRs: is it a broker's, and do the agent's rules let them through?", m.Address)
	}
	return m, err
}

// ReadLoad is Read for the meters of load: it fails where there is none of those.
func ReadLoad(ctx context.Context, address string) (*Meters, error) {
	m, err := read(ctx, address)
	if err == nil && m.Load == (inspect.Load{}) {
		return nil, fmt.Errorf("%s has none of Kafka's meters of request handlers, network threads and flushes: is it a broker's, and do the agent's rules let them through?", m.Address)
	}
	return m, err
}

func read(ctx context.Context, address string) (*Meters, error) {
	u, err := ParseURL(address)
	if err != nil {
		return nil, err
	}
	a := &agent{url: u, client: &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}}}
	shown := *u
	shown.User = nil
	m := &Meters{Address: shown.String()}
	paths := []string{u.Path}
	if u.Path == "" || u.Path == "/" {
		paths = []string{"/jolokia/", "/metrics"}
	}
	for _, path := range paths {
		u.Path = path
		if err = a.read(ctx, m); err == nil || !errors.Is(err, errNotFound) && !errors.Is(err, errWebPage) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Address, err)
	}
	return m, nil
}

type agent struct {
	url    *url.URL
	client *http.Client
}

// What another path of the same host may do better.
var (
	errNotFound = errors.New("not found (HTTP 404): a Jolokia agent answers at /jolokia/, a Prometheus JMX exporter at /metrics")
	errWebPage  = errors.New("answers with a web page, which is no agent's: a Jolokia agent answers at /jolokia/, a Prometheus JMX exporter at /metrics")
)

func (a *agent) read(ctx context.Context, m *Meters) error {
	body, err := a.ask(ctx, http.MethodGet, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	limited := &limited{in: body, left: maxAnswer}
	begin := make([]byte, 512)
	n, err := io.ReadFull(limited, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return a.explain(ctx, err)
	}
	begin = begin[:n]
	switch first := bytes.TrimSpace(begin); {
	case len(first) == 0:
		return errors.New("answers with nothing")
	case first[0] == '{':
		return a.explain(ctx, a.readJolokia(ctx, m))
	case first[0] == '<':
		return errWebPage
	}
	return a.explain(ctx, readPage(io.MultiReader(bytes.NewReader(begin), limited), m))
}

// ask sends a request, and returns the body of an answer that is none of failure.
func (a *agent) ask(ctx context.Context, method string, body []byte) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, a.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("not a URL that can be asked")
	}
	req.Header.Set("User-Agent", "kafkaops")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	} else {
		req.Header.Set("Accept", "text/plain, application/json")
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return nil, a.explain(ctx, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusNotFound:
		return nil, errNotFound
	case http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("refuses: HTTP %s; credentials go before the host, as in http://user:password@host/", resp.Status)
	}
	return nil, fmt.Errorf("HTTP %s", resp.Status)
}

// explain takes the address out of an error, for that may hold credentials.
func (a *agent) explain(ctx context.Context, err error) error {
	var told *url.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &timeoutError{}
	case errors.As(err, &told):
		return told.Err
	}
	return err
}

// timeoutError: the agent did not answer, or not to the end.
type timeoutError struct{}

func (*timeoutError) Error() string   { return "did not answer to the end in time" }
func (*timeoutError) Timeout() bool   { return true }
func (*timeoutError) Temporary() bool { return true }

// limited fails where there is more than was left.
type limited struct {
	in   io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		var one [1]byte
		if n, err := l.in.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, errors.New("answers with more than any agent would")
	}
	n, err := l.in.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// wanted returns which meter a name is of, or nil. Case, underscores and PerSec do not
// count.
func wanted(name string, m *Meters) *inspect.Opt[int64] {
	name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
	for i := range meters {
		if strings.Contains(name, strings.ToLower(meters[i].name)) {
			return meters[i].of(m)
		}
	}
	return nil
}
