package tuning_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/node"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/sim"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// The engine in simulated time: three brokers, a topic whose leader is broker 1, a
// producer that does not wait for anybody, and followers that are made slow by a
// pattern. The same pattern is run once to be looked at, and with each candidate to
// see what becomes of it.

// act is something that is done to the world at a time after the pattern's beginning.
type act struct {
	atMs int64
	do   func(w *sim.World)
}

// pattern is what makes followers slow, the same for whoever runs it.
type pattern struct {
	name   string
	forMs  int64
	static map[string]string
	acts   []act
	// produceMs are the times between two records, in turn.
	produceMs []int64
	bytes     int
	// looksFromMs is when the first look begins: looks are in step with nothing.
	looksFromMs int64
}

// run is one run of a pattern.
type run struct {
	w *sim.World
	p *pattern
	// beganMs is the world's time at which the pattern begins.
	beganMs int64
	agenda  []act

	isr      []int32
	outSince map[int32]int64
	removals int
	outMs    int64

	intervalMs int64
	looks      []tuning.Look
}

// runPattern runs it with a lag time. phase, of phases, shifts it against the
// leader's timer. Where intervalMs is not 0, looks are taken.
func runPattern(p *pattern, lagMaxMs int64, phase, phases, intervalMs int64) (*run, error) {
	plan := sim.QuietPlan()
	plan.SessionMs = 3_600_000 // nobody is fenced: who is slow is all that is looked at
	for k, v := range p.static {
		plan.Static[k] = v
	}
	plan.Static["replica.lag.time.max.ms"] = strconv.FormatInt(lagMaxMs, 10)
	r := &run{w: sim.New(sim.Options{Plan: &plan, Seed: 1}), p: p, outSince: map[int32]int64{}, intervalMs: intervalMs}
	r.w.RunUntil(func() bool { return r.w.Active() == 3 }, 20_000)
	call := r.w.Send(1, createTopic())
	r.w.RunUntil(call.Done, 5000)
	begin := 20_000 + lagMaxMs/2 - 20_000%(lagMaxMs/2) + (2*phase+1)*lagMaxMs/(4*phases)
	r.w.RunFor(begin - r.w.NowMs())
	r.beganMs = r.w.NowMs()
	r.isr = []int32{1, 2, 3}
	r.w.Watch(&sim.Watch{
		Stepped: func(sim.End, node.Partition, replica.Input, []replica.Effect) {},
		Decided: func(_ controller.Batch, after metadata.Image) {
			if topic, ok := after.Topic("t"); ok {
				p, _ := topic.Partition(0)
				r.decided(p.ISR)
			}
		},
		Noted: func(string, string) {}, Stopped: func(string, error) {},
	})
	r.plan()
	for _, a := range r.agenda {
		r.w.RunFor(r.beganMs + a.atMs - r.w.NowMs())
		a.do(r.w)
		if err := r.w.Err(); err != nil {
			return r, err
		}
	}
	r.w.RunFor(20_000)
	return r, r.w.Err()
}

func createTopic() *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, 5000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "t", -1, -1
	topic.ReplicaAssignment = []kmsg.CreateTopicsRequestTopicReplicaAssignment{{Replicas: []int32{1, 2, 3}}}
	req.Topics = append(req.Topics, topic)
	return req
}

// decided notes who left and who came.
func (r *run) decided(isr []int32) {
	for _, id := range r.isr {
		if !slices.Contains(isr, id) {
			r.removals++
			r.outSince[id] = r.w.NowMs()
		}
	}
	for _, id := range isr {
		if since, ok := r.outSince[id]; ok {
			r.outMs += r.w.NowMs() - since
			delete(r.outSince, id)
		}
	}
	r.isr = slices.Clone(isr)
}

// plan lists all that is to be done.
func (r *run) plan() {
	r.agenda = slices.Clone(r.p.acts)
	b := record.NewBuilder(record.Options{})
	if err := b.Add(record.Entry{TimestampMs: 1_790_000_000_000, Value: make([]byte, r.p.bytes)}); err != nil {
		panic(err)
	}
	batch, err := b.AppendTo(nil, nil)
	if err != nil {
		panic(err)
	}
	// Traffic goes on for a while, so that all come back.
	for at, i := int64(0), 0; at < r.p.forMs+60_000; i++ {
		r.agenda = append(r.agenda, act{at, func(w *sim.World) {
			req := kmsg.NewPtrProduceRequest()
			req.Version, req.Acks, req.TimeoutMillis = 9, 1, 5000
			req.Topics = []kmsg.ProduceRequestTopic{{Topic: "t", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: slices.Clone(batch)}}}}
			w.SendOn(1, 1, req)
		}})
		at += r.p.produceMs[i%len(r.p.produceMs)]
	}
	if r.intervalMs > 0 {
		for at := r.p.looksFromMs; at < r.p.forMs+120_000; at += r.intervalMs {
			r.look(at)
		}
	}
	slices.SortStableFunc(r.agenda, func(a, b act) int { return cmp.Compare(a.atMs, b.atMs) })
}

