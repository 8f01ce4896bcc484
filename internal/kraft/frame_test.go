package kraft

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeErrors(t *testing.T) {
	t.Parallel()
	topic := append([]byte{1, 2, 0, 4}, "abc"...)
	whole := append(append(topic, make([]byte, 16)...), 0)
	cases := []struct {
		name  string
		value []byte
		want  string // "" for none
	}{
		{"nothing", nil, "ends early: within a varint"},
		{"frame of Kafka 2.8", []byte{0, 2, 0}, "frame version 0: want 1"},
		{"type of 16 bits", []byte{1, 0x80, 0x80, 2, 0}, "type 32768"},
		{"varint of 64 bits", []byte{0xff, 0xff, 0xff, 0xff, 0xff, 1}, "more than 32 bits"},
		{"varint padded", []byte{0x81, 0x80, 0x80, 0x80, 0x80, 0}, "more than 32 bits"},
		{"whole", whole, ""},
		{"one byte more", append(whole, 0), "1 bytes after the last field"},
		{"no tags", whole[:len(whole)-1], "ends early: within a varint"},
		{"half a UUID", whole[:len(whole)-9], "TopicId: ends early: 16 bytes wanted, 8 left"},
		{"null name", []byte{1, 2, 0, 0}, "Name: is null"},
		{"name of 4 GiB", []byte{1, 2, 0, 0xff, 0xff, 0xff, 0xff, 0xf}, "Name: ends early"},
		{"list of 4 Gi replicas", append([]byte{1, 3, 0, 0, 0, 0, 0}, append(make([]byte, 16), 0xff, 0xff, 0xff, 0xff, 0xf)...), "Replicas: ends early"},
		{"long name", append(append([]byte{1, 2, 0, 0x81, 0x80, 2}, bytes.Repeat([]byte{'a'}, maxString+1)...), make([]byte, 17)...), "Name: a string of 32768 bytes"},
		{"unknown tag", []byte{1, 20, 0, 1, 9, 2, 'h', 'i'}, ""},
		{"unknown tag cut", []byte{1, 20, 0, 1, 9, 3, 'h', 'i'}, "ends early: 3 bytes wanted, 2 left"},
		{"tags twice", []byte{1, 20, 0, 2, 9, 0, 9, 0}, "tag 9 after tag 9"},
		{"tag of a later version", append(append([]byte{1, 17, 0}, make([]byte, 12)...), 1, 1, 1, 1), "InControlledShutdown: tag 1"},
		{"tag too short", append(append([]byte{1, 17, 1}, make([]byte, 12)...), 1, 1, 0), "InControlledShutdown: ends early"},
		{"tag too long", append(append([]byte{1, 17, 1}, make([]byte, 12)...), 1, 1, 2, 1, 1), "InControlledShutdown: 1 of 2 bytes left over"},
		{"four billion tags", []byte{1, 20, 0, 0xff, 0xff, 0xff, 0xff, 0xf}, "ends early"},
	}
	for _, c := range cases {
		rec, err := Decode(c.value)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		case err != nil && rec != nil:
			t.Errorf("%s: a record beside the error", c.name)
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value []byte
		want  Unknown
		name  string
	}{
		{[]byte{1, 30, 7, 'x', 'y'}, Unknown{30, 7}, "record type 30"},
		{[]byte{1, 6, 0}, Unknown{6, 0}, "record type 6"},
		{[]byte{1, 5, 3, 'x'}, Unknown{TypePartitionChange, 3}, "PARTITION_CHANGE_RECORD"},
		{[]byte{1, 11, 1, 'x'}, Unknown{TypeUserScramCredential, 1}, "USER_SCRAM_CREDENTIAL_RECORD"},
	} {
		rec, err := Decode(c.value)
		if err != nil {
			t.Errorf("%x: %v", c.value, err)
			continue
		}
		if diff := cmp.Diff(Record(&c.want), rec); diff != "" {
			t.Errorf("%x: (-want +got):\n%s", c.value, diff)
		}
		if got := rec.Type().String(); got != c.name {
			t.Errorf("got %s, want %s", got, c.name)
		}
	}
	control := map[ControlType][]byte{ControlType(0): {0, 0, 0, 1}, ControlKRaftVoters: {0, 1}, ControlLeaderChange: {0xff, 0xff}}
	for typ, value := range control {
		rec, err := DecodeControl(AppendControlKey(nil, typ), value)
		if _, ok := rec.(*UnknownControl); !ok || err != nil || rec.ControlType() != typ {
			t.Errorf("%s %x: got %#v, %v", typ, value, rec, err)
		}
	}
	for _, c := range [][2][]byte{{{0, 0, 2}, {0, 0}}, {{0, 0, 0, 2}, {0}}, {{0, 0, 0, 4}, {0, 0}}, {{0, 0, 0, 4}, {0, 0, 0, 0}}} {
		if rec, err := DecodeControl(c[0], c[1]); err == nil {
			t.Errorf("%x %x: got %#v, want an error", c[0], c[1], rec)
		}
	}
}

