package kafkatest

import (
	"context"
	"testing"
)

// An Engine runs a cluster's nodes in place of Apache Kafka, so that what is
// tested on Kafka is tested on it by the same code. See Options.Engine.
type Engine interface {
	// Lacks names what of the options it does not have, "" for nothing.
	Lacks(opts Options) string
	// Launch starts the nodes, and returns when they are of use.
	Launch(ctx context.Context, opts Options, nodes []NodeSpec) (Launched, error)
}

// NodeSpec is one node of a cluster that an Engine runs.
type NodeSpec struct {
	ID         int32
	Controller bool
	// Port is its only listener's, on 127.0.0.1.
	Port int
	// Properties are its server properties, as Kafka would get them.
	Properties map[string]string
	// LogDir is its log directory, which is not made yet, Log the file that is to
	// hold what it has to say.
	LogDir, Log string
}

// Launched is a cluster that an Engine runs.
type Launched struct {
	ClusterID string
	Processes map[int32]Process // by node id
	// Close ends all of it.
	Close func() error
}

// launchOn starts the cluster's nodes on its engine.
func (c *Cluster) launchOn(ctx context.Context, _ install) error {
	var specs []NodeSpec
	for _, n := range c.inOrder() {
		s := NodeSpec{ID: n.id, Controller: n.role == isController, Properties: c.config(n), LogDir: n.logDirs[0], Log: n.log}
		s.Port = n.ports[plaintext]
		if s.Controller {
			s.Port = n.ports[controller]
		}
		specs = append(specs, s)
	}
	l, err := c.opts.Engine.Launch(ctx, c.opts, specs)
	if err != nil {
		return err
	}
	c.id, c.closeEngine = l.ClusterID, l.Close
	for id, p := range l.Processes {
		c.node(id).process = p
	}
	return c.awaitRegistered(ctx)
}

// needFor is need, and skips tb where the options are of what their engine lacks.
func needFor(tb testing.TB, opts Options) install {
	tb.Helper()
	if opts.Engine != nil {
		if lacks := opts.Engine.Lacks(opts); lacks != "" {
			tb.Skipf("kafkatest: the engine has no %s", lacks)
		}
	}
	return need(tb, opts.Version)
}
