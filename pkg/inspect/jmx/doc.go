// Package jmx reads Kafka's own meters of ISR changes and of load from an agent in a
// broker or controller: a Jolokia agent, or a page of the Prometheus JMX exporter.
//
//	meters, err := jmx.Read(ctx, "http://kafka-1:8778/jolokia/")
//	meters, err = jmx.ReadLoad(ctx, "http://kafka-1:9404/metrics") // meters.Load
//
// # What the meters count
//
// IsrShrinksPerSec and IsrExpandsPerSec (kafka.server:type=ReplicaManager) count what a
// leader changed itself, because of lag, since its process began, and not even all of
// that: where the metadata reaches the leader before the answer to its request, it is
// not counted (Partition.handleAlterPartitionUpdate). What the controller changes, when
// a broker is fenced or stopped, is in none of them. FailedIsrUpdatesPerSec counts
// requests that were refused or came too late. UncleanLeaderElectionsPerSec
// (kafka.controller:type=ControllerStats) is the active controller's; others do not have
// it, or 0. So they are lower bounds, to be seen beside the events, and no source of
// them.
//
// # Names on a page
//
// An exporter's rules may give the meters other names. Those are known that hold the
// MBean's name, without PerSec too, in any case, with a count at the end: Count, _count
// or _total. Rates are passed over. Of the request handlers' idle time it is the last
// minute's rate that is taken: some rules give the mean since the process began alone,
// which tells nothing of now, and is passed over. Percentiles are known by the attribute's
// name (99thPercentile) or a label (quantile="0.99").
package jmx
