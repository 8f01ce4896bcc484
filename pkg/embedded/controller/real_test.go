package controller

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// TestRealLogs asks at each step of logs that real controllers wrote what this
// controller would have written: when a broker is fenced, comes back, stops, or
// registers after a crash, when a leader changes its ISR, and when replicas move.
// Every change of a partition must be explained by one of these, field by field,
// apart from where replicas lie. The logs are those of package metadata's tests.
func TestRealLogs(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"4.4.0", "3.9.1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := &retelling{t: t, log: readLog(t, "../metadata/testdata/kafka-"+version+"/00000000000000000000.log"), told: map[string]int{}}
			r.run()
			t.Logf("explained: %v", r.told)
			want := []string{"fenced", "unfenced", "stopping", "ISR changed", "reassigned"}
			if version == "4.4.0" { // without ELRs a crash leaves nothing to clean up
				want = append(want, "registered")
			}
			for _, cause := range want {
				if r.told[cause] == 0 {
					t.Errorf("no partition changed because of %q", cause)
				}
			}
		})
	}
}

// retelling replays a log and explains its changes of partitions.
type retelling struct {
	t    *testing.T
	log  []kraft.Record
	told map[string]int
	// image is that before log[at].
	image metadata.Image
	at    int
}

func (r *retelling) run() {
	r.image = metadata.Empty()
	for r.at = 0; r.at < len(r.log); {
		n, cause := r.explain()
		if n == 0 {
			n = 1 // not about a partition
		} else {
			r.told[cause] += n
		}
		for range n {
			r.apply(r.log[r.at])
			r.at++
		}
	}
}

func (r *retelling) apply(rec kraft.Record) {
	switch rec.(type) {
	case *kraft.BeginTransaction, *kraft.EndTransaction:
		return
	}
	before := r.image
	after, err := r.image.Apply(rec)
	if err == nil {
		err = checkEpochs(before, after)
	}
	if err == nil {
		err = checkState(after)
	}
	if err != nil {
		r.t.Fatalf("record %d: %v", r.at, err)
	}
	r.image = after
}

// explain returns how many records from here on are what the controller would
// have written.
func (r *retelling) explain() (n int, cause string) {
	if change, ok := r.log[r.at].(*kraft.BrokerRegistrationChange); ok {
		switch {
		case change.Fenced == kraft.Unfenced:
			return r.matches(func(op *operation) { op.unfence(r.broker(change.BrokerID)) }), "unfenced"
		case change.InControlledShutdown == kraft.InControlledShutdown:
			return r.matches(func(op *operation) { op.startShutdown(r.broker(change.BrokerID)) }), "stopping"
		}
		return 0, ""
	}
	rec, ok := r.log[r.at].(*kraft.PartitionChange)
	if !ok {
		return 0, ""
	}
	if n := r.endsInBroker(); n > 0 {
		return n, r.cause(n)
	}
	topic, _ := r.image.TopicByID(rec.TopicID)
	p, _ := topic.Partition(rec.PartitionID)
	for _, c := range []struct {
		cause string
		set   func(*change)
	}{
		{"ISR changed", func(ch *change) { ch.isr, ch.recovery = rec.ISR, kraft.Recovered }},
		{"reassignment ended", func(ch *change) {
			ch.isr, ch.recovery = append(slices.Clone(rec.ISR), intersection(p.ISR, p.RemovingReplicas)...), kraft.Recovered
		}},
		{"reassigned", func(ch *change) { ch.startReassignment(without(rec.Replicas, rec.RemovingReplicas...)) }},
		{"preferred", func(ch *change) { ch.election = electPreferred }},
	} {
		n := r.matches(func(op *operation) {
			ch := op.change(topic, p)
			c.set(ch)
			op.apply(ch)
		})
		if n > 0 {
			return n, c.cause
		}
	}
	if rec.ISR == nil && rec.Leader == kraft.NoLeaderChange && rec.Replicas == nil && rec.Directories != nil {
		return 1, "placed"
	}
	r.t.Errorf("record %d, %s-%d: cannot be explained:%s\nbefore: %+v", r.at, topic.Name, rec.PartitionID, formatChange(rec), p)
	return 1, "not explained"
}

// endsInBroker tries what ends in a record about a broker: the run of changes here, and
// the record after it.
func (r *retelling) endsInBroker() int {
	end := r.at
	for _, ok := r.log[end].(*kraft.PartitionChange); ok; _, ok = r.log[end].(*kraft.PartitionChange) {
		if end++; end == len(r.log) {
			return 0
		}
	}
	switch rec := r.log[end].(type) {
	case *kraft.BrokerRegistrationChange:
		if rec.Fenced == kraft.Fenced {
			return r.matches(func(op *operation) { op.fence(r.broker(rec.BrokerID)) })
		}
	case *kraft.RegisterBroker:
		for _, clean := range []bool{false, true} {
			if n := r.matches(func(op *operation) { op.endLife(rec.BrokerID, clean) }); n == end-r.at {
				return n
			}
		}
	}
	return 0
}

func (r *retelling) cause(n int) string {
	if _, ok := r.log[r.at+n-1].(*kraft.BrokerRegistrationChange); ok {
		return "fenced"
	}
	return "registered"
}

// matches reports how many records the decision writes, if the log goes on with
// just these, in any order of the partitions; else 0.
func (r *retelling) matches(decide func(op *operation)) int {
	c := New(DefaultOptions(3000, "", rand.New(rand.NewPCG(1, 1))), r.image, 0, 0)
	op := c.begin(0)
	decide(op)
	n := len(op.records)
	if n == 0 || r.at+n > len(r.log) {
		return 0
	}
	got, want := lines(op.records), lines(r.log[r.at:r.at+n])
	if !slices.Equal(got, want) {
		return 0
	}
	return n
}

func lines(records []kraft.Record) (all []string) {
	for _, rec := range records {
		switch rec := rec.(type) {
		case *kraft.PartitionChange:
			all = append(all, fmt.Sprint(rec.TopicID, "-", rec.PartitionID, formatChange(rec)))
		case *kraft.BrokerRegistrationChange:
			all = append(all, fmt.Sprint(rec.BrokerID, " ", rec.BrokerEpoch, formatBroker(rec)))
		default:
			all = append(all, rec.Type().String())
		}
	}
	slices.Sort(all)
	return all
}

func (r *retelling) broker(id int32) *metadata.Broker {
	b, ok := r.image.Broker(id)
	if !ok {
		r.t.Fatalf("record %d: broker %d is not registered", r.at, id)
	}
	return b
}

func intersection(a, b []int32) []int32 { return without(a, without(a, b...)...) }

func readLog(t *testing.T, file string) (all []kraft.Record) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for len(data) > 12 && len(data) >= 12+int(binary.BigEndian.Uint32(data[8:])) { // else cut while it was written
		var batch kmsg.RecordBatch
		if err := batch.ReadFrom(data); err != nil {
			t.Fatal(err)
		}
		data = data[12+batch.Length:]
		rest := batch.Records
		for range batch.NumRecords {
			var rec kmsg.Record
			if err := rec.ReadFrom(rest); err != nil {
				t.Fatal(err)
			}
			length, n := binary.Varint(rest)
			rest = rest[n+int(length):]
			if batch.Attributes&0x20 != 0 {
				continue // a control batch
			}
			decoded, err := kraft.Decode(rec.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, decoded)
		}
	}
	return all
}
