package group

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// bench is a shard whose log is written and committed as the test says.
type bench struct {
	t       *testing.T
	s       *Shard
	cfg     Config
	now     int64
	log     []Record
	waiting []Append
	replies map[Token]kmsg.Response
	fetched map[Token]kmsg.OffsetFetchResponseGroup
	deleted map[Token][]Code
	token   Token
}

func newBench(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	b := &bench{t: t, cfg: Config{
		MinSessionTimeoutMs: 6000, MaxSessionTimeoutMs: 60_000, MaxSize: 100, MetadataMaxBytes: 10, CommitTimeoutMs: 5000,
		RetentionMs: 100_000, RetentionCheckMs: 10_000, MaxBatchBytes: 1 << 20,
	}, replies: map[Token]kmsg.Response{}, fetched: map[Token]kmsg.OffsetFetchResponseGroup{}, deleted: map[Token][]Code{}}
	if change != nil {
		change(&b.cfg)
	}
	b.load()
	return b
}

// load makes a shard of the log.
func (b *bench) load() {
	b.t.Helper()
	b.waiting = nil
	b.s = New(&b.cfg, rand.New(rand.NewPCG(1, 2)))
	for _, r := range b.log {
		if err := b.s.Load(b.time(), r); err != nil {
			b.t.Fatal(err)
		}
	}
	b.obey(b.s.Activate(b.time(), nil))
	b.step(HW{int64(len(b.log))})
}

func (b *bench) time() Time { return Time{b.now, 1_000_000_000 + b.now} }

func (b *bench) step(in Input) { b.obey(b.s.Step(b.time(), in, nil)) }

func (b *bench) obey(effects []Effect) {
	b.t.Helper()
	for _, e := range effects {
		switch e := e.(type) {
		case Reply:
			if b.replies[e.Token] != nil {
				b.t.Fatalf("token %d is answered twice", e.Token)
			}
			b.replies[e.Token] = e.Response
		case Fetched:
			b.fetched[e.Token] = e.Group
		case Deleted:
			b.deleted[e.Token] = e.Codes
		case Append:
			b.waiting = append(b.waiting, e)
		}
	}
}

// append puts what is ordered into the log, and commit passes it by the HW.
func (b *bench) append() {
	for len(b.waiting) > 0 {
		a := b.waiting[0]
		b.waiting = b.waiting[1:]
		b.log = append(b.log, a.Records...)
		b.step(Appended{ID: a.ID, End: int64(len(b.log))})
	}
}

func (b *bench) commit() {
	b.append()
	b.step(HW{int64(len(b.log))})
}

// pass lets time go by, in steps of the shard's own deadlines.
func (b *bench) pass(ms int64) {
	for until := b.now + ms; ; {
		next := b.s.NextDeadline()
		if next > until {
			b.now = until
			return
		}
		b.now = max(b.now, next)
		b.step(Tick{})
	}
}

// ask sends a request; its answer may be there already.
func (b *bench) ask(req kmsg.Request) Token {
	b.token++
	b.step(Request{Token: b.token, ClientID: "client", ClientHost: "/host", Body: req})
	return b.token
}

func answer[R kmsg.Response](b *bench, token Token) R {
	b.t.Helper()
	r, ok := b.replies[token].(R)
	if !ok {
		b.t.Fatalf("token %d has no answer of type %T: %v", token, r, b.replies[token])
	}
	return r
}

func (b *bench) open(token Token) {
	b.t.Helper()
	if r := b.replies[token]; r != nil {
		b.t.Fatalf("token %d is answered: %+v", token, r)
	}
}

func (b *bench) code(got int16, want Code) {
	b.t.Helper()
	if Code(got) != want {
		b.t.Fatalf("error %d, want %d", got, want)
	}
}

func (b *bench) join(version int16, member string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version, req.Group, req.MemberID, req.ProtocolType = version, "g", member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 10_000, 20_000
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name = "range"
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = []string{"subscribed"}
	p.Metadata = m.AppendTo(nil)
	req.Protocols = append(req.Protocols, p)
	return req
}

func (b *bench) sync(member string, generation int32, shares ...string) *kmsg.SyncGroupRequest {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Version, req.Group, req.MemberID, req.Generation = 3, "g", member, generation
	for _, s := range shares {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = s, []byte("share of "+s)
		req.GroupAssignment = append(req.GroupAssignment, a)
	}
	return req
}

