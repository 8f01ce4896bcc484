// Package sim is a cluster in one seeded event loop: brokers, a controller, clients,
// and between them a network, disks and clocks that fail. The same seed gives the
// same history, so what a seed finds can be looked at until it is understood.
//
// A caller starts from
//
//   - [Run]: a whole run of a seed. What the cluster, its clients and its faults are
//     like is drawn from the seed ([Plan]); after so many events all faults end, and
//     the cluster must come to rest.
//   - [New]: a [World] without clients and faults, of [QuietPlan], for scenarios: it
//     is moved by hand (manual.go).
//
// Both hold the cluster to the invariants (I1 to I20) after each event, for the
// partitions that it touched, and to all of them now and then. A run ends with the
// first that is broken:
//
//	r := sim.Run(sim.Options{Seed: 7})
//	if v, ok := errors.AsType[*sim.ViolationError](r.Err); ok {
//		fmt.Println(v.Rule, v.Reason)
//	}
//
// The nodes and the controller are the real ones, with their logs on a vfs.Mem; the
// simulator steps them as a server would (package machine). Nothing here has a clock
// or a source of chance of its own.
//
// # What is simulated
//
//   - network.go: connections that carry requests in order or break; what a cut
//     means to TCP; requests that are carried out after their sender has given up
//   - disk.go: orders that take time, and have happened or not when the process dies;
//     crashes within an order
//   - process.go, clock.go: kill, power loss, pause, restart; clocks that are off
//   - faults.go: what goes wrong when; plan.go: what is rare elsewhere and armed here
//   - producer.go, consumer.go, poller.go, admin.go: clients that speak Kafka's requests
//
// # What is checked
//
//   - model.go: what the controller decided and what was promised to whom
//   - shadow.go: what each replica's log holds, batch by batch, as it was written
//   - i01_*.go to i20_*.go, answers.go, final.go, liveness.go: the invariants
//   - losses.go: which of them a lost disk excuses
//
// # Stories
//
// testdata/scenarios are public bug reports, told over a world that is moved by hand;
// the table in ../DESIGN.md says which. Each can be followed event by event:
//
//	go test ./pkg/embedded/sim -run TestScenarios/e6 -v -scenario.trace
//
// What it does not do: bytes of the protocol (the structs of kmsg are carried as they
// are), groups and transactions, and more than one controller.
package sim
