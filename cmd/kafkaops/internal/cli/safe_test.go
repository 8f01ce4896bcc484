package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// safeLines are the ways to call each command that TestSafeOverTheWire runs: all
// that may change what is sent. A command of the tree that is missing here fails
// the test.
var safeLines = map[string][]string{
	"describe":          {"", "--exclude-internal", "--exit-code -o json"},
	"describe brokers":  {"", "-o wide"},
	"describe configs":  {"", "orders", "nosuch", "nosuch* orders", "--topic nosuch-2", "--all --exit-code", "--exclude-internal -o json"},
	"describe features": {"", "--exit-code -o json"},
	"describe log-dirs": {"", "--exit-code -o json"},
	"describe quorum":   {"", "-o wide", "--exit-code -o json"},
	"describe reassignments": {
		"", "orders", "payments-eu", "nosuch", "nosuch* orders", "--topic nosuch-2", "payments-eu --samples 2 --interval 100ms",
	},
	"describe transactions": {"", "-o wide", "--exit-code -o json"},
	"describe topics": {
		"", "orders", "orders payments-eu --kafka-semantics", "orders*", "nosuch", "nosuch orders", "nosuch* nosuch",
		"--topic nosuch-2", "--under-min-isr --at-min-isr --under-replicated --unavailable", "--exclude-internal",
	},
	"lag": {
		"", "orders", "nosuch", "nosuch orders", "nosuch* orders nosuch", "--min 1 --top 2 --exit-code", "--exclude-internal",
		"orders --samples 3 --interval 100ms", "nosuch --samples 2 --interval 100ms",
	},
	"lag groups": {
		"", "billing", "nosuch", "nosuch billing", "nosuch* b*", "--group nosuch-2", "billing --time", "--time", "-o wide",
		"--state Stable,Empty --type classic", "--exit-code --min 1 --top 2", "billing --samples 3 --interval 100ms",
	},
	"check access": {
		"", "--topic orders", "--topic nosuch", "--topic nosuch* --topic orders", "--group billing", "--group nosuch --group b*",
		"--exclude-internal -o json", "-o wide",
	},
	"check health": {"", "--nagios", "--max-lag 10 --max-uncommitted 10", "--nagios --max-lag 10", "--exclude-internal"},

	"export": {
		"--topics orders --groups billing --partition-metrics none --replica-metrics unhealthy", "",
	},

	// These ask nobody.
	"context": {""}, "context list": {""}, "context show": {"", "prod"}, "context use": {"", "prod"},
	"": {""}, "check": {""}, "help": {"", "lag"}, "version": {""},
	"completion": {""}, "completion bash": {""}, "completion fish": {""}, "completion powershell": {""}, "completion zsh": {""},
}

// ownCluster: a command for clusters that kafkaops itself runs, which it reaches by
// their control socket and their own addresses. It takes no other's.
func ownCluster(command string) bool {
	return command == "demo" || command == "cluster" || strings.HasPrefix(command, "cluster ")
}

// reads are the only requests that kafkaops may send: none of them changes a
// cluster. FindCoordinator is not among them: it creates __consumer_offsets.
var reads = map[kmsg.Key]bool{
	kmsg.ApiVersions: true, kmsg.DescribeCluster: true, kmsg.DescribeConfigs: true, kmsg.DescribeLogDirs: true,
	kmsg.DescribeTopicPartitions: true, kmsg.ListOffsets: true, kmsg.ListPartitionReassignments: true, kmsg.Metadata: true,
	kmsg.DescribeQuorum: true, kmsg.ListGroups: true, kmsg.DescribeGroups: true, kmsg.ConsumerGroupDescribe: true, kmsg.OffsetFetch: true,
	kmsg.ListTransactions: true, kmsg.DescribeTransactions: true, kmsg.DescribeProducers: true, kmsg.DescribeACLs: true,
}

