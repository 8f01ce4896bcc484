package sim

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// request has a line for each thing that a client asks. Each takes as=x: its answer is
// looked at later, by "reply x"; and conn=x: over the connection of that name.
func (s *scenario) request() {
	switch s.d.Cmd {
	case "topic": // topic t p0=(1,2,3) p1=(2,3,1); lines: its configs
		s.admin(s.createTopic())
		s.w.RunFor(50)
	case "delete-topic": // delete-topic t
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.Version, req.TimeoutMillis = 6, 5000
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = kmsg.StringPtr(s.str("", ""))
		req.Topics = append(req.Topics, t)
		s.admin(req)
		s.w.RunFor(50)
	case "partitions": // partitions t=3 u=0
		s.admin(s.createPartitions())
	case "config": // config t via 2; lines: set min.insync.replicas=2
		s.admin(s.alterConfigs())
	case "elect": // elect t-0 unclean
		s.admin(s.elect())
	case "reassign": // reassign t-0 to=(1,2)
		s.admin(s.reassign())
	case "producer-id": // producer-id p at 1: one that is called p from now on
		s.producerID()
	case "produce": // produce t-0 to 1 acks=all key=k codec=lz4 ts=(5,9) producer=p seq=0 size=100 x y
		s.ask(s.at("to"), s.produceRequest())
	case "fetch": // fetch t-0 from 1 offset=0 epoch=-1 last=-1 wait=0 bytes=1 version=12 read_committed
		s.ask(s.at("from"), s.fetchRequest())
	case "list-offsets": // list-offsets t-0 at 1 replica=-1 latest
		s.ask(s.at("at"), s.listRequest())
	case "epoch-end": // epoch-end t-0 at 1 epoch=0 current=-1: OffsetForLeaderEpoch
		s.ask(s.at("at"), s.epochRequest())
	case "delete-records": // delete-records t-0 at 1 before=5
		s.ask(s.at("at"), s.deleteRecordsRequest())
	case "metadata": // metadata at 1
		req := kmsg.NewPtrMetadataRequest()
		req.Version = 12
		s.ask(s.at("at"), req)
	case "reply": // reply x within=500ms
		s.reply()
	default:
		s.d.Fatalf(s.t, "unknown command %q", s.d.Cmd)
	}
}

func (s *scenario) at(word string) End {
	name, ok := s.after(word)
	if !ok {
		s.d.Fatalf(s.t, "at which broker? %s ...", word)
	}
	return s.parseBroker(name)
}

// admin sends a request that a broker passes on to the controller.
func (s *scenario) admin(req kmsg.Request) {
	if _, ok := s.after("via"); ok {
		s.ask(s.at("via"), req)
		return
	}
	for _, id := range s.brokers() {
		if b, ok := s.w.Image().Broker(int32(id)); ok && !b.Fenced && s.w.proc(id).state == running {
			s.ask(id, req)
			return
		}
	}
	s.printf("no broker lives\n")
}

// send sends a request over the connection that the command names, or one of its own.
func (s *scenario) send(broker End, req kmsg.Request) *Call {
	name := s.str("conn", "")
	if name == "" {
		return s.w.Send(broker, req)
	}
	if !slices.Contains(s.conns, name) {
		s.conns = append(s.conns, name)
	}
	return s.w.SendOn(slices.Index(s.conns, name), broker, req)
}

func (s *scenario) ask(broker End, req kmsg.Request) {
	c := s.send(broker, req)
	if p, ok := req.(*kmsg.ProduceRequest); ok && p.Acks == -1 {
		topic, index := s.partition(0)
		s.acked = append(s.acked, ackedWords{c, topic, index, s.values()})
	}
	if name := s.str("as", ""); name != "" {
		s.calls[name] = c
		return
	}
	if !s.w.RunUntil(func() bool { return c.Done() }, s.ms(s.str("within", "15s"))) && s.w.Err() == nil {
		s.printf("no reply\n")
		return
	}
	if p, ok := req.(*kmsg.ProduceRequest); ok && p.Acks == 0 {
		s.w.RunFor(20)
	}
	if p, ok := req.(*kmsg.ProduceRequest); ok && p.Acks == 0 {
		s.printf("the connection is %s\n", map[bool]string{true: "open", false: "closed"}[c.f.c.open])
		return
	}
	s.show(c)
}