// look plans a look, as kafkaops takes it: the leader's LEO first, then what the
// followers say of theirs, the leader's HW, and the ISR by the metadata. Who has not
// answered by the end is silent.
func (r *run) look(atMs int64) {
	var leader, hw, meta *sim.Call
	var followers [2]*sim.Call
	var takenMs int64
	var answeredMs [2]int64
	r.agenda = append(r.agenda,
		act{atMs, func(w *sim.World) {
			takenMs = w.NowMs() - r.beganMs
			leader = w.SendOn(2, 1, latest(-2))
		}},
		act{atMs + 10, func(w *sim.World) {
			for i := range followers {
				followers[i] = w.SendOn(2, sim.End(i+2), latest(-2))
			}
			hw = w.SendOn(2, 1, latest(-1))
			req := kmsg.NewPtrMetadataRequest()
			req.Version = 9
			topic := "t"
			req.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
			meta = w.SendOn(2, 1, req)
		}})
	for _, afterMs := range []int64{12, 20, 40, 80, 160, 240, 320, 400} {
		r.agenda = append(r.agenda, act{atMs + afterMs, func(w *sim.World) {
			for i, c := range followers {
				if answeredMs[i] == 0 && (c.Done() || afterMs == 400) {
					answeredMs[i] = w.NowMs() - r.beganMs
				}
			}
		}})
	}
	r.agenda = append(r.agenda, act{atMs + 400, func(*sim.World) {
		l := tuning.Look{AtMs: takenMs, Leader: 1, LEO: offsetOf(leader), HW: offsetOf(hw)}
		isr := meta.Response().(*kmsg.MetadataResponse).Topics[0].Partitions[0].ISR
		for i, c := range followers {
			id := int32(i + 2)
			l.Followers = append(l.Followers, tuning.FollowerLook{
				Broker: id, LEO: offsetOf(c), AtMs: answeredMs[i], InISR: slices.Contains(isr, id),
			})
		}
		r.looks = append(r.looks, l)
	}})
}

func latest(replicaID int32) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version, req.ReplicaID = 5, replicaID
	req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "t", Partitions: []kmsg.ListOffsetsRequestTopicPartition{{CurrentLeaderEpoch: -1, Timestamp: -1}}}}
	return req
}

func offsetOf(c *sim.Call) int64 {
	resp, ok := c.Response().(*kmsg.ListOffsetsResponse)
	if !ok || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		return tuning.Unknown
	}
	return resp.Topics[0].Partitions[0].Offset
}

func (r *run) replay(candidates []int64) tuning.LagResult {
	lr := tuning.NewLagReplay(tuning.LagOptions{CandidatesMs: candidates, IntervalMs: r.intervalMs})
	for i := range r.looks {
		lr.Add(tuning.Partition{Topic: "t"}, &r.looks[i])
	}
	return lr.Result()
}

// Patterns, from smooth to bursty. Each draws its figures from the seed.

func draw(seed uint64, forMs int64) *pattern {
	rng := rand.New(rand.NewPCG(seed, 0x74756e65))
	p := &pattern{forMs: forMs, static: map[string]string{}, produceMs: []int64{200}, bytes: 100}
	kinds := []func(*pattern, *rand.Rand){swell, steps, stalls, pauses, bursts, trickle, together, sparse}
	kinds[(seed-1)%uint64(len(kinds))](p, rng)
	p.looksFromMs = between(rng, 1, 999)
	return p
}

func (p *pattern) at(atMs int64, do func(*sim.World)) { p.acts = append(p.acts, act{atMs, do}) }

func (p *pattern) link(atMs int64, id sim.End, delayMs int64) {
	p.at(atMs, func(w *sim.World) {
		w.DelayLink(1, id, delayMs)
		w.DelayLink(id, 1, delayMs)
	})
}

