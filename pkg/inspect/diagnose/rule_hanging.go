package diagnose

import (
	"fmt"
	"strconv"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// HangingTransaction says that nobody will end a transaction that is open.
const HangingTransaction ID = "hanging-transaction"

// findHanging names transactions that nobody will end, each for itself.
func findHanging(c *Case) []Finding {
	var out []Finding
	for _, t := range c.last.OpenTransactions() {
		if t.Status != inspect.TransactionHanging {
			continue
		}
		about := replicaSet{}
		held := 0
		for _, p := range t.Partitions {
			about[replica{p.TopicPartition, inspect.NoBroker}] = true
			if p.HoldsLSO.Or(false) {
				held++
			}
		}
		who := "of producer " + t.ProducerID.String()
		if id, ok := t.ID.Get(); ok {
			who = strconv.Quote(id)
		}
		f := Finding{
			ID: HangingTransaction, Severity: SeverityWarning, Topics: about.topics(),
			Title:       fmt.Sprintf("transaction %s hangs: read_committed consumers of %s wait for it", who, partitions(held)),
			Evidence:    []Figure{{"partitions", float64(len(t.Partitions))}, {"partitionsHeld", float64(held)}},
			Explanation: capital(t.Why) + ". The LSO stands at its first record, and compaction with it",
			Remedy:      "Find out who its producer was, then abort it: kafka-transactions.sh abort, with the partition and its start offset",
			Next:        []string{"kafkaops describe transactions"},
			class:       classRoot, about: about,
		}
		if len(t.Partitions) > 0 {
			p := t.Partitions[0]
			f.Next = append(f.Next, fmt.Sprintf("kafka-transactions.sh --bootstrap-server HOST:PORT abort --topic %s --partition %d --start-offset %s", p.Topic, p.Partition, p.Start))
		}
		out = append(out, f)
	}
	return out
}
