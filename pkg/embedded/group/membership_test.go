package group

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// two is a stable group of two members in generation 2, of which the first leads.
func (b *bench) two() (first, second string) {
	b.t.Helper()
	first = b.member(3)
	joining := b.ask(b.join(3, ""))
	rejoining := b.ask(b.join(3, first))
	second = answer[*kmsg.JoinGroupResponse](b, joining).MemberID
	b.code(answer[*kmsg.JoinGroupResponse](b, rejoining).ErrorCode, None)
	synced := b.ask(b.sync(second, 2))
	led := b.ask(b.sync(first, 2, first, second))
	b.open(synced)
	b.open(led)
	b.append()
	b.open(synced) // shares are told when they are committed
	b.open(led)
	b.commit()
	for token, id := range map[Token]string{synced: second, led: first} {
		resp := answer[*kmsg.SyncGroupResponse](b, token)
		b.code(resp.ErrorCode, None)
		if string(resp.MemberAssignment) != "share of "+id {
			b.t.Fatalf("%s got %q", id, resp.MemberAssignment)
		}
	}
	return first, second
}

func (b *bench) commitAs(member string, generation int32, metadata string) Code {
	b.t.Helper()
	req := b.offset("g", "subscribed", 3)
	req.MemberID, req.Generation = member, generation
	req.Topics[0].Partitions[0].Metadata = &metadata
	token := b.ask(req)
	b.commit()
	return Code(commitCode(b, token))
}

func TestCommitRules(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	first, second := b.two()
	for _, c := range []struct {
		name       string
		member     string
		generation int32
		metadata   string
		want       Code
	}{
		{"member", second, 2, "m", None},
		{"as much metadata as may be", second, 2, strings.Repeat("ä", 10), None},
		{"too much metadata", second, 2, strings.Repeat("ä", 11), OffsetMetadataTooLarge},
		{"older generation", second, 1, "m", IllegalGeneration},
		{"generation that there is not", second, 3, "m", IllegalGeneration},
		{"stranger", "stranger", 2, "m", UnknownMemberID},
		{"nobody, while there are members", "", -1, "m", UnknownMemberID},
	} {
		if got := b.commitAs(c.member, c.generation, c.metadata); got != c.want {
			t.Errorf("%s: error %d, want %d", c.name, got, c.want)
		}
	}
	// A commit is a sign of life.
	for range 4 {
		b.pass(6000)
		b.commitAs(first, 2, "m")
		if code := b.beat(second, 2); code != None {
			t.Fatalf("heartbeat: %d", code)
		}
	}
	// In a new generation that nobody has shares of, there is nothing to commit.
	b.ask(b.join(3, second))
	b.ask(b.join(3, first))
	joined := b.ask(b.join(3, second))
	_ = joined
	g := b.s.groups["g"]
	if g.state == PreparingRebalance {
		b.ask(b.join(3, first))
	}
	if g.state != CompletingRebalance {
		t.Fatalf("%s, want CompletingRebalance", g.state)
	}
	if got := b.commitAs(second, g.generation, "m"); got != RebalanceInProgress {
		t.Errorf("commit in a new generation: %d", got)
	}
}

func TestHeartbeatOfGenerations(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	first, second := b.two()
	for generation, want := range map[int32]Code{1: IllegalGeneration, 2: None, 3: IllegalGeneration} {
		if got := b.beat(first, generation); got != want {
			t.Errorf("heartbeat of generation %d: %d, want %d", generation, got, want)
		}
	}
	if got := b.beat(second, 2); got != None {
		t.Errorf("heartbeat: %d", got)
	}
}

// Who waits for others cannot send heartbeats, and need not; who is waited for and is
// lost is waited for no more.
func TestSessionsInARebalance(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	first, second := b.two()
	waiting := b.ask(b.join(3, first))
	b.pass(9000)
	b.beat(second, 2)
	b.pass(5000)
	b.open(waiting)
	if b.s.groups["g"].member(first) == nil {
		t.Fatal("who waits was removed")
	}
	b.pass(5000) // the second one's session ends, before the rebalance's time
	resp := answer[*kmsg.JoinGroupResponse](b, waiting)
	if resp.ErrorCode != 0 || len(resp.Members) != 1 || resp.Generation != 3 {
		t.Errorf("joined %+v", resp)
	}
}

