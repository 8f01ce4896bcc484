package diagnose

import (
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// on are replicas of a broker, of partitions from up to, not including, to.
func on(id inspect.BrokerID, from, to int32) replicaSet {
	s := replicaSet{}
	for p := from; p < to; p++ {
		s.add(&inspect.Partition{Topic: "t", Index: p}, id)
	}
	return s
}

func TestCorrelate(t *testing.T) {
	t.Parallel()
	f := func(id ID, c class, severity Severity, about, reach replicaSet) Finding {
		return Finding{ID: id, class: c, Severity: severity, about: about, reach: reach}
	}
	for name, tt := range map[string]struct {
		all  []Finding
		want []string
	}{
		"a cause of all": {[]Finding{
			f("symptom", classWrites, SeverityCritical, on(1, 0, 8), nil), f("cause", classBroker, SeverityWarning, on(1, 0, 8), on(1, 0, 8)),
		}, []string{"cause: symptom"}},
		"a cause of too little": {[]Finding{
			f("symptom", classWrites, SeverityWarning, on(1, 0, 8), nil), f("cause", classBroker, SeverityWarning, on(1, 0, 5), on(1, 0, 5)),
		}, []string{"symptom", "cause"}},
		"two together": {[]Finding{
			f("symptom", classWrites, SeverityWarning, on(1, 0, 8), nil), f("one", classBroker, SeverityWarning, on(1, 0, 5), on(1, 0, 5)),
			f("other", classBroker, SeverityWarning, on(1, 4, 8), on(1, 4, 8)),
		}, []string{"one: symptom", "other: symptom"}},
		"one that has hardly a part in it": {[]Finding{
			f("symptom", classWrites, SeverityWarning, on(1, 0, 8), nil), f("cause", classBroker, SeverityWarning, on(1, 0, 8), on(1, 0, 8)),
			f("other", classBroker, SeverityWarning, on(1, 0, 1), on(1, 0, 1)),
		}, []string{"cause: symptom", "other"}},
		"of another broker": {[]Finding{
			f("symptom", classReplica, SeverityWarning, on(2, 0, 8), nil), f("cause", classBroker, SeverityWarning, on(1, 0, 8), on(1, 0, 8)),
		}, []string{"cause", "symptom"}},
		"what comes later is no cause": {[]Finding{
			f("cause", classPace, SeverityWarning, on(1, 0, 8), on(1, 0, 8)), f("left", classLeft, SeverityWarning, on(1, 0, 8), on(1, 0, 8)),
		}, []string{"cause: left"}},
		"a chain": {[]Finding{
			f("last", classWrites, SeverityWarning, on(1, 0, 8), nil), f("middle", classPace, SeverityWarning, on(1, 0, 8), on(1, 0, 8)),
			f("root", classRoot, SeverityInfo, on(1, 0, 8), on(1, 0, 8)),
		}, []string{"root: middle last"}},
		"a chain whose root reaches less": {[]Finding{
			f("last", classWrites, SeverityWarning, on(1, 0, 8), nil), f("middle", classPace, SeverityWarning, on(1, 0, 4), on(1, 0, 8)),
			f("root", classRoot, SeverityInfo, on(1, 0, 4), on(1, 0, 4)),
		}, []string{"root: last middle"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Report{Findings: correlate(tt.all)}
			want(t, r, tt.want...)
			for i := range r.Findings {
				for _, s := range r.Findings[i].Symptoms {
					if s.Severity.rank() < r.Findings[i].Severity.rank() {
						t.Errorf("%s is %s, and its symptom %s", r.Findings[i].ID, r.Findings[i].Severity, s.Severity)
					}
				}
			}
		})
	}
}
