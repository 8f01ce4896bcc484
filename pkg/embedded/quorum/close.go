package quorum

import (
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// Shutdown closes the log; Stop{nil} comes out once everything that was decided is
// durable and answered, and the log is closed. What comes in meanwhile is not
// answered by who leads no longer: NOT_LEADER_OR_FOLLOWER for a Fetch, the end of
// the connection for others.
func (n *Node) Shutdown(now machine.Time, out []machine.Effect) []machine.Effect {
	if n.stopped || n.closing {
		return out
	}
	n.closing = true
	return n.proceed(now, n.serveFetches(now, out))
}

// startClose closes the log once no order runs.
func (n *Node) startClose(now machine.Time, out []machine.Effect) []machine.Effect {
	if !n.closing || n.running > 0 {
		return out
	}
	return n.run(laneLog, &closeOrder{dir: n.dir, nowMs: now.Wall}, out)
}

// closeOrder completes the log's files and closes them.
type closeOrder struct {
	dir   *storage.Dir
	nowMs int64
	err   error
}

// Run is Order's.
func (o *closeOrder) Run() { o.err = o.dir.Close(-1, o.nowMs) }

func (o *closeOrder) done(n *Node, _ machine.Time, out []machine.Effect) []machine.Effect {
	return n.stop(o.err, out)
}
