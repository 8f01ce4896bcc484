package access

import (
	"maps"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// evidence is what a Snapshot tells of the credentials.
type evidence struct {
	snap   *inspect.Snapshot
	access inspect.Access
	grants []Grant
	// refused are the APIs that were refused, with the ACLs that they miss.
	refused map[refusal]bool
}

type refusal struct {
	api string
	acl inspect.ACL
}

func newEvidence(s *inspect.Snapshot) *evidence {
	e := &evidence{snap: s, access: s.Access.Or(inspect.Access{}), refused: map[refusal]bool{}}
	for i := range s.Failures {
		if f := &s.Failures[i]; f.Missing != (inspect.ACL{}) {
			e.refused[refusal{f.Request, f.Missing}] = true
		}
	}
	for _, acl := range ACLs() {
		e.grants = append(e.grants, e.grant(acl))
	}
	return e
}

// state is what a request's need comes to: first by what the request itself was
// answered, then by what is known of the ACL.
func (e *evidence) state(r *Request, n Need) Status {
	g := e.of(n.ACL)
	if n.Or != (inspect.ACL{}) && e.of(n.Or).Status == Works {
		return Works
	}
	switch {
	case e.refused[refusal{r.API, n.ACL}] && g.Status == Partly:
		return Partly
	case e.refused[refusal{r.API, n.ACL}]:
		return Refused
	case n.Resource == inspect.ResourceCluster && e.answered(r.ID):
		return Works
	}
	return g.Status
}

func (e *evidence) of(acl inspect.ACL) *Grant {
	i := slices.IndexFunc(e.grants, func(g Grant) bool { return g.ACL == acl })
	return &e.grants[i]
}

// answered reports whether a request about the cluster was.
func (e *evidence) answered(id RequestID) bool {
	brokers := func(told func(*inspect.Broker) bool) bool {
		for i := range e.snap.Brokers {
			if told(&e.snap.Brokers[i]) {
				return true
			}
		}
		return false
	}
	switch id {
	case Quorum:
		return e.snap.Quorum.IsKnown()
	case LogDirs:
		return brokers(func(b *inspect.Broker) bool { return b.LogDirs.IsKnown() })
	case BrokerConfigs:
		return brokers(func(b *inspect.Broker) bool { return b.Configs.IsKnown() })
	case Reassignments:
		for p := range e.snap.Partitions {
			return p.Adding.IsKnown()
		}
	}
	return false
}

// unavailable: the cluster cannot do it. What it can do and did not is a failure.
func (e *evidence) unavailable(id RequestID) bool {
	failed := func(api string, notice bool) bool {
		return slices.ContainsFunc(e.snap.Failures, func(f inspect.Failure) bool { return f.Request == api && f.Notice == notice })
	}
	switch id {
	case Quorum:
		return !e.snap.Quorum.IsKnown() && !failed(RequestOf(id).API, false)
	case Reassignments: // before Kafka 2.4
		return failed(RequestOf(id).API, true) && !e.answered(id)
	case ListTransactions, DescribeTransactions, DescribeProducers: // before Kafka 3.0
		return !e.snap.Transactions.IsKnown()
	}
	return false
}

func (e *evidence) grant(acl inspect.ACL) Grant {
	g := Grant{ACL: acl, Named: e.named(acl.Resource)}
	switch acl {
	case describeTopic:
		e.topics(&g)
	case topicConfigs, readTopic:
		e.operations(&g)
	case describeGroup:
		e.groups(&g)
	case describeTxnID:
		e.transactionalIDs(&g)
	default:
		e.cluster(&g)
		return g
	}
	everywhere, tried := e.access.Everywhere[acl]
	g.Everywhere = everywhere
	// Without an authorizer nothing is hidden; with one, a rule for all names does
	// not tell that no other one denies.
	g.All = g.All || e.access.Authorizer.Equal(inspect.Known(false))
	switch {
	case len(g.Without) > 0 && (g.Seen > 0 || everywhere): // a rule for all, and another that denies
		g.Status = Partly
	case len(g.Without) > 0:
		g.Status = Refused
	case g.Seen > 0 || everywhere:
		g.Status = Works
	case tried && !g.Named:
		g.Status = Refused
	default:
		g.Status = Unknown
	}
	return g
}

func (e *evidence) named(r inspect.ResourceType) bool {
	return r == inspect.ResourceTopic && e.access.TopicsNamed || r == inspect.ResourceGroup && e.access.GroupsNamed ||
		r == inspect.ResourceTransactionalID && e.access.TransactionalIDsNamed
}

// cluster goes by what the requests that need it were answered.
func (e *evidence) cluster(g *Grant) {
	g.Status = Unknown
	for _, r := range Requests() {
		if !slices.ContainsFunc(r.Needs, func(n Need) bool { return n.ACL == g.ACL }) {
			continue
		}
		if e.refused[refusal{r.API, g.ACL}] {
			g.Status = Refused
			return
		}
		if e.answered(r.ID) {
			g.Status = Works
		}
	}
	if g.Status == Unknown && e.access.Authorizer.Equal(inspect.Known(false)) {
		g.Status = Works
	}
}

func (e *evidence) topics(g *Grant) {
	hidden, told := e.access.HiddenTopics.Get()
	without := map[string]bool{}
	for _, name := range hidden {
		without[name] = true
	}
	for i := range e.snap.Topics {
		if t := &e.snap.Topics[i]; t.Error == "" {
			g.Seen++
		}
	}
	for i := range e.snap.Failures {
		if f := &e.snap.Failures[i]; f.Topic != "" && f.Missing == g.ACL {
			without[f.Topic] = true
		}
	}
	g.Without = slices.Sorted(maps.Keys(without))
	g.All = told || e.access.TopicsNamed
}

// operations are on the topics that may be described. Where the broker does not
// tell which operations are allowed, the requests themselves did.
func (e *evidence) operations(g *Grant) {
	g.All = e.of(describeTopic).All
	for i := range e.snap.Topics {
		t := &e.snap.Topics[i]
		ops, told := t.Operations.Get()
		switch {
		case t.Error != "":
		case told && ops[g.Operation]:
			g.Seen++
		case told:
			g.Without = append(g.Without, t.Name)
		case g.ACL == topicConfigs && t.Configs.IsKnown():
			g.Seen++
		case g.ACL == topicConfigs && e.refused[refusal{RequestOf(TopicConfigs).API, g.ACL}]:
			g.Without = append(g.Without, t.Name)
		}
	}
	if g.ACL == topicConfigs {
		g.Without = append(g.Without, e.access.ClosedConfigs...)
	} else { // READ implies DESCRIBE
		g.Without = append(g.Without, e.of(describeTopic).Without...)
	}
	slices.Sort(g.Without)
}

// groups: who may describe the cluster is told of all groups, and of each that may
// not be described when it is asked about.
func (e *evidence) groups(g *Grant) {
	allowed := map[string]bool{}
	maps.Copy(allowed, e.access.Groups)
	for i := range e.snap.Groups {
		group := &e.snap.Groups[i]
		if _, named := allowed[group.Name]; !named {
			allowed[group.Name] = group.Error != groupRefused
		}
	}
	g.count(allowed)
	g.All = e.access.GroupsNamed || e.of(describeCluster).Status == Works
}

// transactionalIDs are the named ones, or those with an open transaction: Kafka
// tells of no others.
func (e *evidence) transactionalIDs(g *Grant) {
	g.All = e.access.TransactionalIDsNamed
	if g.All {
		g.count(e.access.TransactionalIDs)
		return
	}
	if t, ok := e.snap.Transactions.Get(); ok {
		g.Seen = len(t.Coordinated)
	}
}

// count takes names by whether they are allowed.
func (g *Grant) count(allowed map[string]bool) {
	for name, yes := range allowed {
		if yes {
			g.Seen++
		} else {
			g.Without = append(g.Without, name)
		}
	}
	slices.Sort(g.Without)
}

// groupRefused is Kafka's word in [inspect.Group.Error].
const groupRefused = "GROUP_AUTHORIZATION_FAILED"
