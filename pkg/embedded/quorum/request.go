package quorum

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// request answers a request, now or once it can be.
func (n *Node) request(now machine.Time, in machine.Request, out []machine.Effect) []machine.Effect {
	_, versions := in.Body.(*kmsg.ApiVersionsRequest)
	if !versions && !(wire.APIs{}).Serves(wire.Controller, in.Body.Key(), in.Body.GetVersion()) {
		// Who asks has not looked at ApiVersions; Kafka hangs up as well.
		return append(out, machine.Reply{Token: in.Token, Close: true})
	}
	if out, done := n.followerRequest(now, in, out); done {
		return out
	}
	if n.closing {
		return append(out, machine.Reply{Token: in.Token, Close: true})
	}
	c := call{n: n, now: now}
	resp := c.decide(in.Body)
	switch {
	case c.err != nil:
		return n.stop(c.err, out)
	case resp == nil:
		// Not a controller's: who asks does not know what this is.
		return append(out, machine.Reply{Token: in.Token, Close: true})
	}
	return n.answer(in.Token, resp, out)
}

// followerRequest answers what needs no decision: about the log, and what is durable.
func (n *Node) followerRequest(now machine.Time, in machine.Request, out []machine.Effect) (_ []machine.Effect, done bool) {
	switch req := in.Body.(type) {
	case *kmsg.FetchRequest:
		return n.fetch(now, in, req, out), true
	case *kmsg.FetchSnapshotRequest:
		return n.fetchSnapshot(in.Token, req, out), true
	case *kmsg.DescribeQuorumRequest:
		return append(out, machine.Reply{Token: in.Token, Response: n.describe(now, req)}), true
	case *kmsg.ApiVersionsRequest:
		return append(out, machine.Reply{Token: in.Token, Response: n.apiVersions(req)}), true
	case *kmsg.DescribeClusterRequest:
		return append(out, machine.Reply{Token: in.Token, Response: n.describeCluster(req)}), true
	case *kmsg.DescribeConfigsRequest:
		return append(out, machine.Reply{Token: in.Token, Response: n.describeConfigs(req)}), true
	}
	return out, false
}

// call is one request that the rules decide about.
type call struct {
	n   *Node
	now machine.Time
	err error // that the log could not take what was decided
}

// handle asks the rules, and writes what they decide.
func handle[R any](c *call, req controller.Request[R]) R {
	reply, b := controller.Handle(c.n.c, c.now.Mono, req)
	if err := c.n.write(c.now, b); err != nil {
		c.err = err
	}
	return reply
}

// decide returns the answer, nil for a request that no controller answers.
func (c *call) decide(body kmsg.Request) kmsg.Response {
	switch req := body.(type) {
	case *kmsg.BrokerRegistrationRequest:
		return c.registerBroker(req)
	case *kmsg.BrokerHeartbeatRequest:
		return c.heartbeat(req)
	case *kmsg.AlterPartitionRequest:
		return c.alterPartition(req)
	case *kmsg.AllocateProducerIDsRequest:
		return c.allocateProducerIDs(req)
	case *kmsg.UnregisterBrokerRequest:
		return c.unregisterBroker(req)
	case *kmsg.AssignReplicasToDirsRequest:
		return c.assignReplicasToDirs(req)
	}
	return c.decideForClient(body)
}

// decideForClient is decide for what brokers send on.
func (c *call) decideForClient(body kmsg.Request) kmsg.Response {
	switch req := body.(type) {
	case *kmsg.CreateTopicsRequest:
		return c.createTopics(req)
	case *kmsg.DeleteTopicsRequest:
		return c.deleteTopics(req)
	case *kmsg.CreatePartitionsRequest:
		return c.createPartitions(req)
	case *kmsg.IncrementalAlterConfigsRequest:
		return c.incrementalAlterConfigs(req)
	case *kmsg.AlterConfigsRequest:
		return c.alterConfigs(req)
	case *kmsg.ElectLeadersRequest:
		return c.electLeaders(req)
	case *kmsg.AlterPartitionAssignmentsRequest:
		return c.alterAssignments(req)
	case *kmsg.ListPartitionReassignmentsRequest:
		return c.listReassignments(req)
	case *kmsg.UpdateFeaturesRequest:
		return c.updateFeatures(req)
	}
	return nil
}