func (b *bench) beat(member string, generation int32) Code {
	b.t.Helper()
	req := kmsg.NewPtrHeartbeatRequest()
	req.Version, req.Group, req.MemberID, req.Generation = 3, "g", member, generation
	return Code(answer[*kmsg.HeartbeatResponse](b, b.ask(req)).ErrorCode)
}

// member makes a group of one, stable and committed.
func (b *bench) member(version int16) string {
	b.t.Helper()
	token := b.ask(b.join(version, ""))
	b.commit()
	b.pass(1)
	id := answer[*kmsg.JoinGroupResponse](b, token).MemberID
	token = b.ask(b.sync(id, 1, id))
	b.commit()
	b.code(answer[*kmsg.SyncGroupResponse](b, token).ErrorCode, None)
	return id
}

func (b *bench) offset(group, topic string, at int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.Generation = 8, group, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset, p.Metadata = at, kmsg.StringPtr("m")
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func commitCode(b *bench, token Token) int16 {
	b.t.Helper()
	return answer[*kmsg.OffsetCommitResponse](b, token).Topics[0].Partitions[0].ErrorCode
}

func (b *bench) fetch(group, topic string, stable bool) (int64, bool) {
	b.token++
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	t := kmsg.NewOffsetFetchRequestGroupTopic()
	t.Topic, t.Partitions = topic, []int32{0}
	g.Topics = append(g.Topics, t)
	b.step(FetchOffsets{Token: b.token, Group: g, RequireStable: stable})
	out, ok := b.fetched[b.token]
	if !ok {
		return 0, false
	}
	if out.ErrorCode != 0 {
		return -int64(out.ErrorCode), true
	}
	return out.Topics[0].Partitions[0].Offset, true
}

func (b *bench) state() string { return b.s.Describe("g", 5).State }

// A commit is answered, and seen, when the HW has passed it.
func TestCommitWaitsForHW(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	token := b.ask(b.offset("g", "t", 7))
	b.open(token)
	if at, _ := b.fetch("g", "t", false); at != -1 {
		t.Errorf("offset %d is seen before it is committed", at)
	}
	if _, ok := b.fetch("g", "t", true); ok {
		t.Error("a stable offset was answered while one is being committed")
	}
	b.append()
	b.open(token)
	b.step(HW{0})
	b.open(token)
	b.step(HW{1})
	b.code(commitCode(b, token), None)
	if at, _ := b.fetch("g", "t", false); at != 7 {
		t.Errorf("offset %d, want 7", at)
	}
	if got := b.fetched[b.token-1]; len(got.Topics) != 1 || got.Topics[0].Partitions[0].Offset != 7 {
		t.Errorf("who wanted what is stable got %+v", got)
	}
}

// Who waits too long is told so; the offset may be committed later.
func TestCommitTimesOut(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	first := b.ask(b.offset("g", "t", 7))
	b.pass(2000)
	second := b.ask(b.offset("g", "t", 8))
	b.pass(2999)
	b.open(first)
	b.pass(1)
	b.code(commitCode(b, first), CoordinatorNotAvailable)
	b.open(second)
	b.pass(2000)
	b.code(commitCode(b, second), CoordinatorNotAvailable)
	b.commit()
	if at, _ := b.fetch("g", "t", false); at != 8 {
		t.Errorf("offset %d, want 8", at)
	}
}

// An append that is larger than a batch may be is refused, and nothing is written.
func TestBatchTooLarge(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.MaxBatchBytes = 200 })
	req := b.offset("g", "t", 1)
	for i := range int32(5) {
		p := req.Topics[0].Partitions[0]
		p.Partition = i + 1
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, p)
	}
	b.code(commitCode(b, b.ask(req)), UnknownServerError)
	if len(b.waiting) > 0 || b.s.groups["g"] != nil {
		t.Errorf("written all the same: %v, %v", b.waiting, b.s.groups["g"])
	}
	// Tombstones go in as many batches as they need.
	for i := range int32(5) {
		one := b.offset("g", "t", 1)
		one.Topics[0].Partitions[0].Partition = i
		b.ask(one)
	}
	b.commit()
	b.token++
	b.step(Delete{Token: b.token, Groups: []string{"g"}})
	if len(b.waiting) < 2 {
		t.Errorf("%d batches, want several", len(b.waiting))
	}
	if b.deleted[b.token] != nil {
		t.Error("a deletion is answered before it is committed")
	}
	b.commit()
	if codes := b.deleted[b.token]; len(codes) != 1 || codes[0] != None {
		t.Errorf("deleted: %v", codes)
	}
	b.load()
	if b.s.groups["g"] != nil || len(b.s.written) > 0 {
		t.Errorf("a deleted group is loaded: %v", b.s.written)
	}
}

