package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// TestStories runs the scenarios of testdata/stories, each a cluster's life in commands.
// What a command prints is the reply and the records that it wrote; after each
// one the invariants hold (checkState) and the replay of all records is the
// controller's own image. Rewrite with -rewrite and read the diff.
func TestStories(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		s := &story{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t, s.out = t, &strings.Builder{}
			s.run(d)
			s.check()
			if s.out.Len() == 0 {
				return "nothing\n"
			}
			return s.out.String()
		})
	})
}

// story is a cluster with its log and a clock.
type story struct {
	t     *testing.T
	c     *Controller
	opts  Options
	nowMs int64
	log   []kraft.Record
	lives map[int32]byte // how often each broker was started
	dirs  int            // log directories of each broker
	racks []string
	out   *strings.Builder
}

// run has one line for each command, with an example.
func (s *story) run(d *datadriven.TestData) {
	switch d.Cmd {
	case "cluster": // cluster brokers=3 elr=1 dirs=2 racks=(a,a,b) partitions=3 rf=2 min.isr=2
		s.cluster(d)
	case "register": // register 1 clean previous=7 same cluster=other without-dirs
		s.register(d)
	case "heartbeat": // heartbeat 1 at=17 fence stop stale offline=1 cordon=1
		s.heartbeat(d)
	case "wait": // wait 9000 alive=(1,2)
		s.wait(d)
	case "create": // lines: orders 1,2,3 2,3,1 min.insync.replicas=2, or: orders partitions=2 rf=3
		s.create(d)
	case "delete": // delete orders
		t, ok := s.c.Image().Topic(d.CmdArgs[0].Key)
		id := kraft.UUID{0: 99}
		if ok {
			id = t.ID
		}
		reply := do(s, DeleteTopics{IDs: []kraft.UUID{id}})
		s.printErr(d.CmdArgs[0].Key, reply.Topics[0].Err)
	case "partitions": // partitions orders 4 assign=(1,2) validate
		s.partitions(d)
	case "isr": // isr orders-0 1,2 by=1 leader-epoch=0 partition-epoch=3 broker-epochs=(9,9) recovering
		s.isr(d)
	case "reassign": // reassign orders-0 4,1 same-rf, or: reassign orders-0 cancel
		s.reassign(d)
	case "elect": // elect preferred orders-0, or: elect unclean
		s.elect(d)
	case "config": // config topic=orders; lines: set key value, delete key, append key value, op9 key value
		s.config(d)
	case "feature": // feature eligible.leader.replicas.version 1 down=safe validate
		s.feature(d)
	case "producer-ids": // producer-ids 1
		id := number32(d.CmdArgs[0].Key)
		reply := do(s, AllocateProducerIDs{id, s.epoch(id, d)})
		s.printErr(fmt.Sprintf("[%d, %d)", reply.First, reply.First+int64(reply.Len)), reply.Err)
	case "unregister": // unregister 1
		reply := do(s, UnregisterBroker{number32(d.CmdArgs[0].Key)})
		s.printErr("broker "+d.CmdArgs[0].Key, reply.Err)
	case "assign-dir": // assign-dir 1 orders-0 dir=2
		s.assignDir(d)
	case "restart": // the controller: a new one on the replay of the log
		s.restart()
	case "state": // state orders
		s.state(d)
	default:
		s.t.Fatalf("%s: unknown command %q", d.Pos, d.Cmd)
	}
}

// do handles a request and prints the records.
func do[Reply any](s *story, req Request[Reply]) Reply {
	s.t.Helper()
	reply, batch := Handle(s.c, s.nowMs, req)
	s.append(batch)
	return reply
}

