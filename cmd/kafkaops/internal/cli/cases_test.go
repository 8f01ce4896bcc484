package cli

import (
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The tests in this file are public reports of other tools, each as a small case
// with the output that would have been right.

// TestLeaderlessPartitionAbortsEverything: https://github.com/birdayz/kaf/pull/114,
// https://github.com/redpanda-data/redpanda/pull/2574. kaf stopped at the first
// leaderless partition; others print offsets 0/0 for it.
func TestLeaderlessPartitionAbortsEverything(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		isr, elr []int32
		topics   string // the row of describe topics
		lag      string // the rows of lag
		state    inspect.ReplicaState
	}{
		{
			"as Kafka 4 leaves it", nil,
			[]int32{2},
			"t-1\tnone\t2,3\tnone\t2,3\t1\t-1\toffline,under-min-isr,under-replicated\tnone\n",
			"t-1\tnone\t-\t-\t-\t2\t70\t-\tout-of-sync\toffline,under-min-isr,under-replicated\n" +
				"t-1\tnone\t-\t-\t-\t3\t60\t-\tout-of-sync\toffline,under-min-isr,under-replicated\n",
			inspect.ReplicaOutOfSync,
		},
		{
			"as older ones do",
			[]int32{2},
			nil,
			"t-1\tnone\t2,3\t2\t3\t1\t0\toffline,at-min-isr,under-replicated\tnone\n",
			"t-1\tnone\t-\t-\t-\t2\t70\t-\tin-sync\toffline,at-min-isr,under-replicated\n" +
				"t-1\tnone\t-\t-\t-\t3\t60\t-\tout-of-sync\toffline,at-min-isr,under-replicated\n",
			inspect.ReplicaInSync,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewModel(3)
			topic := m.AddTopic("t", 3, 2)
			for _, p := range topic.Partitions {
				p.HW = 50
			}
			p := topic.Partitions[1]
			p.Leader, p.ISR, p.ELR = fakekafka.NoLeader, tt.isr, tt.elr
			p.SetLEO(2, 70)
			p.SetLEO(3, 60)
			c := fakekafka.Start(t, m)

			ask(t, c, "describe topics --exit-code").want(t, exitUnhealthy, topicsTable(
				"t-0\t1\t1,2\t1,2\tnone\t1\t1\tok\tnone\n"+
					tt.topics+
					"t-2\t3\t3,1\t3,1\tnone\t1\t1\tok\tnone\n"), "")
			ask(t, c, "lag --exit-code").want(t, exitUnhealthy, lagHeader+tt.lag+
				"t-0\t1\t50\t50\t0\t1\t50\t0\tleader\tok\n"+
				"t-0\t1\t50\t50\t0\t2\t50\t0\tin-sync\tok\n"+
				"t-2\t3\t50\t50\t0\t3\t50\t0\tleader\tok\n"+
				"t-2\t3\t50\t50\t0\t1\t50\t0\tin-sync\tok\n", "")
			for _, line := range []string{"describe --exit-code", "check health"} {
				if r := ask(t, c, line); r.code != exitUnhealthy || !strings.Contains(strings.ToLower(r.stdout), "unavailable") {
					t.Errorf("%s: got exit code %d, stdout %q; want 3 and unavailable", line, r.code, r.stdout)
				}
			}

			all := items[render.LagItem](t, ask(t, c, "lag -o json"))
			if len(all) != 3 {
				t.Fatalf("got %d items, want 3", len(all))
			}
			led := inspect.Known[int64](0)
			if all[0].Uncommitted != led || all[2].Uncommitted != led {
				t.Errorf("got uncommitted %s and %s of the other partitions, want 0", all[0].Uncommitted, all[2].Uncommitted)
			}
			want := all[1] // what it says beside these is not of this case
			want.Leader, want.HighWatermark, want.LogEndOffset = inspect.Unknown[inspect.BrokerID](), inspect.Unknown[inspect.Offset](), inspect.Unknown[inspect.Offset]()
			want.LogStartOffset, want.LastStableOffset = inspect.Unknown[inspect.Offset](), inspect.Unknown[inspect.Offset]()
			want.Uncommitted, want.UncommittedMax = inspect.Unknown[int64](), inspect.Unknown[int64]()
			want.Replicas = []render.ReplicaLagItem{
				{Broker: 2, LogEndOffset: inspect.Known[inspect.Offset](70), InSync: len(tt.isr) > 0, State: tt.state},
				{Broker: 3, LogEndOffset: inspect.Known[inspect.Offset](60), State: inspect.ReplicaOutOfSync},
			}
			if diff := cmp.Diff(all[1], want); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
			part := items[render.PartitionItem](t, ask(t, c, "describe topics t -o json"))[1]
			if part.Leader.IsKnown() || part.Status[0] != inspect.StatusOffline || len(part.ISR) != len(tt.isr) || len(part.ELR.Or(nil)) != len(tt.elr) {
				t.Errorf("got leader %s, status %v, ISR %v, ELR %s; want null, offline, %v, %v", part.Leader, part.Status, part.ISR, part.ELR, tt.isr, tt.elr)
			}
		})
	}
}