// What is loaded is what was written, but for rebalances under way.
func TestLoad(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	id := b.member(3)
	b.commit()
	commit := b.offset("g", "t", 5)
	commit.MemberID, commit.Generation = id, 1
	token := b.ask(commit)
	b.commit()
	b.code(commitCode(b, token), None)
	before := b.s.Describe("g", 5)
	b.load()
	if after := b.s.Describe("g", 5); fmt.Sprint(after.Members) != fmt.Sprint(before.Members) || after.State != "Stable" || after.Protocol != "range" {
		t.Errorf("loaded %+v, want %+v", after, before)
	}
	if at, _ := b.fetch("g", "t", false); at != 5 {
		t.Errorf("offset %d, want 5", at)
	}
	if code := b.beat(id, 1); code != None {
		t.Errorf("heartbeat of a loaded member: %d", code)
	}
	// Its session begins with the load.
	b.pass(9_999)
	if b.state() != "Stable" {
		t.Errorf("%s before the session's end", b.state())
	}
	b.pass(1)
	if b.state() != "Empty" {
		t.Errorf("%s after the session's end, want Empty", b.state())
	}
}

// Records of other kinds, and keys that are none.
func TestLoadForeign(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	for _, key := range []string{"\x00\x03g", "\x00\x10"} {
		if err := b.s.Load(b.time(), Record{Key: []byte(key), Value: []byte("x")}); err != nil {
			t.Errorf("key %q: %v", key, err)
		}
	}
	for _, key := range []string{"", "\x00", "\x00\x02", "\x00\x01\x00"} {
		if err := b.s.Load(b.time(), Record{Key: []byte(key)}); err == nil {
			t.Errorf("key %q: no error", key)
		}
	}
}

// A coordinator that goes answers all who wait.
func TestClose(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	id := b.member(3)
	joining := b.ask(b.join(3, ""))
	committing := b.ask(b.offset("other", "t", 1))
	b.now++
	b.obey(b.s.Close(b.time(), nil))
	b.code(answer[*kmsg.JoinGroupResponse](b, joining).ErrorCode, NotCoordinator)
	b.code(commitCode(b, committing), NotCoordinator)
	if b.s.Active() || b.s.NextDeadline() != Never {
		t.Error("it is still active")
	}
	_ = id
}

func TestMaxSize(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.MaxSize = 1 })
	id := b.member(3)
	b.code(answer[*kmsg.JoinGroupResponse](b, b.ask(b.join(3, ""))).ErrorCode, GroupMaxSizeReached)
	if code := b.beat(id, 1); code != None {
		t.Errorf("the one that is in: %d", code)
	}
}

// A member that does not come back in a rebalance is out when its time is up.
func TestRebalanceTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	id := b.member(3)
	second := b.ask(b.join(3, ""))
	b.pass(6000)
	if code := b.beat(id, 1); code != RebalanceInProgress {
		t.Errorf("heartbeat: %d", code)
	}
	b.pass(8000)
	b.beat(id, 1)
	b.pass(5999)
	b.open(second)
	b.pass(1)
	resp := answer[*kmsg.JoinGroupResponse](b, second)
	if resp.Generation != 2 || len(resp.Members) != 1 || resp.LeaderID != resp.MemberID {
		t.Errorf("joined %+v", resp)
	}
	if code := b.beat(id, 1); code != UnknownMemberID {
		t.Errorf("heartbeat of the one that did not come: %d", code)
	}
}

// A member that joins and then does not sync is out, too.
func TestSyncTimeout(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	id := b.member(3)
	second := b.ask(b.join(3, ""))
	first := b.ask(b.join(3, id))
	id2 := answer[*kmsg.JoinGroupResponse](b, second).MemberID
	b.code(answer[*kmsg.JoinGroupResponse](b, first).ErrorCode, None)
	synced := b.ask(b.sync(id, 2, id, id2))
	b.commit()
	b.code(answer[*kmsg.SyncGroupResponse](b, synced).ErrorCode, None)
	for range 4 {
		b.pass(5000)
		b.beat(id, 2)
		if n := len(b.s.groups["g"].members); n == 1 {
			break
		}
		b.beat(id2, 2)
	}
	if got := b.s.groups["g"]; len(got.members) != 1 || got.state != PreparingRebalance {
		t.Errorf("%s with %d members, want PreparingRebalance with 1", got.state, len(got.members))
	}
}