func (s *scenario) reply() {
	name := s.str("", "")
	c := s.calls[name]
	if c == nil {
		s.d.Fatalf(s.t, "nothing was asked as %q", name)
	}
	if !s.w.RunUntil(func() bool { return c.Done() }, s.ms(s.str("within", "0"))) {
		s.printf("no reply\n")
		return
	}
	s.show(c)
}

// show tells an answer, the parts that matter.
func (s *scenario) show(c *Call) {
	switch resp := c.Response().(type) {
	case nil:
		s.printf("no answer will come\n")
	case *kmsg.ProduceResponse:
		p := resp.Topics[0].Partitions[0]
		if p.ErrorCode != 0 {
			s.printf("%s%s%s\n", code(p.ErrorCode), offsetIf(p.BaseOffset), message(p.ErrorMessage))
			for _, r := range p.ErrorRecords {
				s.printf("  record %d%s\n", r.RelativeOffset, message(r.ErrorMessage))
			}
			return
		}
		s.printf("at %d\n", p.BaseOffset)
	case *kmsg.FetchResponse:
		if resp.ErrorCode != 0 {
			s.printf("%s\n", code(resp.ErrorCode))
			return
		}
		p := resp.Topics[0].Partitions[0]
		switch {
		case p.ErrorCode != 0:
			s.printf("%s\n", code(p.ErrorCode))
		case p.DivergingEpoch.EndOffset >= 0:
			s.printf("HW %d; diverging, epoch %d ends at %d\n", p.HighWatermark, p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset)
		default:
			s.printf("HW %d, start %d: %s\n", p.HighWatermark, p.LogStartOffset, tellBatches(p.RecordBatches))
		}
	case *kmsg.ListOffsetsResponse:
		p := resp.Topics[0].Partitions[0]
		switch {
		case p.ErrorCode != 0:
			s.printf("%s\n", code(p.ErrorCode))
		case p.Timestamp < 0:
			s.printf("%d, epoch %d\n", p.Offset, p.LeaderEpoch)
		case p.Timestamp >= epochMs/2:
			s.printf("%d, epoch %d, timestamp of the time of day\n", p.Offset, p.LeaderEpoch)
		default:
			s.printf("%d, epoch %d, timestamp %d\n", p.Offset, p.LeaderEpoch, p.Timestamp)
		}
	case *kmsg.OffsetForLeaderEpochResponse:
		p := resp.Topics[0].Partitions[0]
		if p.ErrorCode != 0 {
			s.printf("%s\n", code(p.ErrorCode))
			return
		}
		s.printf("epoch %d ends at %d\n", p.LeaderEpoch, p.EndOffset)
	case *kmsg.DeleteRecordsResponse:
		p := resp.Topics[0].Partitions[0]
		s.printf("%s, low watermark %d\n", code(p.ErrorCode), p.LowWatermark)
	case *kmsg.CreateTopicsResponse:
		for _, t := range resp.Topics {
			s.printf("%s: %s%s\n", t.Topic, code(t.ErrorCode), message(t.ErrorMessage))
		}
	case *kmsg.DeleteTopicsResponse:
		for _, t := range resp.Topics {
			s.printf("%s: %s%s\n", *t.Topic, code(t.ErrorCode), message(t.ErrorMessage))
		}
	case *kmsg.CreatePartitionsResponse:
		for _, t := range resp.Topics {
			s.printf("%s: %s%s\n", t.Topic, code(t.ErrorCode), message(t.ErrorMessage))
		}
	case *kmsg.IncrementalAlterConfigsResponse:
		for _, t := range resp.Resources {
			s.printf("%s: %s%s\n", t.ResourceName, code(t.ErrorCode), message(t.ErrorMessage))
		}
	case *kmsg.ElectLeadersResponse:
		if len(resp.Topics) == 0 {
			s.printf("%s\n", code(resp.ErrorCode))
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				s.printf("%s-%d: %s%s\n", t.Topic, p.Partition, code(p.ErrorCode), message(p.ErrorMessage))
			}
		}
	case *kmsg.AlterPartitionAssignmentsResponse:
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				s.printf("%s-%d: %s%s\n", t.Topic, p.Partition, code(p.ErrorCode), message(p.ErrorMessage))
			}
		}
	case *kmsg.MetadataResponse:
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				s.printf("%s-%d: leader %d, epoch %d, replicas %s, ISR %s, offline %s\n", *t.Topic, p.Partition, p.Leader, p.LeaderEpoch, list(p.Replicas), list(p.ISR), list(p.OfflineReplicas))
			}
		}
	case *kmsg.InitProducerIDResponse:
		s.printf("%s\n", code(resp.ErrorCode))
	default:
		s.printf("%T\n", resp)
	}
}

