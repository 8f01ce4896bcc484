package render

import (
	"io"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// APIVersion is the version of every document.
const APIVersion = "kafkaops/v1"

// Kind names what the items of a document are.
type Kind string

// The kinds, with the command that prints them.
const (
	KindCluster    Kind = "Cluster"    // describe: one ClusterItem
	KindPartition  Kind = "Partition"  // describe topics: PartitionItem
	KindBroker     Kind = "Broker"     // describe brokers: BrokerItem
	KindReplicaLag Kind = "ReplicaLag" // lag: LagItem
	KindHealth     Kind = "Health"     // check health: one HealthItem
)

// Document is the envelope of all JSON and YAML. For the same state of a cluster
// it is the same bytes, apart from takenAt: items and the sets within them are
// sorted. A value that is unknown is null; a list is never null, unless the list
// itself is unknown, which its field's comment then says.
type Document[T any] struct {
	APIVersion string  `json:"apiVersion"`
	Kind       Kind    `json:"kind"`
	Cluster    Cluster `json:"cluster"`
	// TakenAt is when the pass began, in RFC 3339 with milliseconds, in UTC.
	TakenAt Time `json:"takenAt"`
	// Complete: everything that was asked was answered; then Errors is empty.
	Complete bool `json:"complete"`
	// Errors are what was refused or not answered, sorted by broker, address,
	// request, topic. What cost no data, such as one dead bootstrap address of
	// three, is not among them: that is a line on stderr.
	Errors []Error `json:"errors"`
	Items  []T     `json:"items"`
}

// Cluster names the cluster.
type Cluster struct {
	// ID is null where nothing answered.
	ID inspect.Opt[string] `json:"id"`
	// Controller is the active controller's node id; null where the quorum was
	// not asked (what brokers report as the controller is a random live one).
	Controller inspect.Opt[inspect.BrokerID] `json:"controller"`
}

// Error is one thing that was asked and not answered.
type Error struct {
	// Broker is null for a bootstrap address and for the cluster as a whole.
	Broker inspect.Opt[inspect.BrokerID] `json:"broker"`
	// Address is host:port; empty where no one connection is concerned.
	Address string `json:"address"`
	// Request is Kafka's name of the API.
	Request string `json:"request"`
	// Phase is dial, TLS, SASL or request: how far it got.
	Phase inspect.Phase `json:"phase"`
	// Error is the cause in a few words.
	Error string `json:"error"`
	// Topic is there where only this topic is concerned.
	Topic string `json:"topic,omitempty"`
	// Lost, where there, says what is unknown because of it; Hint what to try.
	Lost string `json:"lost,omitempty"`
	Hint string `json:"hint,omitempty"`
}

// Time is a time as documents have it.
type Time struct{ time.Time }

// MarshalJSON encodes RFC 3339 with exactly three digits of milliseconds, UTC.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`)), nil
}

// NewDocument puts items, which are sorted by the caller, into the envelope.
func NewDocument[T any](kind Kind, s *inspect.Snapshot, items []T) *Document[T] {
	return &Document[T]{
		APIVersion: APIVersion,
		Kind:       kind,
		Cluster:    Cluster{ID: s.ClusterID, Controller: s.Controller},
		TakenAt:    Time{s.TakenAt},
		Complete:   s.Complete(),
		Errors:     errorsOf(s.Failures),
		Items:      list(items),
	}
}

func errorsOf(failures []inspect.Failure) []Error {
	out := make([]Error, 0, len(failures))
	for _, f := range slices.SortedStableFunc(slices.Values(failures), inspect.Failure.Compare) {
		if f.Notice {
			continue
		}
		out = append(out, Error{
			Broker: f.Broker, Address: f.Address, Request: f.Request, Phase: f.Phase,
			Error: f.Error, Topic: f.Topic, Lost: f.Lost, Hint: f.Hint,
		})
	}
	return out
}

// list is the slice, but never nil.
func list[T any](in []T) []T {
	if in == nil {
		return []T{}
	}
	return in
}

// idSet is a sorted copy, never nil: for what has no order of its own.
func idSet(ids []inspect.BrokerID) []inspect.BrokerID {
	return list(slices.Sorted(slices.Values(ids)))
}

func optIDSet(ids inspect.Opt[[]inspect.BrokerID]) inspect.Opt[[]inspect.BrokerID] {
	known, ok := ids.Get()
	if !ok {
		return ids
	}
	return inspect.Known(idSet(known))
}

// write encodes the document as the View's format says.
func write[T any](w io.Writer, v View, d *Document[T]) error {
	out, err := encode(d, v)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}
