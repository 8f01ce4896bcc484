package replica

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// TestScenarios runs the stories of testdata. Every effect of every replica is
// in the trace, so a story that changes is a diff to read; -rewrite makes it.
func TestScenarios(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, filepath.Join("testdata", "scenarios"), func(t *testing.T, path string) {
		t.Parallel()
		var s *scenario
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "cluster" {
				s = newScenario(d)
			}
			s.w.fail = func(format string, args ...any) {
				t.Helper()
				d.Fatalf(t, "invariant: "+format, args...)
			}
			s.w.trace.Reset()
			if err := s.run(command{d}); err != nil {
				d.Fatalf(t, "%v", err)
			}
			if out := s.w.trace.String(); out != "" {
				return out
			}
			return "ok\n"
		})
	})
}

// TestScenariosCover lists the stories that must exist: the cases of public bug
// reports that one partition can show.
func TestScenariosCover(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"e1_hw_before_truncation", "e2_fast_leader_changes", "e4_truncation_to_hw", "e5_older_epoch", "e6_reborn_broker",
		"e7_last_replica", "e9_duplicates", "e10_acks_1", "e19_undefined_epoch", "e20_out_of_range",
	} {
		if m, _ := filepath.Glob(filepath.Join("testdata", "scenarios", name)); len(m) != 1 {
			t.Errorf("no scenario %s", name)
		}
	}
}

type scenario struct {
	w *world
}

func newScenario(d *datadriven.TestData) *scenario {
	c := command{d}
	w := newWorld(int(c.num("brokers", 3)), Settings{MinISR: int(c.num("min", 2)), FlushMessages: c.num("flush", 0)})
	w.cfg.LagTimeMaxMs = c.num("lag", w.cfg.LagTimeMaxMs)
	for _, n := range w.nodes {
		w.open(n, 0)
	}
	return &scenario{w: w}
}

// run carries out one command; each case tells what it takes.
func (s *scenario) run(c command) error {
	w := s.w
	switch c.d.Cmd {
	case "cluster": // cluster [brokers=3] [min=2] [lag=30000] [flush=0]
	case "elect": // elect 1|none isr=(1,2,3) [to=(1,2,3)] [unclean]
		leader := NoBroker
		if id, err := strconv.Atoi(c.word(0)); err == nil {
			leader = BrokerID(id)
		}
		w.unclean = w.unclean || c.has("unclean")
		w.elect(leader, c.brokers("isr", w.quorum.ISR), c.brokers("to", w.ids))
	case "assign": // assign replicas=(1,2,4) [to=(...)] [isr=(...)]
		w.quorum.Replicas = c.brokers("replicas", nil)
		w.changeISR(c.brokers("isr", w.quorum.ISR), c.brokers("to", w.ids))
	case "tell": // tell to=(1,2) : the controller's present view
		w.tell(c.brokers("to", w.ids))
	case "produce":
		return s.produce(c)
	case "fetch":
		return s.fetch(c)
	case "disk":
		return s.disk(c)
	case "isr": // isr 1 [err=CODE] : the controller answers 1's oldest proposal
		w.answerISR(c.broker(), c.code("err"))
	case "isr-answer": // isr-answer 1 [leader-epoch=] [partition-epoch=] [isr=()] : a made-up success for the latest proposal
		n := c.node(w)
		w.step(n, AlterPartitionResponse{
			Proposal: n.r.proposals, LeaderEpoch: Epoch(c.num("leader-epoch", 0)),
			PartitionEpoch: int32(c.num("partition-epoch", 0)), ISR: c.brokers("isr", nil),
		})
	case "time":
		s.pass(c)
	case "broker": // broker 2 [fenced] [shutting-down] [epoch=7] [rack=r1]
		b := w.registry[c.broker()]
		b.Fenced, b.ShuttingDown = c.has("fenced"), c.has("shutting-down")
		b.Epoch, b.Rack = c.num("epoch", b.Epoch), c.str("rack", b.Rack)
		w.registry[c.broker()] = b
		if c.has("gone") {
			delete(w.registry, c.broker())
		}
	case "kill": // kill 1
		c.node(w).up = false
	case "restart": // restart 1 [power] [wiped] [hw=0] : the HW of the checkpoint is the last one by default
		n := c.node(w)
		if c.has("wiped") {
			n.log, n.start, n.flushed = nil, 0, 0
		}
		w.restart(n, c.has("power"), Offset(c.num("hw", int64(n.r.log.hw))))
	case "settings": // settings 1 min=2 : told to one broker
		w.step(c.node(w), Configure{Settings: Settings{MinISR: int(c.num("min", 1))}})
	case "status":
		s.status()
	case "log":
		s.logs()
	default:
		return s.ask(c)
	}
	return nil
}

