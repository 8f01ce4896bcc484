package source

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// How credentials are tried, beside what every other part is refused: each
// request that Kafka refuses by the name of a resource is sent once about a name
// that nothing has. Kafka looks at the ACLs first, so that "no such topic" says
// that a rule for all names grants it, and nothing is created by asking. For names
// with a prefix that is one with the prefix, and exact names are asked themselves.

// noSuchName is a name that nothing has, and that no rule for a prefix is likely
// to be meant for.
const noSuchName = "0.kafkaops.asks.what.it.may.do"

// AccessQuery is about [inspect.PartAccess].
type AccessQuery struct {
	// Asked is that of [inspect.Access], and says what the query's filters let
	// through.
	Asked map[inspect.ResourceType]inspect.Scope
}

// prober tries the credentials at one broker: ACLs are the cluster's.
type prober struct {
	pass   *pass
	boot   *connect.Conn
	client *kgo.Client
	out    inspect.Access
}

// access asks one broker what the credentials may do. What it does not answer
// stays unknown: the other parts have asked the same broker and tell that.
func (p *pass) access(ctx context.Context, boot *connect.Conn) {
	q := p.query.Access
	pr := &prober{pass: p, boot: boot, out: inspect.Access{
		Everywhere: map[inspect.ACL]map[string]bool{}, Named: map[inspect.ACL]map[string]bool{}, Asked: q.Asked,
	}}
	client, err := p.src.conf.Kgo(boot.Addr())
	if err != nil {
		p.fail(failureOf(inspect.Unknown[inspect.BrokerID](), err))
		p.snap.Access = inspect.Known(pr.out)
		return
	}
	defer client.Close()
	pr.client = client
	for _, probe := range []func(context.Context){
		pr.topics, pr.topicConfigs, pr.producers, pr.groups, pr.transactionalIDs, pr.authorizer,
	} {
		probe(ctx)
	}
	p.snap.Access = inspect.Known(pr.out)
}

// probe sends one request, unless the broker does not offer it, and hands over
// the answer.
func probe[R kmsg.Response](ctx context.Context, pr *prober, req kmsg.Request, judge func(R)) {
	if _, ok := pr.boot.Version(req.Key(), req.MaxVersion()); !ok {
		return
	}
	resp, err := within(ctx, pr.pass, pr.boot.Addr(), kmsg.NameForKey(req.Key()), func(ctx context.Context) (kmsg.Response, error) {
		return pr.client.SeedBrokers()[0].Request(ctx, req)
	})
	if err != nil {
		f := failureOf(inspect.Unknown[inspect.BrokerID](), err)
		f.Lost = "what the credentials may do is known in part"
		pr.pass.fail(f)
		return
	}
	if answer, ok := resp.(R); ok {
		judge(answer)
	}
}

// names are what is asked about by name: the exact ones, and one that nothing has
// below each prefix.
func (pr *prober) names(resource inspect.ResourceType) []string {
	scope := pr.out.Asked[resource]
	names := slices.Clone(scope.Names)
	for _, prefix := range prefixes(&scope) {
		names = append(names, prefix+noSuchName)
	}
	return names
}

// prefixes are those of the scope; all names begin with nothing.
func prefixes(scope *inspect.Scope) []string {
	if scope.All() {
		return []string{""}
	}
	return scope.Prefixes
}

// told notes what one of names was answered. Others, which were asked about for
// something else, it leaves alone.
func (pr *prober) told(request access.RequestID, resource inspect.ResourceType, name string, code int16) {
	refusedFor, refused := unauthorized(code)
	acl := access.MissingFor(access.RequestOf(request).API, resource)
	granted := !(refused && refusedFor == resource)
	note := func(in map[inspect.ACL]map[string]bool, key string) {
		if in[acl] == nil {
			in[acl] = map[string]bool{}
		}
		in[acl][key] = granted
	}
	scope := pr.out.Asked[resource]
	if slices.Contains(scope.Names, name) {
		note(pr.out.Named, name)
	}
	if prefix, ours := strings.CutSuffix(name, noSuchName); ours && slices.Contains(prefixes(&scope), prefix) {
		note(pr.out.Everywhere, prefix)
	}
}

