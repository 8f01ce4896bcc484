package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// How a cluster goes without controllers of its own: ZooKeeper keeps the
// metadata and elects one of the brokers.

const zooKeeper = "ZOOKEEPER" // the listener of ZooKeeper

// checkZooKeeper refuses what needs KRaft, or is not built for ZooKeeper.
func (o Options) checkZooKeeper() error {
	switch {
	case !strings.HasPrefix(o.Version, "3."):
		return fmt.Errorf("kafkatest: Options.ZooKeeper with Kafka %s: the last version that can is 3.9", o.Version)
	case o.Controllers > 1:
		return errors.New("kafkatest: Options.ZooKeeper with several Controllers: there is one ZooKeeper")
	case o.Authorizer || len(o.formatArgs()) > 0:
		return errors.New("kafkatest: Options.ZooKeeper with Authorizer, FormatArgs or SCRAM users: these need KRaft")
	}
	return nil
}

func (c *Cluster) zooKeeperConfig(n *node) map[string]string {
	return map[string]string{
		"dataDir":                n.logDirs[0],
		"clientPort":             strconv.Itoa(n.ports[zooKeeper]),
		"clientPortAddress":      "127.0.0.1",
		"maxClientCnxns":         "0",
		"admin.enableServer":     "false", // it would take a port of its own
		"tickTime":               "250",   // sessions end within one
		"maxSessionTimeout":      "60000",
		"4lw.commands.whitelist": "dump",
	}
}

// joinZooKeeper turns a KRaft broker's settings into ones for ZooKeeper.
func (c *Cluster) joinZooKeeper(n *node, p map[string]string) {
	for _, key := range []string{"process.roles", "node.id", "controller.quorum.voters", "controller.listener.names"} {
		delete(p, key)
	}
	p["listener.security.protocol.map"] = strings.TrimPrefix(p["listener.security.protocol.map"], controller+":PLAINTEXT,")
	p["broker.id"] = strconv.Itoa(int(n.id))
	p["zookeeper.connect"] = c.nodes[FirstController].addr(zooKeeper)
	p["zookeeper.session.timeout.ms"] = "9000" // as long as a KRaft broker's
	if same := c.opts.Properties["broker.session.timeout.ms"]; same != "" {
		p["zookeeper.session.timeout.ms"] = same
	}
}

// awaitForgotten waits until ZooKeeper answers and knows of no broker id: one
// that starts while its last life's session goes on ends by itself.
func (c *Cluster) awaitForgotten(ctx context.Context, id int32) error {
	zk := c.nodes[FirstController]
	return poll(ctx, func() error {
		if zk.died() {
			return fmt.Errorf("ZooKeeper %w", errDead)
		}
		sessions, err := zk.dump(ctx)
		if err != nil {
			return err
		}
		if registration := fmt.Sprintf("/brokers/ids/%d\n", id); strings.Contains(sessions, registration) {
			return fmt.Errorf("ZooKeeper has not forgotten the last life of broker %d", id)
		}
		return nil
	})
}

// dump asks ZooKeeper for its sessions and what is registered by them.
func (n *node) dump(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", n.addr(zooKeeper))
	if err != nil {
		return "", fmt.Errorf("ZooKeeper: %w", err)
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	if _, err := io.WriteString(conn, "dump"); err != nil {
		return "", fmt.Errorf("ZooKeeper: %w", err)
	}
	text, err := io.ReadAll(conn)
	if err != nil || len(text) == 0 {
		return "", fmt.Errorf("ZooKeeper: no answer to dump: %w", errors.Join(err, ctx.Err()))
	}
	return string(text) + "\n", nil
}

// learnID learns the id that the cluster has given itself.
func (c *Cluster) learnID() error {
	text, err := os.ReadFile(filepath.Join(c.nodes[1].logDirs[0], metaProperties))
	if err != nil {
		return fmt.Errorf("broker 1 has not formatted its directory: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if id, ok := strings.CutPrefix(line, "cluster.id="); ok {
			c.mu.Lock()
			c.id = strings.TrimSpace(id)
			c.mu.Unlock()
			return nil
		}
	}
	return errors.New("broker 1 has not written the cluster's id")
}

// awaitElected waits until all brokers that run know the same controller, and it
// runs.
func (c *Cluster) awaitElected(ctx context.Context) error {
	return poll(ctx, func() error {
		first := int32(-1)
		for _, id := range c.runningBrokers() {
			elected, err := c.controllerOf(ctx, id)
			switch {
			case err != nil:
				return err
			case elected < 0 || !c.Alive(elected):
				return fmt.Errorf("broker %d says that broker %d is the controller", id, elected)
			case first >= 0 && elected != first:
				return fmt.Errorf("the controller is %d to one broker, %d to another", first, elected)
			}
			first = elected
		}
		return nil
	})
}

// Controller returns the broker that is the controller of a cluster with
// ZooKeeper, as the first broker that runs knows it.
func (c *Cluster) Controller(ctx context.Context) (int32, error) {
	if !c.opts.ZooKeeper {
		return 0, errors.New("kafkatest: Controller is for Options.ZooKeeper: in KRaft mode brokers tell a random one of them")
	}
	for _, id := range c.runningBrokers() {
		return c.controllerOf(ctx, id)
	}
	return 0, errors.New("kafkatest: no broker runs")
}

func (c *Cluster) controllerOf(ctx context.Context, id int32) (int32, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none
	resp, err := ask[*kmsg.MetadataResponse](ctx, c, id, req)
	if err != nil {
		return 0, err
	}
	return resp.ControllerID, nil
}

// AskController sends one request that changes the cluster to who can change it:
// to any broker, which passes it on, or to the controller of a cluster with
// ZooKeeper, where brokers do not.
func (c *Cluster) AskController(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	return askController[kmsg.Response](ctx, c, req)
}

func askController[R kmsg.Response](ctx context.Context, c *Cluster, req kmsg.Request) (resp R, err error) {
	if !c.opts.ZooKeeper {
		return askAny[R](ctx, c, req)
	}
	var id int32
	err = poll(ctx, func() (err error) {
		if id, err = c.Controller(ctx); err == nil && (id < 0 || !c.Alive(id)) {
			err = fmt.Errorf("broker %d is said to be the controller", id)
		}
		return err
	})
	if err != nil {
		return resp, err
	}
	return ask[R](ctx, c, id, req)
}
