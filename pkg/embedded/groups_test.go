package embedded_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
)

// groupPartitions are those of the topic that a group reads.
const groupPartitions = 6

// ledger is what a group has read and committed, whoever of it did.
type ledger struct {
	t *testing.T

	mu    sync.Mutex
	read  map[string]int
	acked map[int32]int64
	of    map[string]int // records by member
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t: t, read: map[string]int{}, acked: map[int32]int64{}, of: map[string]int{}}
}

// got takes a record. One below a commit that was acknowledged must not come again.
func (l *ledger) got(member string, partition int32, offset int64, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if offset < l.acked[partition] {
		l.t.Errorf("%s reads offset %d of partition %d again, %d was committed", member, offset, partition, l.acked[partition])
	}
	l.read[key]++
	l.of[member]++
}

// committed takes a commit that was acknowledged, of the next offset to read.
func (l *ledger) committed(partition int32, next int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acked[partition] = max(l.acked[partition], next)
}

func (l *ledger) count() (records, members int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.read), len(l.of)
}

// await waits until the group has read n records, by so many members.
func (l *ledger) await(n, members int) {
	l.t.Helper()
	until := time.Now().Add(hang)
	for {
		records, by := l.count()
		if records >= n && by >= members {
			return
		}
		if time.Now().After(until) {
			l.t.Fatalf("the group has read %d records by %d members, want %d by %d", records, by, n, members)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// groupMember joins a group of one of the clients and reads until stop is called; nil
// is Java's, which needs a machine of its own first.
type groupMember func(t *testing.T, c *embedded.Cluster, l *ledger, topic, group, name string) (stop func())

// TestGroupsThroughKills lets real clients read as a group while members come and go
// and its coordinator is killed, twice: all is read, and nothing again that was
// committed.
func TestGroupsThroughKills(t *testing.T) {
	for _, client := range []struct {
		name   string
		member groupMember
	}{
		{"franz-go", franzMember}, {"sarama", saramaMember}, {"java", nil},
	} {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			throughKills(t, client.member)
		})
	}
}

func throughKills(t *testing.T, member groupMember) {
	const topic, group = "work", "workers"
	c := embeddedtest.New(t, embedded.Options{})
	cl := client(t, c)
	create(t, cl, topic, groupPartitions, 3)
	l := newLedger(t)
	if member == nil {
		var end func()
		member, end = javaMembers(t, c, l, topic, group)
		defer end()
	}
	w := startWorkload(t, cl, topic)
	stops := map[string]func(){}
	for _, name := range []string{"one", "static-two"} {
		stops[name] = member(t, c, l, topic, group, name)
	}
	l.await(200, 2)
	begun := time.Now()
	step := func(what string) { t.Logf("%6d ms: %s", time.Since(begun).Milliseconds(), what) }
	for round := range 2 {
		id := coordinatorOf(t, cl, group)
		c.Broker(id).Kill()
		records, _ := l.count()
		l.await(records+200, 2)
		step(fmt.Sprintf("read on after broker %d was killed", id))
		if next := coordinatorOf(t, cl, group); next == id {
			t.Errorf("broker %d coordinates though it is dead", id)
		}
		if round == 0 {
			stops["three"] = member(t, c, l, topic, group, "three")
			l.await(records+400, 3)
			step("a third member reads")
		} else {
			stops["one"]()
			delete(stops, "one")
		}
		if err := c.Broker(id).Restart(within(t)); err != nil {
			t.Fatal(err)
		}
		w.goOn(100)
	}
	w.end(c)
	l.await(len(w.acked), 3)
	step("all is read")
	for _, stop := range stops {
		stop()
	}
	step("all have left")
	for key := range w.acked {
		if l.read[key] == 0 {
			t.Errorf("record %s was never read", key)
		}
	}
	for partition, next := range committedOffsets(t, c, topic, group) {
		if next < l.acked[partition] {
			t.Errorf("partition %d is at %d, and %d was acknowledged", partition, next, l.acked[partition])
		}
	}
}

// coordinatorOf is the broker that says of itself that it coordinates a group.
func coordinatorOf(t *testing.T, cl *kgo.Client, group string) int {
	t.Helper()
	ctx := within(t)
	for {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups = []string{group}
		shards := cl.RequestSharded(ctx, req)
		for _, s := range shards {
			if resp, ok := s.Resp.(*kmsg.DescribeGroupsResponse); ok && s.Err == nil && resp.Groups[0].ErrorCode == 0 {
				return int(s.Meta.NodeID)
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("nobody coordinates %s: %+v", group, shards)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// committedOffsets asks with a new client: one that knew the coordinator goes on dialing
// it when it is dead.
func committedOffsets(t *testing.T, c *embedded.Cluster, topic, group string) map[int32]int64 {
	t.Helper()
	cl := client(t, c)
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	req.Groups = append(req.Groups, g)
	ctx := within(t)
	resp, err := req.RequestWith(ctx, cl)
	for ; err != nil; resp, err = req.RequestWith(ctx, cl) {
		// The one that it knows as the coordinator may be dead.
		if ctx.Err() != nil {
			t.Fatalf("fetch offsets of %s: %v", group, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := kerr.ErrorForCode(resp.Groups[0].ErrorCode); err != nil {
		t.Fatalf("fetch offsets of %s: %v", group, err)
	}
	all := map[int32]int64{}
	for _, rt := range resp.Groups[0].Topics {
		for _, p := range rt.Partitions {
			all[p.Partition] = p.Offset
		}
	}
	if len(all) != groupPartitions {
		t.Errorf("%d partitions of %s are committed, want %d", len(all), topic, groupPartitions)
	}
	return all
}

// franzMember is cooperative; a name that begins with static- is an instance's.
func franzMember(t *testing.T, c *embedded.Cluster, l *ledger, topic, group, name string) func() {
	opts := []kgo.Opt{
		kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
		kgo.HeartbeatInterval(100 * time.Millisecond), kgo.ClientID(name),
	}
	if strings.HasPrefix(name, "static-") {
		opts = append(opts, kgo.InstanceID(name))
	}
	cl := client(t, c, opts...)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			f := cl.PollRecords(ctx, 50)
			last := map[int32]int64{}
			f.EachRecord(func(r *kgo.Record) {
				l.got(name, r.Partition, r.Offset, string(r.Key))
				last[r.Partition] = r.Offset + 1
			})
			if len(last) > 0 && cl.CommitRecords(context.Background(), f.Records()...) == nil {
				for partition, next := range last {
					l.committed(partition, next)
				}
			}
			cl.AllowRebalance()
		}
	}()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			<-ended
			cl.CloseAllowingRebalance()
		})
	}
	t.Cleanup(stop)
	return stop
}

// saramaMember commits by its session.
func saramaMember(t *testing.T, c *embedded.Cluster, l *ledger, topic, group, name string) func() {
	config := sarama.NewConfig()
	config.Version = sarama.V4_0_0_0
	config.ClientID = name
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Group.Heartbeat.Interval = 100 * time.Millisecond
	config.Consumer.Group.Rebalance.Retry.Max = 100
	config.Consumer.Group.Rebalance.Retry.Backoff = 50 * time.Millisecond
	config.Metadata.Retry.Backoff = 50 * time.Millisecond
	config.Metadata.Retry.Max = 100
	if strings.HasPrefix(name, "static-") {
		config.Consumer.Group.InstanceId = name
	}
	g, err := sarama.NewConsumerGroup(strings.Split(c.Bootstrap(), ","), group, config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if err := g.Consume(ctx, []string{topic}, saramaHandler{l, name}); errors.Is(err, sarama.ErrClosedConsumerGroup) {
				return
			}
		}
	}()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			<-ended
			_ = g.Close()
		})
	}
	t.Cleanup(stop)
	return stop
}

