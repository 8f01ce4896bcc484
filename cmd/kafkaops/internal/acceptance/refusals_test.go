package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A grant is one operation on all resources of a type.
type grant struct {
	operation kmsg.ACLOperation
	on        kmsg.ACLResourceType
}

// The grants that kafkaops' commands need together.
var (
	describeCluster = grant{kmsg.ACLOperationDescribe, kmsg.ACLResourceTypeCluster}
	clusterConfigs  = grant{kmsg.ACLOperationDescribeConfigs, kmsg.ACLResourceTypeCluster}
	describeTopic   = grant{kmsg.ACLOperationDescribe, kmsg.ACLResourceTypeTopic}
	topicConfigs    = grant{kmsg.ACLOperationDescribeConfigs, kmsg.ACLResourceTypeTopic}
	readTopic       = grant{kmsg.ACLOperationRead, kmsg.ACLResourceTypeTopic} // which is DESCRIBE too
	describeGroup   = grant{kmsg.ACLOperationDescribe, kmsg.ACLResourceTypeGroup}
	describeTxID    = grant{kmsg.ACLOperationDescribe, kmsg.ACLResourceTypeTransactionalId}

	everyGrant = []grant{describeCluster, clusterConfigs, describeTopic, topicConfigs, readTopic, describeGroup, describeTxID}
)

// refusal is a user who lacks grants, and what each command loses by it.
type refusal struct {
	user  string
	lacks []grant
	// topic is the one that the user's grants on topics are for, empty for all.
	topic string
	// code and hint are in every line about it.
	code, hint string
	// costs are by command. A command that is not among them loses nothing: its
	// document is that of a user who has every grant.
	costs map[string]cost
}

// cost is what a command loses.
type cost struct {
	// requests that were refused, as the document's errors name them; where there
	// are none, Kafka leaves out what may not be seen without a word.
	requests string
	// fields are those that differ, and how: null, the new value, or fewer or more
	// of a number or of the elements of a list, the others being as they were.
	fields string
}

// asked are the commands, each in the ways that ask for different things.
var asked = []string{
	"describe", "describe topics", "describe topics orders", "describe brokers", "describe brokers --exit-code", "describe quorum",
	"describe configs", "describe configs orders", "describe log-dirs", "describe reassignments", "describe features",
	"describe transactions", "lag", "lag orders", "lag groups", "lag groups billing", "lag groups --time", "check health",
}

// Values of fields that several commands have.
const (
	noMinISR    = "effectiveMinInsyncReplicas=null findings=fewer headroom=null minInsyncReplicas=null status=unknown"
	noMinISRLag = "effectiveMinInsyncReplicas=null minInsyncReplicas=null status=unknown"
	noGroup     = "error=GROUP_AUTHORIZATION_FAILED idleMembers=null lag=null lagKnown=null members=null partitions=fewer unknown=null"
	noCommit    = "lag=null lagKnown=fewer partitions=fewer"
)

