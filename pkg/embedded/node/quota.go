package node

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// Configs of KIP-73. Topics name the replicas, brokers the rates.
const (
	leaderThrottledReplicas   = "leader.replication.throttled.replicas"
	followerThrottledReplicas = "follower.replication.throttled.replicas"
	leaderThrottledRate       = "leader.replication.throttled.rate"
	followerThrottledRate     = "follower.replication.throttled.rate"
)

// quotas bound what replicas get that are not in the ISR (KIP-73): as a leader this
// broker answers them without records, as a follower it does not ask for them, as long as
// the rate is above its bound. Nothing is cut in pieces: what is begun is moved whole, and paid for by
// the wait after it.
type quotas struct {
	leader, follower quota
	// following: some follower here is throttled, if its rate says so.
	following bool
}

// quota is one side's (ReplicationQuotaManager): the bytes of all throttled partitions
// count, also of replicas in the ISR, which are never held up.
type quota struct {
	rate byteRate
	// bound is in bytes a second.
	bound int64
}

func newQuotas(windows int, windowMs int64) quotas {
	q := quota{rate: newByteRate(windows, windowMs), bound: math.MaxInt64}
	return quotas{leader: q, follower: q}
}

func (q *quota) exceeded(nowMs int64) bool { return q.rate.perSecond(nowMs) > float64(q.bound) }

// replicaList is what a topic's config says of this broker: which partitions.
type replicaList struct {
	all        bool
	partitions []int32
}

func (l replicaList) any() bool { return l.all || len(l.partitions) > 0 }

func (l replicaList) has(index int32) bool { return l.all || slices.Contains(l.partitions, index) }

// parseReplicaList takes "*" or partition:broker pairs (TopicConfigHandler.parseThrottledPartitions).
// What is neither was refused by the controller.
func parseReplicaList(value string, self int32) (l replicaList) {
	value = strings.TrimSpace(value)
	if value == "*" {
		return replicaList{all: true}
	}
	for pair := range strings.SplitSeq(value, ",") {
		partition, broker, _ := strings.Cut(strings.TrimSpace(pair), ":")
		index, err := strconv.ParseInt(partition, 10, 32)
		if id, err2 := strconv.ParseInt(broker, 10, 32); err == nil && err2 == nil && id == int64(self) {
			l.partitions = append(l.partitions, int32(index))
		}
	}
	return l
}

// configureQuotas takes the rates that are in force: the broker's own, else that of
// all brokers. The file has none (BrokerConfigHandler).
func (n *Node) configureQuotas(im metadata.Image) {
	bound := func(key string) int64 {
		for _, name := range []string{strconv.Itoa(int(n.opts.ID)), ""} {
			if v, ok := im.Config(metadata.Resource{Type: kraft.ResourceBroker, Name: name}, key); ok {
				if rate, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil {
					return rate
				}
			}
		}
		return math.MaxInt64
	}
	n.quotas.leader.bound, n.quotas.follower.bound = bound(leaderThrottledRate), bound(followerThrottledRate)
}

// holdsBack: a follower's fetch gets no records of a partition now
// (ReplicaManager.shouldLeaderThrottle).
func (n *Node) holdsBack(r *fetchRequest, p *partition) bool {
	return r.follower() && p.cfg.leaderThrottled.has(p.id.index) && !p.replica.InISR(replica.BrokerID(r.replicaID)) &&
		n.quotas.leader.exceeded(n.now.Mono)
}

// keepsAway: a follower here does not ask for a partition now
// (RemoteLeaderEndPoint.shouldFollowerThrottle).
func (n *Node) keepsAway(p *partition) bool {
	return p.cfg.followerThrottled.has(p.id.index) && !p.entry.inSync() && n.quotas.follower.exceeded(n.now.Mono)
}

// countAnswer counts an answer to a follower: the size that it would have with the
// throttled partitions alone (KafkaApis.sizeOfThrottledPartitions), which is more than
// nothing when there are none. So a bound of a few bytes a second is always exceeded.
func (n *Node) countAnswer(resp *kmsg.FetchResponse) {
	only := kmsg.FetchResponse{Version: resp.Version}
	bytes := 0
	for i := range resp.Topics {
		t := &resp.Topics[i]
		var parts []kmsg.FetchResponseTopicPartition
		for _, part := range t.Partitions {
			if p := n.byID[partitionID{t.TopicID, part.Partition}]; p == nil || !p.cfg.leaderThrottled.has(part.Partition) {
				continue
			}
			bytes += len(part.RecordBatches)
			part.RecordBatches = []byte{}
			parts = append(parts, part)
		}
		if parts != nil {
			only.Topics = append(only.Topics, kmsg.FetchResponseTopic{Topic: t.Topic, TopicID: t.TopicID, Partitions: parts})
		}
	}
	const length = 4 // before the response
	n.quotas.leader.rate.count(n.now.Mono, int64(length+len(only.AppendTo(nil))+bytes))
}

// countFetched takes what a follower here has got of a partition
// (ReplicaFetcherThread.processPartitionData, AbstractFetcherThread.processFetchRequest).
func (n *Node) countFetched(p *partition, in *replica.FetchResponse, bytes int) {
	next := in.Position.Offset
	if last := len(in.Batches) - 1; last >= 0 {
		next = in.Batches[last].LastOffset + 1
	}
	if len(in.Batches) > 0 || !p.entry.lagKnown {
		p.entry.lag, p.entry.lagKnown = max(0, in.HW-next), true
	}
	if p.cfg.followerThrottled.has(p.id.index) {
		n.quotas.follower.rate.count(n.now.Mono, int64(bytes))
	}
}