type saramaHandler struct {
	l    *ledger
	name string
}

// Setup is sarama.ConsumerGroupHandler's.
func (saramaHandler) Setup(sarama.ConsumerGroupSession) error { return nil }

// Cleanup is sarama.ConsumerGroupHandler's.
func (saramaHandler) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim is sarama.ConsumerGroupHandler's.
func (h saramaHandler) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case <-s.Context().Done():
			return nil
		case m, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			h.l.got(h.name, m.Partition, m.Offset, string(m.Key))
			// Whether it was acknowledged sarama does not say: the end tells.
			s.MarkMessage(m, "")
			if m.Offset%20 == 0 {
				s.Commit()
			}
		}
	}
}

// javaMembers are those of Kafka's own consumer, in one Java machine.
func javaMembers(t *testing.T, c *embedded.Cluster, l *ledger, topic, group string) (member groupMember, end func()) {
	said := make(chan string, 10)
	cmd := kafkatest.Program(t, kafkatest.DefaultVersion, "testdata/Consume.java", c.Bootstrap(), topic, group)
	p := startProgram(t, cmd, func(line string) {
		f := strings.Fields(line)
		if len(f) != 5 {
			t.Errorf("the members say %q", line)
			return
		}
		partition, _ := strconv.Atoi(f[2])
		offset, _ := strconv.ParseInt(f[3], 10, 64)
		switch f[0] {
		case "read":
			l.got(f[1], int32(partition), offset, f[4])
		case "committed":
			l.committed(int32(partition), offset)
		default:
			said <- f[0] + " " + f[1]
		}
	})
	await := func(want string) {
		t.Helper()
		select {
		case got := <-said:
			if got != want {
				t.Fatalf("the members say %q, want %q", got, want)
			}
		case <-p.ended:
			t.Fatalf("the members have ended\n%s", p.err.String())
		case <-time.After(3 * hang): // a Java machine starts, on a machine that may be busy
			t.Fatalf("the members do not say %q\n%s", want, p.err.String())
		}
	}
	await("ready -")
	member = func(t *testing.T, _ *embedded.Cluster, _ *ledger, _, _, name string) func() {
		t.Helper()
		if _, err := fmt.Fprintln(p.stdin, "start", name); err != nil {
			t.Fatal(err)
		}
		return func() {
			if _, err := fmt.Fprintln(p.stdin, "stop", name); err != nil {
				t.Fatal(err)
			}
			await("stopped " + name)
		}
	}
	return member, p.stop
}