// topics asks with which operations topics may be used (KIP-430), where
// DescribeTopicPartitions has not told yet.
func (pr *prober) topics(ctx context.Context) {
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation, req.IncludeTopicAuthorizedOperations = false, true
	if v, ok := pr.boot.Version(req.Key(), req.MaxVersion()); !ok || v < oldestSafeMetadata {
		return
	}
	names := pr.names(inspect.ResourceTopic)
	untold := map[string]*inspect.Topic{}
	for i := range pr.pass.snap.Topics {
		if t := &pr.pass.snap.Topics[i]; t.Error == "" && !t.Operations.IsKnown() {
			untold[t.Name] = t
			if !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
			}
		}
	}
	if len(names) == 0 { // Metadata would take it for nothing to be told of topics
		return
	}
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		req.Topics = append(req.Topics, topic)
	}
	probe(ctx, pr, req, func(resp *kmsg.MetadataResponse) {
		for i := range resp.Topics {
			t := &resp.Topics[i]
			if t.Topic == nil {
				continue
			}
			pr.told(access.Metadata, inspect.ResourceTopic, *t.Topic, t.ErrorCode)
			if known := untold[*t.Topic]; known != nil && t.AuthorizedOperations != notTold {
				known.Operations = inspect.Known(operationsOf(t.AuthorizedOperations))
			}
		}
	})
}

// notTold is what authorized operations are where they were not asked for, or the
// broker does not tell them.
const notTold = -1 << 31

func operationsOf(bits int32) map[inspect.Operation]bool {
	has := func(op kmsg.ACLOperation) bool { return bits&(1<<op) != 0 }
	return map[inspect.Operation]bool{
		inspect.OpRead:            has(kmsg.ACLOperationRead),
		inspect.OpDescribe:        has(kmsg.ACLOperationDescribe),
		inspect.OpDescribeConfigs: has(kmsg.ACLOperationDescribeConfigs),
	}
}

func (pr *prober) topicConfigs(ctx context.Context) {
	req := topicConfigsRequest(pr.names(inspect.ResourceTopic))
	if len(req.Resources) == 0 {
		return
	}
	probe(ctx, pr, req, func(resp *kmsg.DescribeConfigsResponse) {
		for i := range resp.Resources {
			r := &resp.Resources[i]
			pr.told(access.TopicConfigs, inspect.ResourceTopic, r.ResourceName, r.ErrorCode)
		}
	})
}

func (pr *prober) producers(ctx context.Context) {
	req := kmsg.NewPtrDescribeProducersRequest()
	for _, name := range pr.names(inspect.ResourceTopic) {
		req.Topics = append(req.Topics, kmsg.DescribeProducersRequestTopic{Topic: name, Partitions: []int32{0}})
	}
	if len(req.Topics) == 0 {
		return
	}
	probe(ctx, pr, req, func(resp *kmsg.DescribeProducersResponse) {
		for i := range resp.Topics {
			for j := range resp.Topics[i].Partitions {
				pr.told(access.DescribeProducers, inspect.ResourceTopic, resp.Topics[i].Topic, resp.Topics[i].Partitions[j].ErrorCode)
			}
		}
	})
}

// groups needs no coordinator: who is not it says so, after it has looked at the
// ACLs.
func (pr *prober) groups(ctx context.Context) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	if req.Groups = pr.names(inspect.ResourceGroup); len(req.Groups) == 0 {
		return
	}
	probe(ctx, pr, req, func(resp *kmsg.DescribeGroupsResponse) {
		for i := range resp.Groups {
			pr.told(access.DescribeGroups, inspect.ResourceGroup, resp.Groups[i].Group, resp.Groups[i].ErrorCode)
		}
	})
}

// transactionalIDs needs no coordinator either, and does not create the topic
// that they live in.
func (pr *prober) transactionalIDs(ctx context.Context) {
	req := kmsg.NewPtrDescribeTransactionsRequest()
	if req.TransactionalIDs = pr.names(inspect.ResourceTransactionalID); len(req.TransactionalIDs) == 0 {
		return
	}
	probe(ctx, pr, req, func(resp *kmsg.DescribeTransactionsResponse) {
		for i := range resp.TransactionStates {
			s := &resp.TransactionStates[i]
			pr.told(access.DescribeTransactions, inspect.ResourceTransactionalID, s.TransactionalID, s.ErrorCode)
		}
	})
}

