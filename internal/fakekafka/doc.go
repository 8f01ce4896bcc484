// Package fakekafka plays a Kafka cluster on loopback, for tests: real sockets
// and the real protocol over a model that the test writes down, with Kafka
// 4.4's answers and error codes, and with brokers that misbehave on command.
//
// A test starts from
//
//   - [NewModel], [Model.AddTopic], [Model.AddGroup]: the cluster's state, plain data
//   - [Start]: N brokers that answer from it until the test ends; [Cluster.Change]
//     alters the state while they run
//   - [Cluster.Break], [Cluster.Heal], [Cluster.Intercept]: what goes wrong
//   - [Cluster.Requests], [Cluster.Count], [Cluster.Await], [Cluster.Created]: what
//     was asked, and what asking has changed
//
// Three brokers and one topic, broker 3 hung, and what was asked of broker 1:
//
//	m := fakekafka.NewModel(3)
//	p := m.AddTopic("t1", 1, 3).Partitions[0]
//	p.HW = 50
//	p.SetLEO(1, 75) // the leader
//	p.SetLEO(2, 60)
//	c := fakekafka.Start(t, m)
//	c.Break(3, fakekafka.Faults{Mute: true})
//	… // point the client at c.Bootstrap()
//	for _, r := range c.Requests() {
//		if r.Broker == 1 {
//			t.Log(r.Key.Name(), r.Version, r.ClientID)
//		}
//	}
//
// [ClosedPort], [SilentPort], [TLSPort], [HTTPPort], [ClosingPort] and
// [HalfClosedPort] are addresses where no Kafka answers, each in its own way.
//
// # How it is built
//
// Each broker has a listener, each connection a goroutine that takes one request
// at a time and answers in order, as Kafka does. An answer is a pure function of
// the model (view), one file per API; what a request changes (offsets that move
// while they are read, topics created by asking) is applied around it.
//
// # What it does not do
//
// It keeps no log and moves nothing by itself: leaders, ISR and offsets are what
// the test says. It serves the read APIs of [APIs] only, others through
// [Cluster.Intercept], and asks for no credentials.
package fakekafka