// program is a Java program that ends when its input does.
type program struct {
	t     *testing.T
	stdin io.WriteCloser
	ended chan struct{}
	cmd   *exec.Cmd
	once  sync.Once
	err   strings.Builder
}

func startProgram(t *testing.T, cmd *exec.Cmd, each func(line string)) *program {
	t.Helper()
	p := &program{t: t, cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &p.err
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		for s := bufio.NewScanner(stdout); s.Scan(); {
			each(s.Text())
		}
	}()
	t.Cleanup(p.stop)
	return p
}

func (p *program) stop() {
	p.once.Do(func() {
		_ = p.stdin.Close()
		<-p.ended
		// A test that fails ends its programs itself, by its context.
		if err := p.cmd.Wait(); err != nil && p.t.Context().Err() == nil {
			p.t.Errorf("%s: %v\n%s", p.cmd.Args[len(p.cmd.Args)-1], err, p.err.String())
		}
	})
}

// TestOffsetsWhileCoordinatorsMove is case E11: whoever is asked for a committed offset
// while its coordinator dies and another one loads says that, or does not coordinate,
// or loads; never that there is none.
func TestOffsetsWhileCoordinatorsMove(t *testing.T) {
	t.Parallel()
	const topic = "work"
	c := embeddedtest.New(t, embedded.Options{})
	cl := client(t, c)
	create(t, cl, topic, 1, 3)
	next := int64(100)
	commit := func(group string) {
		t.Helper()
		req := kmsg.NewPtrOffsetCommitRequest()
		req.Group, req.Generation = group, -1
		rt := kmsg.NewOffsetCommitRequestTopic()
		rt.Topic, rt.TopicID = topic, topicID(t, cl, topic)
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Offset, p.Metadata = next, kmsg.StringPtr("kept")
		rt.Partitions = append(rt.Partitions, p)
		req.Topics = append(req.Topics, rt)
		for ctx := within(t); ; time.Sleep(time.Millisecond) {
			resp, err := req.RequestWith(ctx, cl)
			if err == nil {
				err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
			}
			switch {
			case err == nil:
				return
			case !errors.Is(err, kerr.UnknownTopicID): // a coordinator that has yet to hear of the topic
				t.Fatalf("commit of %s: %v", group, err)
			}
		}
	}
	const group = "moved"
	commit(group)
	told := map[int16]int{}
	for range 3 {
		id := coordinatorOf(t, cl, group)
		c.Broker(id).Kill()
		awaitOffset(t, c, group, topic, next, told)
		if err := c.Broker(id).Restart(within(t)); err != nil {
			t.Fatal(err)
		}
		awaitOffset(t, c, group, topic, next, told)
		next++
		commit(group)
	}
	t.Logf("answers by error: %v", told)
	if told[kerr.NotCoordinator.Code] == 0 {
		t.Error("nobody said that he does not coordinate")
	}
}

