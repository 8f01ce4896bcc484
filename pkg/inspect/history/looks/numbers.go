package looks

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// The numbers of each kind of row, and back.

// A partition's: the leader's LEO before the followers were asked and the log's start
// grow; all others are told by their distance from the LEO, or the LSO from the HW,
// which stays small.
const (
	partitionLEO = iota
	partitionLEOAfter
	partitionHW
	partitionLSO
	partitionLogStart
	partitionFollowers // two for each: LEO, and whether it came late
)

func partitionClimbs(column int) bool { return column == partitionLEO || column == partitionLogStart }

func number[T ~int64](v inspect.Opt[T]) cell {
	n, ok := v.Get()
	return cell{int64(n), ok}
}

// less is a number told by its distance from another one, or from 0 where that is unknown.
func (c cell) less(from cell) cell {
	if c.known && from.known {
		c.n -= from.n
	}
	return c
}

// plus undoes less.
func (c cell) plus(from cell) cell {
	if c.known && from.known {
		c.n += from.n
	}
	return c
}

func offset(c cell) inspect.Opt[inspect.Offset] {
	if !c.known {
		return inspect.Unknown[inspect.Offset]()
	}
	return inspect.Known(inspect.Offset(c.n))
}

func partitionRows(s *inspect.Snapshot, g *grid) {
	for p := range s.Partitions {
		o := p.Offsets
		if o == nil {
			g.endRow(0)
			continue
		}
		leo, hw := number(o.LEOBefore), number(o.HW)
		g.cells = append(g.cells, leo, number(o.LEOAfter).less(leo), hw.less(leo), number(o.LSO).less(hw), number(o.LogStart))
		for i := range o.Followers {
			f := &o.Followers[i]
			g.cells = append(g.cells, number(f.LEO).less(leo), cell{0, f.Late})
		}
		g.endRow(partitionFollowers + 2*len(o.Followers))
	}
}

func setPartition(o *inspect.Offsets, row []cell) {
	leo := row[partitionLEO]
	hw := row[partitionHW].plus(leo)
	o.LEOBefore, o.LEOAfter, o.HW = offset(leo), offset(row[partitionLEOAfter].plus(leo)), offset(hw)
	o.LSO, o.LogStart = offset(row[partitionLSO].plus(hw)), offset(row[partitionLogStart])
	for i := range o.Followers {
		at := partitionFollowers + 2*i
		o.Followers[i].LEO, o.Followers[i].Late = offset(row[at].plus(leo)), row[at+1].known
	}
}

// A broker's: its round trip in µs, and when it told log end offsets, in ms since the
// look began. Files from before these times have the round trip alone; in them the times
// are unknown.
func brokerRows(s *inspect.Snapshot, g *grid) {
	for i := range s.Brokers {
		b := &s.Brokers[i]
		d, ok := b.RoundTrip.Get()
		g.cells = append(g.cells, cell{d.Microseconds(), ok}, since(s.TakenAt, b.LeaderLEOsAt), since(s.TakenAt, b.FollowerLEOsAt))
		g.endRow(3)
	}
}

func setBroker(b *inspect.Broker, takenAt time.Time, row []cell) {
	b.RoundTrip = inspect.Unknown[time.Duration]()
	if row[0].known {
		b.RoundTrip = inspect.Known(time.Duration(row[0].n) * time.Microsecond)
	}
	b.LeaderLEOsAt, b.FollowerLEOsAt = row[1].after(takenAt), row[2].after(takenAt)
}

func since(begun time.Time, t inspect.Opt[time.Time]) cell {
	at, ok := t.Get()
	if !ok {
		return cell{}
	}
	return cell{at.Sub(begun).Milliseconds(), true}
}

func (c cell) after(begun time.Time) inspect.Opt[time.Time] {
	if !c.known {
		return inspect.Unknown[time.Time]()
	}
	return inspect.Known(begun.Add(time.Duration(c.n) * time.Millisecond))
}

// The quorum's: a row for the HW, then one for each voter and observer.
func quorumRows(s *inspect.Snapshot, g *grid) {
	q, ok := s.Quorum.Get()
	if !ok {
		return
	}
	g.cells = append(g.cells, number(q.HW))
	g.endRow(1)
	for _, nodes := range [][]inspect.QuorumReplica{q.Voters, q.Observers} {
		for i := range nodes {
			n := &nodes[i]
			g.cells = append(g.cells, number(n.LEO), milliseconds(n.LastFetch), milliseconds(n.LastCaughtUp))
			g.endRow(3)
		}
	}
}

func milliseconds(t inspect.Opt[time.Time]) cell {
	at, ok := t.Get()
	if !ok {
		return cell{}
	}
	return cell{at.UnixMilli(), true}
}

func timeOf(c cell) inspect.Opt[time.Time] {
	if !c.known {
		return inspect.Unknown[time.Time]()
	}
	return inspect.Known(time.UnixMilli(c.n).UTC())
}

func setNode(n *inspect.QuorumReplica, row []cell) {
	n.LEO, n.LastFetch, n.LastCaughtUp = offset(row[0]), timeOf(row[1]), timeOf(row[2])
}

// The groups': a row for each commit.
func commitRows(s *inspect.Snapshot, g *grid) {
	for i := range s.Groups {
		for _, c := range s.Groups[i].Commits.Or(nil) {
			g.cells = append(g.cells, number(c.Offset), number(c.UnreadSinceMs))
			g.endRow(2)
		}
	}
}

func setCommit(c *inspect.Commit, row []cell) {
	c.Offset, c.UnreadSinceMs = offset(row[0]), inspect.Unknown[int64]()
	if row[1].known {
		c.UnreadSinceMs = inspect.Known(row[1].n)
	}
}

func allClimb(int) bool  { return true }
func noneClimb(int) bool { return false }
