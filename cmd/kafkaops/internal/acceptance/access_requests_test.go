package acceptance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// What a request comes to.
const (
	full    = "full"
	refused = "refused"
	hidden  = "hidden"
)

// realRequests send the requests of access's table as somebody, and say what it
// came to.
var realRequests = map[access.RequestID]func(*asker) string{
	access.APIVersions: func(a *asker) string {
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "kafkaops", "test"
		resp := send[*kmsg.ApiVersionsResponse](a, req)
		return a.judge(len(resp.ApiKeys) > 0, resp.ErrorCode)
	},
	access.DescribeCluster: func(a *asker) string {
		resp := send[*kmsg.DescribeClusterResponse](a, kmsg.NewPtrDescribeClusterRequest())
		return a.judge(len(resp.Brokers) > 0, resp.ErrorCode)
	},
	access.Brokers: func(a *asker) string {
		return a.judge(len(send[*kmsg.MetadataResponse](a, kmsg.NewPtrMetadataRequest()).Brokers) > 0)
	},
	access.Metadata: func(a *asker) string {
		found := false
		for _, t := range send[*kmsg.MetadataResponse](a, kmsg.NewPtrMetadataRequest()).Topics {
			found = found || t.Topic != nil && *t.Topic == "orders" && len(t.Partitions) > 0
		}
		return a.judge(found)
	},
	access.TopicPartitions: func(a *asker) string {
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		req.ResponsePartitionLimit = 100
		found := false
		for _, t := range send[*kmsg.DescribeTopicPartitionsResponse](a, req).Topics {
			found = found || t.Topic != nil && *t.Topic == "orders" && len(t.Partitions) > 0
		}
		return a.judge(found)
	},
	access.ListOffsets: func(a *asker) string {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Timestamp = latest
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID = debugging
		req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "orders", Partitions: []kmsg.ListOffsetsRequestTopicPartition{p}}}
		got := send[*kmsg.ListOffsetsResponse](a, req).Topics[0].Partitions[0]
		return a.judge(got.Offset > 0, got.ErrorCode)
	},
	access.TopicConfigs:  func(a *asker) string { return a.configs(kmsg.ConfigResourceTypeTopic, "orders") },
	access.BrokerConfigs: func(a *asker) string { return a.configs(kmsg.ConfigResourceTypeBroker, "1") },
	access.Reassignments: func(a *asker) string {
		resp := send[*kmsg.ListPartitionReassignmentsResponse](a, kmsg.NewPtrListPartitionReassignmentsRequest())
		return a.judge(resp.ErrorCode == 0, resp.ErrorCode)
	},
	access.Quorum: func(a *asker) string {
		req := kmsg.NewPtrDescribeQuorumRequest()
		req.Topics = []kmsg.DescribeQuorumRequestTopic{{Topic: "__cluster_metadata", Partitions: []kmsg.DescribeQuorumRequestTopicPartition{{}}}}
		resp := send[*kmsg.DescribeQuorumResponse](a, req)
		return a.judge(len(resp.Topics) > 0, resp.ErrorCode)
	},
	access.LogDirs: func(a *asker) string {
		resp := send[*kmsg.DescribeLogDirsResponse](a, kmsg.NewPtrDescribeLogDirsRequest())
		return a.judge(len(resp.Dirs) > 0, resp.ErrorCode)
	},
	access.ListGroups: func(a *asker) string {
		resp := send[*kmsg.ListGroupsResponse](a, kmsg.NewPtrListGroupsRequest())
		found := slices.ContainsFunc(resp.Groups, func(g kmsg.ListGroupsResponseGroup) bool { return g.Group == "billing" })
		return a.judge(found, resp.ErrorCode)
	},
	access.DescribeGroups: func(a *asker) string {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = []string{"billing"}
		got := send[*kmsg.DescribeGroupsResponse](a, req).Groups[0]
		return a.judge(got.State == "Empty", got.ErrorCode)
	},
	access.ConsumerGroupDescribe: func(a *asker) string {
		req := kmsg.NewPtrConsumerGroupDescribeRequest()
		req.Groups = []string{"audit"}
		got := send[*kmsg.ConsumerGroupDescribeResponse](a, req).Groups[0]
		return a.judge(len(got.Members) > 0, got.ErrorCode)
	},
	access.OffsetFetch: func(a *asker) string {
		req := kmsg.NewPtrOffsetFetchRequest()
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = "billing"
		req.Groups = append(req.Groups, g)
		got := send[*kmsg.OffsetFetchResponse](a, req).Groups[0]
		return a.judge(len(got.Topics) > 0, got.ErrorCode)
	},
	access.ListTransactions: func(a *asker) string {
		resp := send[*kmsg.ListTransactionsResponse](a, kmsg.NewPtrListTransactionsRequest())
		return a.judge(len(resp.TransactionStates) > 0, resp.ErrorCode)
	},
	access.DescribeTransactions: func(a *asker) string {
		req := kmsg.NewPtrDescribeTransactionsRequest()
		req.TransactionalIDs = []string{"pay"}
		got := send[*kmsg.DescribeTransactionsResponse](a, req).TransactionStates[0]
		return a.judge(len(got.Topics) > 0, got.ErrorCode)
	},
	access.DescribeProducers: func(a *asker) string {
		req := kmsg.NewPtrDescribeProducersRequest()
		req.Topics = []kmsg.DescribeProducersRequestTopic{{Topic: "orders", Partitions: []int32{0}}}
		got := send[*kmsg.DescribeProducersResponse](a, req).Topics[0].Partitions[0]
		return a.judge(len(got.ActiveProducers) > 0, got.ErrorCode)
	},
	access.DescribeACLs: func(a *asker) string {
		req := kmsg.NewPtrDescribeACLsRequest()
		req.ResourceType, req.Operation = kmsg.ACLResourceTypeCluster, kmsg.ACLOperationAny
		req.ResourcePatternType, req.PermissionType = kmsg.ACLResourcePatternTypeAny, kmsg.ACLPermissionTypeAny
		resp := send[*kmsg.DescribeACLsResponse](a, req)
		return a.judge(len(resp.Resources) > 0, resp.ErrorCode)
	},
	access.MetadataLog: func(a *asker) string {
		p := kmsg.NewFetchRequestTopicPartition()
		p.PartitionMaxBytes, p.CurrentLeaderEpoch = 1, -1
		topic := kmsg.NewFetchRequestTopic()
		topic.Topic, topic.TopicID, topic.Partitions = "__cluster_metadata", [16]byte{15: 1}, append(topic.Partitions, p)
		req := kmsg.NewPtrFetchRequest()
		req.ReplicaID, req.ReplicaState.ID, req.MaxBytes, req.SessionEpoch = -1, -1, 1, -1
		req.Topics = append(req.Topics, topic)
		resp := send[*kmsg.FetchResponse](&asker{t: a.t, client: a.controller}, req)
		return a.judge(len(resp.Topics) == 1, resp.ErrorCode)
	},
}

