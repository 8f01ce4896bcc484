package diagnose

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/kafkaops/kafkaops/internal/polish"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What is said of a broker's own meters.
const (
	// HandlersBusy: the request handlers have hardly a moment to themselves.
	HandlersBusy ID = "request-handlers-busy"
	// NetworkBusy: the network threads have not.
	NetworkBusy ID = "network-threads-busy"
	// SlowFlush: it takes long until what was written is on disk.
	SlowFlush ID = "slow-flush"
)

// From when on meters are worth a word. Kafka's documentation (Operations, Monitoring) wants
// both idle times "ideally > 0.3". That below 0.1 it is the trouble itself, and no sign of it,
// is a rule of thumb of operators (netdata.cloud/guides/kafka/kafka-request-handler-idle-percent-low,
// "below 0.1 as active overload"; strimzi-debugging, session 7, "at 10% you need to scale it now"),
// and so what makes it a warning here. Of flushes it is Cruise Control's slow broker finder: more
// than a second at the 99.9th percentile (slow.broker.log.flush.time.threshold.ms), and a multiple
// of the median of the others. That multiple (slow.broker.peer.metric.margin) was 5 in its first
// releases and is 3 now, while its documentation says 10. The least of them is our choice: with the
// second as a floor it takes no healthy broker for a slow one, and a false word costs a look.
const (
	lowIdle      = 0.3
	leastIdle    = 0.1
	slowFlushMs  = 1000
	timesOthers  = 3
	wholePercent = 100
)

// findLoaded looks at what brokers' own meters tell.
func findLoaded(c *Case) []Finding {
	var out []Finding
	for i := range c.last.Brokers {
		id := c.last.Brokers[i].ID
		out = append(out, c.busy(id, HandlersBusy, func(l inspect.Load) inspect.Opt[float64] { return l.HandlerIdle })...)
		out = append(out, c.busy(id, NetworkBusy, func(l inspect.Load) inspect.Opt[float64] { return l.NetworkIdle })...)
		out = append(out, c.slowFlush(id)...)
	}
	return out
}

// busy finds threads that had little rest whenever they were asked.
func (c *Case) busy(id inspect.BrokerID, as ID, of func(inspect.Load) inspect.Opt[float64]) []Finding {
	var idle []float64
	for _, l := range c.broker(id).loads {
		if v, ok := of(l).Get(); ok {
			idle = append(idle, v)
		}
	}
	if len(idle) == 0 || slices.Max(idle) >= lowIdle {
		return nil
	}
	_, led := c.hosted(id)
	f := Finding{
		ID: as, Severity: SeverityInfo, Broker: inspect.Known(id), Topics: led.topics(),
		Evidence: []Figure{{"idlePercent", round(wholePercent * idle[len(idle)-1])}, {"mostIdlePercent", round(wholePercent * slices.Max(idle))}, {"readings", float64(len(idle))}},
		class:    classLoad, about: led,
	}
	threads, setting, bean := "request handlers", "num.io.threads", "RequestHandlerAvgIdlePercent"
	f.Explanation = "Requests wait for one of them, fetches of followers too. Slow disks hold them up as well as many or large requests do, or few threads"
	if as == NetworkBusy {
		threads, setting, bean = "network threads", "num.network.threads", "NetworkProcessorAvgIdlePercent"
		f.Explanation = "Requests are read and answers sent late, fetches of followers too. TLS, compressed answers for old clients and many connections cost most"
	}
	f.Title = fmt.Sprintf("the %s of broker %d are idle for %s of the time", threads, id, percent(slices.Max(idle)))
	f.Explanation += fmt.Sprintf(" (%s in %s; Kafka's documentation wants it above 30 %%)", bean, count(len(idle), "reading", "readings"))
	f.Remedy = fmt.Sprintf("See what asks so much of it, and move leaders to other brokers; where its CPU and its disks have room, raise %s, which takes no restart", setting)
	f.Next = []string{"kafkaops describe brokers", fmt.Sprintf("on broker %d: top -H -p PID", id)}
	if slices.Max(idle) < leastIdle {
		f.Severity, f.reach = SeverityWarning, led
	}
	return []Finding{f}
}

// percent is a share as a person reads it.
func percent(share float64) string {
	return strconv.FormatFloat(round(wholePercent*share), 'f', -1, 64) + " %"
}