func offsetIf(o int64) string {
	if o < 0 {
		return ""
	}
	return ", at " + strconv.FormatInt(o, 10)
}

func message(text *string) string {
	if text == nil || *text == "" {
		return ""
	}
	return ": " + *text
}

func (s *scenario) createTopic() kmsg.Request {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, 5000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = s.str("", ""), -1, -1
	for _, a := range s.d.CmdArgs {
		if index, err := strconv.Atoi(strings.TrimPrefix(a.Key, "p")); err == nil {
			r := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
			r.Partition = int32(index)
			for _, v := range a.Vals {
				r.Replicas = append(r.Replicas, int32(s.parseBroker(v)))
			}
			t.ReplicaAssignment = append(t.ReplicaAssignment, r)
		}
	}
	configs := s.lines()
	for _, key := range slices.Sorted(maps.Keys(configs)) {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = key, kmsg.StringPtr(configs[key])
		t.Configs = append(t.Configs, c)
	}
	req.Topics = append(req.Topics, t)
	return req
}

func (s *scenario) createPartitions() kmsg.Request {
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.Version, req.TimeoutMillis = 3, 5000
	for _, a := range s.d.CmdArgs {
		t := kmsg.NewCreatePartitionsRequestTopic()
		t.Topic, t.Count = a.Key, int32(s.num(a.Key, 0))
		req.Topics = append(req.Topics, t)
	}
	return req
}

