package cli

import (
	"context"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
)

// onsetWait bounds the search for since when partitions have been unhealthy, which comes
// on top of a pass.
const onsetWait = time.Second

// addOnsets asks the metadata log since when these partitions have been unhealthy, and
// why. It is an extra: where the log cannot be had, within its time or at all, nothing is
// said of it. kafkaops isr says what stands in the way.
func (s *session) addOnsets(ctx context.Context, snap *inspect.Snapshot, unhealthy []inspect.Judged) {
	at, ok := s.target.controllersOf(snap)
	if !ok || len(unhealthy) == 0 {
		return
	}
	wait := min(onsetWait, s.opts.timeout)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	partitions := make([]*inspect.Partition, len(unhealthy))
	for i := range unhealthy {
		partitions[i] = unhealthy[i].Partition
	}
	_ = isrlog.NewLog(s.target.brokers, &at, wait).Onsets(ctx, partitions, &s.earlier)
}

// controllersOf is where the controllers are: named by hand, or told by the quorum
// (Kafka 3.9), the active one first. Brokers are not asked again: it may be one of them
// that hangs.
func (t *target) controllersOf(snap *inspect.Snapshot) (connect.Config, bool) {
	if t.controllers != nil {
		return *t.controllers, true
	}
	at := t.controllersAt
	q, ok := snap.Quorum.Get()
	if !ok || q.Leader == inspect.NoBroker {
		return at, false
	}
	for _, v := range q.Voters {
		for _, e := range v.Endpoints {
			addr := net.JoinHostPort(e.Host, strconv.Itoa(int(e.Port)))
			if v.ID == q.Leader {
				at.Bootstrap = slices.Insert(at.Bootstrap, 0, addr)
			} else {
				at.Bootstrap = append(at.Bootstrap, addr)
			}
		}
	}
	return at, len(at.Bootstrap) > 0
}
