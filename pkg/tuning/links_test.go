package tuning_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// among are the links among brokers 1 to 4, each with ten partitions and these lags.
func among(lagMs func(leader, follower int32) int64) (links []tuning.Link) {
	for l := range int32(4) {
		for f := range int32(4) {
			if l == f {
				continue
			}
			link := tuning.Link{Leader: l + 1, Follower: f + 1, Partitions: 10, LagMs: lagMs(l+1, f+1)}
			if link.LagMs >= 1000 {
				link.Behind, link.BytesPerSecond, link.MostBytesPerSecond = 10, 8e6, 9e6
			}
			links = append(links, link)
		}
	}
	return links
}

func TestPolish(t *testing.T) {
	t.Parallel()
	p := tuning.Polish(among(func(l, f int32) int64 {
		ms := int64(20)
		if f == 2 {
			ms += 4000
		}
		if l == 3 {
			ms += 1000
		}
		if l == 4 && f == 1 {
			ms += 7000
		}
		return ms
	}))
	if p.Overall != 20 || p.Followers[1].Ms != 4000 || p.Leaders[2].Ms != 1000 || p.Followers[0].Ms != 0 {
		t.Errorf("got %+v", p)
	}
}

// TestPolishAddsUp: whatever the lags are, they are the sum of their parts.
func TestPolishAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		links := among(func(int32, int32) int64 { return rapid.Int64Range(0, 10_000).Draw(t, "lag") })
		p := tuning.Polish(links)
		for i, l := range links {
			sum := p.Overall + p.Leaders[l.Leader-1].Ms + p.Followers[l.Follower-1].Ms + p.Residues[i]
			if math.Abs(sum-float64(l.LagMs)) > 1e-6 {
				t.Fatalf("link %d to %d: the parts add up to %f, want %d", l.Leader, l.Follower, sum, l.LagMs)
			}
		}
	})
}

func TestAdviseFetchers(t *testing.T) {
	t.Parallel()
	idle := func(int32, int32) int64 { return 0 }
	one := func(l, f int32) int64 {
		if l == 1 && f == 2 {
			return 5000
		}
		return 10
	}
	grows := among(one)
	few, some := among(one), among(one)
	for i := range grows {
		grows[i].MostBytesPerSecond *= 2
		few[i].Partitions, few[i].Behind = 3, min(few[i].Behind, 3)
		some[i].Behind /= 2
	}
	for _, tt := range []struct {
		name    string
		links   []tuning.Link
		current int
		want    string
		says    string
	}{
		{"a link at its limit", among(one), 2, "4", "from broker 1 to broker 2, 10 of 10 partitions lag, by 5 s, and what comes over it stays at 8 MB/s"},
		{"all of them", among(func(int32, int32) int64 { return 5000 }), 1, "2", "on 12 of 12 links"},
		{"nobody lags", among(idle), 2, "2", "no follower lags"},
		{"a slow follower", among(func(_, f int32) int64 { return 10 + int64(f/4)*5000 }), 1, "", "broker 4 is slow with all that it follows, by 5 s"},
		{"a slow leader", among(func(l, _ int32) int64 { return 10 + int64(l/4)*5000 }), 1, "", "broker 4 is slow for all that follow it, by 5 s"},
		{"more comes when more is there", grows, 1, "", "none with 8 partitions or more"},
		{"few partitions", few, 1, "", "none with 8 partitions or more"},
		{"half of them", some, 1, "", "none with 8 partitions or more"},
		{"nothing seen", nil, 1, "", "not enough evidence"},
		{"unknown", among(one), 0, "", "the value in force is unknown"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := tuning.AdviseFetchers(tt.links, tt.current, hour)
			if a.Recommended != tt.want || !strings.Contains(a.Why, tt.says) {
				t.Errorf("got %q: %s; want %q, and %q", a.Recommended, a.Why, tt.want, tt.says)
			}
			if changes := tt.want != "" && tt.want != a.Current; changes != (len(a.Apply) == 1) || changes != (len(a.Undo) == 1) {
				t.Errorf("apply %q, undo %q", a.Apply, a.Undo)
			}
		})
	}
}