func (s *story) append(batch Batch) {
	s.t.Helper()
	if batch.Base != int64(len(s.log)) || batch.End() != s.c.NextOffset() {
		s.t.Fatalf("batch [%d, %d) at the end %d of the log, next is %d", batch.Base, batch.End(), len(s.log), s.c.NextOffset())
	}
	for _, rec := range batch.Records {
		fmt.Fprintf(s.out, "%s\n", s.format(rec))
		// What the log holds are bytes: each record must be one that can be written.
		value, err := kraft.Append(nil, rec, s.c.Image().MetadataVersion().RecordVersion(rec))
		if err != nil {
			s.t.Fatal(err)
		}
		read, err := kraft.Decode(value)
		if err != nil {
			s.t.Fatal(err)
		}
		s.log = append(s.log, read)
	}
}

func (s *story) printErr(what string, err *Error) {
	if err != nil {
		fmt.Fprintf(s.out, "%s: %v\n", what, err)
		return
	}
	fmt.Fprintf(s.out, "%s: ok\n", what)
}

func (s *story) cluster(d *datadriven.TestData) {
	brokers, elr := 3, 1
	var partitions, rf, minISR int
	d.MaybeScanArgs(s.t, "brokers", &brokers)
	d.MaybeScanArgs(s.t, "elr", &elr)
	s.dirs, s.racks = 1, nil
	d.MaybeScanArgs(s.t, "dirs", &s.dirs)
	for _, arg := range d.CmdArgs {
		if arg.Key == "racks" {
			s.racks = arg.Vals
		}
	}
	s.opts = DefaultOptions(100, "cluster", rand.New(rand.NewPCG(1, 2)))
	s.opts.MaxIdleMs = 0
	if d.MaybeScanArgs(s.t, "partitions", &partitions) {
		s.opts.NumPartitions = int32(partitions)
	}
	if d.MaybeScanArgs(s.t, "rf", &rf) {
		s.opts.ReplicationFactor = int16(rf)
	}
	if d.MaybeScanArgs(s.t, "min.isr", &minISR) {
		s.opts.Static = map[string]string{minISRKey: strconv.Itoa(minISR)}
	}
	s.nowMs, s.log, s.lives = 0, Bootstrap(nil, kraft.FeatureLevel{Name: featureELR, FeatureLevel: int16(elr)}), map[int32]byte{}
	s.restart()
	for id := int32(1); id <= int32(brokers); id++ {
		s.start(id, -1)
		s.beat(id)
	}
	s.out.Reset()
	fmt.Fprintf(s.out, "%d brokers, log end %d\n", brokers, len(s.log))
}

func (s *story) restart() {
	replay := s.replay()
	s.c = New(s.opts, replay, int64(len(s.log)), s.nowMs)
}

func (s *story) replay() metadata.Image {
	s.t.Helper()
	replay := metadata.NewReplay(metadata.Empty())
	for offset, rec := range s.log {
		if err := replay.Apply(rec); err != nil {
			s.t.Fatalf("offset %d: %v", offset, err)
		}
	}
	return replay.Image()
}

func directory(broker int32, i int) kraft.UUID {
	return kraft.UUID{0: 0xd, 1: byte(broker), 2: byte(i)}
}

func (s *story) registration(id int32, previous int64) RegisterBroker {
	r := RegisterBroker{
		ClusterID: "cluster", BrokerID: id, IncarnationID: kraft.UUID{0: byte(id), 1: s.lives[id]},
		Features: s.opts.Features, PreviousBrokerEpoch: previous,
	}
	for i := range s.dirs {
		r.LogDirs = append(r.LogDirs, directory(id, i+1))
	}
	if len(s.racks) >= int(id) {
		r.Rack = &s.racks[id-1]
	}
	return r
}

func (s *story) start(id int32, previous int64) RegisterBrokerReply {
	s.lives[id]++
	return do(s, s.registration(id, previous))
}

// beat is a heartbeat of a broker that has applied the whole log.
func (s *story) beat(id int32) {
	b, ok := s.c.Image().Broker(id)
	if !ok {
		s.t.Fatalf("broker %d is not registered", id)
	}
	reply := do(s, Heartbeat{
		BrokerID: id, BrokerEpoch: b.BrokerEpoch, CurrentMetadataOffset: int64(len(s.log)) - 1,
		Directories: Directories{CordonedLogDirs: []kraft.UUID{}},
	})
	if reply.Err != nil {
		s.t.Fatal(reply.Err)
	}
}

