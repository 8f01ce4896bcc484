package render

import (
	"io"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func TestReassignmentsScreens(t *testing.T) {
	t.Parallel()
	s := cluster(topic("orders", 2,
		part(ids(1, 2, 3, 4), ids(1, 2), nil), part(ids(2, 3, 1), ids(2, 3, 1), nil), part(ids(3, 1), ids(3, 1), nil)))
	rs := []inspect.Reassignment{
		{Partition: &s.Topics[0].Partitions[0], Target: ids(1, 3, 4), Copies: []inspect.ReplicaCopy{
			{
				Broker: 3, TotalBytes: inspect.Known[int64](5 << 30), DoneBytes: inspect.Known[int64](2 << 30),
				BytesPerSecond: inspect.Known(52_428_800.0), Remaining: inspect.Known(62 * time.Second),
			},
			{Broker: 4, TotalBytes: inspect.Known[int64](5 << 30)},
		}},
		{Partition: &s.Topics[0].Partitions[1], Target: ids(2, 3, 1), Copies: []inspect.ReplicaCopy{
			{Broker: 1, InSync: true, TotalBytes: inspect.Known[int64](100), DoneBytes: inspect.Known[int64](100)},
		}},
		{Partition: &s.Topics[0].Partitions[2], Target: ids(3)},
	}
	s.Topics[0].Partitions[0].Adding, s.Topics[0].Partitions[0].Removing = inspect.Known(ids(3, 4)), inspect.Known(ids(2))
	s.Topics[0].Partitions[1].Adding = inspect.Known(ids(1))
	s.Topics[0].Partitions[2].Removing = inspect.Known(ids(1))
	unknown := unknownMin()
	draw := func(w io.Writer, v View, s *inspect.Snapshot) error { return Reassignments(w, v, s, rs) }
	none := func(w io.Writer, v View, s *inspect.Snapshot) error { return Reassignments(w, v, s, nil) }
	checkFacets(t, "reassignments.txtar", facet{"three", s, draw}, facet{"none", healthy(), none}, facet{"unknown", unknown, none})
}
