package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// Listener is where a request comes in: what a broker serves and what a controller
// serves are two lists, as in Kafka (ApiMessageType.ListenerType).
type Listener uint8

// The listeners.
const (
	Broker Listener = 1 << iota
	Controller
)

// API is one kind of request and the versions of it that are served, both included.
type API struct {
	Key             int16
	Lowest, Highest int16
}

// served is every API, by its key, with Kafka 4.4's versions as far as they work.
// What is missing here is missing in the engine.
var served = []struct {
	API
	on Listener
}{
	{API{int16(kmsg.Produce), 3, 13}, Broker},
	{API{int16(kmsg.Fetch), 4, 18}, Broker | Controller},
	{API{int16(kmsg.ListOffsets), 1, 11}, Broker},
	{API{int16(kmsg.Metadata), 0, 13}, Broker},
	{API{int16(kmsg.OffsetCommit), 2, 10}, Broker},
	{API{int16(kmsg.OffsetFetch), 1, 10}, Broker},
	{API{int16(kmsg.FindCoordinator), 0, 6}, Broker},
	{API{int16(kmsg.JoinGroup), 0, 9}, Broker},
	{API{int16(kmsg.Heartbeat), 0, 4}, Broker},
	{API{int16(kmsg.LeaveGroup), 0, 5}, Broker},
	{API{int16(kmsg.SyncGroup), 0, 5}, Broker},
	{API{int16(kmsg.DescribeGroups), 0, 6}, Broker},
	{API{int16(kmsg.ListGroups), 0, 5}, Broker},
	{API{int16(kmsg.ApiVersions), 0, 5}, Broker | Controller},
	{API{int16(kmsg.CreateTopics), 2, 7}, Broker | Controller},
	{API{int16(kmsg.DeleteTopics), 1, 6}, Broker | Controller},
	{API{int16(kmsg.DeleteRecords), 0, 2}, Broker},
	{API{int16(kmsg.InitProducerID), 0, 5}, Broker},
	{API{int16(kmsg.OffsetForLeaderEpoch), 2, 4}, Broker},
	{API{int16(kmsg.DescribeACLs), 1, 3}, Broker},
	{API{int16(kmsg.CreateACLs), 1, 3}, Broker},
	{API{int16(kmsg.DeleteACLs), 1, 3}, Broker},
	{API{int16(kmsg.DescribeConfigs), 1, 4}, Broker | Controller},
	{API{int16(kmsg.AlterConfigs), 0, 2}, Broker | Controller},
	{API{int16(kmsg.DescribeLogDirs), 1, 5}, Broker},
	{API{int16(kmsg.CreatePartitions), 0, 3}, Broker | Controller},
	{API{int16(kmsg.DeleteGroups), 0, 3}, Broker},
	{API{int16(kmsg.ElectLeaders), 0, 2}, Broker | Controller},
	{API{int16(kmsg.IncrementalAlterConfigs), 0, 1}, Broker | Controller},
	{API{int16(kmsg.AlterPartitionAssignments), 0, 1}, Broker | Controller},
	{API{int16(kmsg.ListPartitionReassignments), 0, 0}, Broker | Controller},
	{API{int16(kmsg.OffsetDelete), 0, 0}, Broker},
	{API{int16(kmsg.DescribeQuorum), 0, 2}, Broker | Controller},
	{API{int16(kmsg.AlterPartition), 2, 3}, Controller},
	{API{int16(kmsg.UpdateFeatures), 0, 2}, Broker | Controller},
	{API{int16(kmsg.FetchSnapshot), 0, 1}, Controller},
	{API{int16(kmsg.DescribeCluster), 0, 2}, Broker | Controller},
	{API{int16(kmsg.DescribeProducers), 0, 0}, Broker},
	{API{int16(kmsg.BrokerRegistration), 0, 4}, Controller},
	{API{int16(kmsg.BrokerHeartbeat), 0, 2}, Controller},
	{API{int16(kmsg.UnregisterBroker), 0, 0}, Broker | Controller},
	{API{int16(kmsg.DescribeTransactions), 0, 0}, Broker},
	{API{int16(kmsg.ListTransactions), 0, 2}, Broker},
	{API{int16(kmsg.AllocateProducerIDs), 0, 0}, Controller},
	{API{int16(kmsg.AssignReplicasToDirs), 0, 0}, Controller},
	{API{int16(kmsg.ListConfigResources), 0, 1}, Broker},
	{API{int16(kmsg.DescribeTopicPartitions), 0, 0}, Broker},
}

// APIs are the requests that a node serves. The zero value is all that there are.
type APIs struct {
	release *kversion.Versions // nil: no limit
}

// Release is all that a release of Kafka had too, in no version newer than its own:
// "3.9" or "3.9.1". For clients that would use what is new; the oldest versions stay
// those of Kafka 4.4. Its error says which names there are.
func Release(name string) (APIs, error) {
	v := kversion.FromString(name)
	if v == nil {
		names := kversion.VersionStrings()
		newest := strings.TrimPrefix(names[0], "v")
		return APIs{}, fmt.Errorf("no release of Kafka is %s: use one of 2.1 to %s, like 3.9", name, newest)
	}
	return APIs{release: v}, nil
}

// List is what one listener serves, by key.
func (a APIs) List(on Listener) []API {
	all := make([]API, 0, len(served))
	for i := range served {
		if api, ok := a.limited(served[i].API); ok && served[i].on&on != 0 {
			all = append(all, api)
		}
	}
	return all
}

// Serves reports whether a request of that key and version is one to answer.
func (a APIs) Serves(on Listener, key, version int16) bool {
	i := slices.IndexFunc(served, func(s struct {
		API
		on Listener
	},
	) bool {
		return s.Key == key && s.on&on != 0
	})
	if i < 0 {
		return false
	}
	api, ok := a.limited(served[i].API)
	return ok && api.Lowest <= version && version <= api.Highest
}

// limited is api within the release; ok is false for one that it does not have.
func (a APIs) limited(api API) (_ API, ok bool) {
	if a.release == nil {
		return api, true
	}
	highest, ok := a.release.LookupMaxKeyVersion(api.Key)
	api.Highest = min(api.Highest, highest)
	return api, ok && api.Lowest <= api.Highest
}
