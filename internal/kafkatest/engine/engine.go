package engine

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"slices"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/embedded"
)

// Env names the environment variable that FromEnv goes by.
const Env = "KAFKAOPS_TEST_ENGINE"

// FromEnv returns the engine if the environment has Env=embedded, nil (Kafka
// itself) otherwise.
func FromEnv() kafkatest.Engine {
	if os.Getenv(Env) == "embedded" {
		return New()
	}
	return nil
}

// New returns the embedded engine, in memory: what a test reads of Kafka's files, it reads
// of a cluster of its own.
func New() kafkatest.Engine { return engine{} }

// InDir returns the embedded engine with its data below dir: then brokers have disks whose
// sizes they tell.
func InDir(dir string) kafkatest.Engine { return engine{dir} }

type engine struct{ dir string }

// Lacks is kafkatest.Engine's.
func (engine) Lacks(o kafkatest.Options) string {
	switch {
	case o.Controllers > 1:
		return "second controller"
	case o.ZooKeeper:
		return "ZooKeeper"
	case len(o.Listeners) > 0:
		return "second listener"
	case o.Authorizer:
		return "authorizer"
	case o.ControllerProtocol != "" && o.ControllerProtocol != "PLAINTEXT":
		return "secured controller"
	case o.LogDirs > 1:
		return "second log directory"
	case len(o.FormatArgs) > 0:
		return "choice of features"
	case o.JVM != nil:
		return "Java machine"
	}
	return ""
}

// ours are the server properties that the engine sets by itself.
var ours = []string{
	"advertised.listeners", "broker.rack", "controller.listener.names", "controller.quorum.voters",
	"listener.security.protocol.map", "listeners", "log.dirs", "node.id", "process.roles",
}

// Launch is kafkatest.Engine's.
func (e engine) Launch(ctx context.Context, opts kafkatest.Options, nodes []kafkatest.NodeSpec) (kafkatest.Launched, error) {
	o := embedded.Options{Dir: e.dir, BrokerConfig: map[int]map[string]string{}}
	if opts.Version != kafkatest.DefaultVersion {
		o.MaxVersions = opts.Version
	}
	log, err := os.OpenFile(nodes[0].Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return kafkatest.Launched{}, err
	}
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	for _, n := range nodes { // brokers come first
		o.Ports = append(o.Ports, n.Port)
		config := maps.Clone(n.Properties)
		maps.DeleteFunc(config, func(name, _ string) bool { return slices.Contains(ours, name) })
		if n.Controller {
			o.Config = opts.Properties
			continue
		}
		o.Brokers++
		o.Racks = append(o.Racks, n.Properties["broker.rack"])
		o.BrokerConfig[int(n.ID)] = config
	}
	c, err := embedded.Start(ctx, o)
	if err != nil {
		_ = log.Close()
		return kafkatest.Launched{}, err
	}
	l := kafkatest.Launched{ClusterID: c.ID(), Processes: map[int32]kafkatest.Process{}, Close: func() error {
		defer log.Close()
		return c.Close()
	}}
	for _, b := range c.Brokers() {
		l.Processes[int32(b.ID())] = &process{broker: b}
	}
	l.Processes[kafkatest.FirstController] = &process{broker: c.Controller()}
	return l, nil
}
