// Package kafkatest starts a real Apache Kafka for tests: a controller of its
// own (node 100), so that the quorum outlives the brokers a test breaks, and
// brokers 1 to N, all on loopback.
//
// The door is [Start], for a cluster of one test, or [Share], for one cluster
// of a whole package's tests:
//
//	var cluster = kafkatest.Share(kafkatest.Options{Brokers: 3})
//
//	func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }
//
//	func TestFrozenFollower(t *testing.T) {
//		c := cluster.Get(t) // starts it, or skips the test if it cannot be
//		c.CreateTopic(t, "orders", [][]int32{{1, 2, 3}}, nil)
//		c.Pause(t, 2)
//		c.ProduceRecords(t, "orders", 0, 50, 1, 100)
//		kafkatest.Eventually(t, 15*time.Second, func() error { ... })
//	} // what the test broke is healed at its end
//
// A [Cluster] can be broken ([Cluster.Kill], [Cluster.Pause], ...), mended
// ([Cluster.Heal]), asked by any client ([Cluster.Bootstrap]) and by Kafka's
// own command-line tools ([Cluster.Tool]).
//
// With Options.ZooKeeper node 100 is a ZooKeeper, of Kafka 3.9's own
// dependencies, and one of the brokers is the controller.
//
// [Fetch] (and the command in fetch, which make deps runs) resolves Kafka's
// jars with Maven into a cache: $KAFKAOPS_TEST_CACHE, or kafkaops-test in the
// user's cache directory. Tests never fetch. Where something is missing they
// are skipped, or fail if CI=true; see [Need].
//
// One process at a time may have a cluster up on a machine: clusters starve
// each other of processors, and tests of timing then fail for no good reason.
// The others wait at Start for as long as their -timeout permits.
//
// Timeouts to know when a test breaks a broker. A broker that is killed or
// paused is fenced after broker.session.timeout.ms (9 s), long before
// replica.lag.time.max.ms (30 s) can drop it from an ISR. The former acts on
// the controller, which therefore gets Options.Properties too; and one that
// was stopped or killed cannot come back before that time is over, however it
// ended (the controller answers DUPLICATE_BROKER_REGISTRATION). Kafka wants
// broker.heartbeat.interval.ms <= broker.session.timeout.ms / 2 and
// replica.fetch.wait.max.ms <= replica.lag.time.max.ms.
//
// The package does not simulate anything, and is not for production. On
// systems other than Linux a test binary that is killed may leave Kafka's
// processes behind.
package kafkatest
