package sim

import "github.com/kafkaops/kafkaops/pkg/embedded/machine"

// us and their multiples are the world's time, of which no process knows.
const (
	ms  int64 = 1000
	sec int64 = 1000 * ms
)

// epochMs is the time of day at which every world begins.
const epochMs int64 = 1_790_000_000_000

// clock is a process's two clocks: one that runs a little too fast or too slow,
// and a time of day that is off and may jump.
type clock struct {
	startUs int64 // when it started, in the world's time
	baseMs  int64 // what Mono was then
	ppm     int64 // how many us it gains in a second
	wallMs  int64 // how far Wall is off
}

func (c *clock) mono(nowUs int64) int64 {
	return c.baseMs + (nowUs-c.startUs)*(1_000_000+c.ppm)/1_000_000/ms
}

func (c *clock) at(nowUs int64) machine.Time {
	return machine.Time{Mono: c.mono(nowUs), Wall: epochMs + nowUs/ms + c.wallMs}
}

// when is the world's time at which Mono is monoMs, or just before it: who wakes
// then looks again.
func (c *clock) when(monoMs int64) int64 {
	return c.startUs + (monoMs-c.baseMs)*ms*1_000_000/(1_000_000+c.ppm)
}