func (s *story) register(d *datadriven.TestData) {
	id := number32(d.CmdArgs[0].Key)
	previous := int64(-1)
	if b, ok := s.c.Image().Broker(id); ok && d.HasArg("clean") {
		previous = b.BrokerEpoch
	}
	d.MaybeScanArgs(s.t, "previous", &previous)
	if !d.HasArg("same") {
		s.lives[id]++
	}
	r := s.registration(id, previous)
	d.MaybeScanArgs(s.t, "cluster", &r.ClusterID)
	var dirsOf int
	switch {
	case d.HasArg("without-dirs"):
		r.LogDirs = nil
	case d.HasArg("twice"):
		r.LogDirs = append(r.LogDirs, r.LogDirs[0])
	case d.HasArg("reserved"):
		r.LogDirs[0] = kraft.LostDirectory
	case d.MaybeScanArgs(s.t, "dirs-of", &dirsOf):
		r.LogDirs[0] = directory(int32(dirsOf), 1)
	case d.HasArg("without-features"):
		r.Features = nil
	case d.HasArg("old"):
		r.Features = []kraft.FeatureRange{{Name: featureMetadataVersion, MinSupportedVersion: 7, MaxSupportedVersion: 25}}
	}
	reply := do(s, r)
	if reply.Err != nil && !d.HasArg("same") {
		s.lives[id]--
	}
	s.printErr(fmt.Sprintf("epoch %d", reply.BrokerEpoch), reply.Err)
}

// epoch is that of the broker's life, or an older one if the command says stale.
func (s *story) epoch(id int32, d *datadriven.TestData) int64 {
	b, ok := s.c.Image().Broker(id)
	if !ok {
		return 0
	}
	if d.HasArg("stale") {
		return b.BrokerEpoch - 1
	}
	return b.BrokerEpoch
}

func (s *story) heartbeat(d *datadriven.TestData) {
	id := number32(d.CmdArgs[0].Key)
	at, offline, cordon := int64(len(s.log))-1, 0, 0
	d.MaybeScanArgs(s.t, "at", &at)
	h := Heartbeat{
		BrokerID: id, BrokerEpoch: s.epoch(id, d), CurrentMetadataOffset: at,
		WantFence: d.HasArg("fence"), WantShutDown: d.HasArg("stop"),
	}
	if d.MaybeScanArgs(s.t, "offline", &offline) {
		h.OfflineLogDirs = []kraft.UUID{directory(id, offline)}
	}
	if d.MaybeScanArgs(s.t, "cordon", &cordon) {
		h.CordonedLogDirs = []kraft.UUID{}
		for i := range cordon {
			h.CordonedLogDirs = append(h.CordonedLogDirs, directory(id, i+1))
		}
	}
	reply := do(s, h)
	if reply.Err != nil {
		s.printErr("heartbeat", reply.Err)
		return
	}
	var is []string
	for _, flag := range []struct {
		name string
		on   bool
	}{
		{"caught up", reply.IsCaughtUp},
		{"fenced", reply.IsFenced},
		{"in controlled shutdown", reply.InControlledShutdown},
		{"may stop", reply.ShouldShutDown},
	} {
		if flag.on {
			is = append(is, flag.name)
		}
	}
	fmt.Fprintf(s.out, "broker %d: %s\n", id, strings.Join(is, ", "))
}

