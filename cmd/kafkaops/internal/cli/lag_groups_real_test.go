package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// TestLagGroupsReal compares lag groups with kafka-consumer-groups.sh on a real
// Kafka: an active group of each protocol, one without members, one at the LSO
// under an open transaction, and one whose topic was deleted. The engine has neither
// transactions nor KIP-848's protocol.
func TestLagGroupsReal(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{Brokers: 3, Engine: engine.FromEnv()})
	r := &realGroups{t: t, c: c}

	if items := r.lagGroups(0); len(items) != 0 {
		t.Fatalf("a new cluster has groups: %+v", items)
	}
	if r.exists("__consumer_offsets") {
		t.Fatal("asking for groups created __consumer_offsets")
	}

	began := time.Now()
	c.CreateTopic(t, "orders", c.Spread(3, 3), nil)
	c.CreateTopic(t, "held", c.Spread(1, 3), nil)
	c.CreateTopic(t, "doomed", c.Spread(1, 1), nil)
	for p, n := range []int{100, 50, 0} {
		if n > 0 {
			c.ProduceRecords(t, "orders", int32(p), n, kafkatest.AcksAll, 10)
		}
	}
	c.ProduceRecords(t, "held", 0, 20, kafkatest.AcksAll, 10)
	c.ProduceRecords(t, "doomed", 0, 5, kafkatest.AcksAll, 10)
	if !onEngine {
		r.openTransaction("held", 10)
	}

	r.commit("empty", "orders", map[int32]int64{0: 40, 1: 50})
	r.commit("empty", "doomed", map[int32]int64{0: 2})
	r.commit("at-the-lso", "held", map[int32]int64{0: 20})
	r.commit("ahead", "orders", map[int32]int64{0: 1000, 1: 20})
	r.join("classic", "orders", map[int32]int64{0: 60, 1: 50}) // nothing committed in the third
	if !onEngine {
		r.join("modern", "orders", map[int32]int64{0: 100, 1: 10}, kgo.ServerSideBalancer())
	}
	r.compare()

	want := "10 0 20 30"
	if onEngine {
		want = "0 0 20 20"
	}
	held := r.partition("at-the-lso", "held-0")
	if got := fmt.Sprint(held.Lag, held.LagReadCommitted, held.LastStableOffset, held.HighWatermark); got != want {
		t.Errorf("under an open transaction: lag, to the LSO, LSO, HW = %s, want %s", got, want)
	}
	if p := r.partition("classic", "orders-0", "--time"); p.LagMs.Or(-1) < 0 || p.LagMs.Or(-1) > time.Since(began).Milliseconds() {
		t.Errorf("--time: lag %s in time %s ms, want no more than since the records were written", p.Lag, p.LagMs)
	}
	if p := r.partition("ahead", "orders-0"); fmt.Sprint(p.Lag, p.Ahead) != "0 900" {
		t.Errorf("ahead: lag %s, ahead %s; want 0, 900", p.Lag, p.Ahead)
	}

	r.deleteTopic("doomed")
	r.compare()

	c.Pause(t, 2)
	defer c.Resume(t, 2)
	r.hung(2)
}

type realGroups struct {
	t *testing.T
	c *kafkatest.Cluster
}

func (r *realGroups) client(opts ...kgo.Opt) *kgo.Client {
	r.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(r.c.Bootstrap()...)}, opts...)...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(cl.CloseAllowingRebalance)
	return cl
}

func (r *realGroups) context() context.Context {
	ctx, cancel := context.WithTimeout(r.t.Context(), 2*time.Minute)
	r.t.Cleanup(cancel)
	return ctx
}

// lagGroups is what kafkaops says, with the exit code that it has to have.
func (r *realGroups) lagGroups(want int, args ...string) []render.GroupItem {
	r.t.Helper()
	out, notes, code := r.kafkaops(append([]string{"lag", "groups", "-o", "json"}, args...)...)
	var d render.Document[render.GroupItem]
	if err := json.Unmarshal([]byte(out), &d); err != nil || code != want {
		r.t.Fatalf("exit %d, want %d; stderr %s; %v\n%s", code, want, notes, err, out)
	}
	return d.Items
}

