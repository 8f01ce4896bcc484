package quorum

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// answered are the keys of the requests that a controller answers.
var answered = wire.APIs{}.List(wire.Controller)

// scribbler fills requests with what is often nearly right.
type scribbler struct {
	rng *rand.Rand
	w   *world
	// longest is how long a string can be in the request's version.
	longest int
}

func (s *scribbler) fill(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if s.rng.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			s.fill(v.Elem(), depth)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[kmsg.Tags]() {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Version" {
				s.fill(v.Field(i), depth)
			}
		}
	case reflect.Slice:
		n := s.rng.IntN(4)
		if depth > 4 {
			n = 0
		}
		if n == 0 && s.rng.IntN(2) == 0 {
			return // null
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			s.fill(v.Index(i), depth+1)
		}
	case reflect.Array:
		id := s.id()
		reflect.Copy(v, reflect.ValueOf(id[:]))
	case reflect.String:
		v.SetString(s.text())
	case reflect.Bool:
		v.SetBool(s.rng.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(s.number())
	case reflect.Uint16, reflect.Uint8:
		v.SetUint(uint64(s.rng.IntN(100)))
	default:
		panic(v.Type().String())
	}
}

func (s *scribbler) number() int64 {
	switch s.rng.IntN(8) {
	case 0:
		return -1
	case 1:
		return s.rng.Int64() >> s.rng.IntN(64)
	case 2:
		return -s.rng.Int64() >> s.rng.IntN(64)
	case 3:
		return s.w.n.DurableOffset() - int64(s.rng.IntN(3))
	}
	return int64(s.rng.IntN(6))
}

func (s *scribbler) id() (id kraft.UUID) {
	switch s.rng.IntN(4) {
	case 0:
		return metadataTopicID
	case 1:
		for _, t := range s.w.n.Image().Topics() {
			if id = t.ID; s.rng.IntN(2) == 0 {
				break
			}
		}
	case 2:
		id = kraft.UUID{0: byte(1 + s.rng.IntN(3)), 15: 99} // a broker's directory
	}
	return id
}

func (s *scribbler) text() string {
	names := []string{
		"", "orders", "a", "a.b", "a_b", metadataTopic, testCluster, "min.insync.replicas", "cleanup.policy", "retention.ms",
		"unclean.leader.election.enable", "1", "2", "-1", "compact,delete", "metadata.version", "eligible.leader.replicas.version",
		"true", strings.Repeat("x", s.longest), "\xff\x00", "..",
	}
	return names[s.rng.IntN(len(names))]
}

// Whatever is in a request, it gets one answer that can be encoded, and the log
// can be replayed afterwards.
func TestAnythingIsAnswered(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			opts := testOptions(vfs.NewMem(vfs.MemOptions{}))
			opts.SnapshotBytes, opts.RetainBytes, opts.SegmentBytes = 2000, 10_000, 3000
			w := newWorld(t, opts)
			w.brokers(3)
			ask[*kmsg.CreateTopicsResponse](w, creation("orders", 2, 2))
			s := &scribbler{rng: rand.New(rand.NewPCG(seed, 0)), w: w}
			for range 300 {
				api := answered[s.rng.IntN(len(answered))]
				req := kmsg.RequestForKey(api.Key)
				req.SetVersion(api.Lowest + int16(s.rng.IntN(int(api.Highest-api.Lowest)+1)))
				if s.longest = maxString; req.IsFlexible() {
					s.longest = 40_000
				}
				s.fill(reflect.ValueOf(req).Elem(), 0)
				if f, ok := req.(*kmsg.FetchRequest); ok {
					f.MaxWaitMillis = min(f.MaxWaitMillis, 500)
					for i := range f.Topics {
						for j := range f.Topics[i].Partitions {
							f.Topics[i].Partitions[j].CurrentLeaderEpoch = w.n.epoch
						}
					}
				}
				token := w.send(req)
				if w.stopped != nil {
					t.Fatalf("stopped by %+v: %v", req, w.stopped.Err)
				}
				if _, ok := w.replies[token]; !ok {
					w.advance(500)
				}
				r, ok := w.replies[token]
				if !ok || r.Response == nil {
					t.Fatalf("%T: answered %v: %+v", req, ok, r)
				}
				back := kmsg.ResponseForKey(api.Key)
				back.SetVersion(r.Response.GetVersion())
				if r.Response.GetVersion() != req.GetVersion() {
					t.Fatalf("%T v%d is answered in version %d", req, req.GetVersion(), r.Response.GetVersion())
				}
				if err := back.ReadFrom(r.Response.AppendTo(nil)); err != nil {
					t.Fatalf("%T: %v", req, err)
				}
				delete(w.replies, token)
				w.advance(int64(s.rng.IntN(300)))
			}
			before := w.n.Image()
			w.take(w.n.Shutdown(w.now, nil))
			n, err := Open(w.opts, w.now)
			must(t, err)
			t.Cleanup(n.Abandon)
			if got, want := len(n.Image().Records()), len(before.Records()); got != want {
				t.Fatalf("%d records after a restart, %d before", got, want)
			}
		})
	}
}

// Strings that are longer than a record's can be are refused where they come in.
func TestLongStrings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions(vfs.NewMem(vfs.MemOptions{})))
	w.brokers(1)
	long := strings.Repeat("x", maxString+1)
	for name, change := range map[string]func(*kmsg.BrokerRegistrationRequest){
		"rack":    func(r *kmsg.BrokerRegistrationRequest) { r.Rack = &long },
		"host":    func(r *kmsg.BrokerRegistrationRequest) { r.Listeners[0].Host = long },
		"name":    func(r *kmsg.BrokerRegistrationRequest) { r.Listeners[0].Name = long },
		"feature": func(r *kmsg.BrokerRegistrationRequest) { r.Features[1].Name = long },
	} {
		req := registration(2)
		change(req)
		if resp := ask[*kmsg.BrokerRegistrationResponse](w, req); resp.ErrorCode != 119 {
			t.Errorf("%s: error %d", name, resp.ErrorCode)
		}
	}
	alter := kmsg.NewPtrIncrementalAlterConfigsRequest()
	alter.Version = 1
	value := "1"
	alter.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeBroker, ResourceName: "1",
		Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: long, Value: &value}},
	}}
	if resp := ask[*kmsg.IncrementalAlterConfigsResponse](w, alter); resp.Resources[0].ErrorCode != 42 {
		t.Errorf("config: %+v", resp.Resources[0])
	}
}