// wait lets time pass, with heartbeats every half second of those that are alive,
// and ticks in between.
func (s *story) wait(d *datadriven.TestData) {
	ms, err := strconv.ParseInt(d.CmdArgs[0].Key, 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	var alive []int32
	for _, arg := range d.CmdArgs {
		if arg.Key == "alive" {
			for _, v := range arg.Vals {
				alive = append(alive, number32(v))
			}
		}
	}
	end, beat := s.nowMs+ms, s.nowMs+500
	for s.nowMs < end {
		s.nowMs = min(end, beat)
		if deadline := s.c.NextDeadline(); deadline < s.nowMs {
			s.nowMs = deadline
		}
		for s.c.NextDeadline() <= s.nowMs {
			fmt.Fprintf(s.out, "at %d ms:\n", s.nowMs)
			before := s.out.Len()
			s.append(s.c.Tick(s.nowMs))
			if s.out.Len() == before {
				fmt.Fprintln(s.out, "nothing to do")
			}
		}
		if s.nowMs == beat {
			for _, id := range alive {
				s.beat(id)
			}
			beat += 500
		}
	}
}

func (s *story) create(d *datadriven.TestData) {
	req := CreateTopics{ValidateOnly: d.HasArg("validate")}
	for line := range strings.Lines(d.Input) {
		fields := strings.Fields(line)
		topic := NewTopic{Name: strings.Trim(fields[0], `"`), NumPartitions: -1, ReplicationFactor: -1, Assignments: map[int32][]int32{}}
		for _, f := range fields[1:] {
			key, value, isConfig := strings.Cut(f, "=")
			switch {
			case key == "partitions":
				topic.NumPartitions = number32(value)
			case key == "rf":
				topic.ReplicationFactor = int16(number32(value))
			case isConfig && value == "null":
				topic.Configs = append(topic.Configs, ConfigValue{Key: key})
			case isConfig:
				topic.Configs = append(topic.Configs, ConfigValue{key, &value})
			case f == "skip":
				topic.Assignments[int32(len(topic.Assignments))+1] = []int32{1}
			default:
				topic.Assignments[int32(len(topic.Assignments))] = numbers(f)
			}
		}
		req.Topics = append(req.Topics, topic)
	}
	for _, r := range do(s, req).Topics {
		name := r.Name
		if len(name) > 40 {
			name = name[:40]
		}
		if r.Err == nil {
			name = fmt.Sprintf("%s, %d partitions, replication factor %d", name, r.NumPartitions, r.ReplicationFactor)
		}
		s.printErr(name, r.Err)
	}
}

func (s *story) partitions(d *datadriven.TestData) {
	more := MorePartitions{Topic: d.CmdArgs[0].Key, Count: number32(d.CmdArgs[1].Key)}
	for line := range strings.Lines(d.Input) {
		more.Assignments = append(more.Assignments, numbers(strings.TrimSpace(line)))
	}
	reply := do(s, CreatePartitions{Topics: []MorePartitions{more}, ValidateOnly: d.HasArg("validate")})
	s.printErr(more.Topic, reply.Topics[0].Err)
}

func (s *story) find(name string) (topic string, id int32, p *kraft.Partition) {
	i := strings.LastIndexByte(name, '-')
	topic, id = name[:i], number32(name[i+1:])
	if t, ok := s.c.Image().Topic(topic); ok {
		p, _ = t.Partition(id)
	}
	return topic, id, p
}

func (s *story) isr(d *datadriven.TestData) {
	topic, id, p := s.find(d.CmdArgs[0].Key)
	if p == nil {
		p = &kraft.Partition{PartitionID: id, Leader: 1}
		if t, ok := s.c.Image().Topic(topic); ok {
			p.TopicID = t.ID
		}
	}
	by := int(p.Leader)
	d.MaybeScanArgs(s.t, "by", &by)
	want := ISRChange{TopicID: p.TopicID, Partition: id, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch}
	var leaderEpoch, partitionEpoch, brokerEpoch int
	if d.MaybeScanArgs(s.t, "leader-epoch", &leaderEpoch) {
		want.LeaderEpoch = int32(leaderEpoch)
	}
	if d.MaybeScanArgs(s.t, "partition-epoch", &partitionEpoch) {
		want.PartitionEpoch = int32(partitionEpoch)
	}
	if d.HasArg("recovering") {
		want.LeaderRecoveryState = kraft.Recovering
	}
	if d.HasArg("nonsense") {
		want.LeaderRecoveryState = 7
	}
	for _, m := range numbers(d.CmdArgs[1].Key) {
		member := ISRMember{BrokerID: m, BrokerEpoch: -1}
		if b, ok := s.c.Image().Broker(m); ok {
			member.BrokerEpoch = b.BrokerEpoch
		}
		if d.MaybeScanArgs(s.t, "seen-"+strconv.Itoa(int(m)), &brokerEpoch) {
			member.BrokerEpoch = int64(brokerEpoch)
		}
		want.ISR = append(want.ISR, member)
	}
	reply := do(s, AlterPartition{BrokerID: int32(by), BrokerEpoch: s.epoch(int32(by), d), Partitions: []ISRChange{want}})
	if reply.Err != nil {
		s.printErr("request", reply.Err)
		return
	}
	s.printErr(d.CmdArgs[0].Key, reply.Partitions[0].Err)
}

func (s *story) reassign(d *datadriven.TestData) {
	topic, id, _ := s.find(d.CmdArgs[0].Key)
	target := Reassignment{Topic: topic, Partition: id}
	if d.CmdArgs[1].Key != "cancel" {
		target.Replicas = numbers(d.CmdArgs[1].Key)
	}
	reply := do(s, AlterPartitionReassignments{Partitions: []Reassignment{target}, AllowReplicationFactorChange: !d.HasArg("same-rf")})
	s.printErr(d.CmdArgs[0].Key, reply.Partitions[0].Err)
}

func (s *story) elect(d *datadriven.TestData) {
	req := ElectLeaders{Type: 9}
	switch d.CmdArgs[0].Key {
	case "preferred":
		req.Type = PreferredElection
	case "unclean":
		req.Type = UncleanElection
	}
	for _, arg := range d.CmdArgs[1:] {
		topic, id, _ := s.find(arg.Key)
		req.Partitions = append(req.Partitions, TopicPartition{topic, id})
	}
	reply := do(s, req)
	if reply.Err != nil {
		s.printErr("request", reply.Err)
	}
	for _, r := range reply.Partitions {
		s.printErr(fmt.Sprintf("%s-%d", r.Topic, r.Partition), r.Err)
	}
}

func (s *story) config(d *datadriven.TestData) {
	req := AlterConfigs{ValidateOnly: d.HasArg("validate")}
	for _, arg := range d.CmdArgs {
		change := ResourceChange{Replace: d.HasArg("replace")}
		switch arg.Key {
		case "topic":
			change.Resource = metadata.Resource{Type: kraft.ResourceTopic, Name: arg.FirstVal(s.t)}
		case "broker":
			change.Resource = brokerResource(arg.FirstVal(s.t))
		case "brokers":
			change.Resource = clusterDefault
		case "group":
			change.Resource = metadata.Resource{Type: kraft.ResourceGroup, Name: arg.FirstVal(s.t)}
		default:
			continue
		}
		for line := range strings.Lines(d.Input) {
			fields := strings.Fields(line)
			c := ConfigChange{Key: fields[1], Op: map[string]ConfigOp{
				"set": SetConfig, "delete": DeleteConfig, "append": AppendConfig, "subtract": SubtractConfig, "op9": 9,
			}[fields[0]]}
			if len(fields) > 2 {
				if fields[2] == "long" {
					fields[2] = strings.Repeat("x", maxConfigValue+1)
				}
				c.Value = &fields[2]
			}
			change.Changes = append(change.Changes, c)
		}
		req.Resources = append(req.Resources, change)
	}
	for _, r := range do(s, req).Resources {
		s.printErr(fmt.Sprintf("%d/%s", r.Type, r.Name), r.Err)
	}
}

func (s *story) feature(d *datadriven.TestData) {
	u := FeatureUpdate{Name: d.CmdArgs[0].Key, Level: int16(number32(d.CmdArgs[1].Key)), Type: Upgrade}
	var down string
	if d.MaybeScanArgs(s.t, "down", &down) {
		u.Type = map[string]UpgradeType{"safe": SafeDowngrade, "unsafe": UnsafeDowngrade, "unknown": 9}[down]
	}
	req := UpdateFeatures{Updates: []FeatureUpdate{u}, ValidateOnly: d.HasArg("validate")}
	if d.HasArg("twice") {
		req.Updates = append(req.Updates, u)
	}
	s.printErr(u.Name, do(s, req).Err)
}

func (s *story) assignDir(d *datadriven.TestData) {
	id := number32(d.CmdArgs[0].Key)
	topic, partition, _ := s.find(d.CmdArgs[1].Key)
	a := DirAssignment{Partition: partition, TopicID: kraft.UUID{0: 99}}
	if t, ok := s.c.Image().Topic(topic); ok {
		a.TopicID = t.ID
	}
	var dir int
	d.ScanArgs(s.t, "dir", &dir)
	a.Directory = directory(id, dir)
	reply := do(s, AssignReplicasToDirs{id, s.epoch(id, d), []DirAssignment{a}})
	if reply.Err != nil {
		s.printErr("request", reply.Err)
		return
	}
	s.printErr(d.CmdArgs[1].Key, reply.Results[0])
}

func (s *story) state(d *datadriven.TestData) {
	for name, topic := range s.c.Image().Topics() {
		if len(d.CmdArgs) > 0 && !d.HasArg(name) {
			continue
		}
		for id, p := range topic.Partitions() {
			fmt.Fprintf(s.out, "%s-%d replicas=%s leader=%d epochs=%d/%d isr=%s", name, id, list(p.Replicas), p.Leader, p.LeaderEpoch, p.PartitionEpoch, list(p.ISR))
			for _, l := range []struct {
				name string
				ids  []int32
			}{
				{"adding", p.AddingReplicas},
				{"removing", p.RemovingReplicas},
				{"elr", p.EligibleLeaderReplicas},
				{"last-known", p.LastKnownELR},
			} {
				if l.ids != nil {
					fmt.Fprintf(s.out, " %s=%s", l.name, list(l.ids))
				}
			}
			if p.LeaderRecoveryState == kraft.Recovering {
				fmt.Fprint(s.out, " recovering")
			}
			fmt.Fprintln(s.out)
		}
	}
}

func number32(text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		panic(err)
	}
	return int32(n)
}

