package node

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// TestStories runs the scenarios of testdata/stories: commands, their answers and what
// the nodes note. Rewrite with -rewrite and read the diff.
func TestStories(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		s := &story{calls: map[string]*call{}}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.d, s.out = d, &strings.Builder{}
			if s.w != nil {
				s.w.t, s.w.ctl.t = t, t
			}
			s.t = t
			s.run()
			if s.w != nil {
				if notes := s.w.takeNotes(); notes != "" {
					s.printf("%s\n", notes)
				}
			}
			if s.out.Len() == 0 {
				return "ok\n"
			}
			return s.out.String()
		})
	})
}

type story struct {
	t     *testing.T
	w     *world
	d     *datadriven.TestData
	out   *strings.Builder
	calls map[string]*call
	shown map[*call]bool
}

func (s *story) printf(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// run has one line for each command, with an example.
func (s *story) run() {
	switch s.d.Cmd {
	case "brokers": // brokers 3 racks=(a,b,c); lines: static configs
		s.brokers()
	case "topic": // topic orders p0=(1,2,3) p1=(2,3,1); lines: configs
		s.topic()
	case "delete": // delete orders
		topic, _ := s.w.ctl.c.Image().Topic(s.d.CmdArgs[0].Key)
		decide(s.w.ctl, s.w.nowMs, controller.DeleteTopics{IDs: []kraft.UUID{topic.ID}})
		s.w.ctl.tick(s.w.nowMs)
		s.w.run(20, nil)
	case "config": // config orders; lines: configs. With broker=1 of that one, without a name of all brokers
		s.config()
	case "reassign": // reassign orders-0 to=(1,2)
		tp := s.partition(0)
		decide(s.w.ctl, s.w.nowMs, controller.AlterPartitionReassignments{
			Partitions:                   []controller.Reassignment{{Topic: tp.Topic, Partition: tp.Partition, Replicas: ints(s.d.CmdArgs[1].Vals)}},
			AllowReplicationFactorChange: true,
		})
		s.w.ctl.tick(s.w.nowMs)
	case "unregister": // unregister 3
		decide(s.w.ctl, s.w.nowMs, controller.UnregisterBroker{BrokerID: s.host().id})
		s.w.ctl.tick(s.w.nowMs)
	case "elect": // elect orders-0: the preferred leader
		tp := s.partition(0)
		decide(s.w.ctl, s.w.nowMs, controller.ElectLeaders{
			Type: controller.PreferredElection, Partitions: []controller.TopicPartition{{Topic: tp.Topic, Partition: tp.Partition}},
		})
		s.w.ctl.tick(s.w.nowMs)
	case "produce": // produce 1 orders-0 acks=-1 version=9 pid=5 seq=0 as=x; lines: values, of size=1000 bytes each. See produceRequest
		s.ask(s.produceRequest())
	case "fetch": // fetch 1 orders-0 offset=0 wait=500 min=1 version=12 as=x
		s.ask(s.fetchRequest())
	case "list": // list 1 orders-0 time=-1 version=8 replica=-1 epoch=3
		s.ask(s.listRequest())
	case "epoch-end": // epoch-end 1 orders-0 epoch=0 current=2
		s.ask(s.epochRequest())
	case "delete-records": // delete-records 1 orders-0 before=3 timeout=1000 as=x
		s.ask(s.deleteRecordsRequest())
	case "metadata": // metadata 1 version=12 topics=(orders) ids
		s.ask(s.metadataRequest())
	case "producer-id": // producer-id 1 version=4 txn=x
		s.ask(s.producerIDRequest())
	case "forward": // forward 1 orders: a DeleteTopics
		s.ask(s.forwardRequest())
	case "reply": // reply x 1000: of the request of that name, if it comes within so many ms
		s.reply()
	case "wait": // wait 500
		s.w.run(s.arg64("", 0), nil)
	case "hold": // hold 1 append orders-0: orders of that kind do not end
		s.hold()
	case "release": // release 1
		s.w.release(s.host())
		s.w.run(5, nil)
	case "fail": // fail 1 *.log write: the disk fails from now on
		s.fail()
	case "kill", "power": // kill 1: the process dies; power 1: the machine
		s.w.kill(s.host().id, s.d.Cmd == "power")
	case "start": // start 1 empty: on its disk, or a new one
		if s.has("empty") {
			s.host().mem = vfs.NewMem(vfs.MemOptions{})
		}
		s.w.start(s.host().id)
	case "stop": // stop 1: a controlled shutdown
		h := s.host()
		h.effect = h.node.Shutdown(s.w.time(), h.effect[:0])
		s.w.carryOut(h)
		s.w.run(20_000, func() bool { return h.node == nil })
	case "cut", "heal": // cut 1 2: nothing gets from 1 to 2; 0 is the controller
		for _, pair := range [][2]string{{s.d.CmdArgs[0].Key, s.d.CmdArgs[1].Key}} {
			s.w.cut[[2]machine.Peer{peer(pair[0]), peer(pair[1])}] = s.d.Cmd == "cut"
		}
	case "snapshot": // the controller's log begins with a snapshot from now on
		s.w.ctl.cutLog()
	case "refuse": // refuse 41: the next AlterPartition; dirs: the next AssignReplicasToDirs; lives=4: registrations
		switch {
		case s.has("dirs"):
			s.w.ctl.refuseDirs = int16(s.arg64("", 0))
		case s.has("lives"):
			s.w.ctl.refuseLives = int(s.arg64("lives", 0))
		default:
			s.w.ctl.refuse = int16(s.arg64("", 0))
		}
	case "hold-alter": // AlterPartitions are not answered
		s.w.ctl.holdAlter = true
	case "release-alter": // how many there were, and answers
		s.printf("%d waiting\n", len(s.w.ctl.alters))
		s.w.ctl.holdAlter = false
		s.w.ctl.releaseAlters()
		s.w.ctl.tick(s.w.nowMs)
	case "hold-metadata", "release-metadata": // hold-metadata 2: broker 2 hears nothing new
		s.w.ctl.held[s.host().id] = s.d.Cmd == "hold-metadata"
		s.w.ctl.tick(s.w.nowMs)
	case "state": // state orders-0
		s.state()
	case "flushed": // flushed orders-0: up to where logs are durable
		tp := s.partition(0)
		for _, id := range s.w.ids() {
			_, l := s.w.hosts[id].node.Replica(tp.Topic, tp.Partition)
			s.printf("%d: %d of %d\n", id, l.Flushed(), l.End())
		}
	case "directories": // directories orders-0: where the metadata has the replicas
		s.directories()
	case "damage": // damage 1 orders-0/00000000000000000000.log: its last byte
		s.damage()
	case "cat": // cat 1 replication-offset-checkpoint
		text, err := vfs.ReadFile(s.host().mem, s.d.CmdArgs[1].Key)
		if errors.Is(err, fs.ErrNotExist) {
			s.printf("there is none\n")
			return
		}
		if err != nil {
			s.t.Fatal(err)
		}
		s.printf("%s", text)
	case "files": // files 1: the directories of logs
		s.files()
	default:
		s.t.Fatalf("%s: unknown command %q", s.d.Pos, s.d.Cmd)
	}
}

func peer(text string) machine.Peer {
	id, _ := strconv.Atoi(text)
	if id == 0 {
		return machine.Controller
	}
	return machine.Peer(id)
}

func ints(vals []string) []int32 {
	var all []int32
	for _, v := range vals {
		id, _ := strconv.Atoi(v)
		all = append(all, int32(id))
	}
	return all
}

func (s *story) arg(key, def string) string {
	for i, a := range s.d.CmdArgs {
		if key == "" && i == 0 {
			return a.Key
		}
		if a.Key == key && key != "" {
			if len(a.Vals) == 0 {
				return "true"
			}
			return strings.Join(a.Vals, ",")
		}
	}
	return def
}

func (s *story) arg64(key string, def int64) int64 {
	n, err := strconv.ParseInt(s.arg(key, strconv.FormatInt(def, 10)), 10, 64)
	if err != nil {
		s.t.Fatalf("%s: %s: %v", s.d.Pos, key, err)
	}
	return n
}

func (s *story) has(key string) bool { return s.d.HasArg(key) }

func (s *story) host() *host { return s.w.hosts[int32(s.arg64("", 0))] }

func (s *story) partition(at int) storage.TopicPartition {
	name := s.d.CmdArgs[at].Key
	cut := strings.LastIndex(name, "-")
	index, err := strconv.Atoi(name[cut+1:])
	if err != nil {
		s.t.Fatalf("%s: %q is no partition", s.d.Pos, name)
	}
	return storage.TopicPartition{Topic: name[:cut], Partition: int32(index)}
}

func (s *story) lines() map[string]string {
	configs := map[string]string{}
	for line := range strings.Lines(s.d.Input) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key != "" {
			configs[key] = value
		}
	}
	return configs
}

