package tui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
)

func brokersScreen() *screen {
	return &screen{
		name: "brokers", key: "3", aliases: []string{"b"}, what: "leaders, lag as leader and follower, disks",
		rows: brokerRows,
		enter: func(s *state, p *place, row int) *place {
			in := newPlace(partitionsScreen())
			in.broker = s.look().Brokers[row].ID
			return in
		},
	}
}

func brokerRows(s *state, _ *place) *listing {
	l := s.look()
	b := l.Brokers
	most := func(of func(*render.TopBroker) int64) func(i, j int) int {
		return func(i, j int) int { return -cmp.Compare(of(&b[i]), of(&b[j])) }
	}
	return &listing{
		n:  len(b),
		id: func(i int) string { return fmt.Sprintf("%d %s:%d %s", b[i].ID, b[i].Host, b[i].Port, b[i].Rack.Or("")) },
		table: func(_ render.View, which []int) *render.Table {
			seen := make([]*render.TopBroker, len(which))
			for n, i := range which {
				seen[n] = &b[i]
			}
			return render.TopBrokersTable(seen)
		},
		item: func(i int) any { return b[i].BrokerItem },
		sorts: []sorting{
			{"I", "id", func(i, j int) int { return cmp.Compare(b[i].ID, b[j].ID) }},
			{"O", "out of sync", most(func(b *render.TopBroker) int64 { return int64(b.OutOfSync) })},
			{"L", "follower lag", most(func(b *render.TopBroker) int64 { return b.FollowerLag.Or(-1) })},
			{"T", "time lag", most(func(b *render.TopBroker) int64 { return b.FollowerMs.Or(-1) })},
			{"D", "leaders", most(func(b *render.TopBroker) int64 { return int64(b.Leaders) })},
		},
	}
}

func quorumScreen() *screen {
	return &screen{
		name: "quorum", key: "6", aliases: []string{"controllers"}, what: "the controllers' own replication",
		text: func(s *state, _ *place, width int) []string {
			if !s.look().Snap.Quorum.IsKnown() {
				return []string{"  the cluster did not tell of its quorum: see the failures in the overview, or kafkaops check access"}
			}
			var b strings.Builder
			if err := render.Quorum(&b, view(s, width-2), s.look().Snap); err != nil {
				return []string{"  " + err.Error()}
			}
			return lines(b.String())
		},
	}
}