func numbers(text string) (ids []int32) {
	ids = []int32{}
	for part := range strings.SplitSeq(text, ",") {
		if part != "none" {
			ids = append(ids, number32(part))
		}
	}
	return ids
}

func list(ids []int32) string {
	if len(ids) == 0 {
		return "none"
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ids)), ","), "[]")
}

// format is one record on one line.
func (s *story) format(rec kraft.Record) string {
	switch rec := rec.(type) {
	case *kraft.PartitionChange:
		return "PartitionChange " + s.name(rec.TopicID) + "-" + strconv.Itoa(int(rec.PartitionID)) + formatChange(rec)
	case *kraft.Partition:
		return fmt.Sprintf("Partition %s-%d replicas=%s isr=%s leader=%d dirs=%s", s.name(rec.TopicID), rec.PartitionID, list(rec.Replicas), list(rec.ISR), rec.Leader, dirs(rec.Directories))
	case *kraft.Topic:
		return "Topic " + rec.Name
	case *kraft.RemoveTopic:
		return "RemoveTopic"
	case *kraft.RegisterBroker:
		return fmt.Sprintf("RegisterBroker %d epoch=%d fenced=%t stopping=%t dirs=%s", rec.BrokerID, rec.BrokerEpoch, rec.Fenced, rec.InControlledShutdown, dirs(rec.LogDirs))
	case *kraft.BrokerRegistrationChange:
		return fmt.Sprintf("BrokerRegistrationChange %d", rec.BrokerID) + formatBroker(rec)
	case *kraft.UnregisterBroker:
		return fmt.Sprintf("UnregisterBroker %d", rec.BrokerID)
	case *kraft.Config:
		if rec.Value == nil {
			return fmt.Sprintf("Config %d/%s %s removed", rec.ResourceType, rec.ResourceName, rec.Name)
		}
		return fmt.Sprintf("Config %d/%s %s=%s", rec.ResourceType, rec.ResourceName, rec.Name, *rec.Value)
	case *kraft.ClearELR:
		return fmt.Sprintf("ClearELR %q", rec.TopicName)
	case *kraft.FeatureLevel:
		return fmt.Sprintf("FeatureLevel %s=%d", rec.Name, rec.FeatureLevel)
	case *kraft.ProducerIDs:
		return fmt.Sprintf("ProducerIDs broker=%d next=%d", rec.BrokerID, rec.NextProducerID)
	}
	return rec.Type().String()
}

