package render

import (
	"cmp"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// BrokerItem is one registered broker, fenced ones included; sorted by id. A
// broker that only appears in replica lists is none: nothing is known of it.
type BrokerItem struct {
	ID   inspect.BrokerID `json:"id"`
	Host string           `json:"host"`
	Port int32            `json:"port"`
	// Rack is null where the broker has none.
	Rack inspect.Opt[string] `json:"rack"`
	// Controller: it is the active controller; null where the quorum was not
	// asked.
	Controller inspect.Opt[bool] `json:"controller"`
	// Fenced is null before Kafka 4.0.
	Fenced inspect.Opt[bool] `json:"fenced"`
	// Reachable: it answered; null where it was not asked.
	Reachable inspect.Opt[bool] `json:"reachable"`
	// Leaders, Replicas and PreferredLeaders count partitions that it leads, has
	// a replica of, and is first in the assignment of.
	Leaders          int `json:"leaders"`
	Replicas         int `json:"replicas"`
	PreferredLeaders int `json:"preferredLeaders"`
	// UnderReplicated counts under-replicated partitions that it leads; OutOfSync
	// replicas on it that are not in their ISR and are not being added.
	UnderReplicated int `json:"underReplicated"`
	OutOfSync       int `json:"outOfSync"`
	// Uncommitted is the sum of LEO − HW, in records and as far as certain, of
	// the partitions that it leads; null where one of them is unknown.
	Uncommitted inspect.Opt[int64] `json:"uncommitted"`
	// VersionRange is inferred from the APIs that it offers.
	VersionRange inspect.Opt[string] `json:"versionRange"`
	// LogDirs is null where it was not asked or did not answer; sorted by path.
	LogDirs inspect.Opt[[]LogDirItem] `json:"logDirs"`
}

// LogDirItem is one log directory.
type LogDirItem struct {
	Path string `json:"path"`
	// Error is Kafka's name of the error where the directory is offline, else
	// null.
	Error inspect.Opt[string] `json:"error"`
	// TotalBytes and UsableBytes are of the volume, which directories may share;
	// null before Kafka 3.3. ReplicasBytes is the size of the replicas in it.
	TotalBytes    inspect.Opt[int64] `json:"totalBytes"`
	UsableBytes   inspect.Opt[int64] `json:"usableBytes"`
	ReplicasBytes inspect.Opt[int64] `json:"replicasBytes"`
}

// BrokerItems are the items of describe brokers.
func BrokerItems(s *inspect.Snapshot) []BrokerItem {
	items := make([]BrokerItem, 0, len(s.Brokers))
	at := make(map[inspect.BrokerID]int, len(s.Brokers))
	brokers := slices.SortedFunc(slices.Values(s.Brokers), func(a, b inspect.Broker) int { return cmp.Compare(a.ID, b.ID) })
	for i := range brokers {
		at[brokers[i].ID] = i
		items = append(items, newBrokerItem(s, &brokers[i]))
	}
	on := func(id inspect.BrokerID, count func(*BrokerItem)) {
		if i, ok := at[id]; ok {
			count(&items[i])
		}
	}
	for p := range s.Partitions {
		h := p.Health()
		for _, id := range p.Replicas {
			on(id, func(b *BrokerItem) { b.Replicas++ })
		}
		for _, id := range h.OutOfSync {
			on(id, func(b *BrokerItem) { b.OutOfSync++ })
		}
		on(p.PreferredLeader(), func(b *BrokerItem) { b.PreferredLeaders++ })
		on(p.Leader, func(b *BrokerItem) {
			b.Leaders++
			if h.Has(inspect.StatusUnderReplicated) {
				b.UnderReplicated++
			}
			l := p.Lag()
			b.Uncommitted = sum(b.Uncommitted, l.Uncommitted)
		})
	}
	return items
}

func newBrokerItem(s *inspect.Snapshot, b *inspect.Broker) BrokerItem {
	item := BrokerItem{
		ID: b.ID, Host: b.Host, Port: b.Port, Rack: b.Rack, Fenced: b.Fenced,
		Reachable: b.Reachable, VersionRange: b.VersionRange,
	}
	if controller, ok := s.Controller.Get(); ok {
		item.Controller = inspect.Known(controller == b.ID)
	}
	if s.Asked.Has(inspect.PartOffsets) {
		item.Uncommitted = inspect.Known[int64](0)
	}
	if dirs, ok := b.LogDirs.Get(); ok {
		item.LogDirs = inspect.Known(logDirItems(dirs))
	}
	return item
}

func logDirItems(dirs []inspect.LogDir) []LogDirItem {
	out := make([]LogDirItem, 0, len(dirs))
	for _, d := range dirs {
		item := LogDirItem{
			Path: d.Path, TotalBytes: d.TotalBytes, UsableBytes: d.UsableBytes, ReplicasBytes: d.ReplicasBytes,
		}
		if d.Error != "" {
			item.Error = inspect.Known(d.Error)
		}
		out = append(out, item)
	}
	slices.SortFunc(out, func(a, b LogDirItem) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// sum adds; a sum with an unknown part is unknown.
func sum(a, b inspect.Opt[int64]) inspect.Opt[int64] {
	x, knownX := a.Get()
	y, knownY := b.Get()
	if !knownX || !knownY {
		return inspect.Unknown[int64]()
	}
	return inspect.Known(x + y)
}
