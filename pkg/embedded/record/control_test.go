package record

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestControlRoundTrip(t *testing.T) {
	t.Parallel()
	dir := [16]byte{1, 2, 3}
	want := []Control{
		EndTxn{Commit: true, CoordinatorEpoch: 5},
		EndTxn{CoordinatorEpoch: -1},
		LeaderChange{LeaderID: 1, Voters: []Voter{{ID: 1}, {ID: 2}}, GrantingVoters: []Voter{{ID: 1}}},
		LeaderChange{LeaderID: 1, Voters: []Voter{{ID: 1, DirectoryID: dir}}, GrantingVoters: []Voter{{ID: 1, DirectoryID: dir}}},
		SnapshotHeader{LastContainedLogTimestampMs: 7},
		SnapshotFooter{},
		KRaftVersion{Version: 1},
		KRaftVoters{Voters: []VoterNode{
			{Voter: Voter{ID: 1, DirectoryID: dir}, Endpoints: []Endpoint{{"A", "host", 65000}, {"B", "", 1}}, MaxVersion: 1},
			{Voter: Voter{ID: 2}, MinVersion: 1, MaxVersion: 1},
		}},
		UnknownControl{ControlType: 99, Value: []byte{1}},
	}
	buf, err := AppendControl(nil, Options{Codec: Gzip}, testNowMs, want...)
	if err != nil {
		t.Fatal(err)
	}
	b := Batch(buf)
	if !b.Control() || b.Codec() != None {
		t.Errorf("control %v, codec %v: want a plain control batch", b.Control(), b.Codec())
	}
	rs, err := b.Records(nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []Control
	for rs.Next() {
		c, err := ParseControl(rs.Record())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The marker of a transaction is found in its batch and in nothing else.
func TestEndTxnOfBatch(t *testing.T) {
	t.Parallel()
	control := func(cs ...Control) Batch {
		buf, err := AppendControl(nil, Options{}, testNowMs, cs...)
		if err != nil {
			t.Fatal(err)
		}
		return buf
	}
	commit := EndTxn{Commit: true, CoordinatorEpoch: 7}
	cut := control(commit)
	for _, tt := range []struct {
		name string
		b    Batch
		want EndTxn
		ok   bool
	}{
		{"commit", control(commit), commit, true},
		{"abort", control(EndTxn{CoordinatorEpoch: -1}), EndTxn{CoordinatorEpoch: -1}, true},
		{"with bytes behind, as a segment has", append(control(commit), control(EndTxn{})...), commit, true},
		{"another control record", control(KRaftVersion{}), EndTxn{}, false},
		{"empty", control(), EndTxn{}, false},
		{"cut", cut[:len(cut)-3], EndTxn{}, false},
		{"data", build(t, Options{}, Entry{Key: []byte{0, 0, 0, 1}, Value: []byte{0, 0, 0, 0, 0, 7}}), EndTxn{}, false},
	} {
		got, ok := tt.b.EndTxn()
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v, %v, want %+v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

// However a value is cut or goes on, it is read or refused.
func TestParseControlRefuses(t *testing.T) {
	t.Parallel()
	key := func(t ControlType) []byte { return []byte{0, 0, 0, byte(t)} }
	for _, c := range []Control{
		EndTxn{},
		SnapshotHeader{},
		KRaftVersion{},
		LeaderChange{Voters: []Voter{{ID: 1, DirectoryID: [16]byte{1}}}},
		KRaftVoters{Voters: []VoterNode{{Endpoints: []Endpoint{{"A", "host", 1}}}}},
	} {
		value := c.appendValue(nil)
		for n := range len(value) - 1 { // the last byte is the tags', which nothing follows
			if _, err := ParseControl(Record{Key: key(c.Type()), Value: value[:n]}); !errors.Is(err, ErrInvalid) {
				t.Errorf("%T cut to %d of %d bytes: got %v, want ErrInvalid", c, n, len(value), err)
			}
		}
		if _, err := ParseControl(Record{Key: key(c.Type()), Value: append(value, 1, 2)}); err != nil {
			t.Errorf("%T with fields of a later version: %v", c, err)
		}
	}
	for name, r := range map[string]Record{
		"no key":               {},
		"version of the key":   {Key: []byte{0xff, 0, 0, 1}},
		"null value":           {Key: key(TypeCommit)},
		"count beyond the end": {Key: key(TypeLeaderChange), Value: []byte{0, 0, 0, 0, 0, 1, 0x7f}},
		"count no varint":      {Key: key(TypeLeaderChange), Value: []byte{0, 0, 0, 0, 0, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80}},
		"tags beyond the end":  {Key: key(TypeLeaderChange), Value: []byte{0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 0x7f, 0}},
	} {
		if _, err := ParseControl(r); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	// A tag of a later version is passed over.
	value := []byte{0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 1, 1, 0, 2, 8, 9, 1, 0}
	got, err := ParseControl(Record{Key: key(TypeLeaderChange), Value: value})
	if diff := cmp.Diff(Control(LeaderChange{LeaderID: 1, Voters: []Voter{{ID: 1}}}), got); diff != "" || err != nil {
		t.Errorf("with a tag: %v (-want +got):\n%s", err, diff)
	}
}
