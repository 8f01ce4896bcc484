// Package diagnose names the cause of replication trouble, by rules over what was seen of
// a cluster for a while.
//
//	c := diagnose.New(diagnose.Options{Interval: time.Second})
//	for each snapshot, in the order they were taken {
//		c.Look(snapshot)
//	}
//	c.Events(events, since, until) // where the metadata log could be read
//	report := c.Diagnose()
//
// A rule is a small function in a file of its own: it looks at the [Case] and returns
// what it found, with the replicas that this is about and those that it accounts for. It
// says nothing where its evidence is missing. [Case.Diagnose] then puts findings together
// that have one cause: what a cause accounts for is attached to it as a symptom, and is
// not listed beside it. The rest is ranked: by severity, then by how much it accounts for.
//
// One look tells who is down, which disk is full, which writes are refused. Lags in time,
// slow brokers and links, and what stands still need a few looks at the offsets
// ([inspect.PartOffsets]); flapping needs the ISR's history. What could not be checked is
// a part of the report.
//
// The package reads no clock and asks nobody. It keeps of a look what [history.History]
// does, and no look but the last. A Case may not be used from several goroutines at once.
package diagnose
