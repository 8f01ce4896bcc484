package exporter

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// journal logs what has begun and what is over, each once and not every ten seconds.
type journal struct {
	log *slog.Logger
	// told are the failures of the collection before.
	told map[string]bool
	// lasted: some of them were no notices.
	lasted bool
	// away are the brokers that were not asked, with their addresses; known are all
	// that were ever listed.
	away, known map[inspect.BrokerID]string
	// answered: a collection has been.
	answered bool
	// noTopics and noGroups: a filter leaves nothing.
	noTopics, noGroups bool
}

// collected is after a collection that was answered.
func (j *journal) collected(s *inspect.Snapshot) {
	if !j.answered {
		partitions := 0
		for range s.Partitions {
			partitions++
		}
		j.log.Info("the cluster answers", "cluster", s.ClusterID.Or("unknown"), "brokers", len(s.Brokers),
			"topics", len(s.Topics), "partitions", partitions, "groups", len(s.Groups))
		j.answered = true
	}
	j.brokers(s)
	j.filter(&j.noTopics, len(s.Topics), s.UnkeptTopics, "topics")
	j.filter(&j.noGroups, len(s.Groups), s.UnkeptGroups, "groups")
	j.failed(s.Failures)
}

// brokers tells of those that are asked no more, and of those that are again: while
// they are away nothing fails, for nobody asks them.
func (j *journal) brokers(s *inspect.Snapshot) {
	if j.known == nil {
		j.known = map[inspect.BrokerID]string{}
	}
	away, listed := map[inspect.BrokerID]string{}, map[inspect.BrokerID]bool{}
	for i := range s.Brokers {
		b := &s.Brokers[i]
		j.known[b.ID], listed[b.ID] = b.Address(), true
		if b.Fenced.Or(false) {
			away[b.ID] = "fenced: stopped, starting, or cut off from the controller"
		}
	}
	for id := range j.known {
		if !listed[id] {
			away[id] = "not listed by the cluster any more"
		}
	}
	for _, id := range slices.Sorted(maps.Keys(away)) {
		if j.away[id] == "" {
			j.log.Warn("broker is away and is not asked", "broker", id, "address", j.known[id], "why", away[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(j.away)) {
		if away[id] == "" {
			j.log.Info("broker is back", "broker", id, "address", j.known[id])
		}
	}
	j.away = away
}

// filter tells of one that leaves nothing, which looks like a cluster that is well.
func (j *journal) filter(told *bool, kept, unkept int, what string) {
	none := kept == 0 && unkept > 0
	if none && !*told {
		j.log.Warn("the filters leave none: they have to match the whole name", "of", fmt.Sprintf("%d %s", unkept, what),
			"filters", "--"+what+", --"+what+"-exclude")
	}
	*told = none
}

// failed tells what was not answered, and when all of that is over.
func (j *journal) failed(failures []inspect.Failure) {
	now, lasts := map[string]bool{}, false
	for i := range failures {
		f := &failures[i]
		key := fmt.Sprint(f.Broker, f.Address, f.Topic, f.Request, f.Phase, failureKind(f))
		now[key], lasts = true, lasts || !f.Notice
		if j.told[key] {
			continue
		}
		level := slog.LevelWarn
		if f.Notice {
			level = slog.LevelInfo
		}
		j.log.LogAttrs(context.Background(), level, "not answered", attributes(f)...)
	}
	if j.lasted && !lasts {
		j.log.Info("everything that is asked is answered again")
	}
	j.told, j.lasted = now, lasts
}

// attributes are what is known of a failure.
func attributes(f *inspect.Failure) []slog.Attr {
	var out []slog.Attr
	for _, a := range []slog.Attr{
		slog.String("broker", brokerLabel(f.Broker)), slog.String("address", f.Address), slog.String("topic", f.Topic),
		slog.String("request", f.Request), slog.String("phase", string(f.Phase)), slog.String("error", f.Error),
		slog.String("lost", f.Lost), slog.String("hint", f.Hint),
	} {
		if a.Value.String() != "" {
			out = append(out, a)
		}
	}
	return out
}
