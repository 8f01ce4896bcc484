package render

import (
	"slices"
	"strconv"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
)

// Worst is the replica of a row that is furthest behind, by its certain lag: the one
// that a single line about the partition is about. Of replicas that are not behind it is
// one that is not in the ISR, else one whose lag is unknown; false where all are well.
func (r *LagRow) Worst() (inspect.ReplicaLag, ReplicaTiming, bool) {
	at, most := -1, 0.0
	for i := range r.Lag.Replicas {
		rep := &r.Lag.Replicas[i]
		if rep.State == inspect.ReplicaLeader {
			continue
		}
		lag, known := rep.Lag.Get()
		weight := float64(lag)
		switch {
		case lag > 0:
		case !rep.InSync:
			weight = 0.5
		case !known:
			weight = 0.25
		}
		if weight > most {
			at, most = i, weight
		}
	}
	if at < 0 {
		return inspect.ReplicaLag{}, ReplicaTiming{}, false
	}
	return r.Lag.Replicas[at], r.Timing.replica(r.Lag.Replicas[at].Broker), true
}

// Rank is the place of the worst word of its status; 0 is the worst of all.
func (r *LagRow) Rank() int { return rank(&r.Health) }

// Name is the partition's, as kafkaops writes it.
func (r *LagRow) Name() string { return nameOf(r.Partition) }

