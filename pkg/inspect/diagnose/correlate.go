package diagnose

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What it takes for a finding to be a symptom. A partition of it is accounted for where one
// of the replicas is that it is about: there may be several that each would do.
const (
	// explained is the least share of a symptom's partitions that causes account for
	// together.
	explained = 0.75
	// contributes is the least share of them that one cause has to account for to be
	// among them: three brokers that are down all have their part in what is refused.
	contributes = 0.2
)

// correlate attaches each finding to those that account for it, and returns what is
// left. A cause is as severe as the worst of its symptoms.
func correlate(all []Finding) []Finding {
	symptoms := make([][]int, len(all)) // by cause
	attached := make([]bool, len(all))
	for i := range all {
		causes := causesOf(all, i)
		attached[i] = len(causes) > 0
		for _, c := range causes {
			symptoms[c] = append(symptoms[c], i)
		}
	}
	var out []Finding
	for i := range all {
		if attached[i] {
			continue
		}
		f := all[i]
		seen := map[int]bool{i: true}
		for _, s := range below(symptoms, i, seen) {
			symptom := all[s]
			if symptom.Severity.rank() < f.Severity.rank() {
				f.Severity = symptom.Severity
			}
			f.Symptoms = append(f.Symptoms, symptom)
		}
		slices.SortFunc(f.Symptoms, func(a, b Finding) int { return a.compare(&b) })
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Finding) int { return a.compare(&b) })
	return out
}

// below are all that a cause accounts for, by others too.
func below(symptoms [][]int, cause int, seen map[int]bool) (out []int) {
	for _, s := range symptoms[cause] {
		if !seen[s] {
			seen[s] = true
			out = append(append(out, s), below(symptoms, s, seen)...)
		}
	}
	return out
}

// causesOf are the findings that account for one, by their place; none where together
// they account for too little of it.
func causesOf(all []Finding, i int) []int {
	f := &all[i]
	if len(f.about) == 0 || f.class == classBuiltIn {
		return nil
	}
	partitions := float64(f.about.partitions())
	together := map[inspect.TopicPartition]bool{}
	var out []int
	for j := range all {
		c := &all[j]
		if c.class >= f.class {
			continue
		}
		mine := f.about.within(c.reach)
		for tp := range mine {
			together[tp] = true
		}
		if n := float64(len(mine)); n > 0 && n >= contributes*partitions {
			out = append(out, j)
		}
	}
	if float64(len(together)) < explained*partitions {
		return nil
	}
	return out
}