// produce 1 a b [acks=all|1|0|7] [timeout=30000] [pid=9 [epoch=0] seq=0] [records=1] [txn] [end-txn]:
// each value is a batch; seq counts on.
func (s *scenario) produce(c command) error {
	acks := int16(c.num("acks", 1))
	if c.str("acks", "") == "all" {
		acks = acksAll
	}
	seq := int32(c.num("seq", 0))
	for _, value := range c.words()[1:] {
		if value == "txn" || value == "end-txn" {
			continue
		}
		b := Batch{LastOffset: Offset(c.num("records", 1)) - 1, ProducerID: c.num("pid", logstate.NoProducerID), MaxTimestampMs: s.w.nowMs}
		if b.ProducerID != logstate.NoProducerID {
			b.ProducerEpoch, b.BaseSequence = int16(c.num("epoch", 0)), seq
			b.Transactional, b.Control = c.has("txn"), c.has("end-txn")
			if b.Control {
				b.BaseSequence = logstate.NoSequence
			}
			seq = Batch{BaseSequence: seq, LastOffset: b.LastOffset}.LastSequence() + 1
		}
		s.w.produce(c.node(s.w), record{value: value, batch: b}, acks, c.num("timeout", 30_000))
	}
	return nil
}

// fetch 2 [3 ...] : whole rounds, one each;  rounds=3 : several;
// fetch 2 to-leader | back | drop : half a round.
func (s *scenario) fetch(c command) error {
	for range c.num("rounds", 1) {
		for _, word := range c.words() {
			id, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			n := s.w.nodes[BrokerID(id)]
			switch {
			case c.has("send"):
				s.w.send(n)
			case c.has("arrive"):
				s.w.arrive(n)
			case c.has("to-leader"):
				s.w.send(n)
				s.w.arrive(n)
			case c.has("back"):
				s.w.deliver(n)
			case c.has("drop"):
				n.request, n.answer, n.awaited = nil, nil, 0
			default:
				if !s.w.fetch(n) {
					s.w.printf("  %d has no fetch to send", id)
				}
			}
		}
	}
	return nil
}

// disk 1 hold | release : keep or let go of the disk's answers;
// disk 1 done | fail | reject : answer one order.
func (s *scenario) disk(c command) error {
	n := c.node(s.w)
	switch c.word(1) {
	case "hold":
		n.hold = true
	case "release":
		n.hold = false
		if n.order != nil {
			s.w.diskDone(n)
		}
	case "done":
		s.w.diskDone(n)
	case "reject":
		n.order = nil
		s.w.step(n, AppendRejected{Err: CorruptMessage})
	case "fail":
		n.order = nil
		s.w.step(n, DiskFailed{})
	default:
		return fmt.Errorf("disk does not know %q", c.word(1))
	}
	return nil
}

// time 1000 [frozen] : time passes, and deadlines with it; frozen brokers find
// out only at the end.
func (s *scenario) pass(c command) {
	w := s.w
	ms, _ := strconv.ParseInt(c.word(0), 10, 64)
	end := w.nowMs + ms
	for !c.has("frozen") {
		at, who := end+1, (*node)(nil)
		for _, id := range w.ids {
			n := w.nodes[id]
			if due, ok := n.r.NextDeadline(); ok && n.up && max(due, w.nowMs) < at {
				at, who = max(due, w.nowMs), n
			}
		}
		if who == nil {
			break
		}
		w.nowMs = at
		w.printf("  at %+d ms:", at-(end-ms))
		w.step(who, Tick{})
	}
	w.nowMs = end
	for _, id := range w.ids {
		w.step(w.nodes[id], Tick{})
	}
}

