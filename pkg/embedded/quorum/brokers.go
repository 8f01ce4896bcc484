package quorum

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
)

// maxString is what a string of a record may have, in bytes (Short.MAX_VALUE). A
// client can send more.
const maxString = 1<<15 - 1

func (c *call) registerBroker(req *kmsg.BrokerRegistrationRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.BrokerRegistrationResponse)
	resp.BrokerEpoch = -1
	r := controller.RegisterBroker{
		ClusterID: req.ClusterID, BrokerID: req.BrokerID, IncarnationID: req.IncarnationID, Rack: req.Rack,
		LogDirs: uuids(req.LogDirs), PreviousBrokerEpoch: req.PreviousBrokerEpoch,
	}
	if req.Version < 3 {
		r.PreviousBrokerEpoch = -1
	}
	fits := req.Rack == nil || len(*req.Rack) <= maxString
	for _, l := range req.Listeners {
		r.EndPoints = append(r.EndPoints, kraft.Endpoint{Name: l.Name, Host: l.Host, Port: l.Port, SecurityProtocol: l.SecurityProtocol})
		fits = fits && len(l.Name) <= maxString && len(l.Host) <= maxString
	}
	for _, f := range req.Features {
		r.Features = append(r.Features, kraft.FeatureRange{Name: f.Name, MinSupportedVersion: f.MinSupportedVersion, MaxSupportedVersion: f.MaxSupportedVersion})
		fits = fits && len(f.Name) <= maxString
	}
	if !fits || req.IsMigratingZkBroker {
		resp.ErrorCode = int16(controller.InvalidRegistration)
		return resp
	}
	reply := handle(c, r)
	if resp.ErrorCode = codeOf(reply.Err); reply.Err == nil {
		resp.BrokerEpoch = reply.BrokerEpoch
	}
	return resp
}

func uuids(ids [][16]byte) (all []kraft.UUID) {
	for _, id := range ids {
		all = append(all, id)
	}
	return all
}

func (c *call) heartbeat(req *kmsg.BrokerHeartbeatRequest) kmsg.Response {
	h := controller.Heartbeat{
		BrokerID: req.BrokerID, BrokerEpoch: req.BrokerEpoch, CurrentMetadataOffset: req.CurrentMetadataOffset,
		WantFence: req.WantFence, WantShutDown: req.WantShutdown,
	}
	h.OfflineLogDirs = uuids(req.OfflineLogDirs)
	if req.CordonedLogDirs != nil {
		h.CordonedLogDirs = append([]kraft.UUID{}, uuids(req.CordonedLogDirs)...)
	}
	reply := handle(c, h)
	resp := req.ResponseKind().(*kmsg.BrokerHeartbeatResponse)
	resp.ErrorCode, resp.IsFenced = codeOf(reply.Err), true
	if reply.Err == nil {
		resp.IsCaughtUp, resp.IsFenced, resp.ShouldShutdown = reply.IsCaughtUp, reply.IsFenced, reply.ShouldShutDown
	}
	return resp
}

func (c *call) allocateProducerIDs(req *kmsg.AllocateProducerIDsRequest) kmsg.Response {
	reply := handle(c, controller.AllocateProducerIDs{BrokerID: req.BrokerID, BrokerEpoch: req.BrokerEpoch})
	resp := req.ResponseKind().(*kmsg.AllocateProducerIDsResponse)
	resp.ErrorCode, resp.ProducerIDStart, resp.ProducerIDLen = codeOf(reply.Err), reply.First, reply.Len
	return resp
}

