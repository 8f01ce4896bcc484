package source

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	describeQuorum = "DescribeQuorum"
	metadataTopic  = "__cluster_metadata"
)

// secondLook is after how long the quorum is asked again where a voter has not
// fetched once from its leader. A voter that is well does so within half a second
// of an election, so one that has not by then is not merely late.
const secondLook = time.Second

// quorum asks for the controllers, by the bootstrap broker, which passes the
// request on to the active one. Brokers offer the API in KRaft mode only; without
// it the quorum is unknown and that is no failure.
//
// A broker that knows no active controller does not say so: it holds the request
// until that expires. So where the first does not answer, all others are asked
// at once, and only where none of two or more gets an answer, though they answer
// else, is there no active controller.
func (p *pass) quorum(ctx context.Context, boot *connect.Conn) {
	if _, ok := boot.Version(keyDescribeQuorum, 2); !ok {
		return
	}
	q, err := p.askQuorum(ctx, &p.src.conf, boot.Addr())
	if held(err) {
		q, err = p.askOthersForQuorum(ctx, boot.Addr(), err)
	}
	var refused *codeError
	switch {
	case errors.As(err, &refused) && refused.code == kerr.UnsupportedVersion.Code:
		return // offered, but not served: a service that plays Kafka
	case errors.As(err, &refused):
		f := refusal(inspect.Unknown[inspect.BrokerID](), boot.Addr(), describeQuorum, refused.code)
		f.Lost = lostQuorum
		if p.query.QuorumBeside && f.Missing != (inspect.ACL{}) {
			f.Notice, f.Lost = true, "went on without the controllers"
		}
		p.fail(f)
		return
	case err != nil:
		f := failureOf(inspect.Unknown[inspect.BrokerID](), err)
		f.Lost = lostQuorum
		p.fail(f)
		return
	}
	p.setQuorum(ctx, q, &p.src.conf, boot.Addr())
}

// setQuorum takes the answer that came from addr, or a second one where that is
// too early to tell.
func (p *pass) setQuorum(ctx context.Context, q *inspect.Quorum, conf *connect.Config, addr string) {
	if p.src.newLeader(q) && slices.ContainsFunc(q.Voters, func(v inspect.QuorumReplica) bool { return v.Never && v.ID != q.Leader }) {
		if again, err := p.lookAgain(ctx, conf, addr); err == nil {
			q = again
		}
	}
	p.snap.Quorum = inspect.Known(*q)
	if q.Leader != inspect.NoBroker {
		p.snap.Controller = inspect.Known(q.Leader)
	}
}

const lostQuorum = "the controllers are unknown"

