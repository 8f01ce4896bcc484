package group

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// world is one group of consumers, the log of its partition of __consumer_offsets, and
// the coordinators that it has one after another, in virtual time. All is drawn from
// one seed.
type world struct {
	tb   testing.TB
	rng  *rand.Rand
	cfg  Config
	now  int64
	seq  uint64
	todo events

	shard *Shard
	// life numbers coordinators: what was meant for an older one is lost.
	life    int
	ticking int64 // when a tick is due

	log  []logged
	hw   int
	wait []Append // ordered and not in the log yet

	tokens   Token
	open     map[Token]*call
	clients  []*client
	partials int64 // of offsets: each commit is of a higher one

	// acked are offsets whose commits were acknowledged, by partition.
	acked map[int32]int64
	// given is what a leader gave to whom, by generation and coordinator.
	given map[string]map[string]string
	// generation is the newest one that this coordinator has named to anybody.
	generation int32

	quiet bool // the faults are over
	// traced: lines are kept of what happens. A history that fails runs again with it.
	traced bool
	trace  []string
	seed   uint64
	hash   hash.Hash64
	stats  stats
}

type stats struct{ joins, syncs, commits, moves, refused int }

type logged struct{ key, value []byte }

// call is a request on its way.
type call struct {
	c    *client
	life int // of the client
	sent int64
	req  kmsg.Request
	// floor is what an OffsetFetch may not be below.
	floor int64
}

type event struct {
	at  int64
	seq uint64
	do  func()
}

type events []event

func (q events) Len() int { return len(q) }

func (q events) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].at, q[j].at), cmp.Compare(q[i].seq, q[j].seq)) < 0
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is heap.Interface's.
func (q *events) Push(x any) { *q = append(*q, x.(event)) }

// Pop is heap.Interface's.
func (q *events) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}

func newWorld(tb testing.TB, seed uint64, traced bool) *world {
	rng := rand.New(rand.NewPCG(seed, 7))
	w := &world{
		tb: tb, rng: rng, seed: seed, traced: traced, hash: fnv.New64a(), open: map[Token]*call{}, acked: map[int32]int64{}, given: map[string]map[string]string{},
		cfg: Config{
			MinSessionTimeoutMs: 100, MaxSessionTimeoutMs: 100_000, MaxSize: 1 << 20, MetadataMaxBytes: 4096,
			InitialRebalanceDelayMs: int64(rng.IntN(2)) * 50, CommitTimeoutMs: 500, RetentionMs: 1 << 40,
			RetentionCheckMs: 1 << 40, MaxBatchBytes: 1 << 20,
		},
	}
	w.elect()
	for i := range 2 + rng.IntN(4) {
		c := &client{w: w, name: fmt.Sprintf("c%d", i), version: int16(rng.IntN(10))}
		if c.version >= 5 && rng.IntN(2) == 0 {
			c.instance = kmsg.StringPtr(fmt.Sprintf("i%d", i))
		}
		w.clients = append(w.clients, c)
		w.after(int64(rng.IntN(500)), c.begin)
	}
	return w
}

func (w *world) after(ms int64, do func()) {
	w.seq++
	heap.Push(&w.todo, event{w.now + max(ms, 0), w.seq, do})
}

func (w *world) chance(percent int) bool { return !w.quiet && w.rng.IntN(100) < percent }

func (w *world) tracef(format string, args ...any) {
	if w.traced {
		w.trace = append(w.trace, fmt.Sprintf("%6d ", w.now)+fmt.Sprintf(format, args...))
	}
}

// note makes bytes part of what a history is told apart by.
func (w *world) note(b []byte) {
	_, _ = w.hash.Write(b)
	_, _ = w.hash.Write(binary.AppendVarint(nil, w.now))
}

func (w *world) failf(format string, args ...any) {
	w.tb.Helper()
	if !w.traced {
		newWorld(w.tb, w.seed, true).run(historyMs)
	}
	w.tb.Fatalf("at %d ms: %s\n%s", w.now, fmt.Sprintf(format, args...), strings.Join(w.trace[max(len(w.trace)-60, 0):], "\n"))
}

// historyMs is how long a history has faults.
const historyMs = 10_000

// run lets faults happen for a while, then wants the group to come to rest.
func (w *world) run(untilMs int64) {
	w.after(int64(w.rng.IntN(1500)), w.move)
	w.until(untilMs)
	w.quiet = true
	w.tracef("faults are over")
	for _, c := range w.clients {
		c.stay()
	}
	w.until(untilMs + 20_000)
	w.settled()
	w.shard.Close(w.time(), nil)
}

