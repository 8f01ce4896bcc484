package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/node"
	"github.com/kafkaops/kafkaops/pkg/embedded/quorum"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// Options say which cluster to start. The zero value is three brokers in memory on free
// ports of 127.0.0.1.
type Options struct {
	// Brokers is how many there are, with the ids 1 to Brokers. 0 is three, or as many
	// as Dir has data of.
	Brokers int
	// Racks are the brokers' racks, broker 1's first. One that is missing or "" has none.
	Racks []string
	// Host is where all nodes listen and what they tell clients: a name or an address of
	// this machine, but not that of all its interfaces. "" is 127.0.0.1.
	Host string
	// Ports are those of the brokers, broker 1's first, then the controller's. For one
	// that is missing or 0 a free one is taken.
	Ports []int
	// Dir is where the data lies, in directories that a Kafka could have written. It is
	// made if it is not there; a cluster whose data is there goes on, with as many
	// brokers or more. One with anything else in it is refused, with a *[DirError]. "" is
	// memory: no file anywhere.
	Dir string
	// Config are Kafka's broker configs by their names in server.properties, for every
	// broker and the controller. What is not there has Kafka's default, but for
	// offsets.topic.num.partitions (8) and group.initial.rebalance.delay.ms (0). Those
	// that other fields set are refused, see [SetBy]; [Options.Unheeded] are those that
	// change nothing.
	Config map[string]string
	// BrokerConfig are configs of one node, by its id; they win over Config.
	BrokerConfig map[int]map[string]string
	// MaxVersions is a release of Kafka, like "3.9": no API is offered in a newer
	// version than that one has; from 2.1 on, whose versions are the oldest that Kafka 4
	// has (KIP-896). "" is 4.4.
	MaxVersions string
	// Log is told what the nodes note; nil: nobody.
	Log *slog.Logger
	// Seed is where ids come from; 0 for another one each time.
	Seed uint64
}

// defaultBrokers is Options.Brokers where nobody says.
const defaultBrokers = 3

func (o *Options) check(ctx context.Context) error {
	switch {
	case o.Brokers < 0:
		return fmt.Errorf("%d brokers; want 1 or more, or 0 for %d", o.Brokers, defaultBrokers)
	case o.Brokers >= ControllerID:
		return fmt.Errorf("%d brokers; want less than %d, which is the controller's id", o.Brokers, ControllerID)
	}
	for _, port := range o.Ports {
		if port < 0 || port > 65535 {
			return fmt.Errorf("port %d; want 1 to 65535, or 0 for a free one", port)
		}
	}
	for _, config := range append(slices.Collect(maps.Values(o.BrokerConfig)), o.Config) {
		for _, name := range slices.Sorted(maps.Keys(config)) {
			if by, ok := SetBy(name); ok {
				return fmt.Errorf("config %s: it is set by %s", name, by)
			}
		}
	}
	return checkHost(ctx, o.host())
}

// checkHost finds out whether nodes can listen there, and clients be told of it.
func checkHost(ctx context.Context, host string) error {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return fmt.Errorf("host %s stands for all addresses of this machine, and clients need one of them: use that, or the machine's name", host)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", address(host, 0))
	if err == nil {
		return ln.Close()
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		return fmt.Errorf("host %s cannot be resolved: %s", host, name.Err)
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return fmt.Errorf("host %s: nobody can listen there: %w; is it an address of this machine?", host, err)
}

// checkIDs looks at what is said of single brokers, of which there are so many.
func (o *Options) checkIDs(brokers int) error {
	for id := range o.BrokerConfig {
		if id != ControllerID && (id < 1 || id > brokers) {
			return fmt.Errorf("BrokerConfig of node %d, which there is not: brokers are 1 to %d, the controller is %d", id, brokers, ControllerID)
		}
	}
	return nil
}

// checkConfigs asks every node whether it would take what is set for it: one that refuses
// only when it starts leaves others that have begun, and their files.
func (o *Options) checkConfigs(brokers int) error {
	q := quorum.Options{Controller: controller.DefaultOptions(ControllerID, "", nil)}
	if err := configure(&q, o.config(ControllerID)); err != nil {
		return &OptionError{"Config", ControllerID, err}
	}
	for id := 1; id <= brokers; id++ {
		if err := node.CheckConfig(forBroker(o.config(id))); err != nil {
			return &OptionError{"Config", id, err}
		}
	}
	return nil
}

// OptionError says which field of [Options] cannot be as it is.
type OptionError struct {
	// Field is MaxVersions or Config, the latter for BrokerConfig too.
	Field string
	// Node is the id of the first node that would refuse it; 0 where it is of none.
	Node int
	// Err is what is wrong, and what can be instead.
	Err error
}

func (e *OptionError) Error() string {
	switch e.Node {
	case 0:
		return e.Field + ": " + e.Err.Error()
	case ControllerID:
		return "controller: " + e.Err.Error()
	}
	return fmt.Sprintf("broker %d: %v", e.Node, e.Err)
}

// Unwrap returns Err.
func (e *OptionError) Unwrap() error { return e.Err }

// CheckNames looks at MaxVersions, Config and BrokerConfig as [Start] does, and opens
// nothing. Its error is an *[OptionError].
func (o *Options) CheckNames() error {
	if _, err := o.apis(); err != nil {
		return err
	}
	return o.checkConfigs(max(o.Brokers, 1))
}

func (o *Options) apis() (wire.APIs, error) {
	if o.MaxVersions == "" {
		return wire.APIs{}, nil
	}
	apis, err := wire.Release(o.MaxVersions)
	var major, minor int
	if _, e := fmt.Sscanf(strings.TrimPrefix(o.MaxVersions, "v"), "%d.%d", &major, &minor); err == nil && (e != nil || major < 2 || major == 2 && minor < 1) {
		err = fmt.Errorf("release %s of Kafka is too old: Kafka 4 has no versions from before 2.1, use that or a later one", o.MaxVersions)
	}
	if err != nil {
		return apis, &OptionError{Field: "MaxVersions", Err: err}
	}
	return apis, nil
}

func (o *Options) log() *slog.Logger {
	if o.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Log
}

func (o *Options) host() string {
	if o.Host == "" {
		return "127.0.0.1"
	}
	return o.Host
}

func (o *Options) rack(id int) string {
	if id <= len(o.Racks) {
		return o.Racks[id-1]
	}
	return ""
}

func address(host string, port int) string { return net.JoinHostPort(host, strconv.Itoa(port)) }