// TopPartitions is the table of partitions of the terminal UI: a row for each partition,
// with its replica that is furthest behind. Its bars have one scale, in which span
// records are a full one; see [TopSpan].
func TopPartitions(v View, takenAt time.Time, rows []*LagRow, span int64) *Table {
	columns := topColumns(takenAt, span, barWidth(v.Width))
	t := &Table{}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for _, r := range rows {
		row := Row{Cells: make([]Cell, 0, len(columns))}
		for _, c := range columns {
			row.Cells = append(row.Cells, c.partition(r))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// TopSpan is the scale of bars for all of these rows, so that the worst stands out.
func TopSpan(rows []LagRow) int64 {
	spread := int64(0)
	for i := range rows {
		spread = max(spread, spreadOf(&rows[i]))
	}
	return BarSpan(spread)
}

// barWidth is how wide a bar may be on a terminal.
func barWidth(width int) int {
	const least, most = 10, 32
	return min(most, max(least, width/8))
}

func topColumns(takenAt time.Time, span int64, bar int) []lagColumn {
	column := func(c Column, cell func(*LagRow) Cell) lagColumn { return lagColumn{Column: c, partition: cell} }
	judged := func(cell func(*inspect.Judged) Cell) func(*LagRow) Cell {
		return func(r *LagRow) Cell { return cell(r.judged()) }
	}
	return []lagColumn{
		column(Column{Name: "PARTITION", Elastic: true}, judged(partitionName)),
		column(Column{Name: "STATUS", Long: true, Keep: true}, judged(statusCell)),
		column(Column{Name: "LEADER", Spare: 3}, judged(leaderCell)),
		column(Column{Name: "ISR", Spare: 4}, judged(isrCell)),
		column(Column{Name: "OUT", HideBlank: true, Keep: true}, judged(outCell)),
		column(Column{Name: "LEO-HW", Right: true, Keep: true}, uncommittedCell),
		column(Column{Name: "BEHIND", HideBlank: true, Spare: 2}, worstBroker),
		column(Column{Name: "LAG", Right: true, Keep: true}, worstCell(replicaLagCell)),
		column(Column{Name: "TIME", Right: true, Keep: true}, worstCell(timeCell)),
		column(Column{Name: "TREND", Keep: true}, trendCell),
		column(Column{Name: "SINCE", Right: true, HideBlank: true, Spare: 1}, func(r *LagRow) Cell {
			if r.Partition.Onset == nil {
				return Cell{}
			}
			return sinceCell(r.judged(), takenAt)
		}),
		column(Column{Name: "HW ▏LEO", HideBlank: true, Spare: cheap}, func(r *LagRow) Cell { return worstBar(r, span, bar) }),
	}
}

// worstCell is a cell of the replica that is furthest behind; blank where none is.
func worstCell(of func(*LagRow, *inspect.ReplicaLag) Cell) func(*LagRow) Cell {
	return func(r *LagRow) Cell {
		rep, _, behind := r.Worst()
		if !behind {
			if r.Lag.LEO.IsKnown() {
				return Text("0")
			}
			return Text(Unknown)
		}
		return of(r, &rep)
	}
}

// worstBroker names the replica that the row's lag is of.
func worstBroker(r *LagRow) Cell {
	rep, _, behind := r.Worst()
	if !behind {
		return Cell{}
	}
	c := Text(strconv.Itoa(int(rep.Broker)))
	if !rep.InSync {
		return c.Styled(Bad)
	}
	return c
}

// trendCell says where the lag is going, and how long that will take.
func trendCell(r *LagRow) Cell {
	rep, timing, behind := r.Worst()
	if !behind || r.inFlight(&rep) {
		return Cell{}
	}
	return trend(&timing)
}

// inFlight reports whether what an in-sync replica has not yet is no more than what is
// written in a second: that is always on its way, and grows and drains with each fetch.
func (r *LagRow) inFlight(rep *inspect.ReplicaLag) bool {
	const seconds = 1
	lag, known := rep.Lag.Get()
	return known && rep.InSync && r.Timing != nil && float64(lag) <= seconds*r.Timing.AppendPerSecond.Or(0)
}

func trend(t *ReplicaTiming) Cell {
	switch t.Trend {
	case history.TrendGrowing:
		text := "▲ growing"
		if rate, ok := t.LagPerSecond.Get(); ok {
			text += " " + PerSecond(rate)
		}
		return Text(text).Styled(Bad)
	case history.TrendDraining:
		text := "▼ draining"
		if ms, ok := t.CatchUpMs.Get(); ok {
			text += ", " + Millis(ms)
		}
		return Text(text).Styled(Good)
	case history.TrendSteady:
		return Text("= steady").Styled(Warn)
	case history.TrendCaughtUp:
		return Text("caught up").Styled(Dim)
	}
	return Text(Unknown)
}

// worstBar shows where the log of the replica that is furthest behind ends; where none
// is, the leader's own.
func worstBar(r *LagRow, span int64, width int) Cell {
	end, led := r.Lag.LEO.Get()
	hw, committed := r.Lag.HW.Get()
	if !led || !committed {
		return Cell{}
	}
	leo, style := inspect.Known(end), Dim
	if rep, _, behind := r.Worst(); behind {
		leo = rep.LEO
		if !rep.InSync {
			style = Bad
		}
	}
	if at, ok := leo.Get(); ok {
		return Cell{Text: OffsetBar(width, span, int64(end), int64(at), int64(hw)), Style: style}
	}
	return Cell{}
}

// TopReplicas is the table of one partition's replicas in the terminal UI, a row for each.
func TopReplicas(v View, r *LagRow) *Table {
	const others, most = 76, 40 // what the other columns need about
	span, width := BarSpan(spreadOf(r)), min(most, max(barWidth(v.Width), v.Width-others))
	bars := lagBars(width, span, r)
	t := &Table{Columns: []Column{
		{Name: "REPLICA", Right: true, Keep: true},
		{Name: "STATE", Keep: true},
		{Name: "LEO", Right: true},
		{Name: "LAG", Right: true, Keep: true},
		{Name: "TIME", Right: true, Keep: true},
		{Name: "FETCHES", Right: true, Spare: cheap + 1},
		{Name: "TREND", Keep: true},
		{Name: barTitle(width, span), Spare: cheap},
		{Name: "WHY", Long: true, HideBlank: true, Spare: 1},
	}}
	for i := range r.Lag.Replicas {
		rep := &r.Lag.Replicas[i]
		timing := r.Timing.replica(rep.Broker)
		moves := trend(&timing)
		if rep.State == inspect.ReplicaLeader || rep.Lag.Or(0) > 0 && r.inFlight(rep) {
			moves = Cell{}
		}
		barStyle := Dim
		if !rep.InSync {
			barStyle = Bad
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			Text(strconv.Itoa(int(rep.Broker))), Text(string(rep.State)).Styled(StateStyle(rep.State)), Number(rep.LEO), replicaLagCell(r, rep),
			timeCell(r, rep), rateCell(timing.FetchPerSecond), moves,
			{Text: bars[i], Style: barStyle},
			Text(rep.Error).Styled(Warn),
		}})
	}
	return t
}

// TopBroker is a broker with what the offsets say of it.
type TopBroker struct {
	BrokerItem
	// LeaderLag and FollowerLag are the sums, in records and as far as known, of how far
	// followers are behind it as a leader, and it is as a follower. LeaderMs and FollowerMs
	// are the longest of them in time.
	LeaderLag, FollowerLag inspect.Opt[int64]
	LeaderMs, FollowerMs   inspect.Opt[int64]
	// RoundTripMs is how long the shortest of its answers took.
	RoundTripMs inspect.Opt[int64]
	// Load is what its own meters told last; unknown where nobody asked them, or they did
	// not answer.
	Load inspect.Opt[inspect.Load]
}

// TopBrokers are all brokers of a look, with the lags of its rows.
func TopBrokers(s *inspect.Snapshot, rows []LagRow) []TopBroker {
	items := BrokerItems(s)
	out := make([]TopBroker, len(items))
	at := map[inspect.BrokerID]*TopBroker{}
	for i := range items {
		out[i].BrokerItem = items[i]
		if b := s.Broker(items[i].ID); b != nil {
			if took, ok := b.RoundTrip.Get(); ok {
				out[i].RoundTripMs = inspect.Known(took.Milliseconds())
			}
		}
		at[items[i].ID] = &out[i]
	}
	add := func(sum *inspect.Opt[int64], n inspect.Opt[int64]) {
		if v, ok := n.Get(); ok {
			*sum = inspect.Known(sum.Or(0) + v)
		}
	}
	most := func(longest *inspect.Opt[int64], ms inspect.Opt[int64]) {
		if v, ok := ms.Get(); ok && v >= longest.Or(0) {
			*longest = ms
		}
	}
	for i := range rows {
		r := &rows[i]
		leader := at[r.Partition.Leader]
		for j := range r.Lag.Replicas {
			rep := &r.Lag.Replicas[j]
			if rep.State == inspect.ReplicaLeader {
				continue
			}
			timing := r.Timing.replica(rep.Broker)
			ms := timing.LagMs
			if !ms.IsKnown() {
				ms = timing.LagMsAtLeast
			}
			if leader != nil {
				add(&leader.LeaderLag, rep.Lag)
				most(&leader.LeaderMs, ms)
			}
			if b := at[rep.Broker]; b != nil {
				add(&b.FollowerLag, rep.Lag)
				most(&b.FollowerMs, ms)
			}
		}
	}
	return out
}

// TopBrokersTable is the table of brokers of the terminal UI.
func TopBrokersTable(items []*TopBroker) *Table {
	t := &Table{Columns: []Column{
		{Name: "BROKER", Right: true, Keep: true},
		{Name: "STATE", Keep: true},
		{Name: "ADDRESS", Elastic: true, Spare: cheap + 2},
		{Name: "RACK", HideBlank: true, Spare: cheap + 3},
		{Name: "ANSWERS", Right: true, Spare: cheap + 1},
		{Name: "LEADS", Right: true},
		{Name: "REPLICAS", Right: true, Spare: 1},
		{Name: "OUT-OF-SYNC", Right: true, Keep: true},
		{Name: "FOLLOWER-LAG", Right: true, Keep: true},
		{Name: "TIME", Right: true, Keep: true},
		{Name: "LEADER-LAG", Right: true, Spare: 2},
		{Name: "LEADER-TIME", Right: true, Spare: 3},
		{Name: "LEO-HW", Right: true, Spare: 4},
		{Name: "IDLE", Right: true, HideBlank: true, Spare: 2},
		{Name: "NET-IDLE", Right: true, HideBlank: true, Spare: 5},
		{Name: "FLUSH-P99", Right: true, HideBlank: true, Spare: 3},
		{Name: "DISKS", Long: true, HideBlank: true, Spare: cheap},
	}}
	metered := slices.ContainsFunc(items, func(b *TopBroker) bool { return b.Load.IsKnown() })
	for _, b := range items {
		rack := Cell{}
		if name, ok := b.Rack.Get(); ok {
			rack = Text(name)
		}
		state := brokerState(&b.BrokerItem)
		if b.Controller.Or(false) {
			state.Text += ", controller"
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			Text(strconv.Itoa(int(b.ID))), state, Text(hostPort(b.Host, b.Port)), rack, millisCell(b.RoundTripMs), Count(b.Leaders), Count(b.Replicas),
			Nonzero(b.OutOfSync, Bad), behindCell(b.FollowerLag, b.OutOfSync > 0), millisCell(b.FollowerMs), behindCell(b.LeaderLag, false), millisCell(b.LeaderMs),
			Number(b.Uncommitted),
		}})
		row := &t.Rows[len(t.Rows)-1]
		row.Cells = append(append(row.Cells, loadCells(b, metered)...), disksCell(b.LogDirs))
	}
	return t
}

