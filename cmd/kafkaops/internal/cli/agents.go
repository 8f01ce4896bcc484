package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/jmx"
	"github.com/spf13/cobra"
)

const (
	// agentsEvery is the least time between two readings of the agents: Kafka's own meters
	// move on every five seconds.
	agentsEvery = 5 * time.Second
	// hostPlace stands in an agent's address for each broker's host.
	hostPlace = "{host}"
)

// agentsFlag is --jmx of commands that look again and again.
type agentsFlag struct{ jmx []string }

func (o *agentsFlag) register(cmd *cobra.Command, what string) {
	cmd.Flags().StringArrayVar(&o.jmx, "jmx", nil, "the `URL` of a Jolokia agent or a Prometheus JMX exporter in a broker (repeatable), with {host} for each broker's host: "+what+"; those of the context's jmx where not given")
}

// check takes the flag's addresses.
func (o *agentsFlag) check() error {
	for _, text := range o.jmx {
		if err := checkAgent(text); err != nil {
			return usagef("--jmx: %w", err)
		}
	}
	return nil
}

func checkAgent(text string) error {
	_, err := jmx.ParseURL(strings.ReplaceAll(text, hostPlace, "host"))
	return err
}

// of are the agents of the flag, or the context's.
func (o *agentsFlag) of(t *target, timeout time.Duration) (*agents, error) {
	a := &agents{addresses: o.jmx, timeout: timeout / 3}
	if c := t.context; c != nil && len(o.jmx) == 0 {
		for _, text := range c.Agents() {
			if err := checkAgent(text); err != nil {
				return nil, usagef("context %q: jmx: %w (%s:%d)", c.Name, err, t.file, c.Line)
			}
			a.addresses = append(a.addresses, text)
		}
	}
	return a, nil
}

// agents are read beside the looks, which do not wait for them.
type agents struct {
	addresses []string
	timeout   time.Duration
	asked     time.Time
	reading   sync.WaitGroup

	mu     sync.Mutex
	loads  map[inspect.BrokerID]inspect.Load
	failed []inspect.Failure
}

// ask begins to read the agents of these brokers, if that is due. Those that have not
// answered to the end of their time are not asked twice at once.
func (a *agents) ask(ctx context.Context, brokers []inspect.Broker) {
	if len(a.addresses) == 0 || !a.asked.IsZero() && time.Since(a.asked) < max(agentsEvery, a.timeout) {
		return
	}
	a.asked = time.Now()
	for _, address := range a.addresses {
		if !strings.Contains(address, hostPlace) {
			a.read(ctx, address, brokerOn(brokers, address))
			continue
		}
		for i := range brokers {
			b := &brokers[i]
			if b.Host == "" || b.Fenced.Or(false) {
				continue
			}
			a.read(ctx, strings.ReplaceAll(address, hostPlace, b.BracketedHost()), inspect.Known(b.ID))
		}
	}
}

// brokerOn is the one broker on an agent's host; unknown where there are several, or none.
func brokerOn(brokers []inspect.Broker, address string) (id inspect.Opt[inspect.BrokerID]) {
	u, err := url.Parse(address)
	if err != nil {
		return id
	}
	for i := range brokers {
		if !strings.EqualFold(brokers[i].Host, u.Hostname()) {
			continue
		}
		if id.IsKnown() {
			return inspect.Unknown[inspect.BrokerID]()
		}
		id = inspect.Known(brokers[i].ID)
	}
	return id
}

// read reads one agent. Which broker it is in it tells itself; where it does not, it is
// taken to be the one on its host.
func (a *agents) read(ctx context.Context, address string, on inspect.Opt[inspect.BrokerID]) {
	a.reading.Go(func() {
		bounded, cancel := context.WithTimeout(ctx, a.timeout)
		defer cancel()
		m, err := jmx.ReadLoad(bounded, address)
		if err == nil {
			if m.Broker.IsKnown() {
				on = m.Broker
			}
			if !on.IsKnown() {
				err = fmt.Errorf("%s does not say which broker it is in, and no single one is on its host", m.Address)
			}
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if err != nil {
			f := jmxFailure(address, err)
			f.Notice, f.Lost = true, "request handlers, network threads and flushes of its broker are unknown"
			a.failed = append(a.failed, f)
			return
		}
		if a.loads == nil {
			a.loads = map[inspect.BrokerID]inspect.Load{}
		}
		a.loads[on.Or(inspect.NoBroker)] = m.Load
	})
}

// wait waits until all have answered, or their time is over.
func (a *agents) wait() { a.reading.Wait() }

// take puts what was read since the last time into a look, and returns what could not be.
func (a *agents) take(s *inspect.Snapshot) []inspect.Failure {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range s.Brokers {
		if load, ok := a.loads[s.Brokers[i].ID]; ok {
			s.Brokers[i].Load = inspect.Known(load)
		}
	}
	failed := a.failed
	a.loads, a.failed = nil, nil
	return failed
}
