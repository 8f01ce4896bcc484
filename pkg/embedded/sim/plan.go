package sim

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Plan is what a world is like: drawn from its seed, or made by hand for a
// scenario. Times are in ms unless their name says otherwise.
type Plan struct {
	Brokers int // with ids from 1 on
	Racks   bool
	// ELR is eligible.leader.replicas.version 1.
	ELR bool

	// Static are the brokers' configs, Topic those of each topic.
	Static, Topic map[string]string
	// MinISR is min.insync.replicas of the topics at their creation.
	MinISR int
	// Of the controller.
	SessionMs                  int64
	SnapshotBytes, RetainBytes int64
	MetadataSegment            int32
	ImbalanceCheckMs           int64
	UncleanCheckMs             int64

	// Topics and Partitions (of each) exist at first, with so many Replicas.
	Topics, Partitions, Replicas int

	// The network: how long a message is under way, and how long who asks waits.
	DelayUs, JitterUs int64
	// Slow is how many of 1000 messages take up to 100 times as long.
	Slow      int
	TimeoutMs int64
	// The disk: how long an order takes.
	DiskUs, DiskJitterUs int64
	// SlowMetadata is a broker that the controller's words reach late; 0: none.
	SlowMetadata   int
	SlowMetadataMs int64

	// The clients.
	Producers, Consumers, Pollers, Admins int
	// ThinkUs is about how long a client waits between two actions.
	ThinkUs int64
	// ClientTimeoutMs is how long a client waits for an answer.
	ClientTimeoutMs int64
	// DeliveryMs is how long a producer tries to get a batch in (delivery.timeout.ms).
	DeliveryMs int64
	// Compressed makes some producers compress.
	Compressed bool

	// Keys is how many keys the records of a topic have, 0 for none: topics are compacted.
	// BriefTombstones says that tombstones of theirs go before the run is over.
	Keys            int
	BriefTombstones bool

	// FaultEveryUs is about how long it takes from one fault to the next; 0: none.
	FaultEveryUs int64
	Faults       [faultKinds]int // weights
	// Unclean allows elections that lose records, Reckless losses of disks that
	// leave too few copies: what they void is not checked then.
	Unclean, Reckless bool
	// Still leaves nothing to chance: clocks run true, an order's effects are there
	// when it ends, what was under way on a connection that is lost is lost, and TCP
	// sends again every 100 ms.
	Still bool
	// RefuseOpen are disks that do not rename or remove what is open.
	RefuseOpen bool
	// OneWay: in the end, one broker hears the others no more, for good (L6).
	OneWay bool
}

// QuietPlan is three brokers on a fast network, no clients and no faults: for
// scenarios that are told by hand.
func QuietPlan() Plan {
	return Plan{
		Brokers: 3, ELR: true, MinISR: 2, SessionMs: 9000, Static: map[string]string{}, Topic: map[string]string{},
		DelayUs: 1 * ms, TimeoutMs: 30_000, DiskUs: 100, Still: true,
	}
}

// oneOf draws one of several values, one that stands twice twice as often.
func oneOf[T any](rng *rand.Rand, values ...T) T { return values[rng.IntN(len(values))] }

// chance is true n times of 100.
func chance(rng *rand.Rand, n int) bool { return rng.IntN(100) < n }

// drawPlan draws a world. What is rare in a real cluster is armed here for a
// whole world at a time, so that it meets everything else (BUGGIFY).
func drawPlan(rng *rand.Rand) Plan {
	p := Plan{
		Brokers: oneOf(rng, 3, 3, 3, 3, 4, 5), Racks: chance(rng, 40), ELR: chance(rng, 80),
		MinISR: oneOf(rng, 1, 2, 2, 2, 2, 3), SessionMs: oneOf[int64](rng, 400, 800, 2000, 9000),
		Static: map[string]string{}, Topic: map[string]string{},
		Topics: oneOf(rng, 1, 1, 2, 3), Partitions: oneOf(rng, 1, 1, 2, 3),
		DelayUs: oneOf[int64](rng, 100, 500, 2000, 10_000), Slow: oneOf(rng, 0, 0, 2, 20), TimeoutMs: oneOf[int64](rng, 1000, 3000, 10_000, 30_000),
		DiskUs:    oneOf[int64](rng, 10, 100, 1000, 5000),
		Producers: 1 + rng.IntN(4), Consumers: 1 + rng.IntN(3), Pollers: 1, Admins: 1,
		ThinkUs:    oneOf[int64](rng, 5_000, 20_000, 60_000),
		Compressed: chance(rng, 4), ClientTimeoutMs: oneOf[int64](rng, 1000, 4000, 10_000), DeliveryMs: oneOf[int64](rng, 1500, 10_000, 60_000),
		Unclean: chance(rng, 10), Reckless: chance(rng, 10), OneWay: chance(rng, 20),
	}
	p.Replicas = min(p.Brokers, oneOf(rng, 1, 2, 3, 3, 3, 3, 4))
	p.JitterUs, p.DiskJitterUs = p.DelayUs*oneOf[int64](rng, 1, 1, 20), p.DiskUs*oneOf[int64](rng, 1, 1, 20)
	if chance(rng, 15) {
		p.SlowMetadata, p.SlowMetadataMs = 1+rng.IntN(p.Brokers), oneOf[int64](rng, 100, 500, 2000)
	}
	p.drawConfigs(rng)
	if chance(rng, 20) {
		p.drawCompaction(rng)
	}
	p.drawFaults(rng)
	return p
}

