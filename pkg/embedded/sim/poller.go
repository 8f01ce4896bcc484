package sim

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// poller asks for offsets and epochs.
type poller struct {
	c           *client
	outstanding int
}

func newPoller(c *client) actor { return &poller{c: c} }

func (p *poller) act() {
	w := p.c.w
	t, index, ok := p.c.anyPartition()
	if !ok || p.outstanding > 2 {
		return
	}
	p.outstanding++
	to := p.c.leaderOf(t, index)
	wa := want{topic: t.name, index: index, latest: true, listedEpoch: -1}
	if chance(w.rng, 20) {
		p.askEpoch(t, index, to, wa)
		return
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version, req.ReplicaID = oneOf[int16](w.rng, 7, 8, 10), -1
	if chance(w.rng, 25) {
		req.ReplicaID, to = -2, p.c.anyBroker()
	}
	if chance(w.rng, 30) {
		req.IsolationLevel = 1
	}
	q := kmsg.NewListOffsetsRequestTopicPartition()
	q.Partition, q.CurrentLeaderEpoch = index, p.epoch(t, index)
	q.Timestamp = oneOf(w.rng, replica.Latest, replica.Latest, replica.Earliest, replica.MaxTimestamp, epochMs+w.now/ms-w.rng.Int64N(5000))
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = t.name
	rt.Partitions = append(rt.Partitions, q)
	req.Topics = append(req.Topics, rt)
	p.c.send(to, req, wa)
}

// epoch is the one that the client knows, or none, or a wrong one.
func (p *poller) epoch(t *topicView, index int32) int32 {
	e := t.leaders[index].epoch
	switch p.c.w.rng.IntN(8) {
	case 0:
		return max(e-1, -1)
	case 1:
		return e + 1
	case 2, 3, 4:
		return -1
	}
	return e
}

func (p *poller) askEpoch(t *topicView, index, to int32, wa want) {
	req := kmsg.NewPtrOffsetForLeaderEpochRequest()
	req.Version, req.ReplicaID = 4, -1
	q := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	q.Partition, q.CurrentLeaderEpoch = index, p.epoch(t, index)
	q.LeaderEpoch = max(t.leaders[index].epoch-p.c.w.rng.Int32N(4), -1)
	rt := kmsg.NewOffsetForLeaderEpochRequestTopic()
	rt.Topic = t.name
	rt.Partitions = append(rt.Partitions, q)
	req.Topics = append(req.Topics, rt)
	p.c.send(to, req, wa)
}

func (p *poller) answered(f *flight) {
	p.outstanding--
	switch resp := f.resp.(type) {
	case *kmsg.ListOffsetsResponse:
		if len(resp.Topics) == 1 && len(resp.Topics[0].Partitions) == 1 && resp.Topics[0].Partitions[0].ErrorCode != 0 {
			p.c.lookAgain()
		}
	case nil:
		p.c.lookAgain()
	}
}
