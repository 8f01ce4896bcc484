package render

import (
	"cmp"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// KindLogDir is describe log-dirs: DirItem, by broker and path.
const KindLogDir Kind = "LogDir"

// DirItem is one log directory of one broker, or a broker that told none: then
// Path and all that is unknown is null, and the lists are empty.
type DirItem struct {
	Broker inspect.BrokerID    `json:"broker"`
	Path   inspect.Opt[string] `json:"path"`
	// Error is Kafka's name of the error where the directory is offline, or why the
	// broker told none: fenced, not among the live brokers or no answer; else
	// null. What an offline directory holds is unknown.
	Error inspect.Opt[string] `json:"error"`
	// Cordoned directories get no new replicas (KIP-1066); null where the broker
	// cannot say.
	Cordoned inspect.Opt[bool] `json:"cordoned"`
	// TotalBytes and UsableBytes are of the volume; null before Kafka 3.3.
	TotalBytes  inspect.Opt[int64] `json:"totalBytes"`
	UsableBytes inspect.Opt[int64] `json:"usableBytes"`
	// SharesVolumeWith are directories of the same broker that seem to lie on the
	// same volume, because they tell the same total and the same free space to
	// 4 MiB: their free space is the same space.
	SharesVolumeWith []string `json:"sharesVolumeWith"`
	// Replicas counts the logs in it and ReplicasBytes adds up their sizes, those
	// on their way into it included.
	Replicas      inspect.Opt[int]   `json:"replicas"`
	ReplicasBytes inspect.Opt[int64] `json:"replicasBytes"`
	// Moves are on their way into it from another directory of the broker, by topic
	// and partition.
	Moves []DirMoveItem `json:"moves"`
}

// DirMoveItem is a replica on its way between two directories of a broker.
type DirMoveItem struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// From is null where the broker lists no current log of it, and TotalBytes,
	// that log's size, then too.
	From       inspect.Opt[string] `json:"from"`
	DoneBytes  int64               `json:"doneBytes"`
	TotalBytes inspect.Opt[int64]  `json:"totalBytes"`
	// Lag is in records, against the current log.
	Lag int64 `json:"lag"`
}

// DirItems are the items of describe log-dirs.
func DirItems(s *inspect.Snapshot) []DirItem {
	reports := s.LogDirReports()
	items := make([]DirItem, 0, len(reports))
	for i := range reports {
		r := &reports[i]
		item := DirItem{
			Broker: r.Broker, Path: inspect.Known(r.Path), Cordoned: r.Cordoned, TotalBytes: r.TotalBytes, UsableBytes: r.UsableBytes,
			SharesVolumeWith: list(r.SharesWith), ReplicasBytes: r.ReplicasBytes, Moves: []DirMoveItem{},
		}
		if r.Error != "" {
			item.Error = inspect.Known(r.Error)
		} else {
			item.Replicas = inspect.Known(len(r.Replicas))
		}
		for _, m := range r.Moves {
			item.Moves = append(item.Moves, DirMoveItem{m.Topic, m.Partition, m.From, m.SizeBytes, m.OfBytes, m.OffsetLag})
		}
		items = append(items, item)
	}
	for _, u := range s.Untold(func(b *inspect.Broker) bool { return b.LogDirs.IsKnown() }) {
		if !u.Cause.Row() {
			continue
		}
		items = append(items, DirItem{
			Broker: u.Broker, Error: inspect.Known(string(u.Cause)), SharesVolumeWith: []string{}, Moves: []DirMoveItem{},
		})
	}
	slices.SortStableFunc(items, func(a, b DirItem) int { return cmp.Compare(a.Broker, b.Broker) })
	return items
}