func (p *Plan) drawConfigs(rng *rand.Rand) {
	set := func(m map[string]string, key string, value int64) { m[key] = strconv.FormatInt(value, 10) }
	lag := oneOf[int64](rng, 200, 500, 1000, 3000, 30_000)
	set(p.Static, "replica.lag.time.max.ms", lag)
	set(p.Static, "replica.fetch.wait.max.ms", min(lag, oneOf[int64](rng, 20, 100, 500)))
	set(p.Static, "replica.fetch.backoff.ms", oneOf[int64](rng, 10, 100, 1000))
	set(p.Static, "broker.heartbeat.interval.ms", p.SessionMs/oneOf[int64](rng, 3, 5))
	set(p.Static, "replica.high.watermark.checkpoint.interval.ms", oneOf[int64](rng, 100, 1000, 5000))
	set(p.Static, "log.flush.offset.checkpoint.interval.ms", oneOf[int64](rng, 200, 5000, 60_000))
	if chance(rng, 10) {
		set(p.Static, "replica.fetch.max.bytes", 1)
	}
	if chance(rng, 10) {
		set(p.Static, "replica.fetch.response.max.bytes", 1)
	}
	if p.Racks {
		p.Static["replica.selector.class"] = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
	}
	if chance(rng, 60) { // tiny segments
		set(p.Topic, "internal.segment.bytes", oneOf[int64](rng, 1000, 2000, 20_000))
	}
	if chance(rng, 50) {
		set(p.Topic, "index.interval.bytes", oneOf[int64](rng, 1, 100, 300))
	}
	if chance(rng, 40) {
		set(p.Topic, "flush.messages", oneOf[int64](rng, 1, 1, 3, 10))
	}
	if chance(rng, 15) {
		set(p.Static, "log.retention.check.interval.ms", oneOf[int64](rng, 500, 3000))
		set(p.Topic, "retention.bytes", oneOf[int64](rng, 2000, 20_000))
	}
	if p.Unclean && chance(rng, 50) {
		p.Topic["unclean.leader.election.enable"] = "true"
	}
	p.UncleanCheckMs = oneOf[int64](rng, 1000, 10_000)
	if chance(rng, 50) {
		p.ImbalanceCheckMs = oneOf[int64](rng, 1000, 5000)
	}
	if chance(rng, 50) { // a snapshot every few records
		p.SnapshotBytes, p.MetadataSegment = oneOf[int64](rng, 100, 2000), oneOf[int32](rng, 500, 4000)
		p.RetainBytes = oneOf[int64](rng, 1000, 10_000)
	}
}

// drawCompaction makes topics compacted: few keys, in small segments, as the active one is
// not cleaned, and much written to few partitions.
func (p *Plan) drawCompaction(rng *rand.Rand) {
	p.Keys = oneOf(rng, 2, 5, 20)
	p.Topics, p.Partitions, p.ThinkUs = 1, oneOf(rng, 1, 1, 2), 5_000
	p.Topic["cleanup.policy"] = oneOf(rng, "compact", "compact", "compact,delete")
	p.Topic["internal.segment.bytes"] = oneOf(rng, "1000", "2000")
	p.Topic["min.cleanable.dirty.ratio"] = oneOf(rng, "0.01", "0.5")
	if p.BriefTombstones = chance(rng, 30); p.BriefTombstones {
		p.Topic["delete.retention.ms"] = oneOf(rng, "0", "500")
	}
	p.Static["log.cleaner.backoff.ms"] = oneOf(rng, "20", "200", "1000")
}

// String tells the plan in a line or two.
func (p *Plan) String() string {
	return fmt.Sprintf("%d brokers, replicas %d, min ISR %d, %d topics of %d, ELR %t, session %d ms, static %v, topic %v, delay %d+%d us, disk %d+%d us, timeout %d ms,"+
		" %d keys, unclean %t, reckless %t, one way %t, faults every %d us: %v",
		p.Brokers, p.Replicas, p.MinISR, p.Topics, p.Partitions, p.ELR, p.SessionMs, p.Static, p.Topic, p.DelayUs, p.JitterUs, p.DiskUs, p.DiskJitterUs, p.TimeoutMs,
		p.Keys, p.Unclean, p.Reckless, p.OneWay, p.FaultEveryUs, p.Faults)
}
