package node

import (
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/timers"
)

// alarm is something to do at a time on the clock Mono.
type alarm = timers.Timer

// alarms is all that is set.
type alarms struct{ timers.Queue }

// set sets the alarm. One that is set for that time already keeps its place, and
// machine.Never clears it.
func (as *alarms) set(a *alarm, atMs int64) {
	switch {
	case atMs == machine.Never:
		as.Clear(a)
	case !a.IsSet() || a.AtMs() != atMs:
		as.Set(a, atMs)
	}
}

// backoff is a pause in ms that doubles with each failure in a row, up to the longest.
func backoff(firstMs, longestMs int64, failures int) int64 {
	return min(firstMs<<min(failures, 20), longestMs)
}