// slowFlush finds a broker whose flushes take long. Meters keep their numbers where nothing
// is flushed, so that it takes flushes between two readings.
func (c *Case) slowFlush(id inspect.BrokerID) []Finding {
	ms, flushes, ok := c.flushed(id)
	if !ok || ms <= slowFlushMs {
		return nil
	}
	var others []float64
	for i := range c.last.Brokers {
		if o := c.last.Brokers[i].ID; o != id {
			if v, _, ok := c.flushed(o); ok {
				others = append(others, v)
			}
		}
	}
	if len(others) > 0 && ms < timesOthers*polish.Median(others) {
		return nil
	}
	hosted, led := c.hosted(id)
	f := Finding{
		ID: SlowFlush, Severity: SeverityWarning, Broker: inspect.Known(id), Topics: hosted.topics(),
		Title:       fmt.Sprintf("broker %d flushes slowly: %s at the 99.9th percentile", id, millis(int64(ms))),
		Evidence:    []Figure{{"flushP999Ms", round(ms)}, {"flushes", float64(flushes)}},
		Explanation: "What it writes takes long to be on disk. Appends wait where the page cache cannot take more, and so do fetches from who reads old records",
		Remedy:      fmt.Sprintf("Look at the disk of broker %d: what else writes to it, its queue, its health (smartctl), a limit of the cloud's volume", id),
		Next:        []string{fmt.Sprintf("on broker %d: iostat -x 1", id), "kafkaops describe log-dirs"},
		class:       classLoad, about: hosted, reach: hosted.with(led),
	}
	if len(others) > 0 {
		f.Evidence = append(f.Evidence, Figure{"othersFlushP999Ms", round(polish.Median(others))})
		f.Title += fmt.Sprintf(" (others: %s)", millis(int64(polish.Median(others))))
	}
	return []Finding{f}
}

// flushed is a broker's 99.9th percentile of flush times, where it flushed while it was looked.
func (c *Case) flushed(id inspect.BrokerID) (ms float64, flushes int64, ok bool) {
	loads := c.broker(id).loads
	if len(loads) < 2 {
		return 0, 0, false
	}
	first, began := loads[0].Flushes.Get()
	last, ended := loads[len(loads)-1].Flushes.Get()
	ms, told := loads[len(loads)-1].FlushP999Ms.Get()
	return ms, last - first, began && ended && told && last > first
}

// addLoads puts what a broker's own meters tell beside findings that it is slow.
func (c *Case) addLoads(all []Finding) {
	for i := range all {
		f := &all[i]
		if f.ID != SlowBroker && f.ID != SlowFollower && f.ID != SlowLeader {
			continue
		}
		loads := c.broker(f.Broker.Or(inspect.NoBroker)).loads
		if len(loads) == 0 {
			continue
		}
		l := loads[len(loads)-1]
		said := ""
		say := func(text string) { said += ", " + text }
		if v, ok := l.HandlerIdle.Get(); ok {
			f.Evidence = append(f.Evidence, Figure{"handlerIdlePercent", round(wholePercent * v)})
			say("request handlers idle for " + percent(v))
		}
		if v, ok := l.NetworkIdle.Get(); ok {
			f.Evidence = append(f.Evidence, Figure{"networkIdlePercent", round(wholePercent * v)})
			say("network threads for " + percent(v))
		}
		if v, ok := l.RequestQueue.Get(); ok {
			f.Evidence = append(f.Evidence, Figure{"requestQueue", float64(v)})
			say(count(int(v), "request waits", "requests wait"))
		}
		if v, flushes, ok := c.flushed(f.Broker.Or(inspect.NoBroker)); ok {
			f.Evidence = append(f.Evidence, Figure{"flushP999Ms", round(v)}, Figure{"flushes", float64(flushes)})
			say(fmt.Sprintf("%s of %s at the 99.9th percentile", count(int(flushes), "flush", "flushes"), millis(int64(v))))
		}
		if said != "" {
			f.Explanation += ". Its own meters: " + said[len(", "):]
		}
	}
}

// loadsMissing names the first broker without meters.
func (c *Case) loadsMissing() string {
	none := true
	silent := inspect.NoBroker
	for i := range c.last.Brokers {
		b := &c.last.Brokers[i]
		switch {
		case len(c.broker(b.ID).loads) > 0:
			none = false
		case silent == inspect.NoBroker && !b.Fenced.Or(false):
			silent = b.ID
		}
	}
	switch {
	case none:
		return "no broker's own meters were read (--jmx)"
	case silent != inspect.NoBroker:
		return fmt.Sprintf("the meters of broker %d were not read", silent)
	}
	return ""
}
