package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// stagger is how long an address may be silent before the next one is tried
// beside it.
const stagger = 500 * time.Millisecond

// BootstrapError says that no address led to the cluster.
type BootstrapError struct {
	// Failures has one entry for each address that was tried.
	Failures []inspect.Failure
}

// Error lists the addresses with their causes.
func (e *BootstrapError) Error() string {
	parts := make([]string, 0, len(e.Failures))
	for _, f := range e.Failures {
		parts = append(parts, fmt.Sprintf("%s: %s: %s", f.Address, f.Phase, f.Error))
	}
	return "no bootstrap server answered: " + strings.Join(parts, "; ")
}

// Unreachable reports whether no address took a connection or, where one did,
// replied in time: what a total outage looks like from here. A refusal, such as
// of the credentials, is an answer.
func (e *BootstrapError) Unreachable() bool {
	for i := range e.Failures {
		if f := &e.Failures[i]; f.Phase != inspect.PhaseDial && !f.TimedOut {
			return false
		}
	}
	return len(e.Failures) > 0
}

// Silent reports whether it is [BootstrapError.Unreachable] and some address took
// the connection and did not reply: a broker that hangs, or waits for a controller.
func (e *BootstrapError) Silent() bool {
	return e.Unreachable() && slices.ContainsFunc(e.Failures, func(f inspect.Failure) bool { return f.Phase != inspect.PhaseDial })
}

// start finds a broker that answers and learns brokers, topics and partitions
// from it. One that connects and then does not answer is passed over too.
func (p *pass) start(ctx context.Context) (*connect.Conn, error) {
	addrs := p.src.addresses(p.asksQuorum())
	var failed []inspect.Failure
	for {
		conn, gone, silent, err := p.src.connect(ctx, addrs)
		failed = append(failed, gone...)
		if err != nil {
			return nil, &BootstrapError{failed}
		}
		err = p.topology(ctx, conn)
		var wrong *WrongClusterError
		if errors.As(err, &wrong) { // the next address may lead to yet another one
			conn.Close()
			return nil, err
		}
		if err == nil && p.src.strange(conn.Addr(), p.snap.ClusterID) {
			err = &connect.Error{
				Address: conn.Addr(), Phase: inspect.PhaseRequest, Request: "Metadata",
				Cause: fmt.Sprintf("a broker's address from before, where another cluster answers now: %s", p.snap.ClusterID),
			}
		}
		if err == nil {
			for _, f := range append(failed, silent...) {
				f.Notice = true
				f.Lost = "went on with " + conn.Addr()
				p.fail(f)
			}
			return conn, nil
		}
		conn.Close()
		failed = append(failed, failureOf(inspect.Unknown[inspect.BrokerID](), err))
		addrs = slices.DeleteFunc(addrs, func(a string) bool { return tried(failed, a) })
	}
}

func tried(failed []inspect.Failure, addr string) bool {
	return slices.ContainsFunc(failed, func(f inspect.Failure) bool { return f.Address == addr })
}

var errNoAddressLeft = errors.New("no address left")

// connect opens the first address that answers. Addresses are tried in order,
// the next one as soon as one fails or has been silent for a while; it returns
// what failed or was silent until then.
func (s *Source) connect(ctx context.Context, addrs []string) (conn *connect.Conn, gone, silent []inspect.Failure, err error) {
	type result struct {
		addr string
		conn *connect.Conn
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan result, len(addrs))
	began := time.Now()
	next, pending := 0, map[string]bool{}
	launch := func() {
		addr := addrs[next]
		next++
		pending[addr] = true
		go func() {
			ctx, cancel := s.bounded(ctx) // each has its own share: a silent one must not use up the next one's
			defer cancel()
			conn, err := s.conf.Open(ctx, addr)
			results <- result{addr, conn, err}
		}()
	}
	// Whoever answers after the first one is closed when it comes.
	defer func() {
		cancel()
		for range pending {
			go func() {
				if r := <-results; r.conn != nil {
					r.conn.Close()
				}
			}()
		}
	}()
	var failed []inspect.Failure
	for next < len(addrs) || len(pending) > 0 {
		if len(pending) == 0 {
			launch()
		}
		var impatient <-chan time.Time
		if next < len(addrs) {
			impatient = time.After(min(stagger, s.timeout/20))
		}
		select {
		case r := <-results:
			delete(pending, r.addr)
			if r.err != nil {
				failed = append(failed, failureOf(inspect.Unknown[inspect.BrokerID](), r.err))
				continue
			}
			return r.conn, failed, silentOnes(addrs, pending, time.Since(began)), nil
		case <-impatient:
			launch()
		}
	}
	return nil, failed, nil, errNoAddressLeft
}

// silentOnes reports addresses that had not answered when another one did.
func silentOnes(addrs []string, pending map[string]bool, after time.Duration) []inspect.Failure {
	var out []inspect.Failure
	for _, a := range addrs {
		if pending[a] {
			out = append(out, inspect.Failure{
				Address: a, Request: "ApiVersions", Phase: inspect.PhaseRequest,
				Error: fmt.Sprintf("no answer within %gs", after.Round(100*time.Millisecond).Seconds()),
			})
		}
	}
	return out
}
