package tuning

import "testing"

// BenchmarkLooks adds looks at a thousand partitions that are written to and kept up
// with: what most of a recording is.
func BenchmarkLooks(b *testing.B) {
	r := NewLagReplay(LagOptions{})
	var parts []Partition
	for i := range int32(1000) {
		parts = append(parts, Partition{"orders", i})
	}
	look := Look{Leader: 1, Followers: []FollowerLook{{Broker: 2, InISR: true}, {Broker: 3, InISR: true}}}
	i := 0
	for b.Loop() {
		if i%1000 == 0 {
			look.AtMs += 1000
			look.LEO += 50
			look.HW, look.Followers[0].LEO, look.Followers[1].LEO = look.LEO, look.LEO, look.LEO
		}
		r.Add(parts[i%1000], &look)
		i++
	}
}
