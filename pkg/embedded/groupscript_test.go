package embedded_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// groupScript asks one broker what groups can be asked, in all versions, and writes
// down what it is answered: ids that are drawn are named in the order in which they
// come up, so that two brokers which obey the same rules write the same.
type groupScript struct {
	tb   testing.TB
	addr string
	out  strings.Builder

	names  map[string]string
	topics map[[16]byte]string
	byName map[string][16]byte
}

// groupConn is one member's connection: one request at a time.
type groupConn struct {
	s    *groupScript
	name string // the client id
	conn net.Conn
	corr int32
}

func (s *groupScript) dial(clientID string) *groupConn {
	s.tb.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.tb.Cleanup(func() { _ = conn.Close() })
	return &groupConn{s: s, name: clientID, conn: conn}
}

// askTimeout is the longest that any answer of the script may take.
const askTimeout = 15 * time.Second

func (c *groupConn) ask(version int16, req kmsg.Request) kmsg.Response {
	c.s.tb.Helper()
	resp, err := c.tryAsk(version, req)
	if err != nil {
		c.s.tb.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), version, err)
	}
	return resp
}

func (c *groupConn) tryAsk(version int16, req kmsg.Request) (kmsg.Response, error) {
	if err := c.send(version, req); err != nil {
		return nil, err
	}
	return c.receive(req)
}

func (c *groupConn) send(version int16, req kmsg.Request) error {
	req.SetVersion(version)
	c.corr++
	frame := kmsg.NewRequestFormatter(kmsg.FormatterClientID(c.name)).AppendRequest(nil, req, c.corr)
	_, err := c.conn.Write(frame)
	return err
}