// loadCells are what a broker's own meters tell, in three cells; blank where no broker's
// meters were asked.
func loadCells(b *TopBroker, metered bool) []Cell {
	if !metered {
		return make([]Cell, 3)
	}
	untold := Text(Unknown).Styled(Dim)
	idle := func(share inspect.Opt[float64]) Cell {
		n, ok := share.Get()
		if !ok {
			return untold
		}
		c := Text(strconv.Itoa(int(n*100+0.5)) + "%")
		if n < scarceIdle {
			return c.Styled(Warn)
		}
		return c
	}
	load := b.Load.Or(inspect.Load{})
	flush := untold
	if ms, ok := load.FlushP99Ms.Get(); ok {
		flush = Text(Millis(int64(ms + 0.5)))
	}
	return []Cell{idle(load.HandlerIdle), idle(load.NetworkIdle), flush}
}

// scarceIdle is the share of idle time below which threads are short: Kafka's own advice
// is to keep above it.
const scarceIdle = 0.3

func millisCell(ms inspect.Opt[int64]) Cell {
	n, ok := ms.Get()
	if !ok {
		return Text(Unknown)
	}
	return Cell{Text: Millis(n), Pipe: strconv.FormatInt(n, 10)}
}

func behindCell(lag inspect.Opt[int64], bad bool) Cell {
	c := Number(lag)
	if bad && lag.Or(0) > 0 {
		return c.Styled(Bad)
	}
	return c
}

// disksCell says how much is free on the directory with least, or which has failed.
func disksCell(dirs inspect.Opt[[]LogDirItem]) Cell {
	least := -1.0
	c := Cell{}
	for _, d := range dirs.Or(nil) {
		if e, failed := d.Error.Get(); failed {
			return Text(d.Path + " " + e).Styled(Bad)
		}
		total, known := d.TotalBytes.Get()
		usable, also := d.UsableBytes.Get()
		if !known || !also || total <= 0 {
			continue
		}
		if free := float64(usable) / float64(total); least < 0 || free < least {
			least = free
			c = Text(Bytes(usable) + " free " + strconv.Itoa(int(free*100)) + "%")
			if free < 0.1 {
				c = c.Styled(Warn)
			}
		}
	}
	return c
}
