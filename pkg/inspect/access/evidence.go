package access

import (
	"maps"
	"slices"
	"strings"

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
	case MetadataLog:
		return e.access.MetadataLog
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
	case Quorum, MetadataLog: // with ZooKeeper there is neither
		return !e.snap.Quorum.IsKnown() && !failed(RequestOf(Quorum).API, false) && !e.access.NoController
	case Reassignments: // before Kafka 2.4
		return failed(RequestOf(id).API, true) && !e.answered(id)
	case ListTransactions, DescribeTransactions, DescribeProducers: // before Kafka 3.0
		return !e.snap.Transactions.IsKnown()
	}
	return false
}

func (e *evidence) grant(acl inspect.ACL) Grant {
	g := Grant{ACL: acl, Asked: e.access.Asked[acl.Resource]}
	l := look{seen: map[string]bool{}, without: map[string]bool{}}
	switch acl {
	case describeTopic:
		e.topics(&g, &l)
	case topicConfigs, readTopic:
		e.operations(&g, &l)
	case describeGroup:
		e.groups(&g, &l)
	case describeTxnID:
		e.transactionalIDs(&g, &l)
	default:
		e.cluster(&g)
		return g
	}
	for _, scope := range e.access.Asked {
		g.Unasked = g.Unasked || g.Asked.All() && !scope.All()
	}
	for name, granted := range e.access.Named[acl] {
		switch {
		case l.seen[name]:
		case granted && !l.without[name]:
			g.Absent = append(g.Absent, name)
		case !granted:
			l.without[name] = true
		}
	}
	slices.Sort(g.Absent)
	g.Seen, g.Without = len(l.seen), slices.Sorted(maps.Keys(l.without))
	// Without an authorizer nothing is hidden; with one, a rule for all names does
	// not tell that no other one denies.
	g.All = g.All || e.access.Authorizer.Equal(inspect.Known(false))
	g.judge(&l, e.access.Everywhere[acl])
	return g
}

// look is what was seen of an ACL: names on which it is granted, and others.
type look struct{ seen, without map[string]bool }

// judge goes by what is seen, and by the prefixes that are granted as a whole.
func (g *Grant) judge(l *look, everywhere map[string]bool) {
	whole := 0
	for prefix, granted := range everywhere {
		below := func(name string) bool { return strings.HasPrefix(name, prefix) }
		denied := slices.DeleteFunc(slices.Clone(g.Without), func(name string) bool { return !below(name) })
		switch {
		case granted: // so what is missing below it was taken away
			whole++
			g.Denied = append(g.Denied, denied...)
		case prefix != "" && len(denied) == 0 && !slices.ContainsFunc(slices.Collect(maps.Keys(l.seen)), below):
			g.Closed = append(g.Closed, prefix)
		}
	}
	slices.Sort(g.Closed)
	slices.Sort(g.Denied)
	g.Denied = slices.Compact(g.Denied) // of two prefixes, one may begin with the other
	g.ByRule = whole > 0 && whole == max(1, len(g.Asked.Prefixes)) && len(g.Asked.Globs) == 0
	_, tried := everywhere[""]
	missing, some := len(g.Without)+len(g.Closed) > 0, g.Seen+len(g.Absent)+whole > 0
	switch {
	case missing && some:
		g.Status = Partly
	case missing, tried && !some && !g.Unasked:
		g.Status = Refused
	case some:
		g.Status = Works
	default:
		g.Status, g.Undecided = Unknown, tried || len(g.Asked.Globs) > 0
	}
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
	// What no controller could be asked for is not there, whoever may have it.
	unheard := g.ACL == clusterAction && e.access.NoController
	if g.Status == Unknown && e.access.Authorizer.Equal(inspect.Known(false)) && !unheard {
		g.Status = Works
	}
}

func (e *evidence) topics(g *Grant, l *look) {
	hidden, told := e.access.HiddenTopics.Get()
	for _, name := range hidden {
		l.without[name] = true
	}
	for i := range e.snap.Topics {
		if t := &e.snap.Topics[i]; t.Error == "" {
			l.seen[t.Name] = true
		}
	}
	for i := range e.snap.Failures {
		if f := &e.snap.Failures[i]; f.Topic != "" && f.Missing == g.ACL {
			l.without[f.Topic] = true
		}
	}
	g.All = told || g.Asked.Exact()
}

// operations are on the topics that may be described. Where the broker does not
// tell which operations are allowed, the requests themselves did.
func (e *evidence) operations(g *Grant, l *look) {
	g.All = e.of(describeTopic).All
	for i := range e.snap.Topics {
		t := &e.snap.Topics[i]
		ops, told := t.Operations.Get()
		switch {
		case t.Error != "":
		case told && ops[g.Operation]:
			l.seen[t.Name] = true
		case told:
			l.without[t.Name] = true
		case g.ACL == topicConfigs && t.Configs.IsKnown():
			l.seen[t.Name] = true
		case g.ACL == topicConfigs && e.refused[refusal{RequestOf(TopicConfigs).API, g.ACL}]:
			l.without[t.Name] = true
		}
	}
	closed := e.access.ClosedConfigs
	if g.ACL != topicConfigs { // READ implies DESCRIBE
		closed = e.of(describeTopic).Without
	}
	for _, name := range closed {
		l.without[name] = true
	}
}

// groups: who may describe the cluster is told of all groups, and of each that may
// not be described when it is asked about.
func (e *evidence) groups(g *Grant, l *look) {
	for i := range e.snap.Groups {
		group := &e.snap.Groups[i]
		granted, named := e.access.Named[g.ACL][group.Name]
		if named && granted || !named && group.Error != groupRefused {
			l.seen[group.Name] = true
		} else {
			l.without[group.Name] = true
		}
	}
	g.All = g.Asked.Exact() || e.of(describeCluster).Status == Works
}

// transactionalIDs are those with an open transaction: Kafka tells of no others.
func (e *evidence) transactionalIDs(g *Grant, l *look) {
	t := e.snap.Transactions.Or(inspect.Transactions{})
	for i := range t.Coordinated {
		id := t.Coordinated[i].ID
		below := func(prefix string) bool { return strings.HasPrefix(id, prefix) }
		if g.Asked.All() || slices.Contains(g.Asked.Names, id) || slices.ContainsFunc(g.Asked.Prefixes, below) {
			l.seen[id] = true
		}
	}
	g.All = g.Asked.Exact()
}

// groupRefused is Kafka's word in [inspect.Group.Error].
const groupRefused = "GROUP_AUTHORIZATION_FAILED"