func (c *call) alterPartition(req *kmsg.AlterPartitionRequest) kmsg.Response {
	r := controller.AlterPartition{BrokerID: req.BrokerID, BrokerEpoch: req.BrokerEpoch}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			change := controller.ISRChange{
				TopicID: t.TopicID, Partition: p.Partition, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch,
				LeaderRecoveryState: kraft.RecoveryState(p.LeaderRecoveryState),
			}
			for _, m := range p.NewEpochISR {
				change.ISR = append(change.ISR, controller.ISRMember{BrokerID: m.BrokerID, BrokerEpoch: m.BrokerEpoch})
			}
			if req.Version < 3 {
				for _, member := range p.NewISR {
					change.ISR = append(change.ISR, controller.ISRMember{BrokerID: member, BrokerEpoch: -1})
				}
			}
			r.Partitions = append(r.Partitions, change)
		}
	}
	reply := handle(c, r)
	resp := req.ResponseKind().(*kmsg.AlterPartitionResponse)
	resp.ErrorCode = codeOf(reply.Err)
	resp.Topics = []kmsg.AlterPartitionResponseTopic{}
	if reply.Err != nil {
		return resp
	}
	results := reply.Partitions
	for _, t := range req.Topics {
		topic := kmsg.NewAlterPartitionResponseTopic()
		topic.TopidID = t.TopicID
		topic.Partitions = make([]kmsg.AlterPartitionResponseTopicPartition, 0, len(t.Partitions))
		for range t.Partitions {
			topic.Partitions = append(topic.Partitions, isrAnswer(results[0]))
			results = results[1:]
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

func isrAnswer(result controller.ISRResult) kmsg.AlterPartitionResponseTopicPartition {
	p := kmsg.NewAlterPartitionResponseTopicPartition()
	p.Partition, p.ErrorCode, p.ISR = result.Partition, codeOf(result.Err), []int32{}
	if s := result.State; s != nil {
		p.LeaderID, p.LeaderEpoch, p.PartitionEpoch = s.Leader, s.LeaderEpoch, s.PartitionEpoch
		p.LeaderRecoveryState = int8(s.LeaderRecoveryState)
		p.ISR = append(p.ISR, s.ISR...)
	}
	return p
}

func (c *call) unregisterBroker(req *kmsg.UnregisterBrokerRequest) kmsg.Response {
	reply := handle(c, controller.UnregisterBroker{BrokerID: req.BrokerID})
	resp := req.ResponseKind().(*kmsg.UnregisterBrokerResponse)
	resp.ErrorCode, resp.ErrorMessage = codeOf(reply.Err), messageOf(reply.Err)
	return resp
}

func (c *call) assignReplicasToDirs(req *kmsg.AssignReplicasToDirsRequest) kmsg.Response {
	r := controller.AssignReplicasToDirs{BrokerID: req.BrokerID, BrokerEpoch: req.BrokerEpoch}
	for _, d := range req.Directories {
		for _, t := range d.Topics {
			for _, p := range t.Partitions {
				r.Assignments = append(r.Assignments, controller.DirAssignment{TopicID: t.TopicID, Partition: p.Partition, Directory: d.ID})
			}
		}
	}
	reply := handle(c, r)
	resp := req.ResponseKind().(*kmsg.AssignReplicasToDirsResponse)
	resp.Directories = []kmsg.AssignReplicasToDirsResponseDirectory{}
	if resp.ErrorCode = codeOf(reply.Err); reply.Err != nil {
		return resp
	}
	results := reply.Results
	for _, d := range req.Directories {
		dir := kmsg.NewAssignReplicasToDirsResponseDirectory()
		dir.ID, dir.Topics = d.ID, make([]kmsg.AssignReplicasToDirsResponseDirectoryTopic, 0, len(d.Topics))
		for _, t := range d.Topics {
			topic := kmsg.NewAssignReplicasToDirsResponseDirectoryTopic()
			topic.TopicID = t.TopicID
			topic.Partitions = make([]kmsg.AssignReplicasToDirsResponseDirectoryTopicPartition, 0, len(t.Partitions))
			for _, p := range t.Partitions {
				one := kmsg.NewAssignReplicasToDirsResponseDirectoryTopicPartition()
				one.Partition, one.ErrorCode = p.Partition, codeOf(results[0])
				topic.Partitions, results = append(topic.Partitions, one), results[1:]
			}
			dir.Topics = append(dir.Topics, topic)
		}
		resp.Directories = append(resp.Directories, dir)
	}
	return resp
}