// A first rebalance waits for as long as members come (KIP-134).
func TestInitialDelay(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.InitialRebalanceDelayMs = 3000 })
	first := b.ask(b.join(3, ""))
	b.pass(2000)
	second := b.ask(b.join(3, ""))
	b.pass(1500)
	b.open(first)
	b.pass(2500)
	if resp := answer[*kmsg.JoinGroupResponse](b, first); len(resp.Members) != 2 {
		t.Errorf("%d members, want 2", len(resp.Members))
	}
	b.code(answer[*kmsg.JoinGroupResponse](b, second).ErrorCode, None)
}

// An id that was given out and is not used is forgotten (KIP-394), and holds nobody up.
func TestPendingMember(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	pending := answer[*kmsg.JoinGroupResponse](b, b.ask(b.join(4, "")))
	b.code(pending.ErrorCode, MemberIDRequired)
	if !strings.HasPrefix(pending.MemberID, "client-") || len(pending.MemberID) != len("client-")+36 {
		t.Errorf("member id %q", pending.MemberID)
	}
	b.pass(10_000)
	b.code(answer[*kmsg.JoinGroupResponse](b, b.ask(b.join(4, pending.MemberID))).ErrorCode, UnknownMemberID)
}

// Offsets of a group without members expire after it was left, others after their
// commit (KIP-211); with them the group goes.
func TestExpiry(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.ask(b.offset("simple", "t", 1))
	retained := b.offset("kept", "t", 1)
	retained.Version, retained.RetentionTimeMillis = 3, 500_000
	b.ask(retained)
	id := b.member(3)
	commit := func(topic string) {
		req := b.offset("g", topic, 1)
		req.MemberID, req.Generation = id, 1
		b.ask(req)
	}
	commit("subscribed")
	commit("other")
	b.commit()
	has := func(group, topic string) bool {
		b.commit()
		at, _ := b.fetch(group, topic, false)
		return at == 1
	}
	stay := func(ms int64) {
		for range ms / 5000 {
			b.pass(5000)
			b.commit()
			b.beat(id, 1)
		}
	}
	stay(90_000)
	if !has("simple", "t") || !has("g", "other") {
		t.Error("expired too early")
	}
	stay(20_000)
	if has("simple", "t") || has("g", "other") {
		t.Error("not expired")
	}
	if !has("g", "subscribed") || !has("kept", "t") {
		t.Error("expired though it is used, or kept for longer")
	}
	if b.s.groups["simple"] != nil || b.s.groups["g"] == nil {
		t.Errorf("groups: %v", b.s.ids())
	}
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version, req.Group, req.MemberID = 2, "g", id
	leaving := b.ask(req)
	b.open(leaving) // until it is known that the group is empty
	b.commit()
	b.code(answer[*kmsg.LeaveGroupResponse](b, leaving).ErrorCode, None)
	b.pass(90_000)
	if !has("g", "subscribed") {
		t.Error("expired before the retention since the last member left")
	}
	b.pass(20_000)
	if has("g", "subscribed") || b.s.groups["g"] != nil {
		t.Error("not expired, or its group is still there")
	}
}

// Of a topic that is made anew, offsets of the old one are not its.
func TestRecreatedTopic(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	req := b.offset("g", "t", 9)
	req.Topics[0].TopicID = [16]byte{1}
	b.ask(req)
	b.commit()
	for id, want := range map[byte]int64{0: 9, 1: 9, 2: -1} {
		b.token++
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = "g"
		ft := kmsg.NewOffsetFetchRequestGroupTopic()
		ft.Topic, ft.Partitions, ft.TopicID = "t", []int32{0}, [16]byte{id}
		g.Topics = append(g.Topics, ft)
		b.step(FetchOffsets{Token: b.token, Group: g})
		if got := b.fetched[b.token].Topics[0].Partitions[0].Offset; got != want {
			t.Errorf("topic id %d: offset %d, want %d", id, got, want)
		}
	}
	b.step(TopicsDeleted{Topics: []string{"t"}})
	b.commit()
	if at, _ := b.fetch("g", "t", false); at != -1 {
		t.Errorf("offset %d of a deleted topic", at)
	}
}

// TestPartitionOf: Utils.abs(name.hashCode()) % 50, worked out beside; the last one's
// hash is the smallest int there is.
func TestPartitionOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int32{
		"":                   0,
		"g":                  3,
		"hello":              22,
		"日本語":                43,
		"a😀":                 16,
		"my-group":           12,
		"polygenelubricants": 0,
	} {
		if got := PartitionOf(name, 50); got != want {
			t.Errorf("%q: partition %d, want %d", name, got, want)
		}
	}
}