// A session begins with the load, whether the member says anything or not.
func TestLoadedSession(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.RetentionCheckMs = 1 << 40 })
	b.member(3)
	b.load()
	b.pass(9_999)
	if b.state() != "Stable" {
		t.Errorf("%s before the session's end", b.state())
	}
	b.pass(1)
	if b.state() != "Empty" {
		t.Errorf("%s after it, want Empty", b.state())
	}
}

// An id that was given out holds a rebalance up for a session, not for ever.
func TestPendingHoldsUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	id := b.member(3)
	req := b.join(4, "")
	req.SessionTimeoutMillis = 6000
	b.code(answer[*kmsg.JoinGroupResponse](b, b.ask(req)).ErrorCode, MemberIDRequired)
	waiting := b.ask(b.join(3, id)) // the leader's: a rebalance
	b.pass(5999)
	b.open(waiting)
	b.pass(1)
	b.code(answer[*kmsg.JoinGroupResponse](b, waiting).ErrorCode, None)
}

func (b *bench) static(instance string, version int16) *kmsg.JoinGroupRequest {
	req := b.join(version, "")
	req.InstanceID = &instance
	return req
}

// staticTwo is a stable group of a static member, which leads, and a dynamic one.
func (b *bench) staticTwo() (static, dynamic string) {
	b.t.Helper()
	joining := b.ask(b.static("i", 5))
	b.commit()
	b.pass(1)
	static = answer[*kmsg.JoinGroupResponse](b, joining).MemberID
	b.ask(b.sync(static, 1, static))
	b.commit()
	joining = b.ask(b.join(3, ""))
	again := b.join(5, static)
	again.InstanceID = kmsg.StringPtr("i")
	b.ask(again)
	dynamic = answer[*kmsg.JoinGroupResponse](b, joining).MemberID
	b.ask(b.sync(dynamic, 2))
	b.ask(b.sync(static, 2, static, dynamic))
	b.commit()
	if b.state() != "Stable" {
		b.t.Fatalf("%s, want Stable", b.state())
	}
	return static, dynamic
}

// A static member that is born again keeps its share under a new id, which it is told
// when that is stored; its old self is fenced (KIP-345).
func TestStaticBornAgain(t *testing.T) {
	t.Parallel()
	for _, version := range []int16{5, 9} {
		b := newBench(t, nil)
		old, dynamic := b.staticTwo()
		token := b.ask(b.static("i", version))
		b.open(token)
		b.append()
		b.open(token)
		b.commit()
		resp := answer[*kmsg.JoinGroupResponse](b, token)
		b.code(resp.ErrorCode, None)
		if resp.MemberID == old || resp.Generation != 2 || b.state() != "Stable" {
			t.Errorf("version %d: joined %+v, the group is %s", version, resp, b.state())
		}
		if leads := resp.LeaderID == resp.MemberID; leads != (version == 9) || resp.SkipAssignment != leads {
			t.Errorf("version %d: leader %s, skip assignment %v", version, resp.LeaderID, resp.SkipAssignment)
		}
		synced := answer[*kmsg.SyncGroupResponse](b, b.ask(b.sync(resp.MemberID, 2)))
		if string(synced.MemberAssignment) != "share of "+old {
			t.Errorf("version %d: share %q", version, synced.MemberAssignment)
		}
		fenced := b.sync(old, 2)
		fenced.InstanceID = kmsg.StringPtr("i")
		b.code(answer[*kmsg.SyncGroupResponse](b, b.ask(fenced)).ErrorCode, FencedInstanceID)
		if code := b.beat(old, 2); code != UnknownMemberID {
			t.Errorf("version %d: heartbeat of the old id: %d", version, code)
		}
		if code := b.beat(dynamic, 2); code != None {
			t.Errorf("version %d: heartbeat of the other: %d", version, code)
		}
		b.load()
		if code := b.beat(resp.MemberID, 2); code != None {
			t.Errorf("version %d: the new id is not known to the next coordinator: %d", version, code)
		}
	}
}

