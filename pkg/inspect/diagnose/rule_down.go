package diagnose

import (
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What is said of brokers that are not there.
const (
	// BrokerDown: the cluster itself does without it.
	BrokerDown ID = "broker-down"
	// BrokerFenced: the cluster does without it, and it is there.
	BrokerFenced ID = "broker-fenced"
	// BrokerSilent: the cluster counts on it, and it answers nobody.
	BrokerSilent ID = "broker-silent"
	// BrokerStalls: it answers now and then.
	BrokerStalls ID = "broker-stalls"
	// BrokerUnreachable: it does its work, and cannot be reached from here.
	BrokerUnreachable ID = "broker-unreachable"
)

// findDown names brokers that are fenced, gone or silent.
func findDown(c *Case) []Finding {
	var out []Finding
	for _, id := range c.absent() {
		out = append(out, c.down(id))
	}
	for _, b := range c.silent() {
		out = append(out, c.silentFinding(b))
	}
	for _, b := range c.stalling() {
		out = append(out, c.stalls(b))
	}
	return out
}

func (c *Case) stalls(b *inspect.Broker) Finding {
	hosted, led := c.hosted(b.ID)
	seen := c.broker(b.ID)
	return Finding{
		ID: BrokerStalls, Severity: SeverityWarning, Broker: inspect.Known(b.ID), Topics: hosted.topics(),
		Title: fmt.Sprintf("broker %d (%s) stalls: it gave no reply in time in %d of %s", b.ID, b.Address(), seen.stalled, count(seen.looks, "look", "looks")),
		Evidence: []Figure{
			{"replicas", float64(len(hosted))}, {"looks", float64(seen.looks)}, {"looksStalled", float64(seen.stalled)},
		},
		Explanation: "It stands still for seconds and goes on: long garbage collections, a disk or a virtual machine that hangs, memory that is swapped, or a network that comes and goes. " +
			"It replicates and serves in between, too seldom to be slow and too often to be fenced (broker.session.timeout.ms" + c.setting("broker.session.timeout.ms") + ")",
		Remedy: "Look at its GC log first, then at its machine: iostat -x 1 (await), vmstat 1 (si, so, st), dmesg. Stopping it cleanly moves its leaders away and takes it out of the ISRs",
		Next:   []string{fmt.Sprintf("on broker %d: vmstat 1; iostat -x 1", b.ID), "kafkaops describe brokers --watch", fmt.Sprintf("kafkaops isr --broker %d --since 1h", b.ID)},
		class:  classBroker, about: hosted, reach: hosted.with(led),
	}
}

func (c *Case) down(id inspect.BrokerID) Finding {
	hosted, led := c.hosted(id)
	f := Finding{
		ID: BrokerDown, Severity: SeverityWarning, Broker: inspect.Known(id), Topics: hosted.topics(),
		Title:    fmt.Sprintf("broker %d is not among the live brokers", id),
		Evidence: []Figure{{"replicas", float64(len(hosted))}},
		Explanation: fmt.Sprintf("%s are assigned to it, and nobody has heard of it: it is down, or was never started. "+
			"Each of their partitions has one copy less until it is back", capital(replicas(len(hosted)))),
		Remedy: "Start it, or find out from its log why it ended. If it will not come back, reassign its replicas",
		Next:   []string{fmt.Sprintf("kafkaops isr --broker %d --since 1h", id), "kafkaops describe brokers"},
		class:  classBroker, about: hosted, reach: hosted.with(led),
	}
	if b := c.last.Broker(id); b != nil {
		f.Title = fmt.Sprintf("broker %d (%s) is fenced: the controller does not hear from it", id, b.Address())
		f.Explanation = fmt.Sprintf("It sent no heartbeat for a whole session: its process is down or stands still, or the way from it to the controller is cut. "+
			"%s on it are out of their ISRs, and it leads nothing", capital(replicas(len(hosted))))
		f.Remedy = "See on its host whether the process runs. If it does, its log tells why heartbeats fail (BrokerToControllerChannelManager); if not, start it"
		if b.Reachable.Or(false) {
			f.ID = BrokerFenced
			f.Title = fmt.Sprintf("broker %d (%s) answers, and is fenced: the controller does not hear from it", id, b.Address())
			f.Explanation = fmt.Sprintf("Its process runs and can be reached from here, and yet the controller has had no heartbeat from it for a whole session: the way from it to the controllers is cut or slow, "+
				"or it has just started and has not read the metadata log to its end. %s on it are out of their ISRs, and it leads nothing", capital(replicas(len(hosted))))
			f.Remedy = "Look at the network and the firewall between it and the controllers (controller.quorum.bootstrap.servers, controller.quorum.voters); its log tells why heartbeats fail " +
				"(BrokerToControllerChannelManager) or how far it has come (BrokerLifecycleManager). A restart of the process mends neither"
			f.Next = append([]string{fmt.Sprintf("on broker %d: nc -vz HOST-OF-A-CONTROLLER PORT; ss -tn state established", id)}, f.Next...)
		}
	}
	return f
}

func (c *Case) silentFinding(b *inspect.Broker) Finding {
	hosted, led := c.hosted(b.ID)
	why, refused := c.whySilent(b.ID)
	f := Finding{
		ID: BrokerSilent, Severity: SeverityWarning, Broker: inspect.Known(b.ID), Topics: hosted.topics(),
		Title:    fmt.Sprintf("broker %d (%s) answers nothing, and the cluster counts on it", b.ID, b.Address()),
		Evidence: []Figure{{"replicas", float64(len(hosted))}, {"looksSilent", float64(c.broker(b.ID).silent)}},
		class:    classBroker, about: hosted, reach: hosted.with(led),
	}
	leads := led.partitions()
	waits := fmt.Sprintf("Until the controller fences it, after broker.session.timeout.ms%s, nobody can write to or read from the %s that it leads, "+
		"and writes with acks=all wait where it is in the ISR", c.setting("broker.session.timeout.ms"), partitions(leads))
	switch {
	case c.alive(b.ID):
		f.ID, f.reach = BrokerUnreachable, nil
		f.Title = fmt.Sprintf("broker %d (%s) cannot be reached from here", b.ID, b.Address())
		f.Explanation = "It answers nothing to us" + why + ", and yet what it follows is committed, which needs its fetches: the broker works. The way from here to it does not"
		f.Remedy = "Look at the listener's address, firewalls and routes between this machine and it. Clients here may fare the same"
	case refused:
		f.Explanation = "Its host refuses the connection" + why + ": the process has ended. " + waits
		f.Remedy = "Start it, and find out from its log why it ended"
	default:
		f.Explanation = "It takes connections or not, and replies to nothing" + why + ": stopped (SIGSTOP, a debugger), a long garbage collection, a disk or a machine that hangs, or a network that is cut. " + waits
		f.Remedy = "See on its host what the process does (jstack, its GC log, dmesg, iostat -x 1). Kill it if it hangs: its partitions get other leaders at once when it is fenced"
	}
	f.Next = []string{fmt.Sprintf("kafkaops isr --broker %d --since 1h", b.ID), "kafkaops describe brokers --watch"}
	return f
}

// whySilent is what became of the last request to it, as a suffix, and whether its host
// said that nobody listens.
func (c *Case) whySilent(id inspect.BrokerID) (why string, refused bool) {
	for i := range c.last.Failures {
		f := &c.last.Failures[i]
		if b, ok := f.Broker.Get(); ok && b == id {
			return " (" + f.Error + ")", f.Phase == inspect.PhaseDial && !f.TimedOut
		}
	}
	return "", false
}

// setting is a config's value as a suffix, where it is known.
func (c *Case) setting(name string) string {
	if v, ok := c.anyConfig(name); ok {
		return " (" + v + ")"
	}
	return ""
}

// alive reports whether a broker that does not answer us takes part in the cluster for
// sure: in the last few looks, in which it was silent, something was written to partitions that it follows in the
// ISR, and the HW, which does not pass a member of the ISR, went along in all of them. One
// look is too few: the ISR and the HW are not read at one moment.
func (c *Case) alive(id inspect.BrokerID) bool {
	b := c.broker(id)
	return min(b.silent, b.committing) >= leastSamples
}