// ask is the commands that put one question or one input by hand.
func (s *scenario) ask(c command) error {
	w, n := s.w, c.node(s.w)
	position := FetchPosition{
		Offset: Offset(c.num("from", 0)), LeaderEpoch: Epoch(c.num("epoch", -1)), LastFetchedEpoch: Epoch(c.num("last", -1)),
	}
	switch c.d.Cmd {
	case "consume": // consume 1 from=0 [epoch=-1] [last=-1] [committed] [log-end] [leader-only]
		f := Fetch{Position: position, Isolation: ReadUncommitted, LeaderOnly: c.has("leader-only")}
		if c.has("committed") {
			f.Isolation = ReadCommitted
		} else if c.has("log-end") {
			f.Isolation = LogEnd
		}
		b := n.r.Fetch(f)
		w.printf("  %s", bounds(b))
		for _, rec := range n.log {
			if b.Err == None && rec.batch.LastOffset >= b.From && rec.batch.BaseOffset < b.UpTo {
				w.printf("  %d %s", rec.batch.BaseOffset, rec.value)
			}
		}
	case "list": // list 1 latest [replica=-1] [version=11] [committed] [epoch=-1] [found=7 found-epoch=1]
		a := n.r.ListOffsets(ListOffsets{
			Version: int16(c.num("version", 11)), ReplicaID: int32(c.num("replica", -1)), LeaderEpoch: position.LeaderEpoch,
			ReadCommitted: c.has("committed"), Timestamp: timestampOf(c.word(1)),
		})
		if a.Search {
			w.printf("  search, below %d", a.Below)
			a = a.Found(Offset(c.num("found", -1)), Epoch(c.num("found-epoch", -1)), c.has("found"))
		}
		w.printf("  %s, offset %d, epoch %d", codeName(a.Err), a.Offset, a.LeaderEpoch)
	case "epoch-end": // epoch-end 1 of=3 [epoch=-1] : OffsetForLeaderEpoch
		end, err := n.r.OffsetForLeaderEpoch(position.LeaderEpoch, Epoch(c.num("of", 0)))
		w.printf("  %s, epoch %d ends at %d", codeName(err), end.Epoch, end.End)
	case "prefer": // prefer 1 rack=r1 from=0 : KIP-392
		w.printf("  read from %d", n.r.PreferredReadReplica(w.nowMs, c.str("rack", ""), position.Offset))
	case "delete": // delete 1 before=5 [timeout=30000]
		w.step(n, DeleteRecords{Token: w.token("delete"), Before: Offset(c.num("before", 0)), TimeoutMs: c.num("timeout", 30_000)})
	case "metadata": // metadata 3 leader=2 leader-epoch=3 partition-epoch=3 isr=(2) : by hand, as of any time
		w.step(n, Partition{
			Leader: BrokerID(c.num("leader", -1)), LeaderEpoch: Epoch(c.num("leader-epoch", 0)),
			PartitionEpoch: int32(c.num("partition-epoch", 0)), Replicas: slices.Clone(w.ids), ISR: c.brokers("isr", nil),
		})
	case "retain": // retain 1 from=5 : retention moved the start
		w.step(n, Retained{Start: position.Offset})
	case "follower-fetch": // follower-fetch 1 by=2 from=0 [epoch=] [last=] [broker-epoch=] [start=0] [reread] [lie]
		w.unclean = w.unclean || c.has("lie") // it does not have what it says
		w.step(n, FollowerFetch{
			Token: w.token("the fetch"), From: BrokerID(c.num("by", 2)), Position: position, BrokerEpoch: c.num("broker-epoch", -1),
			LogStart: Offset(c.num("start", 0)), Reread: c.has("reread"),
		})
	case "response": // response 2 [err=CODE] [hw=] [start=] [diverge=(epoch,end)] [batches=(base-last@epoch)] [stale]
		return s.response(c, n)
	case "offset": // offset 2 latest|earliest is=5 [err=CODE] [epoch=] : a made-up answer
		w.step(n, OffsetResponse{
			Timestamp: timestampOf(c.word(1)), LeaderEpoch: Epoch(c.num("epoch", int64(n.r.leaderEpoch))),
			Err: c.code("err"), Offset: Offset(c.num("is", -1)),
		})
	default:
		return fmt.Errorf("unknown command %q", c.d.Cmd)
	}
	return nil
}