func (s *story) brokers() {
	s.w = newWorld(s.t, int(s.arg64("", 3)), s.lines())
	s.shown = map[*call]bool{}
	for i, id := range s.w.ids() {
		if racks := strings.Split(s.arg("racks", ""), ","); len(racks) > i {
			s.w.hosts[id].rack = racks[i]
		}
		s.w.start(id)
	}
	if !s.w.run(10_000, s.w.unfenced) {
		s.t.Fatalf("the brokers were not unfenced in 10 s: %s", s.w.takeNotes())
	}
	s.w.run(50, nil)
}

func (s *story) topic() {
	t := controller.NewTopic{Name: s.d.CmdArgs[0].Key, NumPartitions: -1, ReplicationFactor: -1, Assignments: map[int32][]int32{}}
	for _, a := range s.d.CmdArgs[1:] {
		index, _ := strconv.Atoi(strings.TrimPrefix(a.Key, "p"))
		t.Assignments[int32(index)] = ints(a.Vals)
	}
	configs := s.lines()
	for _, key := range sortedKeys(configs) {
		value := configs[key]
		t.Configs = append(t.Configs, controller.ConfigValue{Key: key, Value: &value})
	}
	reply := decide(s.w.ctl, s.w.nowMs, controller.CreateTopics{Topics: []controller.NewTopic{t}})
	if err := reply.Topics[0].Err; err != nil {
		s.printf("%s\n", err)
	}
	s.w.ctl.tick(s.w.nowMs)
	s.w.run(20, nil)
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (s *story) config() {
	change := controller.ResourceChange{Resource: metadata.Resource{Type: kraft.ResourceBroker}}
	switch {
	case s.has("broker"):
		change.Name = s.arg("broker", "")
	case len(s.d.CmdArgs) > 0:
		change.Resource = metadata.Resource{Type: kraft.ResourceTopic, Name: s.d.CmdArgs[0].Key}
	}
	configs := s.lines()
	for _, key := range sortedKeys(configs) {
		value := configs[key]
		change.Changes = append(change.Changes, controller.ConfigChange{Key: key, Op: controller.SetConfig, Value: &value})
	}
	reply := decide(s.w.ctl, s.w.nowMs, controller.AlterConfigs{Resources: []controller.ResourceChange{change}})
	if err := reply.Resources[0].Err; err != nil {
		s.printf("%s\n", err)
	}
	s.w.ctl.tick(s.w.nowMs)
	s.w.run(20, nil)
}

// ask sends a request. With as=name its reply is looked at later.
func (s *story) ask(req kmsg.Request) {
	h := s.host()
	c := s.w.ask(h, req, func(kmsg.Response) {})
	if name := s.arg("as", ""); name != "" {
		s.calls[name] = c
		s.w.run(5, nil)
		return
	}
	began := s.w.nowMs
	if !s.w.run(s.arg64("within", 60_000), func() bool { return c.done }) {
		s.printf("no reply\n")
		return
	}
	s.show(c, began)
}

func (s *story) reply() {
	c := s.calls[s.d.CmdArgs[0].Key]
	ms := int64(0)
	if len(s.d.CmdArgs) > 1 {
		ms, _ = strconv.ParseInt(s.d.CmdArgs[1].Key, 10, 64)
	}
	began := s.w.nowMs
	if !s.w.run(ms, func() bool { return c.done }) {
		s.printf("no reply\n")
		return
	}
	s.show(c, began)
}

func (s *story) show(c *call, began int64) {
	if after := c.atMs - began; after > 0 {
		s.printf("after %d ms: ", after)
	}
	switch {
	case c.closed:
		s.printf("connection closed\n")
	case c.resp == nil:
		s.printf("nothing to send\n")
	default:
		s.printf("%s", describe(c.resp))
	}
}

func (s *story) topicID(name string) kraft.UUID {
	if t, ok := s.w.ctl.c.Image().Topic(name); ok {
		return t.ID
	}
	return kraft.UUID{0: 0xee}
}

// produceRequest: partitions are arguments 2 and on that have no value, and each
// gets the same records. corrupt flips a bit, ts=N sets timestamps (relative to now),
// codec=N compresses, txn makes the batch transactional.
func (s *story) produceRequest() kmsg.Request {
	req := kmsg.NewPtrProduceRequest()
	req.Version = int16(s.arg64("version", 9))
	req.Acks, req.TimeoutMillis = int16(s.arg64("acks", -1)), int32(s.arg64("timeout", 30_000))
	opts := record.Options{LeaderEpoch: -1, Codec: record.Codec(s.arg64("codec", 0)), Transactional: s.has("txn")}
	if s.has("pid") {
		opts.Producer = &record.Producer{ID: s.arg64("pid", 0), Epoch: int16(s.arg64("epoch", 0)), BaseSequence: int32(s.arg64("seq", 0))}
	}
	b := record.NewBuilder(opts)
	for line := range strings.Lines(s.d.Input) {
		value := []byte(strings.TrimSpace(line))
		value = append(value, make([]byte, max(0, int(s.arg64("size", 0))-len(value)))...)
		if err := b.Add(record.Entry{TimestampMs: wallMs + s.w.nowMs + s.arg64("ts", 0), Value: value}); err != nil {
			s.t.Fatal(err)
		}
	}
	for i := 1; i < len(s.d.CmdArgs) && len(s.d.CmdArgs[i].Vals) == 0; i++ {
		if !strings.Contains(s.d.CmdArgs[i].Key, "-") {
			continue
		}
		tp := s.partition(i)
		t := kmsg.NewProduceRequestTopic()
		t.Topic, t.TopicID = tp.Topic, s.topicID(tp.Topic)
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition = tp.Partition
		if b.Count() > 0 {
			var d record.Deflater
			batch, err := b.AppendTo(nil, &d)
			if err != nil {
				s.t.Fatal(err)
			}
			if s.has("corrupt") {
				batch[len(batch)-1] ^= 1
			}
			p.Records = batch
		}
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
	}
	return req
}

func (s *story) fetchRequest() kmsg.Request {
	req := kmsg.NewPtrFetchRequest()
	req.Version = int16(s.arg64("version", 12))
	req.MaxWaitMillis, req.MinBytes = int32(s.arg64("wait", 500)), int32(s.arg64("min", 1))
	req.MaxBytes = int32(s.arg64("max", 1<<20))
	req.Rack = s.arg("rack", "")
	if s.has("session") {
		req.SessionID, req.SessionEpoch = int32(s.arg64("session", 0)), 1
	}
	if s.has("committed") {
		req.IsolationLevel = 1
	}
	req.ReplicaID = int32(s.arg64("replica", -1))
	req.ReplicaState.ID, req.ReplicaState.Epoch = req.ReplicaID, s.arg64("broker-epoch", -1)
	for i := 1; i < len(s.d.CmdArgs) && len(s.d.CmdArgs[i].Vals) == 0; i++ {
		if !strings.Contains(s.d.CmdArgs[i].Key, "-") {
			continue
		}
		tp := s.partition(i)
		t := kmsg.NewFetchRequestTopic()
		t.Topic, t.TopicID = tp.Topic, s.topicID(tp.Topic)
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset = tp.Partition, s.arg64("offset", 0)
		p.CurrentLeaderEpoch, p.LastFetchedEpoch = int32(s.arg64("epoch", -1)), int32(s.arg64("last", -1))
		p.PartitionMaxBytes = int32(s.arg64("part-max", 1<<20))
		t.Partitions = append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
	}
	return req
}

func (s *story) listRequest() kmsg.Request {
	tp := s.partition(1)
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version, req.ReplicaID = int16(s.arg64("version", 8)), int32(s.arg64("replica", -1))
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = tp.Topic
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp, p.CurrentLeaderEpoch = tp.Partition, s.arg64("time", -1), int32(s.arg64("epoch", -1))
	t.Partitions = append(t.Partitions, p)
	if s.has("twice") {
		t.Partitions = append(t.Partitions, p)
	}
	req.Topics = append(req.Topics, t)
	return req
}

func (s *story) epochRequest() kmsg.Request {
	tp := s.partition(1)
	req := kmsg.NewPtrOffsetForLeaderEpochRequest()
	req.Version = int16(s.arg64("version", 4))
	t := kmsg.NewOffsetForLeaderEpochRequestTopic()
	t.Topic = tp.Topic
	p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	p.Partition, p.LeaderEpoch, p.CurrentLeaderEpoch = tp.Partition, int32(s.arg64("epoch", 0)), int32(s.arg64("current", -1))
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (s *story) deleteRecordsRequest() kmsg.Request {
	tp := s.partition(1)
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Version, req.TimeoutMillis = 2, int32(s.arg64("timeout", 1000))
	t := kmsg.NewDeleteRecordsRequestTopic()
	t.Topic = tp.Topic
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = tp.Partition, s.arg64("before", -1)
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (s *story) metadataRequest() kmsg.Request {
	req := kmsg.NewPtrMetadataRequest()
	req.Version = int16(s.arg64("version", 12))
	if s.has("none") {
		req.Topics = []kmsg.MetadataRequestTopic{}
	}
	for _, name := range strings.Split(s.arg("topics", ""), ",") {
		if name == "" {
			continue
		}
		t := kmsg.NewMetadataRequestTopic()
		if s.has("ids") {
			t.TopicID = s.topicID(name)
		} else {
			t.Topic = kmsg.StringPtr(name)
		}
		req.Topics = append(req.Topics, t)
	}
	return req
}

func (s *story) producerIDRequest() kmsg.Request {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version, req.ProducerID, req.ProducerEpoch = int16(s.arg64("version", 4)), s.arg64("pid", -1), int16(s.arg64("epoch", -1))
	if s.has("txn") {
		req.TransactionalID = kmsg.StringPtr(s.arg("txn", ""))
	}
	return req
}

func (s *story) forwardRequest() kmsg.Request {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Version = 6
	t := kmsg.NewDeleteTopicsRequestTopic()
	t.TopicID = s.topicID(s.d.CmdArgs[1].Key)
	req.Topics = append(req.Topics, t)
	return req
}

// hold names orders by their type, and if it is given, by partition.
func (s *story) hold() {
	h, kind, of := s.host(), s.d.CmdArgs[1].Key, ""
	if len(s.d.CmdArgs) > 2 {
		of = s.d.CmdArgs[2].Key
	}
	h.holds = func(o machine.Order) bool {
		name, p := kindOf(o)
		return name == kind && (of == "" || p == of)
	}
}

func kindOf(o machine.Order) (kind, partition string) {
	switch o := o.(type) {
	case *appendOrder:
		return "append", o.p.name.String()
	case *syncOrder:
		return "sync", o.p.name.String()
	case *flushOrder:
		return "flush", o.p.name.String()
	case *truncateOrder:
		return "truncate", o.p.name.String()
	case *epochOrder:
		return "epoch", o.p.name.String()
	case *openOrder:
		return "open", o.p.name.String()
	case *deleteOrder:
		return "delete", o.p.name.String()
	case *startOrder:
		return "start", o.p.name.String()
	}
	return "other", ""
}

// fail lets the disk fail what fits from now on.
func (s *story) fail() {
	ops := map[string]vfs.Op{"write": vfs.OpWrite, "sync": vfs.OpSync, "read": vfs.OpRead}
	s.host().disk.Add(vfs.Rule{Name: s.d.CmdArgs[1].Key, Ops: ops[s.d.CmdArgs[2].Key], Err: vfs.ErrIO})
}

func (s *story) state() {
	tp := s.partition(0)
	for _, id := range s.w.ids() {
		h := s.w.hosts[id]
		if h.node == nil {
			s.printf("%d: down\n", id)
			continue
		}
		r, l := h.node.Replica(tp.Topic, tp.Partition)
		if r == nil {
			s.printf("%d: none\n", id)
			continue
		}
		st := r.Status()
		s.printf("%d: %s epoch=%d start=%d hw=%d leo=%d", id, st.Role, st.LeaderEpoch, st.LogStart, st.HW, st.LEO)
		if st.ISR != nil {
			s.printf(" isr=%v", st.ISR)
		}
		if st.Busy {
			s.printf(" busy")
		}
		if l.End() != st.LEO || l.HW() != st.HW || l.Start() != st.LogStart {
			s.printf(" log: start=%d hw=%d end=%d", l.Start(), l.HW(), l.End())
		}
		s.printf("\n")
	}
}

func (s *story) damage() {
	f, err := s.host().mem.Open(s.d.CmdArgs[1].Key, vfs.ReadWrite)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Size()
	if err == nil {
		_, err = f.WriteAt([]byte{0xff}, size-1)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) directories() {
	tp := s.partition(0)
	t, _ := s.w.ctl.c.Image().Topic(tp.Topic)
	part, _ := t.Partition(tp.Partition)
	for i, id := range part.Replicas {
		where := "elsewhere"
		if h := s.w.hosts[id]; h.node != nil && h.node.life.directory == part.Directories[i] {
			where = "here"
		}
		s.printf("%d: %s\n", id, where)
	}
	s.printf("asked %d times\n", s.w.ctl.assigns)
}

func (s *story) files() {
	infos, err := s.host().mem.ReadDir(".")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, in := range infos {
		if !in.Dir {
			continue
		}
		// Names of what was set aside are drawn.
		if i := strings.Index(in.Name, "."); i >= 0 {
			in.Name = in.Name[:i] + ".…" + in.Name[strings.LastIndex(in.Name, "-"):]
		}
		s.printf("%s\n", in.Name)
	}
}