func (w *world) until(ms int64) {
	for len(w.todo) > 0 && w.todo[0].at <= ms {
		e := heap.Pop(&w.todo).(event)
		w.now = e.at
		e.do()
	}
	w.now = ms
}

func (w *world) time() Time { return Time{MonoMs: w.now, WallMs: 1_700_000_000_000 + w.now} }

// elect makes a coordinator of what the log has.
func (w *world) elect() {
	w.life++
	w.shard = New(&w.cfg, w.rng)
	w.generation = 0
	for _, r := range w.log {
		if err := w.shard.Load(w.time(), Record{r.key, r.value}); err != nil {
			w.failf("load: %v", err)
		}
	}
	w.hw = len(w.log)
	if g := w.shard.groups["g"]; g != nil {
		w.generation = g.generation
	}
	w.tracef("coordinator %d has loaded %d records", w.life, len(w.log))
	w.obey(w.shard.Activate(w.time(), nil))
	w.step(HW{int64(w.hw)})
}

// move gives the partition another leader: what is above the HW may be lost, and what
// is on its way is.
func (w *world) move() {
	w.after(500+int64(w.rng.IntN(4000)), w.move)
	if w.quiet || w.rng.IntN(3) == 0 {
		return
	}
	w.stats.moves++
	old := w.shard
	w.wait = nil
	w.tracef("coordinator %d goes", w.life)
	w.obey(old.Close(w.time(), nil))
	keep := w.hw + w.rng.IntN(len(w.log)-w.hw+1)
	w.log = w.log[:keep]
	w.elect()
}

func (w *world) step(in Input) {
	w.obey(w.shard.Step(w.time(), in, nil))
}

func (w *world) obey(effects []Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case Reply:
			w.answered(e.Token, e.Response)
		case Fetched:
			w.fetched(e)
		case Append:
			w.order(e)
		case Note:
			w.tracef("note %s", e.Text)
		default:
			w.failf("effect %T", e)
		}
	}
	w.watch()
}

func (w *world) watch() {
	at := w.shard.NextDeadline()
	if at == Never || at == w.ticking && at > w.now {
		return
	}
	w.ticking = at
	life := w.life
	w.after(at-w.now, func() {
		if w.life == life && w.shard.NextDeadline() <= w.now {
			w.step(Tick{})
		}
	})
}

// order appends later, in order, and commits later still; now and then not for long.
func (w *world) order(e Append) {
	w.wait = append(w.wait, e)
	for _, r := range e.Records {
		w.note(r.Key)
		w.note(r.Value)
	}
	life := w.life
	w.after(int64(w.rng.IntN(20)), func() {
		if w.life != life || len(w.wait) == 0 {
			return
		}
		first := w.wait[0]
		w.wait = w.wait[1:]
		for _, r := range first.Records {
			w.log = append(w.log, logged{r.Key, r.Value})
		}
		end := int64(len(w.log))
		w.step(Appended{ID: first.ID, End: end})
		delay := int64(w.rng.IntN(20))
		if w.chance(3) {
			delay = 1000
		}
		w.after(delay, func() {
			if w.life == life && int(end) > w.hw {
				w.hw = int(end)
				w.step(HW{end})
			}
		})
	})
}

// ask sends a request, which may be lost on its way.
func (w *world) ask(c *client, req kmsg.Request) {
	life := c.life
	w.after(int64(w.rng.IntN(10)), func() {
		if w.chance(2) {
			w.after(300, func() { c.lost(life) })
			return
		}
		w.tokens++
		w.open[w.tokens] = &call{c: c, life: life, sent: w.now, req: req}
		w.tracef("%s asks %s v%d", c.name, kmsg.NameForKey(req.Key()), req.GetVersion())
		w.step(Request{Token: w.tokens, ClientID: c.name, ClientHost: "/h", Body: req})
	})
}

func (w *world) answered(token Token, resp kmsg.Response) {
	call, ok := w.open[token]
	if !ok {
		w.failf("token %d is answered twice, or was never asked", token)
	}
	delete(w.open, token)
	w.note(resp.AppendTo(nil))
	w.check(call, resp)
	w.after(int64(w.rng.IntN(10)), func() {
		if w.chance(2) {
			call.c.lost(call.life)
			return
		}
		call.c.heard(call, resp)
	})
}