const (
	topicsHeader = "PARTITION\tLEADER\tREPLICAS\tISR\tOUT\tMIN\tHEADROOM\tSTATUS\tNOTE\tSINCE\tCAUSE\n"
	lagHeader    = "PARTITION\tLEADER\tHW\tLEO\tLEO-HW\tREPLICA\tREPLICA-LEO\tLAG\tSTATE\tSTATUS\n"
)

// TestOfflineIsDecidedByTheLeader, not by the ISR:
// https://github.com/cruise-control-for-kafka/cruise-control/pull/2000,
// https://github.com/segmentio/topicctl/pull/155. One status column hid "wrong
// leader" behind "out of sync", and replicas were sorted.
func TestOfflineIsDecidedByTheLeader(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	topic := m.AddTopic("t", 2, 3)
	p := topic.Partitions[0]
	p.Leader, p.Replicas, p.ISR = fakekafka.NoLeader, []int32{1, 2, 3}, []int32{2}
	p = topic.Partitions[1]
	p.Leader, p.Replicas, p.ISR = 1, []int32{3, 1, 2}, []int32{1, 2}
	c := fakekafka.Start(t, m)

	ask(t, c, "describe topics").want(t, exitOK, topicsTable(
		"t-0\tnone\t1,2,3\t2\t1,3\t1\t0\toffline,at-min-isr,under-replicated\tnone\n"+
			"t-1\t1\t3,1,2\t1,2\t3\t1\t1\tunder-replicated,wrong-leader\tnone\n"), "")
	ask(t, c, "describe topics --unavailable").want(t, exitOK, topicsTable(
		"t-0\tnone\t1,2,3\t2\t1,3\t1\t0\toffline,at-min-isr,under-replicated\tnone\n"), "")
	wide := ask(t, c, "describe topics -o wide")
	if column(t, wide.stdout, "LEADER")[1] != "1" || column(t, wide.stdout, "PREFERRED")[1] != "3" {
		t.Errorf("got %q, want leader 1 and, in a column of its own, preferred 3", wide.stdout)
	}
	for i, want := range []struct {
		leader    inspect.Opt[inspect.BrokerID]
		preferred inspect.BrokerID
		replicas  []inspect.BrokerID
		status    []inspect.Status
	}{
		{inspect.Unknown[inspect.BrokerID](), 1, []inspect.BrokerID{1, 2, 3}, []inspect.Status{"offline", "at-min-isr", "under-replicated"}},
		{inspect.Known[inspect.BrokerID](1), 3, []inspect.BrokerID{3, 1, 2}, []inspect.Status{"under-replicated", "wrong-leader"}},
	} {
		got := items[render.PartitionItem](t, ask(t, c, "describe topics -o json"))[i]
		if got.Leader != want.leader || got.PreferredLeader.Or(-1) != want.preferred ||
			!cmp.Equal(got.Replicas, want.replicas) || !cmp.Equal(got.Status, want.status) {
			t.Errorf("t-%d: got leader %s, preferred %s, replicas %v, status %v; want %+v",
				i, got.Leader, got.PreferredLeader, got.Replicas, got.Status, want)
		}
	}
}

