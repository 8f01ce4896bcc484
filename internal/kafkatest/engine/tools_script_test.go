package engine_test

import (
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

const (
	brokerVersionsCommand = "org.apache.kafka.tools.BrokerApiVersionsCommand"
	clusterTool           = "org.apache.kafka.tools.ClusterTool"
	consoleConsumer       = "org.apache.kafka.tools.consumer.ConsoleConsumer"
	consoleProducer       = "org.apache.kafka.tools.ConsoleProducer"
	deleteRecordsCommand  = "org.apache.kafka.tools.DeleteRecordsCommand"
	producerPerformance   = "org.apache.kafka.tools.ProducerPerformance"
)

// playTools runs the tools on three brokers, as a person would.
func playTools(t *testing.T, c *kafkatest.Cluster) string {
	t.Helper()
	b := newToolbox(t, c.BootstrapServer())
	b.topics()
	b.records(t)
	b.configs()
	b.moves(t)
	b.throttles(t)
	b.cluster(c)
	b.run(step{}, kafkatest.TopicCommand, "--delete", "--topic", "orders")
	b.run(step{gone: "orders"}, kafkatest.TopicCommand, "--list")
	b.run(step{}, kafkatest.TopicCommand, "--delete", "--topic", "none")
	return b.out.String()
}

func (b *toolbox) topics() {
	topic := func(args ...string) { b.run(step{}, kafkatest.TopicCommand, args...) }
	topic("--create", "--topic", "orders", "--replica-assignment", "1:2:3,2:3:1", "--config", "min.insync.replicas=2")
	topic("--create", "--topic", "orders", "--partitions", "1")
	topic("--create", "--topic", "orders", "--if-not-exists")
	topic("--create", "--topic", "a b", "--partitions", "1")
	topic("--create", "--topic", "payments", "--replica-assignment", "3:1")
	topic("--create", "--topic", "wide", "--partitions", "6", "--replication-factor", "9")
	b.run(step{until: "payments"}, kafkatest.TopicCommand, "--list")
	b.run(step{until: "Isr: 2,3,1"}, kafkatest.TopicCommand, "--describe")
	topic("--describe", "--topic", "orders")
	topic("--describe", "--topic", "none")
	topic("--describe", "--topics-with-overrides")
	for _, filter := range []string{
		"--under-replicated-partitions", "--unavailable-partitions", "--at-min-isr-partitions", "--under-min-isr-partitions",
	} {
		topic("--describe", filter)
	}
	topic("--alter", "--topic", "payments", "--partitions", "2", "--replica-assignment", "3:1,1:2")
	topic("--alter", "--topic", "payments", "--partitions", "1")
	topic("--alter", "--topic", "none", "--partitions", "3")
	b.run(step{until: "Partition: 1"}, kafkatest.TopicCommand, "--describe", "--topic", "payments", "--partition-size-limit-per-response", "1")
}

func (b *toolbox) records(t *testing.T) {
	b.run(step{stdin: "one:1\ntwo:2\nthree:3\n"}, consoleProducer, "--topic", "payments", "--command-property", "acks=all",
		"--reader-property", "parse.key=true", "--reader-property", "key.separator=:")
	b.run(step{stdin: "first\nsecond\nthird\n"}, consoleProducer, "--topic", "orders", "--compression-codec", "zstd", "--sync",
		"--reader-property", "parse.key=false")
	// To both partitions: otherwise a leader that is slow may get none.
	b.with(step{quiet: true}, producerPerformance, "--topic", "orders", "--num-records", "2000", "--record-size", "100", "--throughput", "-1",
		"--bootstrap-server", b.bootstrap, "--command-property", "acks=all", "--command-property", "compression.type=lz4",
		"--command-property", "partitioner.class=org.apache.kafka.clients.producer.RoundRobinPartitioner")
	b.run(step{until: ":"}, kafkatest.GetOffsetShell, "--topic", "payments", "--time", "earliest")
	for _, time := range []string{"latest", "earliest-local"} {
		b.run(step{}, kafkatest.GetOffsetShell, "--topic", "payments", "--time", time)
	}
	b.run(step{}, kafkatest.GetOffsetShell, "--topic", "none")
	for _, partition := range []string{"0", "1"} {
		b.run(step{}, consoleConsumer, "--topic", "payments", "--partition", partition, "--offset", "earliest", "--max-messages", "1",
			"--timeout-ms", "20000", "--formatter-property", "print.key=true", "--formatter-property", "print.offset=true")
	}
	b.run(step{sorted: true}, deleteRecordsCommand, "--offset-json-file", file(t, "delete.json",
		`{"version":1,"partitions":[{"topic":"orders","partition":0,"offset":1},{"topic":"payments","partition":1,"offset":-1}]}`))
	b.run(step{}, deleteRecordsCommand, "--offset-json-file", file(t, "bad.json",
		`{"version":1,"partitions":[{"topic":"orders","partition":0,"offset":1000000}]}`))
}

func (b *toolbox) configs() {
	config := func(args ...string) { b.run(step{}, kafkatest.ConfigCommand, args...) }
	config("--alter", "--entity-type", "topics", "--entity-name", "orders", "--add-config", "retention.ms=86400000,max.message.bytes=100000")
	b.run(step{until: "retention.ms"}, kafkatest.ConfigCommand, "--describe", "--entity-type", "topics", "--entity-name", "orders")
	config("--alter", "--entity-type", "topics", "--entity-name", "orders", "--delete-config", "retention.ms")
	config("--alter", "--entity-type", "topics", "--entity-name", "orders", "--add-config", "retention.ms=soon")
	config("--alter", "--entity-type", "topics", "--entity-name", "none", "--add-config", "retention.ms=1")
	config("--describe", "--entity-type", "topics", "--entity-name", "payments", "--all")
	config("--alter", "--entity-type", "brokers", "--entity-name", "2", "--add-config", "log.retention.ms=1000000")
	config("--alter", "--entity-type", "brokers", "--entity-default", "--add-config", "log.retention.ms=2000000")
	b.run(step{until: "log.retention.ms"}, kafkatest.ConfigCommand, "--describe", "--entity-type", "brokers", "--entity-name", "2")
	config("--describe", "--entity-type", "brokers", "--entity-default")
	config("--alter", "--entity-type", "brokers", "--entity-name", "2", "--delete-config", "log.retention.ms")
	config("--alter", "--entity-type", "brokers", "--entity-default", "--delete-config", "log.retention.ms")
	config("--describe", "--entity-type", "topics")
}

func (b *toolbox) moves(t *testing.T) {
	b.run(step{}, kafkatest.LeaderElectionCommand, "--election-type", "preferred", "--all-topic-partitions")
	b.run(step{}, kafkatest.LeaderElectionCommand, "--election-type", "preferred", "--topic", "orders", "--partition", "0")
	b.run(step{}, kafkatest.LeaderElectionCommand, "--election-type", "unclean", "--topic", "none", "--partition", "0")
	b.run(step{quiet: true}, kafkatest.ReassignPartitionsCommand, "--generate", "--broker-list", "2,3",
		"--topics-to-move-json-file", file(t, "topics.json", `{"version":1,"topics":[{"topic":"payments"}]}`))
	plan := file(t, "plan.json", `{"version":1,"partitions":[{"topic":"payments","partition":0,"replicas":[2,3]},{"topic":"payments","partition":1,"replicas":[3]}]}`)
	b.run(step{}, kafkatest.ReassignPartitionsCommand, "--execute", "--reassignment-json-file", plan)
	b.run(step{until: "payments-0 is completed.\nout Reassignment of partition payments-1 is completed."}, kafkatest.ReassignPartitionsCommand, "--verify", "--reassignment-json-file", plan)
	b.run(step{}, kafkatest.ReassignPartitionsCommand, "--list")
	b.run(step{}, kafkatest.ReassignPartitionsCommand, "--cancel", "--reassignment-json-file", plan)
	b.run(step{until: "Isr: 3"}, kafkatest.TopicCommand, "--describe", "--topic", "payments", "--at-min-isr-partitions")
	b.run(step{numbers: true}, kafkatest.LogDirsCommand, "--describe", "--topic-list", "payments")
}

// throttles moves replicas at a bounded rate (KIP-73): the tool sets the configs, and
// --verify takes them back when all is done. The order of the ISRs is told.
func (b *toolbox) throttles(t *testing.T) {
	config := func(args ...string) {
		b.run(step{}, kafkatest.ConfigCommand, append([]string{"--describe"}, args...)...)
	}
	describe := func() {
		config("--entity-type", "topics", "--entity-name", "orders")
		config("--entity-type", "brokers", "--entity-name", "1")
		config("--entity-type", "brokers")
	}
	plan := file(t, "throttled.json", `{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[3,2]},{"topic":"orders","partition":1,"replicas":[1,3]}]}`)
	back := file(t, "back.json", `{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[2,1,3]},{"topic":"orders","partition":1,"replicas":[3,1,2]}]}`)
	b.run(step{}, kafkatest.ReassignPartitionsCommand, "--execute", "--throttle", "1000000", "--reassignment-json-file", plan)
	describe()
	b.run(step{}, kafkatest.ReassignPartitionsCommand, "--verify", "--preserve-throttles", "--reassignment-json-file", plan)
	b.run(step{until: "Clearing topic-level throttles"}, kafkatest.ReassignPartitionsCommand, "--verify", "--reassignment-json-file", plan)
	describe()
	b.run(step{until: "Replicas: 1,3\tIsr"}, kafkatest.TopicCommand, "--describe", "--topic", "orders")
	// Far below what there is to move: it is under way until it may go faster.
	b.run(step{}, kafkatest.ReassignPartitionsCommand, "--execute", "--throttle", "10", "--reassignment-json-file", back)
	// Which of the new replicas have a directory yet is a matter of luck.
	b.run(step{quiet: true}, kafkatest.ReassignPartitionsCommand, "--execute", "--additional", "--throttle", "2000000000", "--reassignment-json-file", back)
	describe()
	b.run(step{until: "Clearing topic-level throttles"}, kafkatest.ReassignPartitionsCommand, "--verify", "--reassignment-json-file", back)
	b.run(step{}, kafkatest.TopicCommand, "--describe", "--topic", "orders")
	for _, value := range []string{"*", "0:1", "[0:1,1:2]", "0:x", "all"} {
		b.run(step{}, kafkatest.ConfigCommand, "--alter", "--entity-type", "topics", "--entity-name", "orders", "--add-config", "leader.replication.throttled.replicas="+value)
	}
	b.run(step{}, kafkatest.ConfigCommand, "--alter", "--entity-type", "topics", "--entity-name", "orders", "--delete-config", "leader.replication.throttled.replicas")
	for _, value := range []string{"0", "-1"} {
		b.run(step{}, kafkatest.ConfigCommand, "--alter", "--entity-type", "brokers", "--entity-name", "2", "--add-config", "follower.replication.throttled.rate="+value)
	}
	b.run(step{}, kafkatest.ConfigCommand, "--alter", "--entity-type", "brokers", "--entity-name", "2", "--delete-config", "follower.replication.throttled.rate")
}

func (b *toolbox) cluster(c *kafkatest.Cluster) {
	b.with(step{numbers: true}, kafkatest.MetadataQuorumCommand, "--bootstrap-server", b.bootstrap, "describe", "--status")
	b.with(step{numbers: true}, kafkatest.MetadataQuorumCommand, "--bootstrap-server", b.bootstrap, "describe", "--replication")
	b.with(step{numbers: true}, kafkatest.MetadataQuorumCommand, "--bootstrap-controller", c.ControllerAddr(), "describe", "--status")
	b.with(step{quiet: true}, kafkatest.FeatureCommand, "--bootstrap-server", b.bootstrap, "describe")
	b.with(step{}, kafkatest.FeatureCommand, "--bootstrap-server", b.bootstrap, "upgrade", "--feature", "eligible.leader.replicas.version=1")
	b.with(step{}, clusterTool, "cluster-id", "--bootstrap-server", b.bootstrap)
	b.with(step{}, clusterTool, "list-endpoints", "--bootstrap-server", b.bootstrap)
	b.with(step{}, clusterTool, "list-endpoints", "--bootstrap-server", b.bootstrap, "--include-fenced-brokers")
	b.with(step{}, clusterTool, "list-endpoints", "--bootstrap-controller", c.ControllerAddr())
	b.with(step{}, clusterTool, "unregister", "--bootstrap-server", b.bootstrap, "--id", "77")
	b.with(step{}, kafkatest.TransactionsCommand, "--bootstrap-server", b.bootstrap, "list")
	b.with(step{quiet: true}, kafkatest.TransactionsCommand, "--bootstrap-server", b.bootstrap, "describe-producers", "--topic", "orders", "--partition", "0")
	b.run(step{quiet: true}, brokerVersionsCommand)
	for _, class := range []string{kafkatest.ConfigCommand} {
		b.with(step{quiet: true}, class, strings.Fields("--bootstrap-controller "+c.ControllerAddr()+" --describe --entity-type brokers --entity-name 100 --all")...)
	}
}
