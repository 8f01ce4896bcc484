package fakekafka

import (
	"reflect"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestNoNullArrays walks the answers to all that is served, in all versions: a nil
// list is encoded as null where the protocol allows it, and Kafka never sends
// null there. Kafka's own tools fall over it.
func TestNoNullArrays(t *testing.T) {
	t.Parallel()
	for key, r := range APIs() {
		for version := r.Min; version <= r.Max; version++ {
			for _, deny := range [][]Key{nil, {key}} {
				m := NewModel(2)
				m.Topics = []*Topic{
					{Name: "bare", Partitions: []*Partition{{Leader: 1, Replicas: []int32{1, 2}}, {Leader: NoLeader}, {Removing: []int32{3}}}},
					{Name: "empty"},
				}
				m.Topics[0].Partitions[0].Producers = []Producer{{ID: 1}}
				m.Transactions = []Transaction{{ID: "id", Coordinator: 1, State: "Ongoing", Partitions: map[string][]int32{"bare": nil}}}
				classic := m.AddGroup("classic", ClassicGroup)
				classic.Join("m", "bare", 0)
				classic.Commit("bare", 0, 5)
				m.AddGroup("consumer", ConsumerGroup).Join("m", "bare")
				m.Deny = deny
				ix := newIndex(m)
				v := &view{model: m, index: ix, self: m.Brokers[0]}
				for _, req := range emptyAndNamed(key) {
					req.SetVersion(version)
					wantNoNil(t, reflect.ValueOf(v.answer(req)), key.Name())
				}
			}
		}
	}
	v := &view{model: NewModel(1), index: newIndex(NewModel(1)), self: &Broker{}}
	wantNoNil(t, reflect.ValueOf(v.apiVersionsUnsupported()), "ApiVersions negotiated")
}

// emptyAndNamed are requests of a kind for nothing in particular, and for what the
// model has and has not.
func emptyAndNamed(key Key) []kmsg.Request {
	named := key.Request()
	switch req := named.(type) {
	case *kmsg.ListOffsetsRequest:
		*req = *listRequest(0, -2, latest, 0)
	case *kmsg.MetadataRequest:
		req.Topics = names("bare", "nope", "a b")
	case *kmsg.FindCoordinatorRequest:
		req.CoordinatorKeys = []string{"g"}
	case *kmsg.DescribeGroupsRequest:
		req.Groups = []string{"classic", "consumer", "nope", ""}
	case *kmsg.ConsumerGroupDescribeRequest:
		req.Groups = []string{"classic", "consumer", "nope", ""}
	case *kmsg.OffsetFetchRequest:
		req.Group, req.Topics = "classic", []kmsg.OffsetFetchRequestTopic{{Topic: "bare", Partitions: []int32{0}}}
		req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "classic"}, {Group: "consumer", Topics: []kmsg.OffsetFetchRequestGroupTopic{{Topic: "bare"}}}, {Group: "nope"}}
	case *kmsg.DescribeConfigsRequest:
		req.IncludeSynonyms = true
		req.Resources = []kmsg.DescribeConfigsRequestResource{
			{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "bare"},
			{ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: "nope"},
			{ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: "1"},
		}
	case *kmsg.DescribeQuorumRequest:
		for _, name := range []string{"__cluster_metadata", "nope"} {
			req.Topics = append(req.Topics, kmsg.DescribeQuorumRequestTopic{
				Topic: name, Partitions: []kmsg.DescribeQuorumRequestTopicPartition{{Partition: 0}},
			})
		}
	case *kmsg.DescribeProducersRequest:
		for _, name := range []string{"bare", "nope"} {
			req.Topics = append(req.Topics, kmsg.DescribeProducersRequestTopic{Topic: name, Partitions: []int32{0, 1}})
		}
	case *kmsg.DescribeTransactionsRequest:
		req.TransactionalIDs = []string{"id", "nope"}
	case *kmsg.DescribeTopicPartitionsRequest:
		req.ResponsePartitionLimit = 100
		req.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "bare"}, {Topic: "nope"}}
	}
	return []kmsg.Request{key.Request(), named}
}

func wantNoNil(t *testing.T, v reflect.Value, path string) {
	t.Helper()
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			wantNoNil(t, v.Elem(), path)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[kmsg.Tags]() {
			return
		}
		for i := range v.NumField() {
			wantNoNil(t, v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		if v.IsNil() {
			t.Errorf("%s is nil", path)
		}
		for i := range v.Len() {
			wantNoNil(t, v.Index(i), path)
		}
	}
}
