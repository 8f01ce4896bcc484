package render

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
)

// permitted is a cluster with an authorizer on which everything is granted.
func permitted() *inspect.Snapshot {
	s := quorum()
	all := map[inspect.Operation]bool{inspect.OpRead: true, inspect.OpDescribe: true, inspect.OpDescribeConfigs: true}
	for i := range s.Topics {
		s.Topics[i].Operations = inspect.Known(all)
		for j := range s.Topics[i].Partitions {
			s.Topics[i].Partitions[j].Adding = inspect.Known[[]inspect.BrokerID](nil)
		}
	}
	for i := range s.Brokers {
		s.Brokers[i].LogDirs, s.Brokers[i].Configs = inspect.Known([]inspect.LogDir{}), inspect.Known([]inspect.Config{})
	}
	everywhere := map[inspect.ACL]map[string]bool{}
	for _, acl := range access.ACLs() {
		if acl.Resource != inspect.ResourceCluster {
			everywhere[acl] = map[string]bool{"": true}
		}
	}
	s.Groups = []inspect.Group{{Name: "billing"}}
	s.Transactions = inspect.Known(inspect.Transactions{})
	s.Access = inspect.Known(inspect.Access{
		Authorizer: inspect.Known(true), Everywhere: everywhere, HiddenTopics: inspect.Known([]string{}),
	})
	return s
}

// restricted is one on which much is missing: of one topic the configs, another
// one is hidden, groups by name, and what needs the cluster.
func restricted() *inspect.Snapshot {
	s := permitted()
	s.Topics[0].Operations = inspect.Known(map[inspect.Operation]bool{inspect.OpDescribe: true, inspect.OpRead: true})
	a := s.Access.Or(inspect.Access{})
	for acl := range a.Everywhere {
		a.Everywhere[acl] = map[string]bool{"": false}
	}
	a.HiddenTopics = inspect.Known([]string{"audit", "secret"})
	a.ClosedConfigs = []string{"secret"}
	describeGroup := inspect.ACL{Operation: inspect.OpDescribe, Resource: inspect.ResourceGroup}
	a.Asked = map[inspect.ResourceType]inspect.Scope{inspect.ResourceGroup: {Names: []string{"billing", "it's mine", "later"}}}
	a.Named = map[inspect.ACL]map[string]bool{describeGroup: {"billing": true, "it's mine": false, "later": true}}
	delete(a.Everywhere, describeGroup)
	s.Access = inspect.Known(a)
	s.Quorum, s.Controller = inspect.Unknown[inspect.Quorum](), inspect.Unknown[inspect.BrokerID]()
	refusal := inspect.Failure{
		Request: "DescribeQuorum", Phase: inspect.PhaseRequest, Error: "CLUSTER_AUTHORIZATION_FAILED",
		Missing: inspect.ACL{Operation: inspect.OpDescribe, Resource: inspect.ResourceCluster},
	}
	s.Failures = []inspect.Failure{refusal}
	return s
}

// unsecured has no authorizer, and is too old for transactions and quorums.
func unsecured() *inspect.Snapshot {
	s := permitted()
	a := s.Access.Or(inspect.Access{})
	a.Authorizer = inspect.Known(false)
	s.Access = inspect.Known(a)
	s.Quorum, s.Transactions = inspect.Unknown[inspect.Quorum](), inspect.Unknown[inspect.Transactions]()
	return s
}

// denied is one where a rule grants everything on all topics, another one denies a
// topic, and groups that a rule may deny stay hidden.
func denied() *inspect.Snapshot {
	s := permitted()
	a := s.Access.Or(inspect.Access{})
	a.HiddenTopics = inspect.Known([]string{"payments"})
	s.Access = inspect.Known(a)
	s.Quorum, s.Controller = inspect.Unknown[inspect.Quorum](), inspect.Unknown[inspect.BrokerID]()
	s.Failures = restricted().Failures
	return s
}

func accessScreen(who Credentials) func(io.Writer, View, *inspect.Snapshot) error {
	return func(w io.Writer, v View, s *inspect.Snapshot) error {
		report := access.Judge(s)
		answered := *s
		answered.Failures = nil
		return Access(w, v, &answered, &report, who)
	}
}

func TestAccessScreens(t *testing.T) {
	t.Parallel()
	alice := Credentials{Bootstrap: "k:9092", Principal: "User:alice"}
	silent := healthy()
	silent.Access = inspect.Known(inspect.Access{})
	silent.Quorum = inspect.Unknown[inspect.Quorum]()
	checkFacets(
		t, "access.txtar",
		facet{"all", permitted(), accessScreen(alice)},
		facet{"restricted", restricted(), accessScreen(Credentials{Bootstrap: "k:9092", Secured: true})},
		facet{"denied", denied(), accessScreen(alice)},
		facet{"unsecured", unsecured(), accessScreen(Credentials{Bootstrap: "k:9092", Principal: "User:ANONYMOUS"})},
		facet{"silent", silent, accessScreen(alice)},
	)
}

// TestShellLines: what is broken over lines is the same command to a shell.
func TestShellLines(t *testing.T) {
	t.Parallel()
	const command = `kafka-acls.sh --add --allow-principal 'User:CN=a b' --group 'it'\''s  mine' --topic '*'`
	for width := 10; width < 100; width += 7 {
		lines := shellLines(command, width)
		for i, line := range lines {
			if i < len(lines)-1 && !strings.HasSuffix(line, ` \`) {
				t.Errorf("at %d, line %q goes on in the next without saying so", width, line)
			}
		}
		for _, line := range lines {
			for _, option := range []string{"--allow-principal", "--group"} {
				if strings.HasSuffix(line, option+` \`) && width > len(`    --allow-principal 'User:CN=a b' \`) {
					t.Errorf("at %d, %s is torn from its value: %q", width, option, line)
				}
			}
		}
		joined := strings.ReplaceAll(strings.Join(lines, "\n"), " \\\n    ", " ")
		if diff := cmp.Diff(joined, command); diff != "" {
			t.Errorf("at %d, -got +want:\n%s", width, diff)
		}
	}
}