func (p *pattern) pause(atMs int64, id sim.End, forMs int64) {
	p.at(atMs, func(w *sim.World) { w.Pause(id) })
	p.at(atMs+forMs, func(w *sim.World) { w.Resume(id) })
}

// slowDisk makes one append take so long.
func (p *pattern) slowDisk(atMs int64, id sim.End, forMs int64) {
	p.at(atMs, func(w *sim.World) { w.SlowDisk(id, forMs) })
	p.at(atMs+250, func(w *sim.World) { w.SlowDisk(id, 0) })
}

func between(rng *rand.Rand, low, high int64) int64 { return low + rng.Int64N(high-low+1) }

// swell: the way to a follower grows slowly longer and shorter again.
func swell(p *pattern, rng *rand.Rand) {
	p.name = "swell"
	for at := int64(5000); at < p.forMs-60_000; {
		top, steps := between(rng, 500, 4000), between(rng, 10, 30)
		for i := range steps {
			up := min(i, steps-i)
			p.link(at+i*2000, 2, top*2*up/steps)
		}
		p.link(at+steps*2000, 2, 0)
		at += steps*2000 + between(rng, 20_000, 60_000)
	}
}

// steps: the way to a follower has a length for a while, and then another one.
func steps(p *pattern, rng *rand.Rand) {
	p.name = "steps"
	for at := int64(5000); at < p.forMs-60_000; {
		hold := between(rng, 10_000, 40_000)
		p.link(at, 2, between(rng, 300, 5000))
		p.link(at+hold, 2, 0)
		at += hold + between(rng, 20_000, 40_000)
	}
}

// stalls: single appends of a follower take very long.
func stalls(p *pattern, rng *rand.Rand) {
	p.name = "stalls"
	for at := int64(5000); at < p.forMs-60_000; {
		stall := heavy(rng, 2000, 25_000)
		p.slowDisk(at, 2, stall)
		at += stall + between(rng, 8000, 20_000)
	}
}

// pauses: a follower stands still now and then, and does not answer then either.
func pauses(p *pattern, rng *rand.Rand) {
	p.name = "pauses"
	for at := int64(5000); at < p.forMs-60_000; {
		stall := between(rng, 1500, 16_000)
		p.pause(at, 2, stall)
		at += stall + between(rng, 8000, 20_000)
	}
}

// bursts: pauses come in clusters, with long quiet between.
func bursts(p *pattern, rng *rand.Rand) {
	p.name = "bursts"
	for at := int64(5000); at < p.forMs-90_000; {
		for range between(rng, 3, 8) {
			stall := heavy(rng, 1500, 20_000)
			p.slowDisk(at, sim.End(between(rng, 2, 3)), stall)
			at += stall/2 + between(rng, 500, 6000)
		}
		at += between(rng, 30_000, 60_000)
	}
}

// trickle: stalls after which a follower catches up slowly, in small pieces.
func trickle(p *pattern, rng *rand.Rand) {
	p.name = "trickle"
	p.static["replica.fetch.max.bytes"] = "400"
	p.static["replica.fetch.response.max.bytes"] = "400"
	for at := int64(5000); at < p.forMs-90_000; {
		p.link(at, 2, 100)
		stall := between(rng, 2000, 10_000)
		p.slowDisk(at, 2, stall)
		p.link(at+stall+30_000, 2, 0)
		at += stall + 30_000 + between(rng, 5000, 20_000)
	}
}

// together: both followers stand still, at times that overlap.
func together(p *pattern, rng *rand.Rand) {
	p.name = "together"
	for at := int64(5000); at < p.forMs-60_000; {
		one, two := between(rng, 1500, 14_000), between(rng, 1500, 14_000)
		p.slowDisk(at, 2, one)
		p.slowDisk(at+between(rng, 0, 3000), 3, two)
		at += max(one, two) + between(rng, 10_000, 20_000)
	}
}

// sparse: little is written, and followers stall.
func sparse(p *pattern, rng *rand.Rand) {
	p.name = "sparse"
	p.produceMs = nil
	for range 50 {
		p.produceMs = append(p.produceMs, between(rng, 50, 4000))
	}
	for at := int64(5000); at < p.forMs-60_000; {
		stall := between(rng, 1500, 16_000)
		p.pause(at, 2, stall)
		at += stall + between(rng, 8000, 20_000)
	}
}