// alterConfigs: set, delete, append, subtract, or op9 for an operation there is not.
func (s *scenario) alterConfigs() kmsg.Request {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Version = 1
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, s.str("", "")
	ops := []string{"set", "delete", "append", "subtract"}
	for line := range strings.Lines(s.d.Input) {
		op, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		key, value, ok := strings.Cut(rest, "=")
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Op = key, kmsg.IncrementalAlterConfigOp(slices.Index(ops, op))
		if n, err := strconv.Atoi(strings.TrimPrefix(op, "op")); err == nil {
			c.Op = kmsg.IncrementalAlterConfigOp(n)
		}
		if ok {
			c.Value = &value
		}
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
	return req
}

func (s *scenario) elect() kmsg.Request {
	req := kmsg.NewPtrElectLeadersRequest()
	req.Version, req.TimeoutMillis = 2, 5000
	if s.has("unclean") {
		req.ElectionType = 1
		s.w.AllowUnclean()
	}
	topic, index := s.partition(0)
	t := kmsg.NewElectLeadersRequestTopic()
	t.Topic, t.Partitions = topic, []int32{index}
	req.Topics = append(req.Topics, t)
	return req
}

func (s *scenario) reassign() kmsg.Request {
	req := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	req.Version, req.TimeoutMillis, req.AllowReplicationFactorChange = 1, 5000, true
	topic, index := s.partition(0)
	p := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
	p.Partition = index
	for _, word := range strings.Split(s.str("to", ""), ",") {
		p.Replicas = append(p.Replicas, int32(s.parseBroker(word)))
	}
	t := kmsg.NewAlterPartitionAssignmentsRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (s *scenario) producerID() {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.Version, req.ProducerID, req.ProducerEpoch = 4, -1, -1
	for range 20 { // a broker that has no block of ids yet says so
		c := s.w.Send(s.at("at"), req)
		s.w.RunUntil(func() bool { return c.Done() }, 15_000)
		resp, ok := c.Response().(*kmsg.InitProducerIDResponse)
		if ok && resp.ErrorCode == 0 {
			s.producers()[s.str("", "")] = record.Producer{ID: resp.ProducerID, Epoch: resp.ProducerEpoch}
			return
		}
		s.w.RunFor(20)
	}
	s.printf("there is no producer id\n")
}

func (s *scenario) producers() map[string]record.Producer {
	if s.ids == nil {
		s.ids = map[string]record.Producer{}
	}
	return s.ids
}

// produceRequest has one batch with a record for each word. key=k gives all of them
// that key, key=null none, size=N a value of so many bytes.
func (s *scenario) produceRequest() kmsg.Request {
	topic, index := s.partition(0)
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.TimeoutMillis = 9, int32(s.ms(s.str("timeout", "5s")))
	req.Acks = -1
	if acks := s.str("acks", "all"); acks != "all" {
		req.Acks = int16(s.num("acks", 0))
	}
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = index, s.encode()
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

// values are those of the records of a produce: the words behind "produce t-0 to 1".
func (s *scenario) values() []string {
	values := s.words()[3:]
	if n := s.num("size", 0); n > 0 {
		for i, word := range values {
			values[i] = (word + strings.Repeat(word[:1], int(n)))[:n]
		}
	}
	return values
}

func (s *scenario) encode() []byte {
	codecs := map[string]record.Codec{"none": record.None, "lz4": record.LZ4, "snappy": record.Snappy, "gzip": record.Gzip, "zstd": record.Zstd}
	opts := record.Options{Codec: codecs[s.str("codec", "none")]}
	if name := s.str("producer", ""); name != "" {
		p, ok := s.producers()[name]
		if !ok {
			s.d.Fatalf(s.t, "there is no producer %q", name)
		}
		p.BaseSequence = int32(s.num("seq", 0))
		p.Epoch += int16(s.num("bump", 0))
		opts.Producer = &p
	}
	times := strings.Split(s.str("ts", ""), ",")
	b := record.NewBuilder(opts)
	for i, value := range s.values() {
		e := record.Entry{TimestampMs: epochMs + s.w.NowMs(), Value: []byte(value)}
		if key := s.str("key", "null"); key != "null" {
			e.Key = []byte(key)
		}
		if i < len(times) && times[i] != "" {
			ts, err := strconv.ParseInt(times[i], 10, 64)
			if err != nil {
				s.d.Fatalf(s.t, "ts: %v", err)
			}
			e.TimestampMs = ts
		}
		if err := b.Add(e); err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
	}
	var deflater record.Deflater
	out, err := b.AppendTo(nil, &deflater)
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	return out
}

func (s *scenario) fetchRequest() kmsg.Request {
	topic, index := s.partition(0)
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.ReplicaID, req.MaxWaitMillis = int16(s.num("version", 12)), -1, int32(s.ms(s.str("wait", "0")))
	req.MinBytes, req.MaxBytes, req.SessionEpoch = 1, 1<<20, -1
	if s.has("read_committed") {
		req.IsolationLevel = 1
	}
	q := kmsg.NewFetchRequestTopicPartition()
	q.Partition, q.FetchOffset, q.CurrentLeaderEpoch, q.LastFetchedEpoch, q.LogStartOffset = index, s.num("offset", 0), int32(s.num("epoch", -1)), int32(s.num("last", -1)), -1
	q.PartitionMaxBytes = int32(s.num("bytes", 1<<20))
	t := kmsg.NewFetchRequestTopic()
	if im, ok := s.w.Image().Topic(topic); ok && req.Version >= 13 {
		t.TopicID = im.ID
	}
	t.Topic, t.Partitions = topic, append(t.Partitions, q)
	req.Topics = append(req.Topics, t)
	return req
}

func (s *scenario) listRequest() kmsg.Request {
	topic, index := s.partition(0)
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version, req.ReplicaID = int16(s.num("version", 8)), int32(s.num("replica", -1))
	q := kmsg.NewListOffsetsRequestTopicPartition()
	q.Partition, q.CurrentLeaderEpoch, q.Timestamp = index, int32(s.num("epoch", -1)), s.num("ts", replica.Latest)
	switch {
	case s.has("earliest"):
		q.Timestamp = replica.Earliest
	case s.has("max"):
		q.Timestamp = replica.MaxTimestamp
	}
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, q)
	req.Topics = append(req.Topics, t)
	return req
}

func (s *scenario) epochRequest() kmsg.Request {
	topic, index := s.partition(0)
	req := kmsg.NewPtrOffsetForLeaderEpochRequest()
	req.Version, req.ReplicaID = 4, -1
	q := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
	q.Partition, q.CurrentLeaderEpoch, q.LeaderEpoch = index, int32(s.num("current", -1)), int32(s.num("epoch", 0))
	t := kmsg.NewOffsetForLeaderEpochRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, q)
	req.Topics = append(req.Topics, t)
	return req
}

func (s *scenario) deleteRecordsRequest() kmsg.Request {
	topic, index := s.partition(0)
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Version, req.TimeoutMillis = 2, 5000
	q := kmsg.NewDeleteRecordsRequestTopicPartition()
	q.Partition, q.Offset = index, s.num("before", -1)
	t := kmsg.NewDeleteRecordsRequestTopic()
	t.Topic, t.Partitions = topic, append(t.Partitions, q)
	req.Topics = append(req.Topics, t)
	return req
}
