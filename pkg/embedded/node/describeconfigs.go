package node

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/configs"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

func (n *Node) describeConfigs(token machine.Token, req *kmsg.DescribeConfigsRequest) {
	n.reply(token, configs.Node{ID: n.opts.ID, Static: n.opts.staticConfigs(n.logDir())}.Describe(n.follow.image, req))
}

// otherDefaults are configs whose default is not Kafka's: a broker that shows its configs
// has them from its file, so to speak.
var otherDefaults = []string{"group.initial.rebalance.delay.ms", "offsets.topic.num.partitions"}

// staticConfigs are what would stand in a broker's file that does what this one does.
func (o Options) staticConfigs(logDir string) map[string]string {
	all := map[string]string{
		"node.id": strconv.Itoa(int(o.ID)), "broker.id": strconv.Itoa(int(o.ID)), "process.roles": "broker", "log.dirs": logDir,
		"controller.listener.names": "CONTROLLER",
	}
	for _, name := range otherDefaults {
		all[name] = restartConfigs[name]
	}
	var listeners []string
	protocols := []string{"CONTROLLER:PLAINTEXT"}
	for _, e := range o.EndPoints {
		listeners = append(listeners, fmt.Sprintf("%s://%s:%d", e.Name, e.Host, e.Port))
		protocols = append(protocols, e.Name+":PLAINTEXT")
	}
	all["listeners"] = strings.Join(listeners, ",")
	all["advertised.listeners"] = all["listeners"]
	all["listener.security.protocol.map"] = strings.Join(protocols, ",")
	if o.Rack != "" {
		all["broker.rack"] = o.Rack
	}
	maps.Copy(all, o.Static)
	return all
}
