package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

const (
	accessListener = "CLIENTS"
	accessPassword = "hush-hush"
)

// accessUsers are who asks, by name, with the ACLs that each lacks.
var accessUsers = func() map[string][]inspect.ACL {
	users := map[string][]inspect.ACL{"all": nil, "nothing": access.ACLs()}
	for _, acl := range access.ACLs() {
		name := strings.ToLower(fmt.Sprintf("no-%s-%s", acl.Resource, acl.Operation))
		users[name] = []inspect.ACL{acl}
		if acl.Operation == inspect.OpDescribe && acl.Resource == inspect.ResourceTopic {
			// READ implies it.
			users[name] = append(users[name], inspect.ACL{Operation: inspect.OpRead, Resource: inspect.ResourceTopic})
		}
	}
	return users
}()

// Others whose ACLs the tests make themselves.
const (
	onlyOrders = "only-orders" // and the cluster
	onlyTopic  = "only-topic"
	monitor    = "monitor" // by the README
	prefixed   = "team"    // by the README
	blind      = "blind"   // all topics and groups but one, and not the cluster
	denied     = "denied"  // everything but one topic
)

// readTopics is what describe transactions works without, as far as it goes.
var readTopics = inspect.ACL{Operation: inspect.OpRead, Resource: inspect.ResourceTopic}

// clusterAction is what isr has no history without.
var clusterAction = inspect.ACL{Operation: inspect.OpClusterAction, Resource: inspect.ResourceCluster}

// nodeUser is who brokers are to controllers.
const nodeUser = "node"

// TestAccess tries credentials of every kind on a Kafka with its
// StandardAuthorizer.
func TestAccess(t *testing.T) {
	passwords := map[string]string{onlyOrders: accessPassword, onlyTopic: accessPassword, blind: accessPassword, denied: accessPassword, monitor: accessPassword, prefixed: accessPassword}
	for user := range accessUsers {
		passwords[user] = accessPassword
	}
	for _, op := range []inspect.Operation{inspect.OpDescribe, inspect.OpDescribeConfigs} {
		for _, implies := range op.ImpliedBy() {
			passwords["implied-"+implies] = accessPassword
		}
	}
	users := maps.Clone(passwords)
	users[nodeUser] = accessPassword
	c := kafkatest.Start(t, kafkatest.Options{
		Engine: engine.FromEnv(), Authorizer: true, Listeners: map[string]string{accessListener: "SASL_PLAINTEXT"}, ControllerProtocol: "SASL_PLAINTEXT",
		Security: map[string]kafkatest.ListenerSecurity{
			accessListener:               {Mechanisms: []string{kafkatest.Plain}, Users: passwords},
			kafkatest.ControllerListener: {Mechanisms: []string{kafkatest.Plain}, Users: users, Node: nodeUser},
		},
	})
	accessWorld(t, c)
	for user, without := range accessUsers {
		allow(t, c, user, without)
	}
	t.Run("table", func(t *testing.T) { accessTable(t, c) })
	t.Run("implied", func(t *testing.T) { accessImplied(t, c) })
	t.Run("commands", func(t *testing.T) { accessCommands(t, c) })
	t.Run("hidden", func(t *testing.T) { accessHidden(t, c) })
	t.Run("denied", func(t *testing.T) { accessDenied(t, c) })
	t.Run("controllers", func(t *testing.T) { accessControllers(t, c) })
	t.Run("README", func(t *testing.T) { accessREADME(t, c) })
}

// TestAccessWithoutAuthorizer: everything works, and why is said.
func TestAccessWithoutAuthorizer(t *testing.T) {
	c := shared.Get(t)
	createTopic(t, c, "open-to-all", c.Spread(1, 3), nil)
	for _, item := range accessItems(t, kafkaops(c, "check access -o json"), 0) {
		if item.Status != access.Works || !item.Authorizer.Equal(inspect.Known(false)) {
			t.Errorf("%+v", item)
		}
	}
	if r := screen(c, "check access").want(t, 0); !strings.Contains(r.stdout, "no authorizer") || !strings.Contains(r.stdout, fmt.Sprintf("%[1]d of %[1]d commands work", len(access.Commands()))) {
		t.Errorf("%v", r)
	}
}