// TestSecrets: whatever a record of secrets holds, its name is all that comes out.
func TestSecrets(t *testing.T) {
	t.Parallel()
	scram := append([]byte{1, 11, 0, 6}, "alice"...)
	token := append([]byte{1, 10, 0, 11}, "User:alice"...)
	for value, want := range map[string]Record{
		string(scram): &UserScramCredential{Name: "alice"},
		string(token): &DelegationToken{Owner: "User:alice"},
	} {
		rec, err := Decode([]byte(value + "\x01\x09hush hush"))
		if diff := cmp.Diff(want, rec); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if _, err := Append(nil, want, 0); err == nil || !strings.Contains(err.Error(), "secrets") {
			t.Errorf("%s was written: %v", want.Type(), err)
		}
	}
}

func TestAppendErrors(t *testing.T) {
	t.Parallel()
	change := NewPartitionChange(UUID{1}, 3)
	change.EligibleLeaderReplicas = []int32{}
	for _, c := range []struct {
		rec     Record
		version int16
		want    string
	}{
		{change, 1, "encode PARTITION_CHANGE_RECORD v1: EligibleLeaderReplicas: is set, and only versions from 2 on have it"},
		{change, 3, "want version 0 to 2"},
		{change, -1, "want version 0 to 2"},
		{&Topic{Name: strings.Repeat("a", maxString+1)}, 0, "Name: a string of 32768 bytes"},
		{&Unknown{TypeTopic, 1}, 0, "not known to this package"},
		{&AbortTransaction{Reason: new(strings.Repeat("a", maxString+1))}, 0, "Reason: a string of"},
		{&RegisterBroker{EndPoints: []Endpoint{{Host: strings.Repeat("a", maxString+1)}}}, 0, "EndPoints: Host: a string of"},
	} {
		before := []byte("before")
		got, err := Append(before, c.rec, c.version)
		if err == nil || !strings.Contains(err.Error(), c.want) || string(got) != "before" {
			t.Errorf("%s v%d: %q, %v: want %q", c.rec.Type(), c.version, got, err, c.want)
		}
	}
	for _, rec := range []ControlRecord{
		&UnknownControl{Of: ControlLeaderChange},
		&LeaderChange{Version: 2},
		&LeaderChange{Voters: []LeaderChangeVoter{{VoterDirectoryID: UUID{1}}}},
		&SnapshotFooter{Version: -1},
	} {
		if got, err := AppendControl([]byte("before"), rec); err == nil || string(got) != "before" {
			t.Errorf("%#v: %q, %v", rec, got, err)
		}
	}
}