func (p *pass) lookAgain(ctx context.Context, conf *connect.Config, addr string) (*inspect.Quorum, error) {
	t := time.NewTimer(secondLook)
	defer t.Stop()
	select {
	case <-t.C:
		return p.askQuorum(ctx, conf, addr)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// newLeader remembers who leads, and says whether this Source has seen it lead
// for less than secondLook.
func (s *Source) newLeader(q *inspect.Quorum) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.leads.leader != q.Leader || s.leads.epoch != q.Epoch || s.leads.since.IsZero() {
		s.leads = leadership{q.Leader, q.Epoch, now}
	}
	return now.Sub(s.leads.since) < secondLook
}

// leadership is who was seen to lead the quorum, and since when.
type leadership struct {
	leader inspect.BrokerID
	epoch  inspect.Opt[inspect.Epoch]
	since  time.Time
}

// codeError is a Kafka error code in an answer.
type codeError struct{ code int16 }

// Error is Kafka's name of the code.
func (e *codeError) Error() string { return codeName(e.code) }

// held reports whether nobody answered for the controllers: the time ran out, or
// whoever answered does not lead them.
func held(err error) bool {
	var refused *codeError
	if errors.As(err, &refused) {
		switch refused.code {
		case kerr.RequestTimedOut.Code, kerr.NotController.Code, kerr.NotLeaderForPartition.Code, kerr.LeaderNotAvailable.Code:
			return true
		}
	}
	var ce *connect.Error
	return errors.As(err, &ce) && ce.Timeout()
}

// askOthersForQuorum asks all brokers but the one at addr, and returns the first
// answer, or what the silence of all of them means. Where there is an answer, the
// one at addr is cut off from the controllers, and so from what has happened since:
// passes begin with who answered for a while.
func (p *pass) askOthersForQuorum(ctx context.Context, addr string, first error) (*inspect.Quorum, error) {
	got, silent := p.quorumByOthers(ctx, addr)
	if got != nil {
		return got, nil
	}
	if len(silent) < 2 {
		return nil, first
	}
	f := failureOf(inspect.Unknown[inspect.BrokerID](), first)
	f.Request, f.Phase, f.Address = describeQuorum, inspect.PhaseRequest, ""
	f.Error = fmt.Sprintf("no active controller: %d brokers that answer other requests got no reply from one within %s", len(silent), (p.src.timeout / 3).Round(100*time.Millisecond))
	f.Lost = "the controllers' state is unknown"
	p.fail(f)
	return &inspect.Quorum{Leader: inspect.NoBroker, Silent: silent}, nil
}

// quorumByOthers is the first answer of a broker but the one at addr, or nil and those
// that got none, sorted; the one at addr among them.
func (p *pass) quorumByOthers(ctx context.Context, addr string) (got *inspect.Quorum, silent []inspect.BrokerID) {
	silent = []inspect.BrokerID{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i := range p.snap.Brokers {
		b := &p.snap.Brokers[i]
		if b.Fenced.Or(false) {
			continue
		}
		if b.Address() == addr {
			mu.Lock()
			silent = append(silent, b.ID)
			mu.Unlock()
			continue
		}
		wg.Go(func() {
			conn, err := p.open(ctx, b)
			if err != nil {
				return // says nothing of the controllers
			}
			conn.Close()
			q, err := p.askQuorum(ctx, &p.src.conf, b.Address())
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && got == nil:
				got = q
				p.bootCutOff = true
				p.src.beginWith(b.Address())
				cancel()
			case held(err):
				silent = append(silent, b.ID)
			}
		})
	}
	wg.Wait()
	slices.Sort(silent)
	return got, silent
}

// askQuorum asks one broker or controller. Its error is a *connect.Error or a *codeError.
func (p *pass) askQuorum(ctx context.Context, conf *connect.Config, addr string) (*inspect.Quorum, error) {
	raw, err := conf.OpenRaw(addr)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	req := kmsg.NewPtrDescribeQuorumRequest()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = metadataTopic
	topic.Partitions = append(topic.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	req.Topics = append(req.Topics, topic)
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	resp, err := connect.AskRaw[*kmsg.DescribeQuorumResponse](ctx, raw, req)
	if err != nil {
		return nil, err
	}
	if resp.ErrorCode != 0 {
		return nil, &codeError{resp.ErrorCode}
	}
	if len(resp.Topics) == 0 || len(resp.Topics[0].Partitions) == 0 {
		return nil, &codeError{kerr.UnknownTopicOrPartition.Code}
	}
	part := &resp.Topics[0].Partitions[0]
	if part.ErrorCode != 0 {
		return nil, &codeError{part.ErrorCode}
	}
	return quorumOf(resp, part), nil
}

func quorumOf(resp *kmsg.DescribeQuorumResponse, part *kmsg.DescribeQuorumResponseTopicPartition) *inspect.Quorum {
	endpoints := map[int32][]inspect.Endpoint{}
	for i := range resp.Nodes {
		n := &resp.Nodes[i]
		for j := range n.Listeners {
			l := &n.Listeners[j]
			endpoints[n.NodeID] = append(endpoints[n.NodeID], inspect.Endpoint{Name: l.Name, Host: l.Host, Port: int32(l.Port)})
		}
	}
	q := &inspect.Quorum{Leader: leaderOf(part.LeaderID), Epoch: inspect.Known(inspect.Epoch(part.LeaderEpoch))}
	if part.HighWatermark >= 0 {
		q.HW = inspect.Known(inspect.Offset(part.HighWatermark))
	}
	q.Voters = quorumReplicas(part.CurrentVoters, resp.Version, endpoints)
	q.Observers = quorumReplicas(part.Observers, resp.Version, endpoints)
	return q
}

// quorumReplicas also sorts. −1 is Kafka's word for unknown here.
func quorumReplicas(
	in []kmsg.DescribeQuorumResponseTopicPartitionReplicaState, version int16, endpoints map[int32][]inspect.Endpoint,
) []inspect.QuorumReplica {
	const versionWithTimes = 1
	at := func(ms int64) inspect.Opt[time.Time] {
		if ms <= 0 {
			return inspect.Unknown[time.Time]()
		}
		return inspect.Known(time.UnixMilli(ms).UTC())
	}
	out := make([]inspect.QuorumReplica, 0, len(in))
	for i := range in {
		m := &in[i]
		r := inspect.QuorumReplica{ID: inspect.BrokerID(m.ReplicaID), Endpoints: endpoints[m.ReplicaID]}
		if m.ReplicaDirectoryID != ([16]byte{}) {
			r.DirectoryID = inspect.Known(base64.RawURLEncoding.EncodeToString(m.ReplicaDirectoryID[:]))
		}
		if m.LogEndOffset >= 0 {
			r.LEO = inspect.Known(inspect.Offset(m.LogEndOffset))
		}
		if version >= versionWithTimes {
			r.LastFetch, r.LastCaughtUp = at(m.LastFetchTimestamp), at(m.LastCaughtUpTimestamp)
			r.Never = !r.LastFetch.IsKnown()
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b inspect.QuorumReplica) int { return cmp.Compare(a.ID, b.ID) })
	return out
}