// TestSafeOverTheWire runs every command in every way against clusters of several
// ages and moods, and looks at every request that they got.
func TestSafeOverTheWire(t *testing.T) {
	t.Parallel()
	for _, cmd := range commands(t) {
		if len(safeLines[pathOf(cmd)]) == 0 && !ownCluster(pathOf(cmd)) && !readsLog(cmd) { // TestIsrWithoutLog, TestRecordWithoutLog
			t.Errorf("kafkaops %s is not run here: add it to safeLines", pathOf(cmd))
		}
	}
	for name, change := range map[string]func(*fakekafka.Model){
		"Kafka 4.4":   func(*fakekafka.Model) {},
		"Kafka 3.6":   func(m *fakekafka.Model) { m.APIs = fakekafka.APIs(kmsg.DescribeTopicPartitions) },
		"no internal": func(m *fakekafka.Model) { m.Topics = m.Topics[:2] },
		"all refused": func(m *fakekafka.Model) {
			for key := range fakekafka.APIs(kmsg.ApiVersions) {
				m.Deny = append(m.Deny, key)
			}
		},
		"unhealthy": func(m *fakekafka.Model) {
			m.Topic("orders").Partitions[0].Leader = fakekafka.NoLeader
			m.Topic("orders").Partitions[1].Shrink(1)
			m.Broker(3).Fenced = true
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := healthyModel()
			transact(m)
			reassign(m)
			audit := m.AddGroup("audit", fakekafka.ConsumerGroup)
			audit.Join("audit-1", "payments-eu", 0)
			audit.Commit("payments-eu", 0, 900)
			change(m)
			c := fakekafka.Start(t, m)
			for command, lines := range safeLines {
				if slices.Contains(asking(t), command) || command == "export" {
					continue
				}
				for _, flags := range lines {
					place{env: map[string]string{envBootstrap: c.Bootstrap()}}.run(t.Context(), strings.Fields(command+" "+flags)...)
				}
			}
			if n := len(c.Requests()); n > 0 {
				t.Errorf("commands that ask nobody sent %d requests", n)
			}
			for _, command := range asking(t) {
				c.Reset()
				for _, flags := range safeLines[command] {
					ask(t, c, command+" "+flags)
				}
				if n := len(c.Requests()); n < len(safeLines[command]) {
					t.Errorf("kafkaops %s sent %d requests: it was not run", command, n)
				}
				s := place{}.start(t, c.Addr(1), command+" -o json"+watching)
				await(t, c, kmsg.ApiVersions, c.Count(kmsg.ApiVersions)+8) // two passes at least
				s.interrupt()
				checkRequests(t, c, command)
			}
			for _, flags := range safeLines["export"] {
				c.Reset()
				s := place{}.start(t, c.Addr(1), "export --web.listen-address 127.0.0.1:0 --collect-interval 1s --sample-interval 100ms "+flags)
				await(t, c, kmsg.Metadata, 15) // two collections, with samples between
				s.interrupt()
				checkRequests(t, c, "export "+flags)
			}
			if created := c.Created(); len(created) > 0 {
				t.Errorf("asking created %v", created)
			}
		})
	}
}

// checkRequests looks at all that a cluster was sent.
func checkRequests(t *testing.T, c *fakekafka.Cluster, command string) {
	t.Helper()
	for _, r := range c.Requests() {
		if !reads[r.Key] {
			t.Errorf("kafkaops %s sent %s, which is not among the requests that only read", command, r.Key.Name())
		}
		if r.Err != nil || r.Body == nil {
			t.Errorf("kafkaops %s sent %s v%d, which the broker did not offer: %v", command, r.Key.Name(), r.Version, r.Err)
		}
		if r.ClientID != "kafkaops" {
			t.Errorf("kafkaops %s sent %s as client %q, want kafkaops", command, r.Key.Name(), r.ClientID)
		}
		switch body := r.Body.(type) {
		case *kmsg.MetadataRequest:
			if body.AllowAutoTopicCreation || body.Version < 4 {
				t.Errorf("kafkaops %s sent Metadata v%d that may create topics", command, body.Version)
			}
		case *kmsg.ListOffsetsRequest:
			if body.ReplicaID != -1 && body.ReplicaID != -2 {
				t.Errorf("kafkaops %s sent ListOffsets as replica %d, want a consumer (-1) or a debugging one (-2)", command, body.ReplicaID)
			}
		case *kmsg.ApiVersionsRequest:
			if body.Version >= 3 && body.ClientSoftwareName != "kafkaops" {
				t.Errorf("kafkaops %s sent ApiVersions as software %q, want kafkaops", command, body.ClientSoftwareName)
			}
		}
	}
}