// column is a column of a tab-separated table, without its header.
func column(t *testing.T, table, name string) []string {
	t.Helper()
	var out []string
	at := -1
	for i, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if i == 0 {
			for n, cell := range cells {
				if cell == name {
					at = n
				}
			}
			continue
		}
		if at < 0 || at >= len(cells) {
			t.Fatalf("no column %s in\n%s", name, table)
		}
		out = append(out, cells[at])
	}
	return out
}

// TestReassignmentIsNotUnderReplication: https://github.com/apache/kafka/pull/8837
// (KAFKA-10125). |ISR| 3 < |replicas| 4 was called under-replicated while the
// fourth was being added.
func TestReassignmentIsNotUnderReplication(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(4)
	topic := m.AddTopic("t", 3, 3)
	for _, p := range topic.Partitions {
		p.Leader, p.Replicas, p.Adding, p.Removing = 1, []int32{1, 2, 3, 4}, []int32{4}, []int32{1}
	}
	topic.Partitions[0].ISR = []int32{1, 2, 3}
	topic.Partitions[1].ISR = []int32{1, 2}
	// Finished between the two requests: nobody that is named is in replicas.
	p := topic.Partitions[2]
	p.Leader, p.Replicas, p.ISR, p.Adding = 2, []int32{2, 3, 4}, []int32{2, 3}, []int32{5}
	c := fakekafka.Start(t, m)

	under := "t-1\t1\t1,2,3,4\t1,2\t3\t1\t1\tunder-replicated,reassigning\tnone\n" +
		"t-2\t2\t2,3,4\t2,3\t4\t1\t1\tunder-replicated\tnone\n"
	ask(t, c, "describe topics").want(t, exitOK, topicsTable(
		"t-0\t1\t1,2,3,4\t1,2,3\tnone\t1\t2\treassigning\tnone\n"+under), "")
	for _, flag := range []string{"--under-replicated", "--under-replicated-partitions", "--under-replicated --kafka-semantics"} {
		ask(t, c, "describe topics "+flag).want(t, exitOK, topicsTable(under), "")
	}
	var got []string
	for _, p := range items[render.PartitionItem](t, ask(t, c, "describe topics -o json")) {
		got = append(got, fmt.Sprint(p.Status, p.OutOfSyncReplicas, p.AddingReplicas, p.RemovingReplicas))
	}
	want := []string{
		"[reassigning] [] [4] [1]", "[under-replicated reassigning] [3] [4] [1]", "[under-replicated] [4] [5] [1]",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	// The verdict is that of the two, and reassigning alone changes none.
	c.Change(func(m *fakekafka.Model) { m.Topic("t").Partitions = m.Topic("t").Partitions[:1] })
	if r := ask(t, c, "check health"); r.code != exitOK {
		t.Errorf("reassigning alone: got exit code %d, %q; want 0", r.code, r.stdout)
	}
}

// TestMinISRLargerThanRF: https://github.com/strimzi/strimzi-kafka-operator/issues/2964,
// https://github.com/apache/kafka/pull/14594. It was listed as under min ISR while
// acks=all was accepted.
func TestMinISRLargerThanRF(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	topic := m.AddTopic("t", 1, 1)
	topic.MinInsyncReplicas = 2
	p := topic.Partitions[0]
	p.Leader, p.Replicas, p.ISR = 2, []int32{2}, []int32{2}
	c := fakekafka.Start(t, m)

	const note = "min ISR 2 exceeds RF 1: ineffective\n"
	ask(t, c, "describe topics --exit-code").want(t, exitOK, topicsTable("t-0\t2\t2\t2\tnone\t1\t0\tok\t"+note), "")
	ask(t, c, "describe topics --under-min-isr --at-min-isr").want(t, exitOK, topicsHeader, "")
	ask(t, c, "describe topics --under-min-isr --kafka-semantics").want(t, exitOK,
		topicsTable("t-0\t2\t2\t2\tnone\t2\t-1\tunder-min-isr\t"+note), "")
	part := items[render.PartitionItem](t, ask(t, c, "describe topics -o json"))[0]
	got := fmt.Sprint(part.MinInsyncReplicas, part.EffectiveMinInsyncReplicas, part.Headroom, part.Status, part.Findings)
	if want := "2 1 0 [ok] [single-replica no-headroom min-isr-exceeds-rf]"; got != want {
		t.Errorf("got configured, effective, headroom, status, findings %s, want %s", got, want)
	}
	whole := items[render.ClusterItem](t, ask(t, c, "describe --exit-code -o json"))[0]
	if whole.Verdict != inspect.LevelOK || len(whole.Findings) != 2 || len(whole.Unhealthy) != 0 {
		t.Errorf("got verdict %s, findings %+v, unhealthy %+v; want ok with two findings", whole.Verdict, whole.Findings, whole.Unhealthy)
	}
	if r := ask(t, c, "check health"); r.code != exitOK || !strings.HasPrefix(r.stdout, "OK ") {
		t.Errorf("check health: got %+v, want OK", r)
	}
}

// TestUnreachableOrMuteBootstrap:
// https://github.com/confluentinc/confluent-kafka-python/issues/922,
// https://github.com/dpkp/kafka-python/issues/1889. Clients waited for a minute,
// and a tool exited with 0.
func TestUnreachableOrMuteBootstrap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		addr func(testing.TB) string
		line string // what stderr says behind the address
	}{
		{"closed", fakekafka.ClosedPort, ": dial: connection refused\n"},
		{"mute", fakekafka.SilentPort, ": no reply to ApiVersions within SOME s\n"},
		{"TLS", fakekafka.TLSPort, ": closed the connection on ApiVersions, as a TLS or SASL listener does when spoken to in plain text\n"},
		{"HTTP", fakekafka.HTTPPort, ": ApiVersions: the answer is not Kafka's protocol: it begins with \"HTTP/1.1\"\n"},
		{"closing", fakekafka.ClosingPort, ": closed the connection on ApiVersions, as a TLS or SASL listener does when spoken to in plain text\n"},
		{"half closed", fakekafka.HalfClosedPort, ": closed the connection on ApiVersions, as a TLS or SASL listener does when spoken to in plain text\n"},
	} {
		for _, command := range asking(t) {
			for _, format := range []string{"table", "wide", "json", "yaml"} {
				t.Run(strings.Join([]string{tt.name, command, format}, " "), func(t *testing.T) {
					t.Parallel()
					timeout := time.Minute
					if tt.name == "mute" { // the only one that is waited for
						timeout = 600 * time.Millisecond
					}
					addr := tt.addr(t)
					began := time.Now()
					r := place{}.run(t.Context(), append(strings.Fields(command), "-b", addr, "-o", format, "--timeout", timeout.String())...)
					r.stderr = spans.ReplaceAllString(r.stderr, "within SOME s") // by the clock
					r.want(t, exitFailed, "", "kafkaops: "+addr+tt.line)
					if took := time.Since(began); took > timeout/2+patience/4 { // hung
						t.Errorf("took %s with a timeout of %s", took, timeout)
					}
				})
			}
		}
	}
}

