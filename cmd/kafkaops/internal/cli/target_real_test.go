package cli

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestControllersReal: a quorum whose listener wants other credentials than the
// brokers', one context that has both, and no broker at the end.
func TestControllersReal(t *testing.T) {
	const module = "org.apache.kafka.common.security.plain.PlainLoginModule required "
	c := kafkatest.Start(t, kafkatest.Options{Engine: engine.FromEnv(), Controllers: 2, Authorizer: true, StartTimeout: 2 * time.Minute, Properties: map[string]string{
		"listener.security.protocol.map":                   "CONTROLLER:SASL_PLAINTEXT,PLAINTEXT:PLAINTEXT",
		"sasl.mechanism.controller.protocol":               "PLAIN",
		"listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
		"listener.name.controller.plain.sasl.jaas.config":  module + `username="node" password="p" user_node="p" user_ops="p" user_nobody="p";`,
		"super.users": "User:ANONYMOUS;User:node",
	}})
	c.CreateTopic(t, "orders", c.Spread(1, 1), nil)
	c.Allow(t, kafkatest.ACL{
		Principal: "User:ops", Type: kmsg.ACLResourceTypeCluster, Name: kafkatest.ClusterResource, Operations: []kmsg.ACLOperation{kmsg.ACLOperationDescribe},
	})
	var controllers []string
	for id := kafkatest.FirstController; id < kafkatest.FirstController+2; id++ {
		controllers = append(controllers, c.ListenerAddr(id, "CONTROLLER"))
	}
	p := withConfig(t, "current-context: real\ncontexts:\n"+
		"  real: {bootstrap-server: '"+c.BootstrapServer()+"', controller: ['"+strings.Join(controllers, "', '")+"'], controller-config: ops.properties, cluster-id: "+c.ClusterID()+"}\n"+
		"  alone: {controller: ['"+strings.Join(controllers, "', '")+"'], controller-config: node.properties, cluster-id: "+c.ClusterID()+"}\n"+
		"  wrong: {bootstrap-server: '"+c.BootstrapServer()+"', cluster-id: 64bNKcnqSLylJY2lNVGf3g}\n"+
		"  wrong-alone: {controller: '"+controllers[0]+"', controller-config: node.properties, cluster-id: 64bNKcnqSLylJY2lNVGf3g}\n")
	for _, user := range []string{"node", "ops", "nobody"} {
		p.write(t, user+".properties", login(user))
	}
	at := func(user string) string { return strings.TrimSuffix(p.config(), "config.yaml") + user + ".properties" }
	quorum := func(r ran) render.QuorumItem {
		t.Helper()
		all := items[render.QuorumItem](t, r)
		if r.code != exitOK || len(all) != 1 || !all[0].Leader.IsKnown() || len(all[0].Voters) != 2 {
			t.Fatalf("got %+v, want a quorum of two", r)
		}
		return all[0]
	}
	run := func(line string) ran { return p.run(t.Context(), strings.Fields(line)...) }

	through := quorum(run("describe quorum -o json -b " + c.BootstrapServer()))
	direct := quorum(run("describe quorum -o json"))
	if direct.Leader != through.Leader || direct.LeaderEpoch != through.LeaderEpoch {
		t.Errorf("leader %s of epoch %s, through the broker %s of %s", direct.Leader, direct.LeaderEpoch, through.Leader, through.LeaderEpoch)
	}
	leader := controllers[through.Leader.Or(0)-inspect.BrokerID(kafkatest.FirstController)]
	standby := controllers[(through.Leader.Or(0)-inspect.BrokerID(kafkatest.FirstController)+1)%2]
	with := func(addr, user string) ran {
		return run("describe quorum -o json --controller " + addr + " --controller-config " + at(user))
	}
	quorum(with(leader, "ops"))
	quorum(with(standby, "node")) // who may have the others named
	for _, tt := range []struct{ addr, user, want string }{
		// ops may not: that takes ALTER.
		{standby, "ops", "DescribeQuorum: 1 of 1 controllers that were asked answered, and none of them is the active one; the controllers are unknown"},
		{leader, "nobody", "CLUSTER_AUTHORIZATION_FAILED"},
	} {
		if r := with(tt.addr, tt.user); r.code != exitFailed || !strings.Contains(r.stderr, strings.TrimPrefix(tt.want, "DescribeQuorum: ")) {
			t.Errorf("%s at %s: got %+v, want %q", tt.user, tt.addr, r, tt.want)
		}
	}
	// Without credentials of its own the listener is spoken to as the brokers are.
	plain := run("describe quorum -b " + c.BootstrapServer() + " --controller " + leader)
	if plain.code != exitFailed || !strings.Contains(plain.stderr, leader) {
		t.Errorf("in plain text: got %+v", plain)
	}
	t.Logf("in plain text: %s", plain.stderr)

	if r := run("describe --context real -o json"); r.code != exitOK || r.stderr != "" {
		t.Errorf("the context's cluster: got %+v", r)
	}
	for _, name := range []string{"wrong", "wrong-alone"} {
		r := run("describe quorum --context " + name)
		if r.code != exitFailed || r.stdout != "" || !strings.Contains(r.stderr, "is of cluster "+c.ClusterID()+", and context \""+name+"\" expects cluster 64bNKcnqSLylJY2lNVGf3g (") || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%s: got %+v", name, r)
		}
	}
	for line, want := range map[string][]string{
		"lag --topic": {"orders"}, "describe topics": {"orders"}, "lag groups": {}, "context show": {"alone", "real", "wrong", "wrong-alone"},
	} {
		if got, directive := completesTo(t, p, want, append(strings.Fields(line), "")...); !slices.Equal(got, want) || directive != noFiles {
			t.Errorf("%s: completes to %q %s, want %q", line, got, directive, want)
		}
	}

	c.Kill(t, 1)
	for _, line := range []string{"describe quorum -o json", "describe quorum -o json --context alone"} {
		r := run(line)
		if line == "describe quorum -o json" { // ops may not ask which cluster it is, and this one is expected
			if r.code != exitFailed || r.stdout != "" || !strings.Contains(r.stderr, "does not tell which cluster it is of") {
				t.Errorf("%s: got %+v", line, r)
			}
			continue
		}
		quorum(r)
	}
	r := run("describe quorum -o json -b " + c.BootstrapServer() + " --controller " + strings.Join(controllers, ",") + " --controller-config " + at("ops"))
	quorum(r)
	if !strings.Contains(r.stderr, "went on with the controllers") {
		t.Errorf("stderr %q does not tell of the dead broker", r.stderr)
	}
	onScreen := place{width: 100, height: 30, env: p.env}
	t.Logf("%s", onScreen.run(t.Context(), "describe", "quorum", "--context", "alone", "--color", "never").stdout)
}
