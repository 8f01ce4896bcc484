// Package tuning turns what a cluster did into advice about its settings:
// evidence in, advice out. It knows no client, file or clock; its numbers may come
// from kafkaops, from JMX or from a spreadsheet.
//
// A caller starts from
//
//   - [NewLagReplay]: samples of log end offsets ([Look]), replayed through Kafka's
//     shrink rule for each candidate of replica.lag.time.max.ms ([LagReplay.Result]),
//     and [AdviseLagTime], which chooses among them;
//   - [AdviseMinISR]: the history of a topic's ISRs ([ISRHistory]), replayed for each
//     min.insync.replicas; [FindTopic]: what is wrong with a topic whatever happened;
//   - [AdviseSession]: brokers that were fenced and came back, for each
//     broker.session.timeout.ms; [AdviseAcks]: what shows of the producers' acks;
//   - [AdviseFetchers] and [AdviseFetchBytes]: lags by leader and follower ([Link]), taken
//     apart by [Polish];
//   - [Advice]: what comes out. Where its Recommended is "" there is not enough
//     evidence, Why says what is missing, and StartingPoint may hold what to begin
//     with, which nothing observed supports.
//
// # What counts as evidence
//
// A look is evidence of a follower only where its leader was written to: a follower
// whose log end offset equals the leader's is in sync however long it has been
// silent, so an idle partition says nothing of how slow its followers are. What was
// not sampled is a gap, and an excursion with a gap in it is counted as cut off, not
// as short. Excursions that overlap are one episode, for 48 partitions that wait for
// one disk have one cause: figures of confidence are by episodes.
//
// The same evidence, added in the same order, gives the same advice to the byte.
//
// What it does not do: apply anything. Commands are printed for a person.
package tuning
