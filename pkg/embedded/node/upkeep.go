package node

import (
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// retentionDelayMs is how long after the start retention is looked at first
// (log.initial.task.delay.ms).
const retentionDelayMs = 30_000

// upkeep is what is done every so often, whether anybody asks or not.
type upkeep struct {
	hws, points, retention, producers, removal, repairs alarm
	// writing: a checkpoint of that kind is under way; one that takes longer than
	// the interval is not overtaken.
	writingHWs, writingPoints, removing bool
	cleaner                             cleaner
}

func (u *upkeep) begin(n *Node) {
	every := func(a *alarm, intervalMs, firstMs int64, do func()) {
		if intervalMs <= 0 {
			return
		}
		a.Ring = func() {
			n.alarms.set(a, n.now.Mono+intervalMs)
			if n.life.state != closing {
				do()
			}
		}
		n.alarms.set(a, n.now.Mono+firstMs)
	}
	every(&u.hws, n.cfg.hwCheckpointMs, n.cfg.hwCheckpointMs, func() { u.checkpointHWs(n) })
	every(&u.points, n.cfg.fileCheckpoint, n.cfg.fileCheckpoint, func() { u.checkpointPoints(n) })
	every(&u.retention, n.cfg.retentionCheckMs, min(n.cfg.retentionCheckMs, retentionDelayMs), func() { u.retain(n) })
	every(&u.producers, n.cfg.producerExpiryCheckMs, n.cfg.producerExpiryCheckMs, func() { u.expireProducers(n) })
	u.cleaner.begin(n)
	u.removal.Ring = func() { u.remove(n) }
	u.repairs.Ring = func() { u.tellRepairs(n) }
	n.alarms.set(&u.repairs, n.now.Mono) // of what Open met
	// What an earlier life left to be removed.
	u.removeLater(n, retentionDelayMs)
}

// checkpointOrder writes checkpoints of the directory.
type checkpointOrder struct {
	write func() error
	over  *bool
	err   error
}

// Run is Order's.
func (o *checkpointOrder) Run() { o.err = o.write() }

func (o *checkpointOrder) done(n *Node) {
	*o.over = false
	if o.err != nil {
		n.diskFailed(o.err)
	}
}

func (u *upkeep) checkpointHWs(n *Node) {
	if u.writingHWs {
		return
	}
	u.writingHWs = true
	n.run(directoryLane, &checkpointOrder{write: n.dir.CheckpointHWs, over: &u.writingHWs})
}

// tellRepairs notes what was damaged on the disk and what was done about it.
func (u *upkeep) tellRepairs(n *Node) {
	for _, r := range n.dir.Repairs() {
		n.out = append(n.out, machine.Note{Text: r.String(), Warn: r.OfRecords() || r.OfCheckpoint()})
	}
}

func (u *upkeep) checkpointPoints(n *Node) {
	u.tellRepairs(n)
	if u.writingPoints {
		return
	}
	u.writingPoints = true
	n.run(directoryLane, &checkpointOrder{write: n.dir.CheckpointRecoveryPoints, over: &u.writingPoints})
}

// retain looks at the retention of all logs.
func (u *upkeep) retain(n *Node) {
	for _, p := range n.parts {
		if p.live() && !p.retaining {
			p.retaining = true
			n.run(p.lane, &retentionOrder{p: p, wall: n.now.Wall})
		}
	}
}

// retentionOrder deletes old segments.
type retentionOrder struct {
	p    *partition
	wall int64
	err  error
}

// Run is Order's.
func (o *retentionOrder) Run() { _, o.err = o.p.log.ApplyRetention(o.wall) }

func (o *retentionOrder) done(n *Node) {
	o.p.retaining = false
	switch {
	case o.p.closed:
	case o.err != nil:
		n.diskFailed(o.err)
	default:
		n.retained(o.p)
	}
}

// retained tells the replica where its log starts, if retention has moved that.
func (n *Node) retained(p *partition) {
	if start, _, _ := p.replica.Bounds(); p.log.Start() > start {
		n.step(p, replica.Retained{Start: p.log.Start()})
	}
}

// expireProducers forgets producers that have been silent for long, on followers
// too (ProducerStateManager.removeExpiredProducers).
func (u *upkeep) expireProducers(n *Node) {
	before := n.now.Wall - n.cfg.producerExpiryMs
	for _, p := range n.parts {
		if p.live() {
			p.replica.Producers().Forget(before)
			p.log.ExpireProducers(before)
		}
	}
}

// removeLater removes deleted logs after file.delete.delay.ms; those that are
// deleted meanwhile go with them, for nobody here still reads them.
func (u *upkeep) removeLater(n *Node, delayMs int64) {
	at := n.now.Mono + max(delayMs, 1)
	if !u.removal.IsSet() || u.removal.AtMs() > at {
		n.alarms.set(&u.removal, at)
	}
}

func (u *upkeep) remove(n *Node) {
	if u.removing || n.life.state == closing {
		return
	}
	u.removing = true
	n.run(directoryLane, &checkpointOrder{over: &u.removing, write: func() error {
		_, err := n.dir.RemoveDeleted()
		return err
	}})
}