// asker sends requests to the one broker, or the one controller, as somebody.
type asker struct {
	t                  *testing.T
	client, controller *kgo.Client
}

func newAsker(t *testing.T, c *kafkatest.Cluster, user string) *asker {
	t.Helper()
	to := func(addr string) *kgo.Client {
		client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.SASL(plain.Auth{User: user, Pass: accessPassword}.AsMechanism()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		return client
	}
	return &asker{t, to(c.ListenerAddr(1, accessListener)), to(c.ControllerAddr())}
}

func send[R kmsg.Response](a *asker, req kmsg.Request) R {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), 20*time.Second)
	defer cancel()
	resp, err := a.client.SeedBrokers()[0].Request(ctx, req)
	if err != nil {
		a.t.Fatalf("%s: %v", kmsg.NameForKey(req.Key()), err)
	}
	return resp.(R)
}

// judge fails the test on an error that is none of permissions.
func (a *asker) judge(found bool, codes ...int16) string {
	a.t.Helper()
	for _, code := range codes {
		switch code {
		case 0:
		case kerr.ClusterAuthorizationFailed.Code, kerr.TopicAuthorizationFailed.Code,
			kerr.GroupAuthorizationFailed.Code, kerr.TransactionalIDAuthorizationFailed.Code:
			return refused
		default:
			return fmt.Sprint(kerr.ErrorForCode(code))
		}
	}
	if found {
		return full
	}
	return hidden
}

func (a *asker) configs(kind kmsg.ConfigResourceType, name string) string {
	a.t.Helper()
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName = kind, name
	req := kmsg.NewPtrDescribeConfigsRequest()
	req.Resources = append(req.Resources, r)
	got := send[*kmsg.DescribeConfigsResponse](a, req).Resources[0]
	return a.judge(len(got.Configs) > 0, got.ErrorCode)
}

// tableSays is what a request comes to without some ACLs, by access's table.
func tableSays(r access.Request, without []inspect.ACL) string {
	says := full
	for _, n := range r.Needs {
		lacks := slices.Contains(without, n.ACL) && (n.Or == inspect.ACL{} || slices.Contains(without, n.Or))
		switch {
		case lacks && !n.Silent:
			return refused
		case lacks:
			says = hidden
		}
	}
	return says
}

// accessTable holds every row of access's table against the cluster, with all
// ACLs and with each taken away.
func accessTable(t *testing.T, c *kafkatest.Cluster) {
	for _, r := range access.Requests() {
		if realRequests[r.ID] == nil {
			t.Errorf("%s is not tried here: add it to realRequests", r.ID)
		}
	}
	for _, user := range slices.Sorted(maps.Keys(accessUsers)) {
		t.Run("table "+user, func(t *testing.T) {
			a := newAsker(t, c, user)
			for _, r := range access.Requests() {
				if realRequests[r.ID] == nil {
					continue
				}
				if got, want := realRequests[r.ID](a), tableSays(r, accessUsers[user]); got != want {
					t.Errorf("%s: %s, and by the table %s", r.ID, got, want)
				}
			}
		})
	}
}

// accessImplied: other operations that Kafka takes for the one that is needed.
func accessImplied(t *testing.T, c *kafkatest.Cluster) {
	operations := map[string]kmsg.ACLOperation{
		"READ": kmsg.ACLOperationRead, "WRITE": kmsg.ACLOperationWrite, "DELETE": kmsg.ACLOperationDelete,
		"ALTER": kmsg.ACLOperationAlter, "ALTER_CONFIGS": kmsg.ACLOperationAlterConfigs,
	}
	for op, id := range map[inspect.Operation]access.RequestID{inspect.OpDescribe: access.ListOffsets, inspect.OpDescribeConfigs: access.TopicConfigs} {
		for _, implies := range op.ImpliedBy() {
			user := "implied-" + implies
			c.Allow(t, kafkatest.ACL{
				Principal: "User:" + user, Type: kmsg.ACLResourceTypeTopic, Name: "orders",
				Operations: []kmsg.ACLOperation{operations[implies]},
			})
			if got := realRequests[id](newAsker(t, c, user)); got != full {
				t.Errorf("%s with %s alone: %s, want %s", id, implies, got, full)
			}
		}
	}
}