func (r *realGroups) kafkaops(args ...string) (out, notes string, code int) {
	d := term.NewDouble(0, 0)
	args = append(args, "-b", r.c.BootstrapServer())
	if !slices.Contains(args, "--timeout") {
		args = append(args, "--timeout", "1m") // that no machine is too slow for
	}
	code = run(r.t.Context(), args, Env{Terminal: d.Terminal, Getenv: func(string) string { return "" }})
	return d.Stdout.String(), d.Stderr.String(), code
}

// compare waits until both tools agree: what was deleted is forgotten, and who
// joined is assigned, after a while.
func (r *realGroups) compare() {
	r.t.Helper()
	kafkatest.Eventually(r.t, 2*time.Minute, func() error {
		items := r.lagGroups(0)
		if diff := cmp.Diff(r.kafkasRows(), rowsOf(items)); diff != "" {
			return fmt.Errorf("offsets (-kafka-consumer-groups +kafkaops):\n%s", diff)
		}
		if diff := cmp.Diff(r.kafkasStates(), statesOf(items)); diff != "" {
			return fmt.Errorf("states (-kafka-consumer-groups +kafkaops):\n%s", diff)
		}
		for i := range items {
			if g := &items[i]; g.Group == "classic" || g.Group == "modern" {
				if len(g.Partitions) != 3 {
					return fmt.Errorf("%s has %d partitions, not yet 3", g.Group, len(g.Partitions))
				}
			}
		}
		return nil
	})
}

// rowsOf are our answers in the words of kafka-consumer-groups.sh --describe. The
// tool lets a lag go negative, which is our ahead.
func rowsOf(items []render.GroupItem) map[string]string {
	rows := map[string]string{}
	for i := range items {
		for _, p := range items[i].Partitions {
			lag := p.Lag.String()
			if n := p.Ahead.Or(0); n > 0 {
				lag = fmt.Sprint(-n)
			}
			host := p.Host.String()
			if host != "-" {
				host = "/" + host
			}
			rows[fmt.Sprintf("%s %s-%d", items[i].Group, p.Topic, p.Partition)] = fmt.Sprintf(
				"committed %s HW %s lag %s %s %s %s", p.Committed, p.HighWatermark, lag, p.Member, host, p.ClientID)
		}
	}
	return rows
}

func (r *realGroups) kafkasRows() map[string]string {
	rows := map[string]string{}
	for _, f := range r.tool("--describe", "--all-groups", "--offsets") {
		if len(f) == 9 && f[0] != "GROUP" {
			rows[f[0]+" "+f[1]+"-"+f[2]] = fmt.Sprintf("committed %s HW %s lag %s %s %s %s", f[3], f[4], f[5], f[6], f[7], f[8])
		}
	}
	return rows
}

func statesOf(items []render.GroupItem) map[string]string {
	states := map[string]string{}
	for i := range items {
		g := &items[i]
		states[g.Group] = fmt.Sprintf("%s at %d, %s members", g.State, g.Coordinator, g.Members)
	}
	return states
}

func (r *realGroups) kafkasStates() map[string]string {
	states := map[string]string{}
	// GROUP, COORDINATOR (ID) as two fields, [ASSIGNMENT-STRATEGY], STATE, #MEMBERS
	for _, f := range r.tool("--describe", "--all-groups", "--state") {
		if n := len(f); n >= 5 && f[0] != "GROUP" {
			states[f[0]] = fmt.Sprintf("%s at %s, %s members", f[n-2], strings.Trim(f[2], "()"), f[n-1])
		}
	}
	return states
}