// authorizer asks for ACLs of nobody: without an authorizer Kafka says that
// security is disabled.
func (pr *prober) authorizer(ctx context.Context) {
	const clusterName = "kafka-cluster"
	name, nobody := clusterName, "User:"+noSuchName
	req := kmsg.NewPtrDescribeACLsRequest()
	req.ResourceType, req.ResourceName = kmsg.ACLResourceTypeCluster, &name
	req.ResourcePatternType, req.Principal = kmsg.ACLResourcePatternTypeLiteral, &nobody
	req.Operation, req.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
	probe(ctx, pr, req, func(resp *kmsg.DescribeACLsResponse) {
		switch resp.ErrorCode {
		case kerr.SecurityDisabled.Code:
			pr.out.Authorizer = inspect.Known(false)
		case 0, kerr.ClusterAuthorizationFailed.Code:
			pr.out.Authorizer = inspect.Known(true)
		}
	})
}

// closedTopics notes the topics that have logs and that the credentials may not
// describe, and asks about these, and about named ones that were refused, what
// [inspect.Topic.Operations] would tell of others.
func (p *pass) closedTopics(ctx context.Context, boot *connect.Conn) {
	a, asked := p.snap.Access.Get()
	if !asked {
		return
	}
	client, err := p.src.conf.Kgo(boot.Addr())
	if err != nil {
		return // told before
	}
	defer client.Close()
	pr := &prober{pass: p, boot: boot, client: client}
	if logged, told := p.unseenTopics(); told {
		a.HiddenTopics = pr.refusedTopics(ctx, logged)
	}
	closed := slices.Clone(a.HiddenTopics.Or(nil))
	for i := range p.snap.Topics {
		if t := &p.snap.Topics[i]; t.Error == codeName(kerr.TopicAuthorizationFailed.Code) {
			closed = append(closed, t.Name)
		}
	}
	a.ClosedConfigs = pr.refusedConfigs(ctx, closed)
	p.snap.Access = inspect.Known(a)
}

// unseenTopics are those that have logs and are not among the Snapshot's, sorted;
// told is false where not every broker told of its logs, or only named topics
// were asked about.
func (p *pass) unseenTopics() (names []string, told bool) {
	if !p.query.Parts.Has(inspect.PartReplicaLogs) || len(p.query.Topics) > 0 {
		return nil, false
	}
	seen, logged := map[string]bool{}, map[string]bool{}
	for i := range p.snap.Topics {
		seen[p.snap.Topics[i].Name] = true
	}
	for i := range p.snap.Brokers {
		dirs, told := p.snap.Brokers[i].LogDirs.Get()
		if !told {
			return nil, false
		}
		for _, d := range dirs {
			for _, r := range d.Replicas {
				if !seen[r.Topic] && (p.query.Keep == nil || p.query.Keep(r.Topic, isInternal(r.Topic))) {
					logged[r.Topic] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(logged)), true
}

// isInternal is org.apache.kafka.common.internals.Topic.isInternal, which a broker
// does not tell of topics that it hides.
func isInternal(topic string) bool {
	return slices.Contains([]string{offsetsTopic, "__transaction_state", "__share_group_state"}, topic)
}

// refusedTopics are those of the names that may not be described; unknown where
// that was not answered. A topic that was created or deleted in the middle of the
// pass is in the logs of one moment and the topics of another, and is not refused.
func (pr *prober) refusedTopics(ctx context.Context, names []string) inspect.Opt[[]string] {
	out := inspect.Unknown[[]string]()
	if len(names) == 0 {
		return inspect.Known([]string{})
	}
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	for _, name := range names {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = &name
		req.Topics = append(req.Topics, topic)
	}
	probe(ctx, pr, req, func(resp *kmsg.MetadataResponse) {
		refused := []string{}
		for i := range resp.Topics {
			t := &resp.Topics[i]
			if _, no := unauthorized(t.ErrorCode); no && t.Topic != nil {
				refused = append(refused, *t.Topic)
			}
		}
		slices.Sort(refused)
		out = inspect.Known(refused)
	})
	return out
}

// refusedConfigs are those of the topics whose configs may not be described.
func (pr *prober) refusedConfigs(ctx context.Context, names []string) []string {
	if len(names) == 0 {
		return nil
	}
	var refused []string
	probe(ctx, pr, topicConfigsRequest(names), func(resp *kmsg.DescribeConfigsResponse) {
		for i := range resp.Resources {
			if _, no := unauthorized(resp.Resources[i].ErrorCode); no {
				refused = append(refused, resp.Resources[i].ResourceName)
			}
		}
	})
	slices.Sort(refused)
	return refused
}

// topicConfigsRequest asks for one setting of each topic.
func topicConfigsRequest(topics []string) *kmsg.DescribeConfigsRequest {
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, name := range topics {
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeTopic, name, []string{minInsyncReplicas}
		req.Resources = append(req.Resources, r)
	}
	return req
}
