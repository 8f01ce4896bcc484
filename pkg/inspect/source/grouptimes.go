package source

import (
	"context"
	"fmt"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// timeRounds is how many ListOffsets a broker gets at most to find times. A group
// takes about 15; where many groups stand at different places of one partition,
// each round serves one of them and helps the others, since a partition may not
// stand twice in a request.
const timeRounds = 60

// commitsByPartition is where the commits of all groups for a partition are, for
// the readers to fill in times. Each partition has one reader.
func commitsByPartition(groups []inspect.Group) map[inspect.TopicPartition][]*inspect.Commit {
	out := map[inspect.TopicPartition][]*inspect.Commit{}
	for i := range groups {
		commits := groups[i].Commits.Or(nil)
		for c := range commits {
			out[commits[c].TopicPartition] = append(out[commits[c].TopicPartition], &commits[c])
		}
	}
	return out
}

// partitionSearch is the searches in one partition, one for each position.
type partitionSearch struct {
	*inspect.Partition
	searches map[inspect.Offset]*timeSearch
	// order is the positions as they came, so that probes do not depend on chance.
	order []inspect.Offset
}

// probe is of the first search that has not ended.
func (p *partitionSearch) probe() (atMs int64, ok bool) {
	for _, at := range p.order {
		if ms, ok := p.searches[at].probe(); ok {
			return ms, true
		}
	}
	return 0, false
}

// readTimes finds out since when the first record that a group has yet to read has
// been in the partition, for all groups behind in those that this broker leads.
func (r *reader) readTimes(ctx context.Context) error {
	nowMs := r.offsets.pass.snap.TakenAt.UnixMilli()
	var parts []*partitionSearch
	for _, p := range r.work.leads {
		search := &partitionSearch{p, map[inspect.Offset]*timeSearch{}, nil}
		for _, c := range r.offsets.commits[inspect.TopicPartition{Topic: p.Topic, Partition: p.Index}] {
			at, behind := unread(c, p.Offsets)
			if behind && search.searches[at] == nil {
				search.searches[at] = newTimeSearch(at, nowMs)
				search.order = append(search.order, at)
			}
		}
		if len(search.order) > 0 {
			parts = append(parts, search)
		}
	}
	for range timeRounds {
		asked, err := r.askTimes(ctx, parts)
		if err != nil {
			return err
		}
		if asked == 0 {
			break
		}
	}
	r.setTimes(parts)
	return nil
}

// unread is the offset of the first record that is there and not yet read.
func unread(c *inspect.Commit, o *inspect.Offsets) (at inspect.Offset, behind bool) {
	committed, ok := c.Offset.Get()
	start, started := o.LogStart.Get()
	hw, ended := o.HW.Get()
	if !ok || !started || !ended {
		return 0, false
	}
	at = max(committed, start)
	return at, at < hw
}

// askTimes sends one ListOffsets with a time for every partition that has a search
// under way, and returns how many there were.
func (r *reader) askTimes(ctx context.Context, parts []*partitionSearch) (asked int, err error) {
	version, _ := r.conn.Version(keyListOffsets, newestListOffsets)
	req := &sarama.OffsetRequest{Version: version}
	req.SetReplicaID(consumer)
	times := make([]int64, len(parts))
	for i, p := range parts {
		times[i] = -1
		if ms, ok := p.probe(); ok {
			times[i] = ms
			req.AddBlock(p.Topic, p.Index, ms, 1)
			asked++
		}
	}
	if asked == 0 {
		return 0, nil
	}
	ctx, cancel := r.offsets.pass.src.bounded(ctx)
	defer cancel()
	resp, err := connect.Ask(ctx, r.conn, listOffsets, func(b *sarama.Broker) (*sarama.OffsetResponse, error) {
		return b.GetAvailableOffsets(req)
	})
	if err != nil {
		return 0, err
	}
	for i, p := range parts {
		if times[i] < 0 {
			continue
		}
		block := resp.Blocks[p.Topic][p.Index]
		for _, s := range p.searches {
			if block == nil || block.Err != sarama.ErrNoError {
				s.done, s.loKnown = true, false // leadership has moved since the offsets were read
				continue
			}
			s.answer(times[i], inspect.Offset(block.Offset), block.Timestamp)
		}
	}
	return asked, nil
}

func (r *reader) setTimes(parts []*partitionSearch) {
	unfinished := 0
	for _, p := range parts {
		for _, c := range r.offsets.commits[inspect.TopicPartition{Topic: p.Topic, Partition: p.Index}] {
			at, behind := unread(c, p.Offsets)
			if !behind {
				continue
			}
			s := p.searches[at]
			c.UnreadSinceMs = s.since()
			if !s.done {
				unfinished++
			}
		}
	}
	if unfinished > 0 {
		r.offsets.pass.fail(inspect.Failure{
			Broker: inspect.Known(r.broker.ID), Address: r.conn.Addr(), Request: listOffsets, Phase: inspect.PhaseRequest,
			Error: fmt.Sprintf("%d groups' times were not found in %d requests", unfinished, timeRounds),
			Hint:  "name fewer groups, or use --samples",
		})
	}
}