// tool is the fields of every line that kafka-consumer-groups.sh prints.
func (r *realGroups) tool(args ...string) [][]string {
	r.t.Helper()
	args = append([]string{"--bootstrap-server", r.c.BootstrapServer()}, args...)
	out, errors, exit, err := r.c.Tool(r.context(), kafkatest.ConsumerGroupCommand, args...)
	if err != nil || exit != 0 {
		r.t.Fatalf("%v, exit %d: %s%s", err, exit, out, errors)
	}
	var lines [][]string
	for line := range strings.Lines(out) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

// partition is one row of one group, by the name of the partition.
func (r *realGroups) partition(group, name string, flags ...string) render.GroupPartitionItem {
	r.t.Helper()
	for _, g := range r.lagGroups(0, append(flags, group)...) {
		for _, p := range g.Partitions {
			if fmt.Sprintf("%s-%d", p.Topic, p.Partition) == name {
				return p
			}
		}
	}
	r.t.Fatalf("group %s has no partition %s", group, name)
	return render.GroupPartitionItem{}
}

// hung: whatever a silent broker takes with it, the rest is answered in time, the
// broker is named and the exit code says so.
func (r *realGroups) hung(id int32) {
	r.t.Helper()
	const timeout, atMost = "6s", 30 * time.Second // or it waited for the broker
	began := time.Now()
	r.lagGroups(1, "--timeout", timeout)
	if took := time.Since(began); took > atMost {
		r.t.Errorf("took %s with a timeout of %s", took, timeout)
	}
	_, notes, _ := r.kafkaops("lag", "groups", "--timeout", timeout)
	if !strings.Contains(notes, fmt.Sprintf("broker %d (%s)", id, r.c.BrokerAddr(id))) {
		r.t.Errorf("stderr does not name broker %d: %s", id, notes)
	}
}

// join is an active group of one member that commits the offsets and then waits.
func (r *realGroups) join(group, topic string, offsets map[int32]int64, opts ...kgo.Opt) {
	r.t.Helper()
	cl := r.client(append(opts, kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(), kgo.ClientID("client-of-"+group))...)
	ctx := r.context()
	if errs := cl.PollFetches(ctx).Errors(); len(errs) > 0 { // now it has joined
		r.t.Fatal(errs)
	}
	commits := map[string]map[int32]kgo.EpochOffset{topic: {}}
	for p, at := range offsets {
		commits[topic][p] = kgo.EpochOffset{Epoch: -1, Offset: at}
	}
	cl.CommitOffsetsSync(ctx, commits, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		r.committed(group, resp, err)
	})
}

// commit puts offsets in the name of a group without members.
func (r *realGroups) commit(group, topic string, offsets map[int32]int64) {
	r.t.Helper()
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group = group
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = topic
	for _, p := range slices.Sorted(maps.Keys(offsets)) {
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.Offset = p, offsets[p]
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	// Newer versions name topics by id.
	resp, err := req.RequestWith(r.context(), r.client(kgo.MaxVersions(kversion.V3_9_0())))
	r.committed(group, resp, err)
}

func (r *realGroups) committed(group string, resp *kmsg.OffsetCommitResponse, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("commit for %s: %v", group, err)
	}
	for _, topic := range resp.Topics {
		for _, p := range topic.Partitions {
			if p.ErrorCode != 0 {
				r.t.Fatalf("commit for %s: partition %d has error %d", group, p.Partition, p.ErrorCode)
			}
		}
	}
}

// openTransaction writes records that stay uncommitted until the test ends.
func (r *realGroups) openTransaction(topic string, records int) {
	r.t.Helper()
	cl := r.client(kgo.TransactionalID("open"), kgo.TransactionTimeout(10*time.Minute), kgo.DefaultProduceTopic(topic))
	if err := cl.BeginTransaction(); err != nil {
		r.t.Fatal(err)
	}
	for range records {
		if err := cl.ProduceSync(r.context(), &kgo.Record{Value: bytes.Repeat([]byte("x"), 10)}).FirstErr(); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *realGroups) deleteTopic(name string) {
	r.t.Helper()
	req := kmsg.NewPtrDeleteTopicsRequest()
	rt := kmsg.NewDeleteTopicsRequestTopic()
	rt.Topic = &name
	req.Topics, req.TopicNames, req.TimeoutMillis = append(req.Topics, rt), []string{name}, 10_000
	resp, err := req.RequestWith(r.context(), r.client())
	if err != nil || resp.Topics[0].ErrorCode != 0 {
		r.t.Fatalf("delete %s: %v, %+v", name, err, resp)
	}
}

func (r *realGroups) exists(topic string) bool {
	r.t.Helper()
	req := kmsg.NewPtrMetadataRequest()
	resp, err := req.RequestWith(r.context(), r.client())
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.ContainsFunc(resp.Topics, func(t kmsg.MetadataResponseTopic) bool { return t.Topic != nil && *t.Topic == topic })
}