var spans = regexp.MustCompile(`within [0-9.]+m?s`)

// TestOneGoodBootstrapOfThree works, and warns: see TestUnreachableOrMuteBootstrap.
func TestOneGoodBootstrapOfThree(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	for _, command := range asking(t) {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			closed, mute := fakekafka.ClosedPort(t), fakekafka.SilentPort(t)
			list := strings.Join([]string{closed, mute, c.Addr(1)}, ",")
			for _, format := range []string{"table", "json"} {
				r := place{}.run(t.Context(), append(strings.Fields(command), "-b", list, "-o", format)...)
				if r.code != exitOK || r.stdout == "" {
					t.Errorf("-o %s: got exit code %d, %d bytes on stdout; want 0 and an answer", format, r.code, len(r.stdout))
				}
				lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
				if len(lines) != 2 || !strings.Contains(r.stderr, closed+": dial: connection refused; went on with "+c.Addr(1)) ||
					!strings.Contains(r.stderr, mute+": ApiVersions: no answer within ") {
					t.Errorf("-o %s: got stderr %q, want a line for each that did not answer", format, r.stderr)
				}
			}
		})
	}
}

// TestAdvertisedAddressUnreachable: the bootstrap address is good, and the one
// that the broker advertises is not. See TestUnreachableOrMuteBootstrap.
func TestAdvertisedAddressUnreachable(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	host, port, err := net.SplitHostPort(fakekafka.ClosedPort(t))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	c.Change(func(m *fakekafka.Model) { m.Broker(2).AdvertisedHost, m.Broker(2).AdvertisedPort = host, int32(n) })
	for command, lost := range map[string]string{
		"describe": "", "check health": "",
		"describe brokers": "; its 5 replicas are shown as unknown", "lag": "; its 5 replicas are shown as unknown",
		"check health --max-lag 10": "; its 5 replicas are shown as unknown",
	} {
		want := "kafkaops: broker 2 (" + net.JoinHostPort(host, port) + "): dial: connection refused" + lost +
			". the bootstrap server answered; this is the address that the broker advertises (advertised.listeners): is it up, and reachable from here?\n"
		for _, format := range []string{"table", "json"} {
			r := ask(t, c, command+" -o "+format)
			if r.code != exitFailed || r.stdout == "" || r.stderr != want {
				t.Errorf("%s -o %s: got exit code %d, %d bytes on stdout, stderr\n%swant 1, what is known of the others, and\n%s",
					command, format, r.code, len(r.stdout), r.stderr, want)
			}
		}
	}
}

