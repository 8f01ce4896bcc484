package sim

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// client is a producer, a consumer, one that asks for offsets, or an administrator.
// It knows what metadata it was told, which may be old.
type client struct {
	w      *World
	n      int32
	conns  []*conn // by endpoint
	outbox outbox
	actor  actor

	topics []topicView
	stale  bool // its metadata does not hold
	asking bool
	askAt  int64
	acted  bool // it has sent something
}

// actor is what a kind of client does.
type actor interface {
	act()
	answered(f *flight)
}

// topicView is what a client believes about a topic.
type topicView struct {
	name    string
	id      kraft.UUID
	leaders []leaderView // by partition
}

type leaderView struct{ leader, epoch int32 }

// want is what a client, and the checkers, remember of its request.
type want struct {
	topic string
	id    kraft.UUID // zero if the request names the topic
	index int32
	acks  int16
	sent  []sentBatch
	// latest says that the state of the replica is to be noted when it is asked.
	latest      bool
	listed      Offset
	listedEpoch int32
	byHand      bool
}

type sentBatch struct {
	index int32
	b     batch
	out   *outBatch
}

// sentTo is the batch that was sent to a partition.
func (wa *want) sentTo(index int32) *batch {
	for i := range wa.sent {
		if wa.sent[i].index == index {
			return &wa.sent[i].b
		}
	}
	return &batch{}
}

func (w *World) makeClients() {
	add := func(n int, actorOf func(c *client) actor) {
		for range n {
			c := &client{w: w, n: int32(len(w.clients)), conns: make([]*conn, w.net.n), stale: true}
			c.actor = actorOf(c)
			w.clients = append(w.clients, c)
			w.queue.push(event{at: w.now + w.rng.Int64N(w.plan.ThinkUs+1), kind: evClient, who: c.n})
		}
	}
	add(w.plan.Admins, newAdmin)
	add(w.plan.Producers, newProducer)
	add(w.plan.Consumers, newConsumer)
	add(w.plan.Pollers, newPoller)
	w.hand, w.handConns = &client{w: w, n: int32(len(w.clients))}, map[[2]int32]int{}
	w.clients = append(w.clients, w.hand)
}

func (w *World) clientActs(e *event) {
	c := w.clients[e.who]
	think := w.plan.ThinkUs
	c.acted = false
	if !c.asking && (c.stale && w.now >= c.askAt || w.now >= c.askAt+5*sec) {
		c.askMetadata()
	} else if len(c.topics) > 0 || c.n < int32(w.plan.Admins) {
		c.actor.act()
	}
	if c.acted {
		w.count(&w.stats.Actions, evClient, e.who)
	} else {
		think *= 3 // it waits for something
	}
	w.queue.push(event{at: w.now + think/2 + w.rng.Int64N(think), kind: evClient, who: e.who})
}

func (c *client) askMetadata() {
	c.asking, c.askAt = true, c.w.now+50*ms
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 12
	c.send(c.anyBroker(), req, want{})
}

func (c *client) anyBroker() int32 { return 1 + c.w.rng.Int32N(int32(c.w.plan.Brokers)) }

// send sends a request to a broker, by its id.
func (c *client) send(broker int32, req kmsg.Request, wa want) {
	w := c.w
	c.acted = true
	to := broker - 1
	f := &flight{req: req, want: wa}
	f.c = w.dial(&c.conns[to], w.net.clientEnd(), c.n, to, req.Key())
	answered := true
	if p, ok := req.(*kmsg.ProduceRequest); ok && p.Acks == 0 {
		answered = false
	}
	if answered {
		w.expect(&c.outbox, f, w.plan.ClientTimeoutMs*ms, w.net.n+c.n, 0)
	}
	w.send(f, answered)
}

// clientAnswered is an answer, or the word that there will be none.
func (w *World) clientAnswered(f *flight) {
	c := w.clients[f.c.client]
	if f.want.byHand {
		f.told = true
		w.tell("*** answered: %s", describe(f.resp))
		return
	}
	if w.trace != nil {
		w.tell("client %d hears %s", c.n, describe(f.resp))
	}
	if f.want.latest && f.resp != nil && f.want.listedEpoch >= 0 && f.want.listed > 0 {
		if x := w.model.part(f.seen.id, f.want.index); x != nil {
			x.rememberLatest(f.want.listedEpoch, f.want.listed)
		}
	}
	if f.req.Key() == 3 {
		c.asking = false
		if m, ok := f.resp.(*kmsg.MetadataResponse); ok {
			c.learn(m)
		}
		return
	}
	c.actor.answered(f)
}

// learn takes over metadata, but for leaders of which it knew a later epoch.
func (c *client) learn(m *kmsg.MetadataResponse) {
	c.stale, c.askAt = false, c.w.now
	old := c.topics
	c.topics = nil
	for i := range m.Topics {
		t := &m.Topics[i]
		if t.ErrorCode != 0 || t.Topic == nil {
			continue
		}
		v := topicView{name: *t.Topic, id: t.TopicID}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			for int(p.Partition) >= len(v.leaders) {
				v.leaders = append(v.leaders, leaderView{-1, -1})
			}
			v.leaders[p.Partition] = leaderView{p.Leader, p.LeaderEpoch}
			if i := slices.IndexFunc(old, func(o topicView) bool { return o.id == v.id }); i >= 0 && int(p.Partition) < len(old[i].leaders) {
				if was := old[i].leaders[p.Partition]; was.epoch > p.LeaderEpoch {
					v.leaders[p.Partition] = was
				}
			}
			if p.Leader < 0 {
				c.stale, c.askAt = true, c.w.now+200*ms
			}
		}
		c.topics = append(c.topics, v)
	}
}

// lookAgain says that what the client knows did not hold.
func (c *client) lookAgain() {
	if !c.stale {
		c.stale, c.askAt = true, c.w.now+20*ms
	}
}

// anyPartition draws a partition that the client knows.
func (c *client) anyPartition() (t *topicView, index int32, ok bool) {
	if len(c.topics) == 0 {
		return nil, 0, false
	}
	t = &c.topics[c.w.rng.IntN(len(c.topics))]
	if len(t.leaders) == 0 {
		return nil, 0, false
	}
	return t, c.w.rng.Int32N(int32(len(t.leaders))), true
}

// leaderOf is whom to ask about a partition: its leader, or now and then anybody.
func (c *client) leaderOf(t *topicView, index int32) int32 {
	if l := t.leaders[index].leader; l > 0 && int(l) <= c.w.plan.Brokers && c.w.rng.IntN(50) > 0 {
		return l
	}
	c.lookAgain()
	return c.anyBroker()
}