// refusals has one for each kind of request that a cluster may refuse.
var refusals = []refusal{
	{
		user: "cluster", lacks: []grant{describeCluster},
		code: "CLUSTER_AUTHORIZATION_FAILED", hint: "grant DESCRIBE on the cluster",
		costs: map[string]cost{
			"describe": {
				"DescribeQuorum ListPartitionReassignments",
				"controller=null findings=fewer reasons=more unhealthy=more unknown=more verdict=unknown",
			},
			"describe topics":              {"ListPartitionReassignments", "addingReplicas=null controller=null removingReplicas=null status=unknown"},
			"describe topics orders":       {"ListPartitionReassignments", "addingReplicas=null controller=null removingReplicas=null status=unknown"},
			"describe brokers":             {"DescribeLogDirs DescribeQuorum ListPartitionReassignments", "controller=null logDirs=null"},
			"describe brokers --exit-code": {"DescribeLogDirs DescribeQuorum ListPartitionReassignments", "controller=null logDirs=null"},
			"describe quorum":              {"DescribeQuorum", "controller=null items=fewer"},
			"describe configs":             {"", "controller=null"},
			"describe configs orders":      {"", "controller=null"},
			"describe log-dirs":            {"DescribeLogDirs", "controller=null items=fewer"},
			"describe reassignments":       {"DescribeLogDirs ListPartitionReassignments", "controller=null"},
			"describe features":            {"", "controller=null"},
			"describe transactions":        {"", "controller=null"},
			"lag":                          {"ListPartitionReassignments", "controller=null status=unknown"},
			"lag orders":                   {"ListPartitionReassignments", "controller=null status=unknown"},
			"lag groups":                   {"", "controller=null"},
			"lag groups billing":           {"", "controller=null"},
			"lag groups --time":            {"", "controller=null"},
			"check health":                 {"DescribeQuorum ListPartitionReassignments", "controller=null reasons=more unknown=more verdict=unknown"},
		},
	},
	{
		user: "cluster-configs", lacks: []grant{clusterConfigs},
		code: "CLUSTER_AUTHORIZATION_FAILED", hint: "grant DESCRIBE_CONFIGS on the cluster",
		costs: map[string]cost{
			"describe configs":        {"DescribeConfigs", "items=fewer"},
			"describe configs orders": {"DescribeConfigs", "items=fewer"},
		},
	},
	{
		user: "topics", lacks: []grant{describeTopic, readTopic},
		code: "TOPIC_AUTHORIZATION_FAILED", hint: "grant DESCRIBE on the topic",
		costs: map[string]cost{
			"describe":                     {"Metadata", "findings=fewer partitions=fewer reasons=more topics=fewer verdict=unknown"},
			"describe topics":              {"Metadata", "items=fewer"},
			"describe topics orders":       {"Metadata", "items=fewer"},
			"describe brokers":             {"Metadata", "leaders=fewer preferredLeaders=fewer replicas=fewer"},
			"describe brokers --exit-code": {"Metadata", "leaders=fewer preferredLeaders=fewer replicas=fewer"},
			"describe configs":             {"Metadata", "items=fewer"},
			"describe configs orders":      {"Metadata", "items=fewer"},
			"describe reassignments":       {"Metadata", ""},
			"describe transactions":        {"Metadata", "lastWrite=null partitions=fewer"},
			"lag":                          {"Metadata", "items=fewer"},
			"lag orders":                   {"Metadata", "items=fewer"},
			"lag groups":                   {"Metadata", noCommit},
			"lag groups billing":           {"Metadata", noCommit},
			"lag groups --time":            {"Metadata", noCommit},
			"check health":                 {"Metadata", "partitions=fewer reasons=more topics=fewer verdict=unknown"},
		},
	},
	{
		user: "one-topic", topic: "payments",
		code: "TOPIC_AUTHORIZATION_FAILED", hint: "grant DESCRIBE on the topic",
		costs: map[string]cost{
			// To a list of all that may be seen belongs no more.
			"describe":                     {"", "findings=fewer partitions=fewer topics=fewer"},
			"describe topics":              {"", "items=fewer"},
			"describe topics orders":       {"Metadata", "items=fewer"},
			"describe brokers":             {"", "leaders=fewer preferredLeaders=fewer replicas=fewer"},
			"describe brokers --exit-code": {"", "leaders=fewer preferredLeaders=fewer replicas=fewer"},
			"describe configs":             {"", "items=fewer"},
			"describe configs orders":      {"Metadata", "items=fewer"},
			"describe transactions":        {"", "lastWrite=null partitions=fewer"},
			"lag":                          {"", "items=fewer"},
			"lag orders":                   {"Metadata", "items=fewer"},
			"lag groups":                   {"", noCommit},
			"lag groups billing":           {"", noCommit},
			"lag groups --time":            {"", noCommit},
			"check health":                 {"", "partitions=fewer topics=fewer"},
		},
	},
	{
		user: "topic-configs", lacks: []grant{topicConfigs},
		code: "TOPIC_AUTHORIZATION_FAILED", hint: "grant DESCRIBE_CONFIGS on the topic",
		costs: map[string]cost{
			"describe":                     {"DescribeConfigs", "findings=fewer reasons=more unhealthy=more unknown=more verdict=unknown"},
			"describe topics":              {"DescribeConfigs", noMinISR},
			"describe topics orders":       {"DescribeConfigs", noMinISR},
			"describe brokers --exit-code": {"DescribeConfigs", ""},
			"describe configs":             {"DescribeConfigs", "items=fewer"},
			"describe configs orders":      {"DescribeConfigs", "items=fewer"},
			"lag":                          {"DescribeConfigs", noMinISRLag},
			"lag orders":                   {"DescribeConfigs", noMinISRLag},
			"check health":                 {"DescribeConfigs", "reasons=more unknown=more verdict=unknown"},
		},
	},
	{
		user: "topic-read", lacks: []grant{readTopic},
		code: "TOPIC_AUTHORIZATION_FAILED", hint: "grant READ on the topic",
		costs: map[string]cost{
			// Whoever holds the LSO is an item of its own, since pay-1 need not be it.
			"describe transactions": {"DescribeProducers", "items=other"},
		},
	},
	{
		user: "groups", lacks: []grant{describeGroup},
		code: "GROUP_AUTHORIZATION_FAILED", hint: "grant DESCRIBE on the group",
		costs: map[string]cost{
			"lag groups":         {"DescribeGroups", noGroup},
			"lag groups billing": {"DescribeGroups", noGroup},
			"lag groups --time":  {"DescribeGroups", noGroup},
		},
	},
	{
		user: "transactional-ids", lacks: []grant{describeTxID},
		costs: map[string]cost{
			// Coordinators leave it out without a word; the partitions' leader tells.
			"describe transactions": {
				"", "coordinator=null started=null state=null status=suspect timeoutMs=null transactionalId=null " +
					"why=no coordinator has it that these credentials may see (DESCRIBE on transactional ids)",
			},
		},
	},
}