// TestPermissionMissingForOnePart: https://github.com/apache/kafka/pull/8947
// (KAFKA-10212), https://github.com/StephenSorriaux/ansible-kafka-admin/issues/123,
// https://github.com/obsidiandynamics/kafdrop/issues/115. Nothing at all was shown.
func TestPermissionMissingForOnePart(t *testing.T) {
	t.Parallel()
	const (
		reassignments = "kafkaops: broker-1: ListPartitionReassignments: CLUSTER_AUTHORIZATION_FAILED; reassignments are unknown. grant DESCRIBE on the cluster\n"
		configs       = "kafkaops: broker-1: DescribeConfigs: TOPIC_AUTHORIZATION_FAILED; min.insync.replicas is unknown for topic t. grant DESCRIBE_CONFIGS on the topic\n"
	)
	for _, tt := range []struct {
		name                      string
		deny                      []kmsg.Key
		min, headroom, adding     string
		minKnown, reassigningKnow bool
		stderr                    string
	}{
		{"reassignments", []kmsg.Key{kmsg.ListPartitionReassignments}, "2", "1", "-", true, false, reassignments},
		{"configs", []kmsg.Key{kmsg.DescribeConfigs}, "-", "-", "none", false, true, configs},
		{
			"all but the topic",
			[]kmsg.Key{kmsg.ListPartitionReassignments, kmsg.DescribeConfigs},
			"-", "-", "-", false, false, configs + reassignments,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewModel(3)
			topic := m.AddTopic("t", 1, 3)
			topic.MinInsyncReplicas, topic.Partitions[0].HW = 2, 50
			m.Deny = tt.deny
			c := fakekafka.Start(t, m)

			ask(t, c, "describe topics").names(c).want(t, exitFailed,
				topicsTable(fmt.Sprintf("t-0\t1\t1,2,3\t1,2,3\tnone\t%s\t%s\tunknown\tnone\n", tt.min, tt.headroom)), tt.stderr)
			ask(t, c, "lag").names(c).want(t, exitFailed, lagHeader+
				"t-0\t1\t50\t50\t0\t1\t50\t0\tleader\tunknown\n"+
				"t-0\t1\t50\t50\t0\t2\t50\t0\tin-sync\tunknown\n"+
				"t-0\t1\t50\t50\t0\t3\t50\t0\tin-sync\tunknown\n", tt.stderr)
			wide := ask(t, c, "describe topics -o wide")
			for _, name := range []string{"ADDING", "REMOVING"} {
				if got := column(t, wide.stdout, name)[0]; got != tt.adding {
					t.Errorf("%s: got %q, want %q", name, got, tt.adding)
				}
			}
			r := ask(t, c, "describe topics -o json")
			part := items[render.PartitionItem](t, r)[0]
			if part.MinInsyncReplicas.IsKnown() != tt.minKnown || part.EffectiveMinInsyncReplicas.IsKnown() != tt.minKnown ||
				part.AddingReplicas.IsKnown() != tt.reassigningKnow || !cmp.Equal(part.Status, []inspect.Status{"unknown"}) {
				t.Errorf("got %+v", part)
			}
			if n := len(documents[render.PartitionItem](t, r.stdout)[0].Errors); n != len(tt.deny) {
				t.Errorf("got %d errors in the document, want %d", n, len(tt.deny))
			}
			for line, want := range map[string]string{
				"describe": "verdict\tunknown\n", "check health": "UNKNOWN cluster ",
			} {
				r := ask(t, c, line).names(c)
				if r.code != exitFailed || !strings.HasPrefix(r.stdout, want) || r.stderr != tt.stderr {
					t.Errorf("%s: got %+v, want exit code 1 and %q", line, r, want)
				}
			}
		})
	}
}