// awaitOffset asks all brokers until one names the offset, and takes nothing else from
// any.
func awaitOffset(t *testing.T, c *embedded.Cluster, group, topic string, want int64, told map[int16]int) {
	t.Helper()
	for until := time.Now().Add(hang); time.Now().Before(until); {
		found := false
		for _, b := range c.Brokers() {
			if b.State() != embedded.Running {
				continue
			}
			for _, version := range []int16{1, 5, 9} {
				s := groupScript{tb: t, addr: b.Address()}
				conn, err := net.Dial("tcp", s.addr)
				if err != nil {
					continue
				}
				resp, err := (&groupConn{s: &s, name: "asks", conn: conn}).tryAsk(version, s.fetchRequest(version, []string{group}, topic))
				_ = conn.Close()
				if err != nil {
					continue
				}
				code, at, metadata := fetchedOffset(t, resp.(*kmsg.OffsetFetchResponse))
				told[code]++
				switch {
				case code == 0 && at == want && metadata == "kept":
					found = true
				case code == kerr.NotCoordinator.Code, code == kerr.CoordinatorLoadInProgress.Code:
				default:
					t.Fatalf("broker %d, version %d: error %d, offset %d %q; want %d or an error that says to ask again", b.ID(), version, code, at, metadata, want)
				}
			}
		}
		if found {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("offset %d of %s was never told", want, group)
}

// fetchedOffset is partition 0's, where the version has it. Each version has a row or
// an error of the whole.
func fetchedOffset(t *testing.T, resp *kmsg.OffsetFetchResponse) (code int16, at int64, metadata string) {
	t.Helper()
	switch {
	case resp.Version >= 8 && resp.Groups[0].ErrorCode != 0:
		return resp.Groups[0].ErrorCode, -1, ""
	case resp.Version >= 8:
		p := resp.Groups[0].Topics[0].Partitions[0]
		return p.ErrorCode, p.Offset, *p.Metadata
	case resp.ErrorCode != 0:
		return resp.ErrorCode, -1, ""
	case len(resp.Topics) == 0 || len(resp.Topics[0].Partitions) == 0:
		t.Fatalf("version %d: no row and no error", resp.Version)
	}
	p := resp.Topics[0].Partitions[0]
	return p.ErrorCode, p.Offset, *p.Metadata
}

func topicID(t *testing.T, cl *kgo.Client, topic string) [16]byte {
	t.Helper()
	req := kmsg.NewPtrMetadataRequest()
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = kmsg.StringPtr(topic)
	req.Topics = append(req.Topics, rt)
	for ctx := within(t); ; time.Sleep(time.Millisecond) {
		resp, err := req.RequestWith(ctx, cl)
		if err != nil {
			t.Fatal(err)
		}
		// A broker that has yet to hear of the topic says that it knows none.
		if resp.Topics[0].ErrorCode != kerr.UnknownTopicOrPartition.Code {
			return resp.Topics[0].TopicID
		}
	}
}

// TestConsumerGroupsTool is Kafka's own tool, all in one Java machine.
func TestConsumerGroupsTool(t *testing.T) {
	const topic, group = "tooled", "tools"
	c := embeddedtest.New(t, embedded.Options{})
	cl := client(t, c)
	create(t, cl, topic, groupPartitions, 3)
	create(t, cl, "unused", 1, 3)
	w := startWorkload(t, cl, topic)
	l := newLedger(t)
	stop := franzMember(t, c, l, topic, group, "worker")
	w.goOn(500)
	w.end(c)
	l.await(len(w.acked), 1)

	out := make(chan string, 10_000)
	cmd := kafkatest.Program(t, kafkatest.DefaultVersion, "testdata/GroupTool.java", "--bootstrap-server", c.Bootstrap())
	p := startProgram(t, cmd, func(line string) { out <- line })
	tool := func(args ...string) (string, int) {
		t.Helper()
		if _, err := fmt.Fprintln(p.stdin, strings.Join(args, "\t")); err != nil {
			t.Fatalf("%v\n%s", err, p.err.String())
		}
		var text strings.Builder
		for {
			select {
			case line := <-out:
				if code, ok := strings.CutPrefix(line, "== exit "); ok {
					n, _ := strconv.Atoi(code)
					t.Logf("consumer-groups %s: exit %d\n%s", strings.Join(args, " "), n, text.String())
					return text.String(), n
				}
				text.WriteString(line + "\n")
			case <-p.ended:
				t.Fatalf("consumer-groups %s: the tool has ended\n%s\n%s", strings.Join(args, " "), text.String(), p.err.String())
			case <-time.After(hang):
				t.Fatalf("consumer-groups %s does not end\n%s\n%s", strings.Join(args, " "), text.String(), p.err.String())
			}
		}
	}
	want := func(text string, parts ...string) {
		t.Helper()
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("%q is not in:\n%s", part, text)
			}
		}
	}
	ok := func(parts []string, args ...string) {
		t.Helper()
		text, code := tool(args...)
		if code != 0 {
			t.Errorf("consumer-groups %s: exit %d\n%s\n%s", strings.Join(args, " "), code, text, p.err.String())
		}
		want(text, parts...)
	}
	ok([]string{group}, "--list")
	ok([]string{group, "Classic", "Stable"}, "--list", "--state", "--type")
	ok([]string{topic, "worker-", "/127.0.0.1", "LAG"}, "--describe", "--group", group)
	ok([]string{"worker-", topic + ":0,1,2,3,4,5"}, "--describe", "--group", group, "--members", "--verbose")
	ok([]string{"Stable", "cooperative-sticky", "127.0.0.1"}, "--describe", "--group", group, "--state")
	ok([]string{group}, "--describe", "--all-groups")

	// What may not be done to a group that is in use, and is not.
	text, _ := tool("--delete", "--group", group)
	want(text, "could not be deleted", "is not empty")
	text, _ = tool("--reset-offsets", "--group", group, "--topic", topic, "--to-earliest", "--execute")
	want(text, "Assignments can only be reset if the group")
	text, _ = tool("--delete-offsets", "--group", group, "--topic", topic)
	want(text, "Error", "subscribed")

	stop()
	ok([]string{"Empty"}, "--describe", "--group", group, "--state")
	// Its coordinator goes in between.
	id := coordinatorOf(t, cl, group)
	before := committedOffsets(t, c, topic, group)
	c.Broker(id).Kill()
	ok([]string{topic}, "--describe", "--group", group)
	if after := committedOffsets(t, c, topic, group); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("committed offsets are %v with a new coordinator, %v with the old one", after, before)
	}
	if err := c.Broker(id).Restart(within(t)); err != nil {
		t.Fatal(err)
	}
	ok([]string{topic}, "--reset-offsets", "--group", group, "--topic", topic, "--to-offset", "3", "--execute")
	for partition, next := range committedOffsets(t, c, topic, group) {
		if next != 3 {
			t.Errorf("partition %d is at %d after a reset to 3", partition, next)
		}
	}
	ok([]string{topic, "Successful"}, "--delete-offsets", "--group", group, "--topic", topic+":0")
	ok([]string{"successful"}, "--delete", "--group", group)
	text, _ = tool("--list")
	if strings.Contains(text, group) {
		t.Errorf("a deleted group is listed:\n%s", text)
	}
	p.stop()
}
