package jmx

import (
	"math"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// loadMBeans are those of an [inspect.Load].
var loadMBeans = []string{
	"kafka.server:type=KafkaRequestHandlerPool,name=RequestHandlerAvgIdlePercent",
	"kafka.network:type=SocketServer,name=NetworkProcessorAvgIdlePercent",
	"kafka.network:type=RequestChannel,name=RequestQueueSize",
	"kafka.log:type=LogFlushStats,name=LogFlushRateAndTimeMs",
}

// The names that tell them, as plain has them.
const (
	handlerIdle  = "requesthandleravgidle"
	networkIdle  = "networkprocessoravgidle"
	requestQueue = "requestqueuesize"
	flushTimes   = "logflushrateandtimems"
)

// plain is a name without case and underscores.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// has reports whether a plain name is of this meter. The pools of a process that is broker
// and controller have names of their own besides (BrokerRequestHandlerAvgIdlePercent).
func has(name, meter string) bool {
	before, _, found := strings.Cut(name, meter)
	for _, other := range []string{"broker", "controller", "controlplane"} {
		found = found && !strings.HasSuffix(before, other)
	}
	return found
}

// wantedLoad reports whether a line of a page may be of one of these.
func wantedLoad(line string) bool {
	line = plain(line)
	for _, meter := range []string{handlerIdle, networkIdle, requestQueue, flushTimes} {
		if strings.Contains(line, meter) {
			return true
		}
	}
	return false
}

// takeLoad takes a number, if its name, which has the meter's and its attribute's in any
// order, says that it is one of these.
func takeLoad(l *inspect.Load, name string, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return
	}
	name = plain(name)
	switch {
	case has(name, handlerIdle):
		if strings.Contains(name, "oneminuterate") {
			l.HandlerIdle = inspect.Known(min(v, 1)) // a rate over threads may be a little more
		}
	case has(name, networkIdle):
		l.NetworkIdle = inspect.Known(min(v, 1))
	case has(name, requestQueue):
		l.RequestQueue = inspect.Known(int64(v))
	case !has(name, flushTimes):
	case strings.Contains(name, "999thpercentile"):
		l.FlushP999Ms = inspect.Known(v)
	case strings.Contains(name, "99thpercentile"):
		l.FlushP99Ms = inspect.Known(v)
	case strings.HasSuffix(strings.TrimRight(name, "_"), "count"), strings.HasSuffix(name, "total"):
		l.Flushes = inspect.Known(int64(v))
	}
}

// percentile is what a label's quantile is called as an attribute.
func percentile(quantile string) string {
	switch quantile {
	case "0.99":
		return "99thPercentile"
	case "0.999":
		return "999thPercentile"
	}
	return ""
}