// accessWorld has what each request is about: topics, a group of each protocol,
// and an open transaction.
func accessWorld(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	c.CreateTopic(t, "orders", c.Spread(2, 1), nil)
	c.CreateTopic(t, "payments", c.Spread(1, 1), nil)
	client := func(opts ...kgo.Opt) *kgo.Client {
		cl, err := kgo.NewClient(append(opts, kgo.SeedBrokers(c.Bootstrap()...))...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.CloseAllowingRebalance)
		return cl
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c.ProduceRecords(t, "orders", 0, 5, kafkatest.AcksAll, 10)

	producer := client(kgo.TransactionalID("pay"), kgo.TransactionTimeout(10*time.Minute), kgo.DefaultProduceTopic("orders"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := producer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := producer.ProduceSync(ctx, &kgo.Record{Value: bytes.Repeat([]byte("x"), 10)}).FirstErr(); err != nil {
		t.Fatal(err)
	}

	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Group = "billing"
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic = "orders"
	partition := kmsg.NewOffsetCommitRequestTopicPartition()
	partition.Offset = 3
	topic.Partitions = append(topic.Partitions, partition)
	commit.Topics = append(commit.Topics, topic)
	resp, err := commit.RequestWith(ctx, client(kgo.MaxVersions(kversion.V3_9_0())))
	if err != nil || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatalf("commit: %v, %+v", err, resp)
	}
	member := client(kgo.ServerSideBalancer(), kgo.ConsumerGroup("audit"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit())
	if errs := member.PollFetches(ctx).Errors(); len(errs) > 0 { // now it has joined
		t.Fatal(errs)
	}
}

// allow grants a user all of access's table on all names, without some.
func allow(t *testing.T, c *kafkatest.Cluster, user string, without []inspect.ACL) {
	t.Helper()
	types := map[inspect.ResourceType]kmsg.ACLResourceType{
		inspect.ResourceCluster: kmsg.ACLResourceTypeCluster, inspect.ResourceTopic: kmsg.ACLResourceTypeTopic,
		inspect.ResourceGroup: kmsg.ACLResourceTypeGroup, inspect.ResourceTransactionalID: kmsg.ACLResourceTypeTransactionalId,
	}
	operations := map[inspect.Operation]kmsg.ACLOperation{
		inspect.OpRead: kmsg.ACLOperationRead, inspect.OpDescribe: kmsg.ACLOperationDescribe, inspect.OpDescribeConfigs: kmsg.ACLOperationDescribeConfigs,
		inspect.OpClusterAction: kmsg.ACLOperationClusterAction,
	}
	var acls []kafkatest.ACL
	for _, acl := range access.ACLs() {
		if slices.Contains(without, acl) {
			continue
		}
		name := "*"
		if acl.Resource == inspect.ResourceCluster {
			name = kafkatest.ClusterResource
		}
		acls = append(acls, kafkatest.ACL{
			Principal: "User:" + user, Type: types[acl.Resource], Name: name, Operations: []kmsg.ACLOperation{operations[acl.Operation]},
		})
	}
	if len(acls) > 0 {
		c.Allow(t, acls...)
	}
}

// as runs a command with a user's client.properties.
func as(t *testing.T, c *kafkatest.Cluster, user, words string) *result {
	t.Helper()
	path := filepath.Join(t.TempDir(), "client.properties")
	text := "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config=" +
		"org.apache.kafka.common.security.plain.PlainLoginModule required username=\"" + user + "\" password=\"" + accessPassword + "\";\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := kafkaops(c, words+" --timeout 30s -b "+c.ListenerAddr(1, accessListener)+" --command-config "+path)
	if strings.Contains(r.stdout+r.stderr, accessPassword) {
		t.Errorf("the password is shown: %v", r)
	}
	return r
}

func accessItems(t *testing.T, r *result, exit int) []render.AccessItem {
	t.Helper()
	d, err := decode[render.AccessItem](r.want(t, exit))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Items) != len(access.Commands()) {
		t.Fatalf("%d items: %v", len(d.Items), r)
	}
	return d.Items
}

// missingIn are the ACLs that an item lacks, and those that Kafka refuses for.
func missingIn(items ...render.AccessItem) []inspect.ACL {
	found := map[inspect.ACL]bool{}
	for _, item := range items {
		for _, p := range item.Parts {
			for _, n := range p.Needs {
				if n.Status == access.Partly || n.Status == access.Refused {
					found[inspect.ACL{Operation: n.Operation, Resource: n.ResourceType}] = true
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), compareACLs)
}

func compareACLs(a, b inspect.ACL) int { return strings.Compare(a.String(), b.String()) }

// accessCommands holds what check access says of every command against the
// command itself.
func accessCommands(t *testing.T, c *kafkatest.Cluster) {
	for _, user := range slices.Sorted(maps.Keys(accessUsers)) {
		t.Run(user, func(t *testing.T) {
			without := accessUsers[user]
			exit := 3
			if len(without) == 0 || slices.Equal(without, []inspect.ACL{readTopics}) || slices.Equal(without, []inspect.ACL{clusterAction}) {
				exit = 0
			}
			if user == "nothing" { // who is not told where the controllers are cannot ask them
				without = slices.DeleteFunc(slices.Clone(without), func(acl inspect.ACL) bool { return acl == clusterAction })
			}
			items := accessItems(t, as(t, c, user, "check access -o json"), exit)
			equal(t, "missing", missingIn(items...), slices.SortedFunc(slices.Values(without), compareACLs))
			for i := range items {
				item := &items[i]
				equal(t, "authorizer", item.Authorizer, true)
				if item.Command == serving {
					continue
				}
				r := as(t, c, user, item.Command+flagsOf(t, item.Command))
				complete := r.exit == 0 || r.exit == 3
				switch {
				case item.Status == access.Works && !complete && !slices.Equal(missingIn(*item), []inspect.ACL{readTopics}):
					t.Errorf("works by check access: %v", r)
				case item.Status == access.Unknown, item.Status == access.Unavailable:
					t.Errorf("%s is %s", item.Command, item.Status)
				case !complete:
					told := slices.ContainsFunc(missingIn(*item), func(acl inspect.ACL) bool { return strings.Contains(r.stderr, acl.String()) })
					if !told {
						t.Errorf("%s lacks %v and stderr names none: %v", item.Command, missingIn(*item), r)
					}
				case item.Status != access.Works && loud(item, without):
					t.Errorf("%s is %s by check access, for %v: %v", item.Command, item.Status, missingIn(*item), r)
				}
			}
		})
	}
}

// flagsOf are the flags by which a command that looks for a while looks for as short as it
// can, and the file that it needs.
func flagsOf(t *testing.T, command string) string {
	t.Helper()
	switch command {
	case "record":
		return " " + filepath.Join(t.TempDir(), "a.rec") + " --for 1s"
	case "tune":
		return " --for 1s"
	case "diagnose":
		return " --for 0s"
	}
	return ""
}

// loud: the command sends a request that Kafka refuses, rather than leaving
// something out.
func loud(item *render.AccessItem, without []inspect.ACL) bool {
	if len(without) != 1 || without[0].Resource == inspect.ResourceTransactionalID { // without topics nothing more is asked about them
		return false
	}
	return slices.Contains(missingIn(*item), without[0])
}

// accessHidden: topics that may not be seen are counted where the cluster may be
// described, said to be invisible where not, and told of by name; what is printed
// to be pasted grants it.
func accessHidden(t *testing.T, c *kafkatest.Cluster) {
	describe := []kmsg.ACLOperation{kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs}
	for _, user := range []string{onlyOrders, onlyTopic} {
		c.Allow(t, kafkatest.ACL{Principal: "User:" + user, Type: kmsg.ACLResourceTypeTopic, Name: "orders", Operations: describe})
	}
	c.Allow(t, kafkatest.ACL{Principal: "User:" + onlyOrders, Type: kmsg.ACLResourceTypeCluster, Name: kafkatest.ClusterResource, Operations: describe})

	topics := func(user, flags string) render.AccessNeedItem {
		items := accessItems(t, as(t, c, user, "check access -o json "+flags), 3)
		return items[1].Parts[0].Needs[0]
	}
	got := topics(onlyOrders, "")
	equal(t, "with the cluster", fmt.Sprintf("%s %s %v %s", got.Status, got.Seen, got.Without, got.All), "partly 1 [__consumer_offsets __transaction_state payments] true")
	got = topics(onlyTopic, "")
	equal(t, "without it", fmt.Sprintf("%s %s %v %s", got.Status, got.Seen, got.Without, got.All), "works 1 [] false")
	got = topics(onlyTopic, "--topic payments --topic orders --group billing")
	equal(t, "by name", fmt.Sprintf("%s %s %v %s", got.Status, got.Seen, got.Without, got.All), "partly 1 [payments] true")
	if add := got.Add.Or(""); !strings.Contains(add, " --command-config admin.properties --add ") || !strings.HasSuffix(add, "--add --allow-principal User:only-topic --operation Describe --topic payments") {
		t.Errorf("to add: %s", add)
	}

	added := map[string]bool{}
	for _, item := range accessItems(t, as(t, c, onlyOrders, "check access -o json"), 3) {
		for _, p := range item.Parts {
			for _, n := range p.Needs {
				added[n.Add.Or("")] = true
			}
		}
	}
	delete(added, "")
	for command := range added {
		paste(t, c, command)
	}
	accessItems(t, eventually(t, c, onlyOrders), 0)
}

// accessControllers: a client without CLUSTER_ACTION is told so in a line, and what that
// permits; one whom the controllers do not know, that they want other credentials. Both
// follow by looks.
func accessControllers(t *testing.T, c *kafkatest.Cluster) {
	lines := func(r *result, parts ...string) {
		t.Helper()
		line := strings.TrimSuffix(r.stderr, "\n")
		for _, part := range parts {
			if !strings.Contains(line, part) {
				t.Errorf("no %q: %v", part, r)
			}
		}
		if strings.Count(line, "\n") > 0 {
			t.Errorf("more than a line: %v", r)
		}
	}
	const refused = "no-cluster-cluster_action"
	lines(as(t, c, refused, "isr -o json").want(t, 1), c.ControllerAddr(), "refuses Fetch: the metadata log needs CLUSTER_ACTION on the cluster, which also lets its holder act as a broker",
		"there is no history: --follow compares looks")
	text := as(t, c, refused, "check access").want(t, 0).stdout
	if above, below, apart := strings.Cut(text, "CLUSTER_ACTION on the cluster also lets its holder act as a broker"); !apart ||
		strings.Contains(above, "--operation ClusterAction") || !strings.Contains(below, "--operation ClusterAction --cluster") || !strings.Contains(above, "OK ") {
		t.Errorf("CLUSTER_ACTION is not under its warning:\n%s", text)
	}
	// Over the brokers' plain listener, to controllers that want a password.
	plain := func(words string) *result { return kafkaops(c, words+" --timeout 30s -b "+c.BrokerAddr(1)) }
	other := []string{c.ControllerAddr(), "If the controllers need other credentials, name them by --controller-config"}
	lines(plain("isr -o json").want(t, 1), other...)
	r := plain("check access -o json")
	lines(r, append(other, "isr has no history")...)
	for _, item := range accessItems(t, r, 0) {
		if want := map[bool]access.Status{true: access.Unknown, false: access.Works}[strings.HasPrefix(item.Command, "isr")]; item.Status != want {
			t.Errorf("%s is %s, want %s", item.Command, item.Status, want)
		}
	}
}

// accessDenied: a rule for all names does not tell that no other one denies some.
func accessDenied(t *testing.T, c *kafkatest.Cluster) {
	describe := []kmsg.ACLOperation{kmsg.ACLOperationDescribe}
	allow(t, c, denied, nil)
	for _, a := range []kafkatest.ACL{
		{Type: kmsg.ACLResourceTypeTopic, Name: "*"},
		{Type: kmsg.ACLResourceTypeGroup, Name: "*"},
		{Type: kmsg.ACLResourceTypeGroup, Name: "billing", Deny: true},
	} {
		a.Principal, a.Operations = "User:"+blind, describe
		c.Allow(t, a)
	}
	for _, user := range []string{blind, denied} {
		c.Allow(t, kafkatest.ACL{Principal: "User:" + user, Type: kmsg.ACLResourceTypeTopic, Name: "payments", Operations: describe, Deny: true})
	}
	// By command: describe topics, lag groups.
	needs := func(user string) (topics, groups string) {
		items := accessItems(t, as(t, c, user, "check access -o json"), 3)
		word := func(n render.AccessNeedItem) string {
			return fmt.Sprintf("%s %s %v %s", n.Status, n.Seen, n.Without, n.All)
		}
		return word(items[1].Parts[0].Needs[0]), word(items[10].Parts[0].Needs[0])
	}
	topics, groups := needs(blind)
	equal(t, "topics", topics, "works 3 [] false") // payments is the fourth
	equal(t, "groups", groups, "works 1 [] false") // billing is the second
	topics, groups = needs(denied)
	equal(t, "topics of who may describe the cluster", topics, "partly 3 [payments] true")
	equal(t, "groups of who may describe the cluster", groups, "works 2 [] true")

	// What a group reads of the denied topic is hidden, and so its lag unknown.
	clerk, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...), kgo.ConsumerGroup("clerks"), kgo.ConsumeTopics("orders", "payments"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(clerk.CloseAllowingRebalance)
	c.ProduceRecords(t, "payments", 0, 5, kafkatest.AcksAll, 10)
	kafkatest.Eventually(t, soon, func() error {
		clerk.PollFetches(t.Context())
		if err := clerk.CommitUncommittedOffsets(t.Context()); err != nil {
			return err
		}
		d, err := decode[render.GroupItem](as(t, c, denied, "lag groups clerks -o json"))
		if err != nil || d.Complete || len(d.Items) != 1 || d.Items[0].Lag.IsKnown() || !d.Items[0].Unknown.Equal(inspect.Known(1)) || len(d.Items[0].Partitions) < 2 {
			return fmt.Errorf("%w, %+v", err, d)
		}
		return nil
	})
	r := as(t, c, denied, "lag groups clerks").want(t, 1)
	if !strings.Contains(r.stderr, "the lag of groups that read topic payments is unknown") || strings.Contains(r.stdout, "no such topic") {
		t.Errorf("%v", r)
	}
}

// paste runs a kafka-acls.sh command as who may do everything.
func paste(t *testing.T, c *kafkatest.Cluster, command string) {
	t.Helper()
	words := strings.Fields(strings.Replace(strings.ReplaceAll(command, "'", ""), " --command-config "+access.AdminConfig, "", 1))
	if len(words) < 3 || words[0] != "kafka-acls.sh" || words[1] != "--bootstrap-server" {
		t.Fatalf("no call of kafka-acls.sh: %q", command)
	}
	if _, err := tool(t.Context(), c, kafkatest.AclCommand, words[3:]...); err != nil {
		t.Fatalf("%s: %v", command, err)
	}
}

// eventually is check access once new ACLs have reached the broker.
func eventually(t *testing.T, c *kafkatest.Cluster, user string) *result {
	t.Helper()
	var r *result
	kafkatest.Eventually(t, soon, func() error {
		if r = as(t, c, user, "check access -o json"); r.exit != 0 {
			return fmt.Errorf("%v", as(t, c, user, "check access"))
		}
		return nil
	})
	return r
}

// accessREADME pastes what the section Permissions of the README has to be
// pasted, block by block, and wants what it says of each.
func accessREADME(t *testing.T, c *kafkatest.Cluster) {
	text, err := os.ReadFile("../../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Permissions\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var blocks [][]string
	for i, block := range strings.Split(section, "```\n") {
		if i%2 == 1 && strings.HasPrefix(block, "kafka-acls.sh ") {
			blocks = append(blocks, strings.Split(strings.TrimSuffix(block, "\n"), "\n"))
		}
	}
	if len(blocks) != 4 {
		t.Fatalf("the README has %d blocks of kafka-acls.sh, want: all but READ; READ; CLUSTER_ACTION; one team's", len(blocks))
	}
	complete := func(user string, incomplete ...string) {
		t.Helper()
		for _, command := range access.Commands() {
			if command.Path == serving {
				continue
			}
			r := as(t, c, user, command.Path+flagsOf(t, command.Path))
			if (r.exit != 1) == slices.Contains(incomplete, command.Path) {
				t.Errorf("%s, incomplete without READ are %q: %v", user, incomplete, r)
			}
		}
	}
	awaitMissing := func(user, flags string, want ...inspect.ACL) {
		t.Helper()
		kafkatest.Eventually(t, soon, func() error {
			r := as(t, c, user, "check access -o json "+flags)
			d, err := decode[render.AccessItem](r)
			if err != nil {
				return err
			}
			if got := missingIn(d.Items...); !slices.Equal(got, want) {
				return fmt.Errorf("missing %v, want %v", got, want)
			}
			return nil
		})
	}
	all := func(block []string) {
		for _, line := range block {
			paste(t, c, line)
		}
	}
	all(blocks[0])
	awaitMissing(monitor, "", clusterAction, readTopics)
	complete(monitor, "describe transactions", "diagnose", "isr", "isr summary")
	accessItems(t, as(t, c, monitor, "check access -o json"), 0)
	all(blocks[1])
	awaitMissing(monitor, "", clusterAction)
	complete(monitor, "isr", "isr summary")
	all(blocks[2])
	awaitMissing(monitor, "")
	complete(monitor)

	c.CreateTopic(t, "team-clicks", c.Spread(1, 1), nil)
	all(blocks[3])
	awaitMissing(prefixed, "--topic team-* --group team-* --transactional-id team-*", clusterAction, readTopics)
	accessItems(t, as(t, c, prefixed, "check access -o json --topic team-* --group team-* --transactional-id team-*"), 0)
	awaitMissing(prefixed, "--topic team-none --group team-none --transactional-id team-none", clusterAction, readTopics)
	for _, item := range accessItems(t, as(t, c, prefixed, "check access -o json --topic payments --group pay-* --transactional-id pay"), 3) {
		for _, p := range item.Parts {
			for _, n := range p.Needs {
				if strings.Contains(n.Add.Or(""), "'*'") {
					t.Errorf("more than was asked about: %s", n.Add)
				}
			}
		}
	}
	awaitMissing(prefixed, "--topic team-clicks --group team-a --transactional-id team-b", clusterAction, readTopics)
	if items := accessItems(t, as(t, c, prefixed, "check access -o json"), 3); items[0].Status != access.Partly {
		t.Errorf("all topics are described by who may describe a team's: %+v", items[0])
	}
}
