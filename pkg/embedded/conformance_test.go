package embedded_test

import (
	"cmp"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

var rewriteAnswers = flag.Bool("rewrite", false, "record a real Kafka's answers anew, with KAFKAOPS_LONG=1")

const answersFile = "testdata/conformance/kafka-4.4.0.txt"

// TestAnswersAreKafkas: the engine answers a script of requests, each in every version
// that is served, as a real Kafka 4.4.0 has. Where a client of Kafka falls over a null,
// the recording has no null.
func TestAnswersAreKafkas(t *testing.T) {
	want, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	c, err := embedded.Start(within(t), embedded.Options{Racks: []string{"rack-1", "rack-2", "rack-3"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &script{t: t, broker: c.Broker(1).Address(), controller: c.ControllerAddress()}
	got := s.play()
	compare(t, string(want), got, differs)
	s.checkComplete()
}

// TestRecordedAnswers: a real Kafka still answers so.
func TestRecordedAnswers(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: starts three brokers of a real Kafka; set KAFKAOPS_LONG=1")
	}
	c := kafkatest.Start(t, kafkatest.Options{Brokers: 3})
	s := &script{t: t, broker: c.BrokerAddr(1), controller: c.ControllerAddr()}
	got := s.play()
	if *rewriteAnswers {
		if err := os.WriteFile(answersFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, string(want), got, nil)
}

// differs are answers that are not Kafka's, and why.
var differs = map[string]string{
	"ApiVersions, v3 of the controller":                                     "metadata.version begins at 4.0, where ELRs do",
	"ApiVersions, v4 to v5 of the controller":                               "metadata.version begins at 4.0, where ELRs do",
	"IncrementalAlterConfigs, an unknown operation, v0 to v1 of the broker": "Kafka's UNKNOWN_SERVER_ERROR is a null pointer's",
}

// compare compares answer by answer.
func compare(t *testing.T, recorded, got string, differs map[string]string) {
	t.Helper()
	want, have := strings.Split(recorded, "\n== "), strings.Split(got, "\n== ")
	for i := range min(len(want), len(have)) {
		name, _, _ := strings.Cut(want[i], "\n")
		if _, ok := differs[name]; ok && want[i] == have[i] {
			t.Errorf("%s is as Kafka's now: take it from the list", name)
		} else if ok || want[i] == have[i] {
			continue
		}
		t.Errorf("recorded (-) and answered (+):\n%s", gocmp.Diff(strings.Split(want[i], "\n"), strings.Split(have[i], "\n")))
		if got, _, _ := strings.Cut(have[i], "\n"); got != name {
			t.Fatal("what follows is not compared")
		}
	}
	if len(want) != len(have) {
		t.Errorf("%d answers recorded, %d given", len(want), len(have))
	}
}

// script asks a cluster and writes down what it says.
type script struct {
	t                  *testing.T
	broker, controller string
	topics             map[string][16]byte
	out                strings.Builder
	asked              map[[2]int16]bool
}

// ask asks in every version that is served.
func (s *script) ask(name string, on wire.Listener, build func(version int16) kmsg.Request) {
	s.t.Helper()
	key := build(0).Key()
	i := slices.IndexFunc(wire.APIs{}.List(on), func(a wire.API) bool { return a.Key == key })
	if i < 0 {
		s.t.Fatalf("%s is not served", kmsg.NameForKey(key))
	}
	api := wire.APIs{}.List(on)[i]
	to, where := s.broker, "broker"
	if on == wire.Controller {
		to, where = s.controller, "controller"
	}
	first, text := api.Lowest, ""
	flush := func(last int16) {
		versions := fmt.Sprintf("v%d", first)
		if last > first {
			versions = fmt.Sprintf("v%d to v%d", first, last)
		}
		fmt.Fprintf(&s.out, "== %s, %s of the %s\n%s\n", name, versions, where, text)
	}
	for v := api.Lowest; v <= api.Highest; v++ {
		s.asked[[2]int16{int16(on), key<<4 | v}] = true
		resp, err := patient(to, func() kmsg.Request {
			req := build(v)
			req.SetVersion(v)
			return req
		})
		var answer string
		if err != nil {
			answer = "error: " + err.Error() + "\n"
		} else {
			answer = s.render(resp)
		}
		if v > api.Lowest && answer != text {
			flush(v - 1)
			first = v
		}
		text = answer
	}
	flush(api.Highest)
}

// patient asks again while there is no producer id yet: brokers ask the controller for
// them when they are first asked.
func patient(addr string, build func() kmsg.Request) (kmsg.Response, error) {
	for end := time.Now().Add(hang); ; time.Sleep(10 * time.Millisecond) {
		answer, err := exchange(addr, build())
		resp, ok := answer.(*kmsg.InitProducerIDResponse)
		if !ok || resp.ErrorCode != kerr.CoordinatorLoadInProgress.Code || time.Now().After(end) {
			return answer, err
		}
	}
}

// exchange sends a request over a connection of its own. A connection that is closed
// instead of an answer is "hung up".
func exchange(addr string, req kmsg.Request) (kmsg.Response, error) {
	conn, err := net.DialTimeout("tcp", addr, hang)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(hang)); err != nil {
		return nil, err
	}
	frame := binary.BigEndian.AppendUint16([]byte{0, 0, 0, 0}, uint16(req.Key()))
	frame = binary.BigEndian.AppendUint16(frame, uint16(req.GetVersion()))
	frame = append(frame, 0, 0, 0, 1, 0, 4, 't', 'e', 's', 't')
	if req.IsFlexible() {
		frame = append(frame, 0)
	}
	frame = req.AppendTo(frame)
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	if _, err := conn.Write(frame); err != nil {
		return nil, fmt.Errorf("hung up")
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, fmt.Errorf("hung up")
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(conn, body); err != nil {
		return nil, fmt.Errorf("hung up")
	}
	resp, body := req.ResponseKind(), body[4:]
	if resp.IsFlexible() && req.Key() != int16(kmsg.ApiVersions) {
		body = body[1:]
	}
	return resp, resp.ReadFrom(body)
}

// render writes an answer's fields, one to a line, without what is zero. Null and empty
// are two things where the protocol has both: kmsg reads a null as nil, and an empty
// array as nil only where there is no null.
func (s *script) render(resp kmsg.Response) string {
	var b strings.Builder
	s.fields(&b, "  ", reflect.ValueOf(resp).Elem())
	return b.String()
}

// unequal are fields whose values differ from cluster to cluster, and what stands for
// them.
var unequal = map[string]string{
	"ClusterID": "the cluster's", "ControllerID": "some broker", "Host": "a host", "Port": "a port", "ErrorMessage": "text",
	"LastFetchTimestamp": "a time", "LastCaughtUpTimestamp": "a time", "TotalBytes": "", "UsableBytes": "",
	"Dir": "a directory", "FinalizedFeaturesEpoch": "an offset", "HighWatermark": "an offset", "LeaderEpoch": "an epoch",
	"ProducerID": "an id", "ProducerIDStart": "an id", "LogEndOffset": "an offset", "ReplicaDirectoryID": "an id", "ThrottleMillis": "",
	"Documentation": "text",
}

func (s *script) fields(b *strings.Builder, indent string, v reflect.Value) {
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, v.Field(i)
		if name == "Version" || name == "UnknownTags" {
			continue
		}
		s.field(b, indent, name, f, v)
	}
}

func (s *script) field(b *strings.Builder, indent, name string, f, in reflect.Value) {
	partition := in.Type() != reflect.TypeFor[kmsg.DescribeQuorumResponseTopicPartition]() && strings.Contains(in.Type().Name(), "Partition")
	if name == "ErrorMessage" && !in.FieldByName("ErrorCode").IsZero() {
		return // Kafka says more of some errors than others
	}
	if placeholder, ok := unequal[name]; ok && !(partition && (name == "LeaderEpoch" || name == "HighWatermark")) {
		s.placeholder(b, indent, name, placeholder, f)
		return
	}
	switch f.Kind() {
	case reflect.Pointer:
		if !f.IsNil() {
			s.field(b, indent, name, f.Elem(), in)
			if f.Elem().IsZero() {
				fmt.Fprintf(b, "%s%s: empty\n", indent, name)
			}
		}
	case reflect.Struct:
		if !f.IsZero() {
			fmt.Fprintf(b, "%s%s\n", indent, name)
			s.fields(b, indent+"  ", f)
		}
	case reflect.Slice:
		s.slice(b, indent, name, f)
	case reflect.Array:
		if !f.IsZero() {
			fmt.Fprintf(b, "%s%s: %s\n", indent, name, s.topicName(f.Interface().([16]byte)))
		}
	default:
		if !f.IsZero() {
			fmt.Fprintf(b, "%s%s: %v\n", indent, name, f.Interface())
		}
	}
}

// placeholder says whether there is a value at all.
func (s *script) placeholder(b *strings.Builder, indent, name, text string, f reflect.Value) {
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return
		}
		if f = f.Elem(); f.IsZero() {
			text = "empty"
		}
	}
	if text == "" || f.IsZero() && text != "empty" && f.Kind() == reflect.String || f.CanInt() && f.Int() < 0 {
		return
	}
	fmt.Fprintf(b, "%s%s: %s\n", indent, name, text)
}

func (s *script) slice(b *strings.Builder, indent, name string, f reflect.Value) {
	switch {
	case f.IsNil():
		return
	case f.Type().Elem().Kind() == reflect.Uint8:
		fmt.Fprintf(b, "%s%s: %d bytes, crc %08x\n", indent, name, f.Len(), crc32.ChecksumIEEE(f.Bytes()))
		return
	case f.Len() == 0:
		fmt.Fprintf(b, "%s%s: none\n", indent, name)
		return
	case f.Type().Elem().Kind() != reflect.Struct:
		fmt.Fprintf(b, "%s%s: %v\n", indent, name, f.Interface())
		return
	}
	var all []string
	for i := range f.Len() {
		var one strings.Builder
		s.fields(&one, indent+"  ", f.Index(i))
		if wanted(f.Index(i)) {
			all = append(all, fmt.Sprintf("%s%s\n%s", indent, name, one.String()))
		}
	}
	if _, ordered := f.Interface().([]kmsg.DescribeConfigsResponseResourceConfigConfigSynonym); !ordered {
		slices.Sort(all) // Kafka's maps have no order
	}
	b.WriteString(strings.Join(all, ""))
}

// wanted leaves out what one of the two has more: keys and features.
func wanted(v reflect.Value) bool {
	switch e := v.Interface().(type) {
	case kmsg.ApiVersionsResponseApiKey:
		return e.ApiKey == int16(kmsg.ApiVersions)
	case kmsg.ApiVersionsResponseSupportedFeature:
		return slices.Contains(features, e.Name)
	case kmsg.ApiVersionsResponseFinalizedFeature:
		return slices.Contains(features, e.Name)
	case kmsg.CreateTopicsResponseTopicConfig:
		return strings.HasPrefix(e.Name, "m") && !strings.Contains(e.Name, "remote")
	}
	return true
}

var features = []string{"eligible.leader.replicas.version", "kraft.version", "metadata.version"}

func (s *script) topicName(id [16]byte) string {
	for name, have := range s.topics {
		if have == id {
			return "id of " + name
		}
	}
	if slices.Index(id[1:], 0) == 0 && id[15] == 0 {
		return fmt.Sprintf("id %d", id[0])
	}
	return "an id"
}

// elsewhere are APIs that other tests ask for.
var elsewhere = []kmsg.Key{
	kmsg.OffsetCommit, kmsg.OffsetFetch, kmsg.FindCoordinator, kmsg.JoinGroup, kmsg.Heartbeat, kmsg.LeaveGroup, kmsg.SyncGroup,
	kmsg.DescribeGroups, kmsg.ListGroups, kmsg.DeleteGroups, kmsg.OffsetDelete,
}

// checkComplete wants every version of every API that a broker serves asked for.
func (s *script) checkComplete() {
	for _, api := range (wire.APIs{}).List(wire.Broker) {
		for v := api.Lowest; v <= api.Highest; v++ {
			if !s.asked[[2]int16{int16(wire.Broker), api.Key<<4 | v}] && !slices.Contains(elsewhere, kmsg.Key(api.Key)) {
				s.t.Errorf("%s v%d is not in the script", kmsg.NameForKey(api.Key), v)
			}
		}
	}
}

// settle asks until a broker knows the topics as they will stay.
func (s *script) settle(names ...string) {
	s.t.Helper()
	for end := time.Now().Add(hang); ; time.Sleep(20 * time.Millisecond) {
		req := kmsg.NewPtrMetadataRequest()
		req.Version = 12
		for _, name := range names {
			req.Topics = append(req.Topics, kmsg.MetadataRequestTopic{Topic: kmsg.StringPtr(name)})
		}
		answer, err := exchange(s.broker, req)
		resp, ok := answer.(*kmsg.MetadataResponse)
		ready := err == nil && ok && len(resp.Brokers) == 3
		if ready {
			for _, t := range resp.Topics {
				ready = ready && t.ErrorCode == 0 && !slices.ContainsFunc(t.Partitions, func(p kmsg.MetadataResponseTopicPartition) bool {
					return p.Leader < 0 || len(p.ISR) < len(p.Replicas)
				})
				s.topics[cmp.Or(*t.Topic)] = t.TopicID
			}
		}
		if ready {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%v never settle: %+v, %v", names, answer, err)
		}
	}
}