// check holds an answer to what all answers must be like.
func (w *world) check(call *call, resp kmsg.Response) {
	switch resp := resp.(type) {
	case *kmsg.JoinGroupResponse:
		w.tracef("%s joined: %d, generation %d as %s, leader %s, %d members",
			call.c.name, resp.ErrorCode, resp.Generation, resp.MemberID, resp.LeaderID, len(resp.Members))
		if resp.ErrorCode == 0 {
			w.stats.joins++
			if resp.Generation < w.generation {
				w.failf("generation %d after %d", resp.Generation, w.generation)
			}
			w.generation = resp.Generation
		}
	case *kmsg.SyncGroupResponse:
		w.tracef("%s synced: %d, %q", call.c.name, resp.ErrorCode, resp.MemberAssignment)
		if resp.ErrorCode == 0 {
			w.stats.syncs++
			w.checkShare(call.req.(*kmsg.SyncGroupRequest), string(resp.MemberAssignment))
		}
	case *kmsg.OffsetCommitResponse:
		req := call.req.(*kmsg.OffsetCommitRequest)
		code := resp.Topics[0].Partitions[0].ErrorCode
		w.tracef("%s committed %d of generation %d: %d", call.c.name, req.Topics[0].Partitions[0].Offset, req.Generation, code)
		if code == 0 {
			w.stats.commits++
			p := &req.Topics[0].Partitions[0]
			w.acked[p.Partition] = max(w.acked[p.Partition], p.Offset)
		}
	case *kmsg.HeartbeatResponse:
		w.tracef("%s beat: %d", call.c.name, resp.ErrorCode)
	case *kmsg.LeaveGroupResponse:
		w.tracef("%s left: %d", call.c.name, resp.ErrorCode)
	}
}

// checkShare: in a generation each member gets what the leader gave it, and nothing
// else, from whichever coordinator.
func (w *world) checkShare(req *kmsg.SyncGroupRequest, share string) {
	all := w.given[fmt.Sprint(req.Generation)]
	if len(all) == 0 {
		w.failf("%s got %q in generation %d, of which no leader has given anything", req.MemberID, share, req.Generation)
	}
	for leader, shares := range all {
		// A coordinator that lost a generation makes another of that number.
		if strings.Contains(shares, fmt.Sprintf("<%s=%s>", req.MemberID, share)) {
			_ = leader
			return
		}
	}
	// A static member that was born again has its old share under a new id.
	for _, shares := range all {
		if share != "" && req.InstanceID != nil && strings.Contains(shares, "="+share+">") {
			return
		}
	}
	w.failf("%s got %q in generation %d, but was given otherwise: %v", req.MemberID, share, req.Generation, all)
}

// fetch asks for the offset of a partition, which may not be below what was
// acknowledged when it was asked.
func (w *world) fetch(partition int32) {
	w.tokens++
	w.open[w.tokens] = &call{floor: w.acked[partition]}
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = "g"
	t := kmsg.NewOffsetFetchRequestGroupTopic()
	t.Topic, t.Partitions = "t", []int32{partition}
	g.Topics = append(g.Topics, t)
	w.step(FetchOffsets{Token: w.tokens, Group: g, RequireStable: w.rng.IntN(2) == 0})
}

func (w *world) fetched(e Fetched) {
	call, ok := w.open[e.Token]
	if !ok {
		w.failf("token %d is answered twice, or was never asked", e.Token)
	}
	delete(w.open, e.Token)
	if e.Group.ErrorCode != 0 {
		return
	}
	got := e.Group.Topics[0].Partitions[0].Offset
	if floor := call.floor; floor > 0 && got < floor {
		w.failf("partition %d is at %d, and %d was acknowledged", e.Group.Topics[0].Partitions[0].Partition, got, floor)
	}
}

// settled: after the faults all are in one generation, and share the partitions.
func (w *world) settled() {
	g := w.shard.groups["g"]
	if g == nil || g.state != Stable {
		w.failf("the group did not come to rest: %+v", g)
	}
	owned := map[string]string{}
	for _, c := range w.clients {
		if c.state != isMember || c.generation != g.generation {
			w.failf("%s is %v in generation %d, want a member in %d", c.name, c.state, c.generation, g.generation)
		}
		for p := range strings.SplitSeq(c.share, ",") {
			if other, taken := owned[p]; taken {
				w.failf("%s and %s both have %s", other, c.name, p)
			}
			owned[p] = c.name
		}
	}
	if len(owned) != partitions {
		w.failf("%d partitions are owned, want %d: %v", len(owned), partitions, owned)
	}
	if len(g.members) != len(w.clients) {
		w.failf("%d members, want %d", len(g.members), len(w.clients))
	}
	for token, call := range w.open {
		if call.c != nil && w.now-call.sent > 10_000 {
			w.failf("token %d, %T of %s, is not answered since %d", token, call.req, call.c.name, call.sent)
		}
	}
}