func (s *story) name(id kraft.UUID) string {
	for _, rec := range s.log {
		if t, ok := rec.(*kraft.Topic); ok && t.TopicID == id {
			return t.Name
		}
	}
	return id.String()
}

func formatChange(rec *kraft.PartitionChange) string {
	var b strings.Builder
	if rec.ISR != nil {
		fmt.Fprintf(&b, " isr=%s", list(rec.ISR))
	}
	if rec.Leader != kraft.NoLeaderChange {
		fmt.Fprintf(&b, " leader=%d", rec.Leader)
	}
	for _, l := range []struct {
		name string
		ids  []int32
	}{
		{"replicas", rec.Replicas},
		{"removing", rec.RemovingReplicas},
		{"adding", rec.AddingReplicas},
		{"elr", rec.EligibleLeaderReplicas},
		{"last-known", rec.LastKnownELR},
	} {
		if l.ids != nil {
			fmt.Fprintf(&b, " %s=%s", l.name, list(l.ids))
		}
	}
	if rec.LeaderRecoveryState != kraft.RecoveryNoChange {
		fmt.Fprintf(&b, " recovery=%d", rec.LeaderRecoveryState)
	}
	if rec.Directories != nil {
		fmt.Fprintf(&b, " dirs=%s", dirs(rec.Directories))
	}
	return b.String()
}