// TestAskingDoesNotCreate: https://github.com/edenhill/kcat/issues/65; sarama's own
// default allows it. A mistyped name came into being by asking about it.
func TestAskingDoesNotCreate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		apis map[kmsg.Key]fakekafka.VersionRange
	}{
		{"Kafka 4.4", nil},
		{"before DescribeTopicPartitions", fakekafka.APIs(kmsg.DescribeTopicPartitions)},
		{"before DescribeCluster too", fakekafka.APIs(kmsg.DescribeTopicPartitions, kmsg.DescribeCluster)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := healthyModel()
			m.APIs = tt.apis
			c := fakekafka.Start(t, m)
			const missing = "kafkaops: topic ordres: Metadata: no such topic, or no permission to see it\n"
			ask(t, c, "describe topics ordres").want(t, exitFailed, topicsHeader, missing)
			ask(t, c, "lag ordres").want(t, exitFailed, lagHeader, missing)
			for _, line := range []string{"describe topics ordres orders -o json", "lag --topic ordres orders -o json", "lag ordres orders* -o json"} {
				r := ask(t, c, line)
				docs := documents[map[string]any](t, r.stdout)
				if r.code != exitFailed || docs[0].Complete || len(docs[0].Items) != 2 || len(docs[0].Errors) != 1 || docs[0].Errors[0].Topic != "ordres" {
					t.Errorf("%s: got exit code %d, %+v; want 1, two items and an error about ordres", line, r.code, docs)
				}
			}
			if got := c.Created(); len(got) > 0 {
				t.Errorf("asking created %v", got)
			}
		})
	}
}

