package group

import (
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// FuzzLoad: whatever is in the log, loading it and asking about it does not fail
// otherwise than by an error.
func FuzzLoad(f *testing.F) {
	key := kmsg.GroupMetadataKey{Version: 2, Group: "g"}
	protocol := "range"
	value := kmsg.GroupMetadataValue{Version: 3, ProtocolType: "consumer", Generation: 4, Protocol: &protocol}
	m := kmsg.NewGroupMetadataValueMember()
	m.MemberID, m.InstanceID, m.SessionTimeoutMillis, m.Subscription = "m", &protocol, 6000, []byte{0, 0, 0, 0, 0, 0}
	value.Members = append(value.Members, m)
	f.Add(key.AppendTo(nil), value.AppendTo(nil))
	value.Protocol = nil
	f.Add(key.AppendTo(nil), value.AppendTo(nil))
	o := offsetChange{group: "g", topic: "t", value: &offset{at: 5, expiresMs: noTimestamp}}.record()
	f.Add(o.Key, o.Value)
	f.Fuzz(func(t *testing.T, key, value []byte) {
		cfg := Config{MaxSize: 10, RetentionMs: 1, RetentionCheckMs: 1000, CommitTimeoutMs: 1000, MaxBatchBytes: 1 << 20}
		s := New(&cfg, rand.New(rand.NewPCG(1, 1)))
		if err := s.Load(Time{}, Record{key, value}); err != nil {
			return
		}
		s.Activate(Time{}, nil)
		for _, g := range s.List(nil, nil) {
			s.Describe(g.Group, 6)
		}
		for now := int64(0); now < 1000; now += 100 {
			s.Step(Time{now, now}, Tick{}, nil)
		}
		s.Close(Time{}, nil)
	})
}