func formatBroker(rec *kraft.BrokerRegistrationChange) string {
	var b strings.Builder
	if rec.Fenced != 0 {
		fmt.Fprintf(&b, " fenced=%d", rec.Fenced)
	}
	if rec.InControlledShutdown != 0 {
		fmt.Fprintf(&b, " stopping=%d", rec.InControlledShutdown)
	}
	if rec.LogDirs != nil {
		fmt.Fprintf(&b, " dirs=%s", dirs(rec.LogDirs))
	}
	if rec.CordonedLogDirs != nil {
		fmt.Fprintf(&b, " cordoned=%s", dirs(rec.CordonedLogDirs))
	}
	return b.String()
}

func dirs(ids []kraft.UUID) string {
	var names []string
	for _, id := range ids {
		switch id {
		case kraft.UnassignedDirectory:
			names = append(names, "unassigned")
		case kraft.MigratingDirectory:
			names = append(names, "migrating")
		default:
			names = append(names, fmt.Sprintf("%d.%d", id[1], id[2]))
		}
	}
	return "(" + strings.Join(names, " ") + ")"
}

// check holds the controller to its invariants.
func (s *story) check() {
	s.t.Helper()
	if err := checkState(s.c.Image()); err != nil {
		s.t.Errorf("after %d records: %v", len(s.log), err)
	}
	if err := checkLog(s.log, s.c.Image()); err != nil {
		s.t.Error(err)
	}
}