// If its new id cannot be stored in time, its old one stands.
func TestStaticNotStored(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	old, _ := b.staticTwo()
	token := b.ask(b.static("i", 9))
	b.pass(5000)
	resp := answer[*kmsg.JoinGroupResponse](b, token)
	b.code(resp.ErrorCode, CoordinatorNotAvailable)
	if got := b.s.groups["g"].static["i"]; got != old {
		t.Errorf("instance i is %s, want %s", got, old)
	}
}

// Born again while shares are handed out, it may be given one under its old id: all
// join anew.
func TestStaticBornAgainInARebalance(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	_, dynamic := b.staticTwo()
	again := b.static("i", 5)
	again.MemberID = b.s.groups["g"].static["i"]
	b.ask(again) // it leads: a rebalance
	rejoined := b.ask(b.join(3, dynamic))
	b.code(answer[*kmsg.JoinGroupResponse](b, rejoined).ErrorCode, None)
	syncing := b.ask(b.sync(dynamic, 3))
	b.open(syncing)
	b.ask(b.static("i", 5))
	b.code(answer[*kmsg.SyncGroupResponse](b, syncing).ErrorCode, RebalanceInProgress)
	if b.state() != "PreparingRebalance" {
		t.Errorf("%s, want PreparingRebalance", b.state())
	}
}

// A static member stays though it does not come; but it does not lead.
func TestAbsentLeader(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	static, dynamic := b.staticTwo()
	changed := b.join(3, dynamic)
	changed.Protocols[0].Metadata = append(changed.Protocols[0].Metadata, 1)
	token := b.ask(changed)
	for range 4 {
		b.pass(5000)
		req := kmsg.NewPtrHeartbeatRequest()
		req.Version, req.Group, req.MemberID, req.Generation = 3, "g", static, 2
		b.ask(req)
	}
	resp := answer[*kmsg.JoinGroupResponse](b, token)
	if resp.LeaderID != dynamic || len(resp.Members) != 2 {
		t.Errorf("joined %+v, want it to lead both", resp)
	}
}

// When the leader leaves, another member leads.
func TestLeaderLeaves(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	first, second := b.two()
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Version, req.Group, req.MemberID = 2, "g", first
	b.ask(req)
	resp := answer[*kmsg.JoinGroupResponse](b, b.ask(b.join(3, second)))
	if resp.LeaderID != second || len(resp.Members) != 1 {
		t.Errorf("joined %+v", resp)
	}
}

// The protocol is one that all know, and of those the one with the most votes.
func TestProtocol(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(c *Config) { c.InitialRebalanceDelayMs = 10 })
	var token Token
	for _, names := range []string{"a b c", "c b", "b c"} {
		req := b.join(3, "")
		req.Protocols = nil
		for name := range strings.SplitSeq(names, " ") {
			p := kmsg.NewJoinGroupRequestProtocol()
			p.Name, p.Metadata = name, []byte{0, 0}
			req.Protocols = append(req.Protocols, p)
		}
		token = b.ask(req)
	}
	b.pass(100)
	if resp := answer[*kmsg.JoinGroupResponse](b, token); *resp.Protocol != "b" {
		t.Errorf("protocol %q, want b", *resp.Protocol)
	}
}

// A group is in the log from its first join on, so that one who was given an id finds
// it after a move.
func TestNewGroupIsStored(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.ask(b.join(4, ""))
	b.commit()
	b.load()
	if b.state() != string(Empty) {
		t.Errorf("%s after a move, want Empty", b.state())
	}
}

// A write that comes too late changes nothing: the group has gone on.
func TestSharesOfAnOlderGeneration(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	id := b.member(3)
	leader := b.ask(b.join(3, id))
	b.code(answer[*kmsg.JoinGroupResponse](b, leader).ErrorCode, None)
	slow := b.ask(b.sync(id, 2, id))
	second := b.ask(b.join(3, "")) // a rebalance, before the shares are stored
	b.code(answer[*kmsg.SyncGroupResponse](b, slow).ErrorCode, RebalanceInProgress)
	b.ask(b.join(3, id))
	b.code(answer[*kmsg.JoinGroupResponse](b, second).ErrorCode, None)
	b.commit()
	if b.state() != string(CompletingRebalance) {
		t.Errorf("%s, want CompletingRebalance: nobody has assigned in generation 3", b.state())
	}
}
