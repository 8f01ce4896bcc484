package tuning_test

import (
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/tuning"
)

func fetching(links []tuning.Link, fetchers int) tuning.FetchHistory {
	h := tuning.FetchHistory{WindowMs: hour, Links: links, Stretches: 12, Fetchers: fetchers, PartitionBytes: 1 << 20}
	for _, l := range links {
		if l.Behind > 0 {
			h.Lagging = 3
		}
	}
	return h
}

// slowLink: all lag from broker 1 to broker 2.
func slowLink(l, f int32) int64 {
	if l == 1 && f == 2 {
		return 5000
	}
	return 10
}

func TestAdviseFetchers(t *testing.T) {
	t.Parallel()
	idle := func(int32, int32) int64 { return 0 }
	grows, few, some := among(slowLink), among(slowLink), among(slowLink)
	for i := range grows {
		grows[i].MostPerSecond *= 2
		few[i].Partitions, few[i].Behind = 3, min(few[i].Behind, 3)
		some[i].Behind /= 2
	}
	throttled, differ, set := fetching(among(slowLink), 1), fetching(among(slowLink), 0), fetching(among(slowLink), 2)
	throttled.Throttled, differ.Differ, set.FetchersSet = true, []string{"num.replica.fetchers"}, true
	for _, tt := range []struct {
		name string
		h    tuning.FetchHistory
		want string
		says string
		undo string
	}{
		{"a link at its limit", fetching(among(slowLink), 2), "4", "From broker 1 to broker 2, 10 of 10 partitions did, by 5 s, and what comes over it grows by no more than 12 %", "--delete-config num.replica.fetchers"},
		{"that was set before", set, "4", "in 3 of 12 stretches", "--add-config num.replica.fetchers=2"},
		{"all of them", fetching(among(func(int32, int32) int64 { return 5000 }), 1), "2", "on 12 of 12 links", "--delete-config"},
		{"nobody lags", fetching(among(idle), 2), "2", "no follower lagged", ""},
		{"a slow follower", fetching(among(func(_, f int32) int64 { return 10 + int64(f/4)*5000 }), 1), "", "broker 4 is slow with all that it follows, by 5 s", ""},
		{"a slow leader", fetching(among(func(l, _ int32) int64 { return 10 + int64(l/4)*5000 }), 1), "", "broker 4 is slow for all that follow it, by 5 s", ""},
		{"more comes when more is there", fetching(grows, 1), "", "none with 8 partitions or more", ""},
		{"few partitions", fetching(few, 1), "", "none with 8 partitions or more", ""},
		{"half of them", fetching(some, 1), "", "none with 8 partitions or more", ""},
		{"a throttle", throttled, "", "a replication throttle is set", ""},
		{"nothing seen", fetching(nil, 1), "", "kafkaops record FILE", ""},
		{"unknown", fetching(among(slowLink), 0), "", "the value in force is unknown", ""},
		{"different", differ, "", "different values", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := tuning.AdviseFetchers(&tt.h)
			if a.Recommended != tt.want || !strings.Contains(a.Why, tt.says) || !strings.Contains(strings.Join(a.Undo, "\n"), tt.undo) {
				t.Errorf("got %q: %s; undo %q; want %q, %q, and %q", a.Recommended, a.Why, a.Undo, tt.want, tt.says, tt.undo)
			}
			if changes := tt.undo != ""; changes != (len(a.Apply) == 1) || changes != (len(a.Undo) == 1) {
				t.Errorf("apply %q, undo %q", a.Apply, a.Undo)
			}
		})
	}
}

// TestAdviseFetchBytes: with few partitions what one answer may hold of each is what is
// left; with many it is not judged.
func TestAdviseFetchBytes(t *testing.T) {
	t.Parallel()
	few := among(slowLink)
	for i := range few {
		few[i].Partitions, few[i].Behind = 3, min(few[i].Behind, 3)
	}
	for name, tt := range map[string]struct {
		links      []tuning.Link
		want, says string
	}{
		"few":         {few, "2097152", "3 of 3 partitions"},
		"many":        {among(slowLink), "", "none with fewer than 8 partitions"},
		"nobody lags": {among(func(int32, int32) int64 { return 0 }), "1048576", "no follower lagged"},
	} {
		h := fetching(tt.links, 1)
		a := tuning.AdviseFetchBytes(&h)
		if a.Recommended != tt.want || !strings.Contains(a.Why, tt.says) {
			t.Errorf("%s: got %q: %s; want %q, and %q", name, a.Recommended, a.Why, tt.want, tt.says)
		}
	}
}