// checkState is what holds of every image (I3 and the rules of KIP-966).
func checkState(im metadata.Image) error {
	for name, topic := range im.Topics() {
		for id, p := range topic.Partitions() {
			in := func(b int32, list []int32) bool { return slices.Contains(list, b) }
			at := fmt.Sprintf("%s-%d", name, id)
			if p.Leader != kraft.NoLeader && !in(p.Leader, p.ISR) {
				return fmt.Errorf("%s: leader %d is not in ISR %v", at, p.Leader, p.ISR)
			}
			for what, list := range map[string][]int32{"ISR": p.ISR, "ELR": p.EligibleLeaderReplicas, "adding": p.AddingReplicas, "removing": p.RemovingReplicas} {
				if len(without(list, p.Replicas...)) > 0 || hasDuplicate(list) {
					return fmt.Errorf("%s: %s %v is not a set of some of %v", at, what, list, p.Replicas)
				}
			}
			if len(p.Replicas) == 0 || hasDuplicate(p.Replicas) || len(p.Directories) != len(p.Replicas) {
				return fmt.Errorf("%s: replicas %v, directories %v", at, p.Replicas, p.Directories)
			}
			if len(without(p.EligibleLeaderReplicas, p.ISR...)) != len(p.EligibleLeaderReplicas) {
				return fmt.Errorf("%s: ELR %v and ISR %v overlap", at, p.EligibleLeaderReplicas, p.ISR)
			}
			if p.Leader != kraft.NoLeader {
				if b, ok := im.Broker(p.Leader); !ok || b.Fenced {
					return fmt.Errorf("%s: leader %d is not alive", at, p.Leader)
				}
				if len(p.LastKnownELR) > 0 {
					return fmt.Errorf("%s: leader %d, and last known %v", at, p.Leader, p.LastKnownELR)
				}
			}
			if len(p.LastKnownELR) > 1 {
				return fmt.Errorf("%s: last known leaders %v", at, p.LastKnownELR)
			}
		}
	}
	return nil
}

// checkLog replays the log by itself and compares with the image; epochs only
// grow, with one leader in each (I3); and the snapshot of the image gives the
// image.
func checkLog(log []kraft.Record, want metadata.Image) error {
	replay := metadata.NewReplay(metadata.Empty())
	for offset, rec := range log {
		before := replay.Image()
		if err := replay.Apply(rec); err != nil {
			return fmt.Errorf("offset %d: %w", offset, err)
		}
		if err := checkEpochs(before, replay.Image()); err != nil {
			return fmt.Errorf("offset %d: %w", offset, err)
		}
	}
	if got, want := dump(replay.Image()), dump(want); got != want {
		return fmt.Errorf("replay gives\n%s\nthe controller has\n%s", got, want)
	}
	snapshot := metadata.Empty()
	for _, rec := range want.Records() {
		var err error
		if snapshot, err = snapshot.Apply(rec); err != nil {
			return err
		}
	}
	if got, want := dump(snapshot), dump(want); got != want {
		return fmt.Errorf("the snapshot gives\n%s\nthe controller has\n%s", got, want)
	}
	return nil
}

func checkEpochs(before, after metadata.Image) error {
	for name, topic := range after.Topics() {
		old, ok := before.Topic(name)
		if !ok || old.ID != topic.ID {
			continue
		}
		for id, p := range topic.Partitions() {
			q, ok := old.Partition(id)
			if !ok || p == q {
				continue
			}
			if p.PartitionEpoch != q.PartitionEpoch+1 || p.LeaderEpoch < q.LeaderEpoch || p.LeaderEpoch > q.LeaderEpoch+1 {
				return fmt.Errorf("%s-%d: epochs %d/%d after %d/%d", name, id, p.LeaderEpoch, p.PartitionEpoch, q.LeaderEpoch, q.PartitionEpoch)
			}
			if p.LeaderEpoch == q.LeaderEpoch && p.Leader != q.Leader {
				return fmt.Errorf("%s-%d: leaders %d and %d in epoch %d", name, id, q.Leader, p.Leader, p.LeaderEpoch)
			}
		}
	}
	return nil
}

func dump(im metadata.Image) string {
	var b strings.Builder
	for _, rec := range im.Records() {
		switch rec := rec.(type) {
		case *kraft.Config:
			fmt.Fprintf(&b, "%d %s %s=%s\n", rec.ResourceType, rec.ResourceName, rec.Name, *rec.Value)
		case *kraft.RegisterBroker:
			rack := ""
			if rec.Rack != nil {
				rack, rec.Rack = *rec.Rack, nil // Records are copies
			}
			fmt.Fprintf(&b, "%+v rack %s\n", rec, rack)
		default:
			fmt.Fprintf(&b, "%T %+v\n", rec, rec)
		}
	}
	return b.String()
}