// TestFilterThatCannotBeEvaluated, as in https://github.com/twmb/kcl, whose
// --under-min-isr was accepted and filtered nothing: it has to fail, and never
// to pass all.
func TestFilterThatCannotBeEvaluated(t *testing.T) {
	t.Parallel()
	m := healthyModel()
	m.Deny = []kmsg.Key{kmsg.DescribeConfigs}
	// An empty ISR is under every minimum, so that this one is decided.
	p := m.Topic("orders").Partitions[1]
	p.Leader, p.ISR = fakekafka.NoLeader, nil
	c := fakekafka.Start(t, m)
	const (
		denied    = "kafkaops: broker-1: DescribeConfigs: TOPIC_AUTHORIZATION_FAILED; min.insync.replicas is unknown for 3 topics, __consumer_offsets among them. grant DESCRIBE_CONFIGS on the topic\n"
		undecided = "kafkaops: DescribeConfigs: the filter leaves out %d partitions for which it could not be decided\n"
		certain   = "orders-1\tnone\t2,3,1\tnone\t2,3,1\t-\t-\toffline,under-min-isr,under-replicated,unknown\tnone\n"
	)
	for flags, want := range map[string]struct {
		rows   string
		stderr string
	}{
		"--under-min-isr":                 {certain, denied + fmt.Sprintf(undecided, 4)},
		"--under-min-isr-partitions":      {certain, denied + fmt.Sprintf(undecided, 4)},
		"--at-min-isr":                    {"", denied + fmt.Sprintf(undecided, 5)},
		"--at-min-isr-partitions":         {"", denied + fmt.Sprintf(undecided, 5)},
		"--at-min-isr --under-replicated": {certain, denied + fmt.Sprintf(undecided, 4)},
		"--under-replicated":              {certain, denied},
		"--unavailable":                   {certain, denied},
	} {
		ask(t, c, "describe topics "+flags).names(c).want(t, exitFailed, topicsTable(want.rows), want.stderr)
		r := ask(t, c, "describe topics -o json "+flags)
		if got, want := len(items[render.PartitionItem](t, r)), strings.Count(want.rows, "\n"); got != want || r.code != exitFailed {
			t.Errorf("%s -o json: got %d items, exit code %d; want %d, 1", flags, got, r.code, want)
		}
	}
}

// TestStrictMinISR, seen on a live cluster: ISR {1} under min ISR 2, and a
// producer with acks=1 that goes on writing. LEO 91, HW 50.
func TestStrictMinISR(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	topic := m.AddTopic("t", 1, 3)
	topic.MinInsyncReplicas = 2
	p := topic.Partitions[0]
	p.HW, p.ISR = 50, []int32{1}
	p.SetLEO(1, 91)
	c := fakekafka.Start(t, m)

	const status = "under-min-isr,under-replicated\n"
	ask(t, c, "lag --exit-code").want(t, exitUnhealthy, lagHeader+
		"t-0\t1\t50\t91\t41\t1\t91\t0\tleader\t"+status+
		"t-0\t1\t50\t91\t41\t2\t50\t41\tout-of-sync\t"+status+
		"t-0\t1\t50\t91\t41\t3\t50\t41\tout-of-sync\t"+status, "")
	item := items[render.LagItem](t, ask(t, c, "lag -o json"))[0]
	if got, want := fmt.Sprint(item.Uncommitted, item.HWFrozenMs, item.Rates == nil, item.Notes), "41 - true []"; got != want {
		t.Errorf("got uncommitted, frozen, no rates, notes %s; want %s", got, want)
	}

	onPass(c, func(_ int, m *fakekafka.Model) {
		p := m.Topic("t").Partitions[0]
		p.SetLEO(1, p.LogEnd(1)+7)
	})
	const acks = "a producer is not using acks=all"
	item = items[render.LagItem](t, ask(t, c, "lag --samples 4 --interval 100ms -o json"))[0]
	if item.HWFrozenMs.Or(0) < 300 || !strings.Contains(strings.Join(item.Notes, "\n"), acks) {
		t.Errorf("with samples: got frozen for %s ms, notes %q; want 300 at least, and %q", item.HWFrozenMs, item.Notes, acks)
	}
	r := place{width: 160, height: 24}.ask(t, c, "lag --samples 4 --interval 100ms --color never")
	text := strings.Join(strings.Fields(r.stdout), " ") // notes are broken into lines
	for _, want := range []string{"HW frozen for ", acks, "under-min-isr", "wait above the HW"} {
		if !strings.Contains(text, want) {
			t.Errorf("with samples: got\n%swant %q in it", r.stdout, want)
		}
	}
	if r.code != exitOK || r.stderr != "" {
		t.Errorf("with samples: got exit code %d, stderr %q; want 0 and nothing", r.code, r.stderr)
	}
}

// topicsTable is describe topics in a pipe, of rows without what the metadata log tells,
// which fakes have not.
func topicsTable(rows string) string {
	return topicsHeader + strings.ReplaceAll(rows, "\n", "\t-\t-\n")
}