// everyone is the user who lacks nothing.
const everyone = "everyone"

// TestRefusals: what a missing permission costs each command, and that it costs
// nothing else.
func TestRefusals(t *testing.T) {
	const listener, password = "SASL", "secret"
	users := map[string]string{everyone: password}
	for i := range refusals {
		users[refusals[i].user] = password
	}
	c := kafkatest.Start(t, kafkatest.Options{
		Engine: engine.FromEnv(), Brokers: 2, Authorizer: true,
		Listeners: map[string]string{listener: "SASL_PLAINTEXT"},
		Security:  map[string]kafkatest.ListenerSecurity{listener: {Mechanisms: []string{kafkatest.Plain}, Users: users}},
	})
	makeRefusable(t, c)
	c.Allow(t, refusalACLs()...)
	dir := t.TempDir()
	as := func(user, words string) *result {
		path := filepath.Join(dir, user)
		text := fmt.Sprintf("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"+
			"sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username=%q password=%q;\n", user, password)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return kafkaops(c, words+" -b "+c.ListenerAddr(1, listener)+" --command-config "+path)
	}
	whole := map[string]any{}
	for _, words := range asked {
		whole[words] = settled(t, words, as(everyone, words+" -o json").want(t, 0))
	}
	for i := range refusals {
		r := &refusals[i]
		t.Run(r.user, func(t *testing.T) {
			for words := range r.costs {
				if !slices.Contains(asked, words) {
					t.Errorf("%s is not asked", words)
				}
			}
			for _, words := range asked {
				doc := as(r.user, words+" -o json")
				r.check(t, words, doc, whole[words])
				table := as(r.user, words)
				if table.exit != doc.exit || table.stderr != doc.stderr || table.stdout == "" {
					t.Errorf("another answer than in JSON, whose exit is %d and stderr\n%s%v", doc.exit, doc.stderr, table)
				}
			}
		})
	}
}

// check holds a document against that of everyone.
func (r *refusal) check(t *testing.T, words string, res *result, whole any) {
	t.Helper()
	d, err := decode[json.RawMessage](res)
	if err != nil {
		t.Error(err)
		return
	}
	want := r.costs[words]
	requests := map[string]bool{}
	for _, e := range d.Errors {
		requests[e.Request] = true
		if e.Error != r.code || !strings.HasPrefix(e.Hint, r.hint) || e.Phase != "request" {
			t.Errorf("%s: error %+v, want %s; %s", words, e, r.code, r.hint)
		}
	}
	if got := strings.Join(slices.Sorted(maps.Keys(requests)), " "); got != want.requests {
		t.Errorf("%s: refused %s, want %s", words, got, want.requests)
	}
	if exit := min(1, len(want.requests)); res.exit != exit {
		t.Errorf("%s: exit %d, want %d", words, res.exit, exit)
	}
	lines := strings.Split(strings.TrimSuffix(res.stderr, "\n"), "\n")
	for _, line := range lines {
		if line != "" && !strings.Contains(line, r.hint) {
			t.Errorf("%s: line %q does not say %q", words, line, r.hint)
		}
	}
	told := len(d.Errors)
	if strings.Contains(want.fields, "controller=null") && !requests["DescribeQuorum"] {
		told++ // a notice
		if !strings.Contains(res.stderr, "DescribeQuorum: "+r.code+"; went on without the controllers. ") {
			t.Errorf("%s: nothing is said of the controllers: %s", words, res.stderr)
		}
	}
	if told > 0 && len(lines) != told {
		t.Errorf("%s: %d lines on stderr for %d errors and notices:\n%s", words, len(lines), told, res.stderr)
	}
	if got := strings.Join(changesOf(whole, settled(t, words, res)), " "); got != want.fields {
		t.Errorf("%s: other than everyone's: %s\nwant %s", words, got, want.fields)
	}
	if !d.Complete && strings.Contains(res.stdout, `"verdict": "ok"`) {
		t.Errorf("%s: a verdict of ok that is not all: %v", words, res)
	}
}

