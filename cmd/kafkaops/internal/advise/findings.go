package advise

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// Findings are what package tuning has to say of the settings of a look's topics, as
// findings of a diagnosis: those of which the same is said are one. None is critical: that
// is for what happens now.
func Findings(s *inspect.Snapshot, keep func(topic string, internal bool) bool) []diagnose.Finding {
	racks := map[inspect.BrokerID]string{}
	for i := range s.Brokers {
		if rack, ok := s.Brokers[i].Rack.Get(); ok {
			racks[s.Brokers[i].ID] = rack
		}
	}
	var out []diagnose.Finding
	for i := range s.Topics {
		in := &s.Topics[i]
		if len(in.Partitions) == 0 || !in.MinInsyncReplicas.IsKnown() || keep != nil && !keep(in.Name, in.Internal) {
			continue
		}
		var t topic
		t.take(in)
		rf, spread := shape(in, racks)
		for _, f := range tuning.FindTopic(t.settings, rf, spread) {
			out = addFinding(out, &f, in.Name)
		}
	}
	for i := range out {
		f := &out[i]
		f.Evidence = []diagnose.Figure{{Name: "topics", Value: float64(len(f.Topics))}}
	}
	slices.SortFunc(out, func(a, b diagnose.Finding) int { return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Title, b.Title)) })
	return out
}

// FetchFindings are what followers fetch with, where that is what limits them.
func (c *Collector) FetchFindings() []diagnose.Finding {
	h := c.fetchHistory()
	var out []diagnose.Finding
	for _, f := range []struct {
		id     diagnose.ID
		title  string
		advice tuning.Advice
	}{
		{"too-few-fetchers", "followers are limited by num.replica.fetchers", tuning.AdviseFetchers(h)},
		{"fetches-too-small", "followers are limited by replica.fetch.max.bytes", tuning.AdviseFetchBytes(h)},
	} {
		a := &f.advice
		if a.Recommended == "" || a.Recommended == a.Current {
			continue
		}
		out = append(out, diagnose.BuiltIn(diagnose.Finding{
			ID: f.id, Severity: diagnose.SeverityWarning, Title: fmt.Sprintf("%s (%s): %s would let them take in more", f.title, a.Current, a.Recommended),
			Explanation: a.Why, Remedy: "Raise it, one step at a time, and look again",
			Evidence: []diagnose.Figure{{Name: "links", Value: float64(a.Evidence.N)}, {Name: "windowMs", Value: float64(a.Evidence.WindowMs)}},
			Next:     append(slices.Clone(a.Apply), "kafkaops tune --for 5m"),
		}))
	}
	return out
}

func addFinding(all []diagnose.Finding, f *tuning.Finding, topic string) []diagnose.Finding {
	i := slices.IndexFunc(all, func(o diagnose.Finding) bool { return o.ID == diagnose.ID(f.ID) && o.Title == f.Title })
	if i < 0 {
		i = len(all)
		severity := diagnose.Severity(f.Severity)
		if severity == diagnose.SeverityCritical {
			severity = diagnose.SeverityWarning
		}
		all = append(all, diagnose.BuiltIn(diagnose.Finding{
			ID: diagnose.ID(f.ID), Severity: severity, Title: f.Title, Explanation: f.Explanation, Remedy: f.Remedy,
			Next: []string{fmt.Sprintf("kafkaops describe configs %s", topic), "kafkaops tune --for 5m"},
		}))
	}
	all[i].Topics = append(all[i].Topics, topic)
	return all
}

// shape is the least number of replicas of a topic's partitions, and of racks that they are
// spread over, 0 where not all are known. Replicas that a reassignment is to remove do not
// count.
func shape(t *inspect.Topic, racks map[inspect.BrokerID]string) (rf, spread int) {
	for i := range t.Partitions {
		p := &t.Partitions[i]
		in, known, n := map[string]bool{}, true, 0
		for _, id := range p.Replicas {
			if slices.Contains(p.Removing.Or(nil), id) {
				continue
			}
			n++
			rack, ok := racks[id]
			known = known && ok
			in[rack] = true
		}
		if !known {
			in = nil
		}
		if i == 0 {
			rf, spread = n, len(in)
		}
		rf, spread = min(rf, n), min(spread, len(in))
	}
	return rf, spread
}