func (s *scenario) response(c command, n *node) error {
	r := FetchResponse{
		Token: s.w.token("by hand"), Position: n.r.position(), Err: c.code("err"), HW: Offset(c.num("hw", 0)),
		LogStart: Offset(c.num("start", 0)), Diverging: logstate.UndefinedEnd,
	}
	if c.has("stale") {
		r.Position.LeaderEpoch--
	}
	if c.has("diverge") {
		v := c.vals("diverge")
		epoch, _ := strconv.Atoi(v[0])
		end, _ := strconv.Atoi(v[1])
		r.Diverging = logstate.EpochEnd{Epoch: Epoch(epoch), End: Offset(end)}
	}
	for _, v := range c.vals("batches") {
		b := Batch{ProducerID: logstate.NoProducerID}
		if _, err := fmt.Sscanf(v, "%d-%d@%d", &b.BaseOffset, &b.LastOffset, &b.LeaderEpoch); err != nil {
			return fmt.Errorf("batch %q: %w", v, err)
		}
		r.Batches = append(r.Batches, b)
		s.w.nodes[n.id].fetched[r.Token] = append(s.w.nodes[n.id].fetched[r.Token], record{value: "?", batch: b})
	}
	s.w.step(n, r)
	return nil
}

func (s *scenario) status() {
	for _, id := range s.w.ids {
		n := s.w.nodes[id]
		st := n.r.Status()
		line := fmt.Sprintf("  %d: %-8s epoch %d.%d, start %d, HW %d, LEO %d", id, st.Role, st.LeaderEpoch, st.PartitionEpoch,
			st.LogStart, st.HW, st.LEO)
		if st.Role == Leader {
			line += ", ISR " + ids(st.ISR) + when(st.Proposing, ", proposing, maximal "+ids(st.MaximalISR)) +
				when(st.UnderMinISR, ", under min ISR") + when(st.Waiting > 0, fmt.Sprintf(", %d waiting", st.Waiting))
		}
		s.w.printf("%s%s%s", line, when(st.Busy, ", disk busy"), when(!n.up, ", down"))
	}
}

func (s *scenario) logs() {
	for _, id := range s.w.ids {
		n := s.w.nodes[id]
		var parts []string
		for _, rec := range n.log {
			parts = append(parts, fmt.Sprintf("%d:%s@%d", rec.batch.BaseOffset, rec.value, rec.batch.LeaderEpoch))
		}
		var epochs []string
		for _, e := range n.r.Epochs().Entries() {
			epochs = append(epochs, fmt.Sprintf("%d from %d", e.Epoch, e.Start))
		}
		s.w.printf("  %d: %s | epochs %s", id, strings.Join(parts, " "), strings.Join(epochs, ", "))
	}
}

func timestampOf(word string) int64 {
	names := map[string]int64{
		"latest": Latest, "earliest": Earliest, "max": MaxTimestamp, "earliest-local": EarliestLocal,
		"latest-tiered": LatestTiered, "pending-upload": EarliestPendingUpload,
	}
	if ts, ok := names[word]; ok {
		return ts
	}
	ts, _ := strconv.ParseInt(word, 10, 64)
	return ts
}

// command reads the arguments of a line.
type command struct{ d *datadriven.TestData }

func (c command) words() []string {
	var words []string
	for _, a := range c.d.CmdArgs {
		if len(a.Vals) == 0 {
			words = append(words, a.Key)
		}
	}
	return words
}

func (c command) word(i int) string {
	if words := c.words(); i < len(words) {
		return words[i]
	}
	return ""
}

func (c command) broker() BrokerID {
	id, _ := strconv.Atoi(c.word(0))
	return BrokerID(id)
}

func (c command) node(w *world) *node {
	if n := w.nodes[c.broker()]; n != nil {
		return n
	}
	panic(fmt.Sprintf("%s: no broker %q", c.d.Pos, c.word(0)))
}

func (c command) has(key string) bool { return c.d.HasArg(key) }

func (c command) vals(key string) []string {
	for _, a := range c.d.CmdArgs {
		if a.Key == key {
			return a.Vals
		}
	}
	return nil
}

func (c command) str(key, otherwise string) string {
	if v := c.vals(key); len(v) > 0 {
		return v[0]
	}
	return otherwise
}

func (c command) num(key string, otherwise int64) int64 {
	v, err := strconv.ParseInt(c.str(key, ""), 10, 64)
	if err != nil {
		return otherwise
	}
	return v
}

func (c command) brokers(key string, otherwise []BrokerID) []BrokerID {
	if !c.has(key) {
		return slices.Clone(otherwise)
	}
	all := []BrokerID{}
	for _, v := range c.vals(key) {
		if id, err := strconv.Atoi(v); err == nil {
			all = append(all, BrokerID(id))
		}
	}
	return all
}

func (c command) code(key string) Code {
	for code, name := range codeNames {
		if name == c.str(key, "NONE") {
			return code
		}
	}
	n, _ := strconv.Atoi(c.str(key, "0"))
	return Code(n)
}
