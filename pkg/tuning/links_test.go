package tuning_test

import (
	"math"
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
				link.Behind, link.PerSecond, link.MostPerSecond = 10, 8000, 9000
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
