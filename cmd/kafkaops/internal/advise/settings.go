package advise

import (
	"slices"
	"strconv"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// takeSettings takes what is in force at the brokers that told.
func (c *Collector) takeSettings(s *inspect.Snapshot) {
	c.elr = s.KeepsELR.Or(false)
	c.fetching, c.session = tuning.FetchHistory{}, ""
	c.brokers, c.controller = nil, s.Controller
	for i := range s.Brokers {
		b := &s.Brokers[i]
		c.brokers = append(c.brokers, int32(b.ID))
		if rack, ok := b.Rack.Get(); ok {
			c.racks[int32(b.ID)] = rack
		}
		configs, ok := b.Configs.Get()
		if !ok {
			continue
		}
		for name, into := range map[string]*int64{
			"replica.lag.time.max.ms": &c.settings.LagTimeMaxMs, "replica.fetch.wait.max.ms": &c.settings.FetchWaitMs,
			"broker.session.timeout.ms": &c.settings.SessionTimeoutMs, "broker.heartbeat.interval.ms": &c.settings.HeartbeatMs,
		} {
			if n, ok := number(configs, name); ok {
				*into = n
			}
		}
		if ms, ok := number(configs, zkSession); ok && inZooKeeper(configs) {
			c.session = zkSession
			c.settings.SessionTimeoutMs, c.settings.HeartbeatMs = ms, ms/3 // as its client has it
		}
		c.takeFetching(configs)
	}
}

const zkSession = "zookeeper.session.timeout.ms"

// inZooKeeper: brokers of those releases know the setting also where the controllers are
// a quorum, which then is named.
func inZooKeeper(configs []inspect.Config) bool {
	for i := range configs {
		switch configs[i].Name {
		case "controller.quorum.voters", "controller.quorum.bootstrap.servers":
			if configs[i].Value.Or("") != "" {
				return false
			}
		}
	}
	return true
}

// takeFetching takes what a broker fetches with.
func (c *Collector) takeFetching(configs []inspect.Config) {
	h := &c.fetching
	for name, into := range map[string]*int{"num.replica.fetchers": &h.Fetchers, "replica.fetch.max.bytes": &h.PartitionBytes} {
		n, ok := number(configs, name)
		switch {
		case !ok || slices.Contains(h.Differ, name):
		case *into != 0 && *into != int(n):
			*into, h.Differ = 0, append(h.Differ, name)
		default:
			*into = int(n)
		}
	}
	for i := range configs {
		switch k := &configs[i]; k.Name {
		case "num.replica.fetchers":
			h.FetchersSet = h.FetchersSet || k.Source == inspect.SourceClusterDefault
		case "leader.replication.throttled.rate", "follower.replication.throttled.rate":
			h.Throttled = h.Throttled || k.Source == inspect.SourceBroker || k.Source == inspect.SourceClusterDefault
		}
	}
}

func number(configs []inspect.Config, name string) (int64, bool) {
	i := slices.IndexFunc(configs, func(c inspect.Config) bool { return c.Name == name })
	if i < 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(configs[i].Value.Or(""), 10, 64)
	return n, err == nil
}
