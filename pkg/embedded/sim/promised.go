package sim

import "github.com/twmb/franz-go/pkg/kmsg"

// What a controller answers rests on all that it had decided by then, its own log's
// newest records included: none of it may be missing in its next life. Kafka's holds
// back even the answers of requests that change nothing for it
// (QuorumController.ControllerWriteEvent).

// beforeDecision notes how far the controller had decided when it was asked. What it
// decides in the same step for other reasons is not this answer's.
func (m *model) beforeDecision(f *flight) { f.seen.decided = m.images[len(m.images)-1].offset }

// promise notes that an answer of the controller has left it.
func (m *model) promise(f *flight) {
	switch f.req.(type) {
	case *kmsg.FetchRequest, *kmsg.FetchSnapshotRequest, *kmsg.DescribeQuorumRequest, *kmsg.ApiVersionsRequest,
		*kmsg.DescribeClusterRequest, *kmsg.DescribeConfigsRequest:
		return // of the log, and what is durable: nothing is decided for them
	}
	m.promised = max(m.promised, f.seen.decided)
}

// checkPromise looks at the log that a controller has found.
func (m *model) checkPromise(end int64) {
	if end < m.promised {
		m.w.fail("I16", "the controller's log ends at %d, and it had answered by what it had decided up to %d", end, m.promised)
	}
}
