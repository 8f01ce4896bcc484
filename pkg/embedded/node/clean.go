package node

import (
	"errors"

	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// cleaner compacts the logs of compacted topics, one at a time and the one first that
// is the dirtiest (LogCleaner, with one thread). On followers too: each replica
// compacts its own log, at its own time.
//
//	resting -> looking    every log.cleaner.backoff.ms
//	looking -> cleaning   a log is dirty enough, or has waited for too long
//	cleaning -> looking   it is clean; there may be another one
//	looking -> resting    there is none
type cleaner struct {
	wait alarm
	// lastTo is where the last cleaning came to, of lastOf: one that gets no
	// further is not tried again at once.
	lastOf *partition
	lastTo storage.Offset
}

func (c *cleaner) begin(n *Node) {
	if !n.cfg.cleanerEnabled {
		return
	}
	c.wait.Ring = func() { c.look(n) }
	c.rest(n)
}

func (c *cleaner) rest(n *Node) {
	c.lastOf = nil
	n.alarms.set(&c.wait, n.now.Mono+max(n.cfg.cleanerBackoffMs, 1))
}

// look orders a look at how dirty logs are, if there are such logs.
func (c *cleaner) look(n *Node) {
	o := &dirtOrder{wall: n.now.Wall}
	for _, p := range n.parts {
		if p.live() && p.cfg.log.Compacted {
			o.among = append(o.among, p)
		}
	}
	if len(o.among) == 0 || n.life.state == closing {
		c.rest(n)
		return
	}
	n.run(directoryLane, o)
}

// dirtOrder finds the log that is the dirtiest of those that are to be cleaned.
type dirtOrder struct {
	among []*partition
	wall  int64
	best  *partition
	err   error
}

// Run is Order's.
func (o *dirtOrder) Run() {
	var most float64
	for _, p := range o.among {
		if p.closed {
			continue
		}
		d, err := p.log.Dirt(o.wall)
		switch {
		case errors.Is(err, storage.ErrClosed):
			continue
		case err != nil:
			o.err = err
			return
		}
		if d.Due(p.cfg.minDirtyRatio) && (o.best == nil || d.Ratio() > most) {
			o.best, most = p, d.Ratio()
		}
	}
}

func (o *dirtOrder) done(n *Node) {
	c := &n.upkeep.cleaner
	switch {
	case o.err != nil:
		n.diskFailed(o.err)
	case o.best == nil || n.life.state == closing || o.best == c.lastOf && o.best.log.CleanedTo() <= c.lastTo:
		c.rest(n)
	default:
		c.lastOf, c.lastTo = o.best, o.best.log.CleanedTo()
		n.run(syncLane(o.best), &cleanOrder{p: o.best, wall: o.wall})
	}
}

// cleanOrder does a piece of a cleaning. Appends go on between two of them.
type cleanOrder struct {
	p    *partition
	wall int64
	work *storage.Cleaning // nil before the first piece
	over bool
	err  error
}

// Run is Order's.
func (o *cleanOrder) Run() {
	if o.work == nil {
		if o.work, o.err = o.p.log.Clean(o.wall); o.work == nil {
			o.over = true
			return
		}
	}
	o.over, o.err = o.work.Step()
}

func (o *cleanOrder) done(n *Node) {
	c := &n.upkeep.cleaner
	switch {
	case o.p.closed || errors.Is(o.err, storage.ErrClosed):
		c.rest(n)
	case o.err != nil:
		n.diskFailed(o.err)
	case n.life.state == closing:
	case o.over:
		c.look(n)
	default:
		n.run(syncLane(o.p), o)
	}
}