// refusalACLs are the grants of all users.
func refusalACLs() []kafkatest.ACL {
	var acls []kafkatest.ACL
	for _, r := range append(refusals[:len(refusals):len(refusals)], refusal{user: everyone}) {
		for _, g := range everyGrant {
			if slices.Contains(r.lacks, g) {
				continue
			}
			name := "*"
			switch {
			case g.on == kmsg.ACLResourceTypeCluster:
				name = kafkatest.ClusterResource
			case g.on == kmsg.ACLResourceTypeTopic && r.topic != "":
				name = r.topic
			}
			acls = append(acls, kafkatest.ACL{Principal: "User:" + r.user, Type: g.on, Name: name, Operations: []kmsg.ACLOperation{g.operation}})
		}
	}
	return acls
}

// makeRefusable makes something of everything that commands show: two topics, a
// group with a lag, and a transaction that stays open.
func makeRefusable(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	c.CreateTopic(t, "orders", [][]int32{{1, 2}, {2, 1}}, minISR(2))
	c.CreateTopic(t, "payments", [][]int32{{1, 2}}, nil)
	c.ProduceRecords(t, "orders", 0, 10, kafkatest.AcksAll, 10)
	client := func(opts ...kgo.Opt) *kgo.Client {
		cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(c.Bootstrap()...))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		return cl
	}
	group := client(kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit())
	ctx, cancel := context.WithTimeout(t.Context(), 2*soon)
	defer cancel()
	if err := group.PollFetches(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	if err := group.CommitUncommittedOffsets(ctx); err != nil {
		t.Fatal(err)
	}
	group.LeaveGroup()
	writer := client(kgo.TransactionalID("pay-1"), kgo.TransactionTimeout(10*time.Minute), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := writer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := writer.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("x")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	awaitQuietLEO(t, c, "orders", 0, 11)
}

// awaitQuietLEO waits until both replicas have the records and the leader knows.
func awaitQuietLEO(t *testing.T, c *kafkatest.Cluster, topic string, partition int32, end int64) {
	t.Helper()
	kafkatest.Eventually(t, soon, func() error {
		for _, id := range []int32{1, 2} {
			if leo, err := rawOffset(t.Context(), c, id, topic, partition, debugging, latest); err != nil || leo != end {
				return fmt.Errorf("broker %d ends at %d (%w), want %d", id, leo, err, end)
			}
		}
		if hw, err := rawOffset(t.Context(), c, 1, topic, partition, consumer, latest); err != nil || hw != end {
			return fmt.Errorf("the HW is %d (%w), want %d", hw, err, end)
		}
		return nil
	})
}

// settled is a document without its errors and without what moves by itself.
func settled(t *testing.T, words string, r *result) any {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatalf("%v: %v", err, r)
	}
	moves := []string{"takenAt", "errors", "complete", "openMs", "usableBytes", "epoch", "lagMs"}
	if words == "describe quorum" {
		moves = append(moves, "highWatermark", "logEndOffset", "lag", "lastCaughtUp", "lastCaughtUpMs", "lastFetch", "lastFetchMs")
	}
	strip(doc, moves)
	return doc
}

func strip(v any, keys []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range keys {
			delete(v, key)
		}
		for _, value := range v {
			strip(value, keys)
		}
	case []any:
		for _, value := range v {
			strip(value, keys)
		}
	}
}

// changesOf are the fields that are other in the second document, see cost.
func changesOf(was, is any) []string {
	seen := map[string]bool{}
	var walk func(name string, was, is any)
	walk = func(name string, was, is any) {
		if cmp.Equal(was, is) {
			return
		}
		oldMap, isMap := was.(map[string]any)
		newMap, stillMap := is.(map[string]any)
		oldList, isList := was.([]any)
		newList, stillList := is.([]any)
		switch {
		case isMap && stillMap:
			for key := range oldMap {
				walk(key, oldMap[key], newMap[key])
			}
		case isList && stillList && len(oldList) == len(newList):
			for i := range oldList {
				walk(name, oldList[i], newList[i])
			}
		default:
			seen[name+"="+became(was, is)] = true
		}
	}
	walk("", was, is)
	return slices.Sorted(maps.Keys(seen))
}

func became(was, is any) string {
	within := func(some, all []any) bool {
		return !slices.ContainsFunc(some, func(v any) bool {
			return !slices.ContainsFunc(all, func(w any) bool { return reflect.DeepEqual(v, w) })
		})
	}
	if is == nil {
		return "null"
	}
	switch was := was.(type) {
	case []any:
		is, _ := is.([]any)
		switch {
		case len(is) < len(was) && within(is, was):
			return "fewer"
		case len(is) > len(was) && within(was, is):
			return "more"
		}
		return "other"
	case float64:
		if is, ok := is.(float64); ok && is < was {
			return "fewer"
		} else if ok {
			return "more"
		}
	}
	return fmt.Sprint(is)
}
