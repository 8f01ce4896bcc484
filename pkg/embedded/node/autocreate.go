package node

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// autoCreation is a request to make topics that clients asked about, and its end.
type autoCreation struct{ topics []string }

// autoCreate has the controller make topics (DefaultAutoTopicCreationManager). Who asked
// is told that there are none yet, and asks again. Kafka's own topics are made by those
// who need them.
func (n *Node) autoCreate(names []string) {
	if !n.cfg.autoCreate {
		return
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return metadata.InternalTopic(name) || strings.HasPrefix(name, "__cluster_metadata") || slices.Contains(n.creating, name)
	})
	if len(names) == 0 {
		return
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, int32(machine.RequestTimeoutMs)
	for _, name := range names {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, n.cfg.numPartitions, n.cfg.replicationFactor
		req.Topics = append(req.Topics, t)
	}
	n.creating = append(n.creating, names...)
	n.send(machine.Controller, req, autoCreation{names})
}

// ended is ender's. Why a topic could not be made nobody is told but the log, as in
// Kafka.
func (a autoCreation) ended(n *Node, body kmsg.Response) {
	n.creating = slices.DeleteFunc(n.creating, func(name string) bool { return slices.Contains(a.topics, name) })
	resp, ok := body.(*kmsg.CreateTopicsResponse)
	if !ok {
		return
	}
	for _, t := range resp.Topics {
		if t.ErrorCode != 0 && t.ErrorMessage != nil {
			n.notef("topic %s, which a client asked about, is not made: error %d: %s", t.Topic, t.ErrorCode, *t.ErrorMessage)
		}
	}
}