func (c *groupConn) receive(req kmsg.Request) (kmsg.Response, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(askTimeout)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(c.conn, size[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(c.conn, body); err != nil {
		return nil, err
	}
	if got := int32(binary.BigEndian.Uint32(body)); got != c.corr {
		return nil, fmt.Errorf("correlation id %d, want %d", got, c.corr)
	}
	body = body[4:]
	resp := req.ResponseKind()
	if resp.IsFlexible() {
		if len(body) == 0 || body[0] != 0 {
			return nil, errors.New("tags in the response's header")
		}
		body = body[1:]
	}
	return resp, resp.ReadFrom(body)
}

// later is the answer to a request that waits for others.
func (c *groupConn) later(version int16, req kmsg.Request) func() kmsg.Response {
	c.s.tb.Helper()
	if err := c.send(version, req); err != nil {
		c.s.tb.Fatal(err)
	}
	return func() kmsg.Response {
		c.s.tb.Helper()
		resp, err := c.receive(req)
		if err != nil {
			c.s.tb.Fatalf("%s v%d: %v", kmsg.NameForKey(req.Key()), version, err)
		}
		return resp
	}
}

// say writes an answer down, under what was asked.
func (s *groupScript) say(what string, resp kmsg.Response) {
	s.tb.Helper()
	s.sort(resp)
	text, err := json.Marshal(resp)
	if err != nil {
		s.tb.Fatal(err)
	}
	fmt.Fprintf(&s.out, "%s: v%d\n\t%s\n", what, resp.GetVersion(), s.plain(text))
}

// What is drawn: member ids end with a UUID.
var drawnID = regexp.MustCompile(`[\w.-]*-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

var (
	throttle = regexp.MustCompile(`"Version":-?\d+,|"ThrottleMillis":0,?|,?"UnknownTags":\{\}`)
	idBytes  = regexp.MustCompile(`"TopicID":\[[\d,]*\]`)
	runs     = regexp.MustCompile(`x{100,}|y{100,}`)
	ports    = regexp.MustCompile(`"Port":\d\d+`)
)

func (s *groupScript) plain(text []byte) string {
	for _, noise := range []*regexp.Regexp{throttle} {
		text = noise.ReplaceAll(text, nil)
	}
	text = runs.ReplaceAllFunc(text, func(run []byte) []byte { return fmt.Appendf(nil, "<%d %c>", len(run), run[0]) })
	text = ports.ReplaceAll(text, []byte(`"Port":PORT`))
	text = drawnID.ReplaceAllFunc(text, func(id []byte) []byte {
		name, ok := s.names[string(id)]
		if !ok {
			name = fmt.Sprintf("<%s member %d>", id[:len(id)-37], len(s.names)+1)
			s.names[string(id)] = name
		}
		return []byte(name)
	})
	text = idBytes.ReplaceAllFunc(text, func(id []byte) []byte {
		var raw [16]byte
		_ = json.Unmarshal(bytes.TrimPrefix(id, []byte(`"TopicID":`)), &raw)
		if raw == ([16]byte{}) {
			return []byte(`"TopicID":0`)
		}
		name, ok := s.topics[raw]
		if !ok {
			name = "unknown"
		}
		return fmt.Appendf(nil, `"TopicID":<%s>`, name)
	})
	return string(text)
}

// sort brings what Kafka has in the order of a hash table into one.
func (s *groupScript) sort(resp kmsg.Response) {
	byTopic := func(a, b kmsg.OffsetFetchResponseGroupTopic) int {
		return strings.Compare(a.Topic+s.topics[a.TopicID], b.Topic+s.topics[b.TopicID])
	}
	switch resp := resp.(type) {
	case *kmsg.ListGroupsResponse:
		slices.SortFunc(resp.Groups, func(a, b kmsg.ListGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
	case *kmsg.DescribeGroupsResponse:
		slices.SortFunc(resp.Groups, func(a, b kmsg.DescribeGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
		for _, g := range resp.Groups {
			slices.SortFunc(g.Members, func(a, b kmsg.DescribeGroupsResponseGroupMember) int {
				return strings.Compare(s.known(a.MemberID), s.known(b.MemberID))
			})
		}
	case *kmsg.JoinGroupResponse:
		slices.SortFunc(resp.Members, func(a, b kmsg.JoinGroupResponseMember) int {
			return strings.Compare(s.known(a.MemberID), s.known(b.MemberID))
		})
	case *kmsg.DeleteGroupsResponse:
		slices.SortFunc(resp.Groups, func(a, b kmsg.DeleteGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
	case *kmsg.OffsetFetchResponse:
		slices.SortFunc(resp.Topics, func(a, b kmsg.OffsetFetchResponseTopic) int { return strings.Compare(a.Topic, b.Topic) })
		for _, t := range resp.Topics {
			slices.SortFunc(t.Partitions, func(a, b kmsg.OffsetFetchResponseTopicPartition) int { return int(a.Partition - b.Partition) })
		}
		slices.SortFunc(resp.Groups, func(a, b kmsg.OffsetFetchResponseGroup) int { return strings.Compare(a.Group, b.Group) })
		for _, g := range resp.Groups {
			slices.SortFunc(g.Topics, byTopic)
			for _, t := range g.Topics {
				slices.SortFunc(t.Partitions, func(a, b kmsg.OffsetFetchResponseGroupTopicPartition) int { return int(a.Partition - b.Partition) })
			}
		}
	case *kmsg.OffsetCommitResponse:
		slices.SortFunc(resp.Topics, func(a, b kmsg.OffsetCommitResponseTopic) int {
			return strings.Compare(a.Topic+s.topics[a.TopicID], b.Topic+s.topics[b.TopicID])
		})
		for _, t := range resp.Topics {
			slices.SortFunc(t.Partitions, func(a, b kmsg.OffsetCommitResponseTopicPartition) int { return int(a.Partition - b.Partition) })
		}
	case *kmsg.OffsetDeleteResponse:
		slices.SortFunc(resp.Topics, func(a, b kmsg.OffsetDeleteResponseTopic) int { return strings.Compare(a.Topic, b.Topic) })
		for _, t := range resp.Topics {
			slices.SortFunc(t.Partitions, func(a, b kmsg.OffsetDeleteResponseTopicPartition) int { return int(a.Partition - b.Partition) })
		}
	}
}

// known orders members by their names in the text.
func (s *groupScript) known(id string) string {
	if name, ok := s.names[id]; ok {
		return name
	}
	return id
}

// heading is a line between two parts.
func (s *groupScript) heading(text string) { fmt.Fprintf(&s.out, "\n# %s\n", text) }

func subscription(topics ...string) []byte {
	m := kmsg.NewConsumerMemberMetadata()
	m.Topics = topics
	return m.AppendTo(nil)
}

func joinRequest(group, member string, protocols ...string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.ProtocolType = group, member, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 30_000, 60_000
	for _, name := range protocols {
		p := kmsg.NewJoinGroupRequestProtocol()
		p.Name, p.Metadata = name, subscription("subscribed")
		req.Protocols = append(req.Protocols, p)
	}
	return req
}

func syncRequest(group, member string, generation int32, assigned ...string) *kmsg.SyncGroupRequest {
	req := kmsg.NewPtrSyncGroupRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	req.ProtocolType, req.Protocol = kmsg.StringPtr("consumer"), kmsg.StringPtr("range")
	for _, id := range assigned {
		a := kmsg.NewSyncGroupRequestGroupAssignment()
		a.MemberID, a.MemberAssignment = id, []byte("work")
		req.GroupAssignment = append(req.GroupAssignment, a)
	}
	return req
}

func heartbeatRequest(group, member string, generation int32) *kmsg.HeartbeatRequest {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	return req
}

// leaveRequest names members by id, or by instance where one begins with a star.
func leaveRequest(group string, members ...string) *kmsg.LeaveGroupRequest {
	req := kmsg.NewPtrLeaveGroupRequest()
	req.Group, req.MemberID = group, members[0]
	for _, id := range members {
		m := kmsg.NewLeaveGroupRequestMember()
		if instance, ok := strings.CutPrefix(id, "*"); ok {
			m.InstanceID = kmsg.StringPtr(instance)
		} else {
			m.MemberID = id
		}
		req.Members = append(req.Members, m)
	}
	return req
}

type committed struct {
	topic     string
	partition int32
	offset    int64
	metadata  string
}

func (s *groupScript) commitRequest(group, member string, generation int32, offsets ...committed) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.MemberID, req.Generation = group, member, generation
	for _, o := range offsets {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.TopicID = o.topic, s.byName[o.topic]
		if o.topic == "missing" {
			t.TopicID = [16]byte{7, 7, 7}
		}
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = o.partition, o.offset, 3, kmsg.StringPtr(o.metadata)
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
	}
	return req
}

// fetchRequest asks for a topic's partitions 0 and 1, or for all with no topics.
func (s *groupScript) fetchRequest(version int16, groups []string, topics ...string) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	for _, name := range topics {
		t := kmsg.NewOffsetFetchRequestTopic()
		t.Topic, t.Partitions = name, []int32{0, 1}
		req.Topics = append(req.Topics, t)
	}
	if version < 8 {
		req.Group = groups[0]
		return req
	}
	for _, group := range groups {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = group
		for _, name := range topics {
			t := kmsg.NewOffsetFetchRequestGroupTopic()
			t.Topic, t.Partitions, t.TopicID = name, []int32{0, 1}, s.byName[name]
			if name == "missing" {
				t.TopicID = [16]byte{7, 7, 7}
			}
			g.Topics = append(g.Topics, t)
		}
		req.Groups = append(req.Groups, g)
	}
	req.Topics = nil
	return req
}

func describeRequest(groups ...string) *kmsg.DescribeGroupsRequest {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups, req.IncludeAuthorizedOperations = groups, true
	return req
}

func listRequest(states, types []string) *kmsg.ListGroupsRequest {
	req := kmsg.NewPtrListGroupsRequest()
	req.StatesFilter, req.TypesFilter = states, types
	return req
}

func deleteRequest(groups ...string) *kmsg.DeleteGroupsRequest {
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = groups
	return req
}

func offsetDeleteRequest(group string, topics ...string) *kmsg.OffsetDeleteRequest {
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = group
	for _, name := range topics {
		t := kmsg.NewOffsetDeleteRequestTopic()
		t.Topic = name
		for i := range int32(2) {
			p := kmsg.NewOffsetDeleteRequestTopicPartition()
			p.Partition = i
			t.Partitions = append(t.Partitions, p)
		}
		req.Topics = append(req.Topics, t)
	}
	return req
}

func findRequest(version int16, keyType int8, keys ...string) *kmsg.FindCoordinatorRequest {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorType = keyType
	if version >= 4 {
		req.CoordinatorKeys = keys
	} else {
		req.CoordinatorKey = keys[0]
	}
	return req
}

// run asks it all. The broker is alone in its cluster.
func (s *groupScript) run() string {
	s.tb.Cleanup(func() {
		if lines := strings.Split(s.out.String(), "\n"); s.tb.Failed() {
			s.tb.Logf("the script's last lines:\n%s", strings.Join(lines[max(len(lines)-20, 0):], "\n"))
		}
	})
	s.names, s.topics, s.byName = map[string]string{}, map[[16]byte]string{}, map[string][16]byte{}
	s.prepare()
	s.strangers()
	s.refusals()
	s.rebalances()
	s.statics()
	s.offsets()
	s.endings()
	s.log()
	return s.out.String()
}

// prepare makes topics and waits for a coordinator.
func (s *groupScript) prepare() {
	c := s.dial("prepare")
	create := kmsg.NewPtrCreateTopicsRequest()
	create.TimeoutMillis = 10_000
	for _, name := range []string{"subscribed", "other"} {
		t := kmsg.NewCreateTopicsRequestTopic()
		t.Topic, t.NumPartitions, t.ReplicationFactor = name, 2, 1
		create.Topics = append(create.Topics, t)
	}
	for _, t := range c.ask(7, create).(*kmsg.CreateTopicsResponse).Topics {
		if t.ErrorCode != 0 {
			s.tb.Fatalf("create %s: error %d", t.Topic, t.ErrorCode)
		}
		s.topics[t.TopicID], s.byName[t.Topic] = t.Topic, t.TopicID
	}
	// The first who asks makes the topic; then its partitions are loaded.
	deadline := time.Now().Add(askTimeout)
	for _, group := range []string{"g", "none", "", "d", "simple", "e", "static", "old", "f"} {
		for {
			found := c.ask(6, findRequest(6, 0, group)).(*kmsg.FindCoordinatorResponse).Coordinators[0].ErrorCode
			fetched := c.ask(9, s.fetchRequest(9, []string{group}, "other")).(*kmsg.OffsetFetchResponse).Groups[0].ErrorCode
			if found == 0 && fetched == 0 {
				break
			}
			if time.Now().After(deadline) {
				s.tb.Fatalf("no coordinator of group %q: errors %d and %d", group, found, fetched)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	s.heading("who coordinates")
	for v := int16(0); v <= 6; v++ {
		keys := []string{"g"}
		if v >= 4 {
			keys = []string{"g", "", "none"}
		}
		s.say("find", c.ask(v, findRequest(v, 0, keys...)))
	}
	for v := int16(1); v <= 6; v++ {
		if v != 4 && v != 5 {
			s.say("find of type 9", c.ask(v, findRequest(v, 9, "g")))
		}
	}
}

// strangers ask about a group that there is not.
func (s *groupScript) strangers() {
	s.heading("no such group, and no name")
	c := s.dial("c")
	for _, group := range []string{"none", ""} {
		said := func(what string, resp kmsg.Response) { s.say(fmt.Sprintf("%s of %q", what, group), resp) }
		for v := int16(0); v <= 4; v++ {
			said("heartbeat", c.ask(v, heartbeatRequest(group, "m", 1)))
		}
		for v := int16(0); v <= 5; v++ {
			said("sync", c.ask(v, syncRequest(group, "m", 1)))
		}
		for v := int16(0); v <= 5; v++ {
			said("leave", c.ask(v, leaveRequest(group, "m")))
		}
		for v := int16(0); v <= 9; v++ {
			said("join as m", c.ask(v, joinRequest(group, "m", "range")))
		}
		for v := int16(0); v <= 6; v++ {
			said("describe", c.ask(v, describeRequest(group)))
		}
		for v := int16(0); v <= 3; v++ {
			if v <= 2 {
				said("delete", c.ask(v, deleteRequest(group)))
			}
		}
		said("offset delete", c.ask(0, offsetDeleteRequest(group, "other", "missing")))
		for v := int16(2); v <= 10; v++ {
			said("commit by m", c.ask(v, s.commitRequest(group, "m", 1, committed{"other", 0, 5, "x"})))
		}
		for v := int16(1); v <= 10; v++ {
			said("fetch", c.ask(v, s.fetchRequest(v, []string{group}, "other")))
		}
		for v := int16(2); v <= 10; v++ {
			said("fetch all", c.ask(v, s.fetchRequest(v, []string{group})))
		}
	}
}

// refusals are joins that are not let in.
func (s *groupScript) refusals() {
	s.heading("joins that are refused")
	c := s.dial("c")
	for _, v := range []int16{0, 4, 6, 9} {
		req := joinRequest("e", "", "range")
		req.SessionTimeoutMillis = 5_999
		s.say("session too short", c.ask(v, req))
		req.SessionTimeoutMillis = 1_800_001
		s.say("session too long", c.ask(v, req))
		req = joinRequest("e", "")
		s.say("no protocol", c.ask(v, req))
		req = joinRequest("e", "", "range")
		req.ProtocolType = ""
		s.say("no type", c.ask(v, req))
	}
	s.say("describe", c.ask(6, describeRequest("e")))
	s.say("list", c.ask(5, listRequest(nil, nil)))
}

// join makes a dynamic member: it is told its id, and joins with it later.
func (s *groupScript) member(c *groupConn, group string, protocols ...string) (id string, joined func() kmsg.Response) {
	first := c.ask(9, joinRequest(group, "", protocols...)).(*kmsg.JoinGroupResponse)
	s.say("join without id", first)
	return first.MemberID, c.later(9, joinRequest(group, first.MemberID, protocols...))
}

// rebalances is a group from its first member to its last.
func (s *groupScript) rebalances() {
	s.heading("a group of one, then of two")
	ask := s.dial("c")
	one, two := s.dial("one"), s.dial("two")
	id1, joined := s.member(one, "g", "range", "roundrobin")
	s.say("join of one", joined())
	s.say("describe", ask.ask(6, describeRequest("g")))
	s.say("commit while completing", ask.ask(9, s.commitRequest("g", id1, 1, committed{"other", 0, 5, "x"})))
	s.say("heartbeat while completing", ask.ask(4, heartbeatRequest("g", id1, 1)))
	s.say("join again with the same", ask.ask(9, joinRequest("g", id1, "range", "roundrobin")))
	wrong := syncRequest("g", id1, 1, id1)
	wrong.Protocol = kmsg.StringPtr("roundrobin")
	s.say("sync of another protocol", ask.ask(5, wrong))
	wrong.Protocol = nil
	s.say("sync of no protocol", ask.ask(5, wrong))
	s.say("sync of one", one.ask(5, syncRequest("g", id1, 1, id1)))
	s.say("sync again", one.ask(3, syncRequest("g", id1, 1, id1)))
	for v := int16(0); v <= 6; v++ {
		s.say("describe", ask.ask(v, describeRequest("g", "none")))
	}
	s.say("heartbeat", ask.ask(4, heartbeatRequest("g", id1, 1)))
	s.say("heartbeat of generation 0", ask.ask(4, heartbeatRequest("g", id1, 0)))
	s.say("heartbeat of another", ask.ask(4, heartbeatRequest("g", "stranger", 1)))

	other := joinRequest("g", "", "sticky")
	s.say("join with another protocol", two.ask(9, other))
	other = joinRequest("g", "", "range")
	other.ProtocolType = "connect"
	s.say("join of another type", two.ask(9, other))

	id2, joined2 := s.member(two, "g", "roundrobin", "range")
	s.await(ask, "g", "PreparingRebalance")
	s.say("describe", ask.ask(6, describeRequest("g")))
	s.say("heartbeat while preparing", ask.ask(4, heartbeatRequest("g", id1, 1)))
	s.say("sync while preparing", ask.ask(5, syncRequest("g", id1, 1)))
	s.say("commit while preparing", ask.ask(9, s.commitRequest("g", id1, 1, committed{"subscribed", 0, 5, "before"})))
	joined = one.later(7, joinRequest("g", id1, "range", "roundrobin"))
	s.say("join of one", joined())
	s.say("join of two", joined2())
	synced := two.later(4, syncRequest("g", id2, 2))
	s.say("sync of one", one.ask(5, syncRequest("g", id1, 2, id1)))
	s.say("sync of two, who was given nothing", synced())
	s.say("describe", ask.ask(6, describeRequest("g")))
	s.say("join of two again", two.ask(5, joinRequest("g", id2, "roundrobin", "range")))
	s.say("commit of generation 1", ask.ask(8, s.commitRequest("g", id1, 1, committed{"subscribed", 0, 6, "x"})))
	s.say("commit of a stranger", ask.ask(8, s.commitRequest("g", "stranger", 2, committed{"subscribed", 0, 6, "x"})))
	s.say("commit of nobody", ask.ask(8, s.commitRequest("g", "", -1, committed{"subscribed", 0, 6, "x"})))
	s.say("commit of two", ask.ask(8, s.commitRequest("g", id2, 2, committed{"subscribed", 1, 7, "two"})))
	for _, filter := range [][2][]string{{nil, nil}, {{"Stable"}, nil}, {{"stable", "empty"}, nil}, {{"Nonsense"}, nil}, {nil, {"classic"}}, {nil, {"Consumer"}}, {nil, {"nonsense"}}} {
		s.say(fmt.Sprintf("list %v", filter), ask.ask(5, listRequest(filter[0], filter[1])))
	}
	for v := int16(0); v <= 4; v++ {
		s.say("list", ask.ask(v, listRequest(nil, nil)))
	}
	s.say("offset delete", ask.ask(0, offsetDeleteRequest("g", "subscribed", "other", "missing")))
	s.say("delete", ask.ask(2, deleteRequest("g", "none")))
	s.say("leave of a stranger", ask.ask(2, leaveRequest("g", "stranger")))
	s.say("leave of two and a stranger", ask.ask(5, leaveRequest("g", id2, "stranger")))
	s.await(ask, "g", "PreparingRebalance")
	s.say("leave of one", ask.ask(1, leaveRequest("g", id1)))
	s.await(ask, "g", "Empty")
	s.say("describe", ask.ask(6, describeRequest("g")))
	s.say("heartbeat", ask.ask(4, heartbeatRequest("g", id1, 3)))
	s.say("sync", ask.ask(5, syncRequest("g", id1, 3)))
	s.say("commit of one", ask.ask(8, s.commitRequest("g", id1, 3, committed{"subscribed", 1, 9, "late"})))
	s.say("join as one", ask.ask(9, joinRequest("g", id1, "range")))

	s.heading("members of old clients")
	v0 := s.dial("old")
	first := v0.ask(0, joinRequest("old", "", "range")).(*kmsg.JoinGroupResponse)
	s.say("join", first)
	s.say("sync", v0.ask(0, syncRequest("old", first.MemberID, 1, first.MemberID)))
	rejoined := v0.later(1, joinRequest("old", first.MemberID, "range"))
	again := rejoined().(*kmsg.JoinGroupResponse)
	s.say("join of the leader", again)
	s.say("leave", ask.ask(0, leaveRequest("old", first.MemberID)))
	pending := ask.ask(4, joinRequest("old", "", "range")).(*kmsg.JoinGroupResponse)
	s.say("join", pending)
	s.say("heartbeat of who is pending", ask.ask(4, heartbeatRequest("old", pending.MemberID, 2)))
	s.say("leave of who is pending", ask.ask(5, leaveRequest("old", pending.MemberID)))
}

// await waits for a state, for what is done when a record is committed.
func (s *groupScript) await(c *groupConn, group, state string) {
	s.tb.Helper()
	deadline := time.Now().Add(askTimeout)
	for {
		got := c.ask(5, describeRequest(group)).(*kmsg.DescribeGroupsResponse).Groups[0].State
		if got == state {
			return
		}
		if time.Now().After(deadline) {
			s.tb.Fatalf("group %s is %s, want %s", group, got, state)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// statics is KIP-345.
func (s *groupScript) statics() {
	s.heading("static members")
	ask, one, two := s.dial("c"), s.dial("one"), s.dial("two")
	static := func(member, instance string, protocols ...string) *kmsg.JoinGroupRequest {
		req := joinRequest("static", member, protocols...)
		req.InstanceID = kmsg.StringPtr(instance)
		return req
	}
	first := one.ask(9, static("", "a", "range")).(*kmsg.JoinGroupResponse)
	s.say("join of a", first)
	sync := syncRequest("static", first.MemberID, 1, first.MemberID)
	sync.InstanceID = kmsg.StringPtr("a")
	s.say("sync of a", one.ask(5, sync))
	second := two.ask(9, static("", "a", "range")).(*kmsg.JoinGroupResponse)
	s.say("join of a, born again", second)
	s.say("heartbeat of the old a", ask.ask(4, heartbeatRequest("static", first.MemberID, 1)))
	fenced := heartbeatRequest("static", first.MemberID, 1)
	fenced.InstanceID = kmsg.StringPtr("a")
	s.say("heartbeat of the old a by its name", ask.ask(4, fenced))
	unknown := heartbeatRequest("static", first.MemberID, 1)
	unknown.InstanceID = kmsg.StringPtr("b")
	s.say("heartbeat of b", ask.ask(4, unknown))
	commit := s.commitRequest("static", first.MemberID, 1, committed{"subscribed", 0, 1, ""})
	commit.InstanceID = kmsg.StringPtr("a")
	s.say("commit of the old a", ask.ask(9, commit))
	s.say("join of the old a", ask.ask(9, static(first.MemberID, "a", "range")))
	s.say("describe", ask.ask(6, describeRequest("static")))
	third := two.ask(8, static("", "a", "range")).(*kmsg.JoinGroupResponse)
	s.say("join of a, born again, of an old client", third)
	s.say("sync of a", two.ask(5, syncRequest("static", third.MemberID, 1)))
	s.say("leave of b", ask.ask(5, leaveRequest("static", "*b", "*a")))
	s.await(ask, "static", "Empty")
	s.say("describe", ask.ask(6, describeRequest("static")))
}

// offsets are commits of who is in no group, and fetches.
func (s *groupScript) offsets() {
	s.heading("offsets without members")
	c := s.dial("c")
	for v := int16(2); v <= 10; v++ {
		s.say("commit", c.ask(v, s.commitRequest("simple", "", -1,
			committed{"other", 0, int64(v), fmt.Sprint("v", v)}, committed{"missing", 0, 1, ""}, committed{"subscribed", 2, 1, ""})))
	}
	s.say("commit with much metadata", c.ask(9, s.commitRequest("simple", "", -1,
		committed{"other", 0, 20, strings.Repeat("x", 4097)}, committed{"other", 1, 21, strings.Repeat("y", 4096)})))
	empty := s.commitRequest("simple", "", -1, committed{"subscribed", 0, 30, ""})
	empty.Topics[0].Partitions[0].Metadata = nil
	s.say("commit without metadata", c.ask(9, empty))
	s.say("commit of a negative offset", c.ask(9, s.commitRequest("simple", "", -1, committed{"subscribed", 1, -5, ""})))
	s.say("commit by a stranger", c.ask(9, s.commitRequest("simple", "m", 4, committed{"subscribed", 1, 5, ""})))
	retained := s.commitRequest("d", "", -1, committed{"other", 1, 40, "kept"})
	retained.RetentionTimeMillis = 1000 * 3600
	s.say("commit with retention", c.ask(3, retained))
	s.say("commit nothing", c.ask(9, s.commitRequest("simple", "", -1)))
	for v := int16(1); v <= 10; v++ {
		s.say("fetch", c.ask(v, s.fetchRequest(v, []string{"simple", "d", "none"}, "other", "missing", "subscribed")))
	}
	for v := int16(2); v <= 10; v++ {
		s.say("fetch all", c.ask(v, s.fetchRequest(v, []string{"simple", "d"})))
	}
	stable := s.fetchRequest(9, []string{"simple"}, "other")
	stable.RequireStable = true
	s.say("fetch what is stable", c.ask(9, stable))
	s.say("describe", c.ask(6, describeRequest("simple")))
	s.say("list", c.ask(5, listRequest(nil, nil)))
	s.say("offset delete", c.ask(0, offsetDeleteRequest("simple", "subscribed", "missing")))
	s.say("fetch", c.ask(9, s.fetchRequest(9, []string{"simple"}, "subscribed")))
}

// endings delete groups and topics.
func (s *groupScript) endings() {
	s.heading("deletions")
	c := s.dial("c")
	s.say("delete", c.ask(2, deleteRequest("static", "none", "", "static")))
	s.say("describe", c.ask(6, describeRequest("static")))
	s.say("fetch", c.ask(9, s.fetchRequest(9, []string{"static"})))
	gone := kmsg.NewPtrDeleteTopicsRequest()
	gone.TimeoutMillis = 10_000
	t := kmsg.NewDeleteTopicsRequestTopic()
	t.Topic = kmsg.StringPtr("subscribed")
	gone.Topics = append(gone.Topics, t)
	if resp := c.ask(6, gone).(*kmsg.DeleteTopicsResponse); resp.Topics[0].ErrorCode != 0 {
		s.tb.Fatalf("delete topic: error %d", resp.Topics[0].ErrorCode)
	}
	deadline := time.Now().Add(askTimeout)
	for {
		resp := c.ask(9, s.fetchRequest(9, []string{"g"})).(*kmsg.OffsetFetchResponse)
		if len(resp.Groups[0].Topics) == 0 {
			break
		}
		if time.Now().After(deadline) {
			s.tb.Fatal("offsets of a deleted topic are still there")
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.say("list", c.ask(5, listRequest(nil, nil)))
}

// log is what is in __consumer_offsets.
func (s *groupScript) log() {
	s.heading("the log")
	c := s.dial("c")
	for partition := range int32(8) {
		req := kmsg.NewPtrFetchRequest()
		req.MaxBytes, req.MaxWaitMillis, req.SessionEpoch = 1<<20, 0, -1
		t := kmsg.NewFetchRequestTopic()
		t.Topic = "__consumer_offsets"
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.PartitionMaxBytes = partition, 1<<20
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
		resp := c.ask(12, req).(*kmsg.FetchResponse)
		at := &resp.Topics[0].Partitions[0]
		fmt.Fprintf(&s.out, "partition %d: error %d\n", partition, at.ErrorCode)
		for b := at.RecordBatches; len(b) > 0; {
			var batch kmsg.RecordBatch
			if err := batch.ReadFrom(b); err != nil {
				s.tb.Fatal(err)
			}
			b = b[12+batch.Length:]
			s.batch(batch)
		}
	}
}

func (s *groupScript) batch(batch kmsg.RecordBatch) {
	records := batch.Records
	for range batch.NumRecords {
		var r kmsg.Record
		size, n := binary.Varint(records)
		if err := r.ReadFrom(records[:n+int(size)]); err != nil {
			s.tb.Fatal(err)
		}
		records = records[n+int(size):]
		fmt.Fprintf(&s.out, "\t%s\n", s.plain(s.record(r)))
	}
}

// times are those of the clock: only whether there is one is told.
var times = regexp.MustCompile(`("(?:Commit|Expire|CurrentState)Timestamp"):\d+`)

func (s *groupScript) record(r kmsg.Record) []byte {
	var key, value any
	switch binary.BigEndian.Uint16(r.Key) {
	case 0, 1:
		var k kmsg.OffsetCommitKey
		var v kmsg.OffsetCommitValue
		if err := errors.Join(k.ReadFrom(r.Key), readValue(&v, r.Value)); err != nil {
			s.tb.Fatal(err)
		}
		key, value = k, struct {
			V int16
			kmsg.OffsetCommitValue
		}{v.Version, v}
	case 2:
		var k kmsg.GroupMetadataKey
		var v kmsg.GroupMetadataValue
		if err := errors.Join(k.ReadFrom(r.Key), readValue(&v, r.Value)); err != nil {
			s.tb.Fatal(err)
		}
		slices.SortFunc(v.Members, func(a, b kmsg.GroupMetadataValueMember) int {
			return strings.Compare(s.known(a.MemberID), s.known(b.MemberID))
		})
		key, value = k, struct {
			V int16
			kmsg.GroupMetadataValue
		}{v.Version, v}
	default:
		return fmt.Appendf(nil, "a key of type %x", r.Key[:2])
	}
	if r.Value == nil {
		value = nil
	}
	line, err := json.Marshal([]any{key, value, r.Attributes, len(r.Headers)})
	if err != nil {
		s.tb.Fatal(err)
	}
	return times.ReplaceAll(line, []byte("$1:TIME"))
}

func readValue(v interface{ ReadFrom(b []byte) error }, b []byte) error {
	if b == nil {
		return nil
	}
	return v.ReadFrom(b)
}