// TestNoChange: what changes nothing takes no bytes, and what an absent field
// means is the same whatever was in the struct.
func TestNoChange(t *testing.T) {
	t.Parallel()
	change := NewPartitionChange(UUID{15: 9}, 3)
	value, err := Append(nil, change, 2)
	want := append(append([]byte{1, 5, 2, 0, 0, 0, 3}, UUID{15: 9}.bytes()...), 0)
	if err != nil || !bytes.Equal(value, want) {
		t.Fatalf("got %x, %v, want %x", value, err, want)
	}
	rec, err := Decode(value)
	if diff := cmp.Diff(Record(change), rec); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func (u UUID) bytes() []byte { return u[:] }

func TestLowestVersion(t *testing.T) {
	t.Parallel()
	for want, rec := range []Record{
		&BrokerRegistrationChange{Fenced: Fenced},
		&BrokerRegistrationChange{Fenced: Unfenced, InControlledShutdown: InControlledShutdown},
		&BrokerRegistrationChange{LogDirs: []UUID{{1}}},
		&BrokerRegistrationChange{CordonedLogDirs: []UUID{}},
	} {
		if got := MetadataVersion(33).RecordVersion(rec); got != int16(want) {
			t.Errorf("%+v: version %d, want %d", rec, got, want)
		}
	}
	if got := MetadataVersion(33).RecordVersion(&Topic{}); got != 0 {
		t.Errorf("Topic: version %d, want 0", got)
	}
}

func TestUUID(t *testing.T) {
	t.Parallel()
	u := UUID{0xfb, 0xff, 15: 1}
	if got := u.String(); got != "-_8AAAAAAAAAAAAAAAAAAQ" {
		t.Errorf("got %s", got)
	}
	if got, err := ParseUUID(u.String()); got != u || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	for _, s := range []string{"", "AAAA", "+/8AAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAQ==", "AAAAAAAAAAAAAAAAAAAAAR", u.String() + "\n"} {
		if got, err := ParseUUID(s); err == nil {
			t.Errorf("%q: got %v, want an error", s, got)
		}
	}
}

// TestAllocation: bytes that announce much more than there is cost no more than
// bytes that hold it.
func TestAllocation(t *testing.T) {
	header := append([]byte{1, 0, 0, 0, 0, 0, 1}, make([]byte, 24)...)
	announce := []byte{0xff, 0xff, 0xff, 0xff, 7}
	values := [][]byte{
		append(append([]byte{}, header...), announce...),
		append(append(append([]byte{}, header...), announce...), make([]byte, 1<<10)...),
		append(append(append([]byte{}, header...), 1, 1, 0, 1, 1, 0), announce...),
		append(append([]byte{1, 3, 0}, make([]byte, 20)...), 0xc0, 0x84, 0x3d), // a million replicas
		append([]byte{1, 14, 0}, announce...),
		append([]byte{1, 20, 0}, announce...),
		append([]byte{1, 20, 0, 1, 9}, announce...),
	}
	for _, value := range values {
		if got := allocated(func() { _, _ = Decode(value) }); got > uint64(100*len(value)+4<<10) {
			t.Errorf("%.40x (%d bytes): %d bytes allocated", value, len(value), got)
		}
	}
}

// allocated returns the least of some runs: other goroutines allocate too.
func allocated(f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 10 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// TestDecoder decodes records one behind the other: each is what Decode makes of it, and
// has nothing of the one before.
func TestDecoder(t *testing.T) {
	t.Parallel()
	all := NewPartitionChange(UUID{1}, 1)
	all.ISR, all.Replicas, all.AddingReplicas, all.Leader = []int32{1, 2}, []int32{1, 2, 3}, []int32{3}, 2
	all.EligibleLeaderReplicas, all.LastKnownELR, all.LeaderRecoveryState = []int32{3}, []int32{1}, Recovering
	little := NewPartitionChange(UUID{2}, 7)
	little.ISR = []int32{}
	var d Decoder
	var kept []int32
	for i, rec := range []Record{all, little, &Topic{Name: "t", TopicID: UUID{3}}, NewPartitionChange(UUID{4}, 9), all} {
		k, _ := kindOf(rec.Type())
		value, err := Append(nil, rec, k.latest)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Decode(value)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Decode(value)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("record %d: %v (-Decode +Decoder):\n%s", i, err, diff)
		}
		if i == 0 {
			kept = got.(*PartitionChange).Replicas
		}
		if _, err := d.Decode(value[:len(value)-1]); err == nil {
			t.Errorf("record %d: half of it is one", i)
		}
	}
	if diff := cmp.Diff([]int32{1, 2, 3}, kept); diff != "" {
		t.Errorf("a list that was kept (-want +got):\n%s", diff)
	}
}
