package quorum

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/configs"
)

// describeConfigs tells what is durable (ControllerApis.handleDescribeConfigsRequest).
func (n *Node) describeConfigs(req *kmsg.DescribeConfigsRequest) kmsg.Response {
	return configs.Node{ID: n.opts.Controller.NodeID, Static: n.opts.staticConfigs()}.Describe(n.image, req)
}

// staticConfigs are what would stand in a controller's file that does what this one
// does.
func (o Options) staticConfigs() map[string]string {
	id := strconv.Itoa(int(o.Controller.NodeID))
	all := map[string]string{
		"node.id": id, "broker.id": id, "process.roles": "controller", "controller.listener.names": "CONTROLLER",
		"num.partitions": fmt.Sprint(o.Controller.NumPartitions), "default.replication.factor": fmt.Sprint(o.Controller.ReplicationFactor),
		"broker.session.timeout.ms": fmt.Sprint(o.Controller.SessionTimeoutMs),
	}
	for name, value := range all {
		if k, _ := configs.BrokerKey(name); k.HasDefault && k.Default == value && name != "broker.id" {
			delete(all, name)
		}
	}
	var listeners []string
	for _, e := range o.EndPoints {
		listeners = append(listeners, fmt.Sprintf("%s://%s:%d", e.Name, e.Host, e.Port))
	}
	all["listeners"] = strings.Join(listeners, ",")
	maps.Copy(all, o.Controller.Static)
	return all
}
