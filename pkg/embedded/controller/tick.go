package controller

import "github.com/kafkaops/kafkaops/internal/kraft"

// deadlines are when the next round of each periodic task is due, in ms; never
// for those that are off.
type deadlines struct {
	balance, unclean, noOp int64
}

const never = int64(1<<63 - 1)

func (d *deadlines) start(opts Options, nowMs int64) {
	d.balance = after(nowMs, opts.LeaderImbalanceCheckMs)
	d.unclean = after(nowMs, opts.UncleanElectionCheckMs)
	d.noOp = after(nowMs, opts.MaxIdleMs)
}

func after(nowMs, intervalMs int64) int64 {
	if intervalMs <= 0 {
		return never
	}
	return nowMs + intervalMs
}

// NextDeadline is when [Controller.Tick] has something to do, in ms. It can be in
// the past: there is more to do at once.
func (c *Controller) NextDeadline() int64 {
	next := min(c.due.balance, c.due.unclean, c.due.noOp)
	for _, s := range c.sessions {
		if s.open {
			next = min(next, s.contactMs+c.opts.SessionTimeoutMs+1)
		}
	}
	return next
}

// Tick does one thing that is due, so call it as long as NextDeadline has come.
// One thing is one broker fenced, however many are: what that does to partitions
// is seen before the next is judged (Kafka's maybeFenceOneStaleBroker).
func (c *Controller) Tick(nowMs int64) Batch {
	op := c.begin(nowMs)
	switch {
	case op.fenceOneStaleBroker():
	case c.due.balance <= nowMs:
		c.due.balance = nextRound(op.balance(), nowMs, c.opts.LeaderImbalanceCheckMs)
	case c.due.unclean <= nowMs:
		c.due.unclean = nextRound(op.electUncleanLeaders(), nowMs, c.opts.UncleanElectionCheckMs)
	case c.due.noOp <= nowMs:
		// Written though others were: followers measure by it that they are caught up.
		op.write(&kraft.NoOp{})
		c.due.noOp = nowMs + c.opts.MaxIdleMs
	}
	return op.commit()
}

func nextRound(more bool, nowMs, intervalMs int64) int64 {
	if more {
		return nowMs
	}
	return nowMs + intervalMs
}

// fenceOneStaleBroker fences the first broker whose session has ended. A broker
// that is fenced already has a session too: it ends the same way.
func (op *operation) fenceOneStaleBroker() bool {
	for id, b := range op.image.Brokers() {
		s := op.session(id)
		if s.open && s.expired(op.nowMs, op.c.opts.SessionTimeoutMs) {
			s.open, s.shutdownOffset = false, -1
			op.fence(b)
			return true
		}
	}
	return false
}
