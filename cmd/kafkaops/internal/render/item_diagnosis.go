package render

import (
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
)

// KindFinding is diagnose: DiagnosisItem, the worst first, then what accounts for most.
const KindFinding Kind = "Finding"

// DiagnosisDocument is the envelope of diagnose: the usual one, and what was looked for.
type DiagnosisDocument struct {
	Document[DiagnosisItem]
	// Checks are all that was looked for, whatever was found.
	Checks []CheckItem `json:"checks"`
}

// DiagnosisItem is a cause, with what it rests on and what to do.
type DiagnosisItem struct {
	SymptomItem
	Remedy string `json:"remedy"`
	// Next are commands to type, those that show more first.
	Next []string `json:"next"`
	// Symptoms are what it accounts for.
	Symptoms []SymptomItem `json:"symptoms"`
}

// SymptomItem is a finding that another one accounts for, and what there is to say of any.
type SymptomItem struct {
	// ID names the kind of finding, such as slow-follower.
	ID string `json:"id"`
	// Severity is info, warning or critical.
	Severity string `json:"severity"`
	Title    string `json:"title"`
	// Broker is the one that it is about, or that follows where it is about a link; null
	// where it is about none, or several.
	Broker inspect.Opt[inspect.BrokerID] `json:"broker"`
	// Topics are those concerned; empty where it is not about topics.
	Topics []string `json:"topics"`
	// Evidence are figures whose unit ends their names, as in lagMs; counts have none.
	Evidence    map[string]float64 `json:"evidence"`
	Explanation string             `json:"explanation"`
}

// CheckItem is something that was looked for.
type CheckItem struct {
	What string `json:"what"`
	// Missing says why it could not be told; null where it could.
	Missing inspect.Opt[string] `json:"missing"`
}

// DiagnosisItems are those of a report.
func DiagnosisItems(all []diagnose.Finding) []DiagnosisItem {
	items := make([]DiagnosisItem, len(all))
	for i := range all {
		f := &all[i]
		items[i] = DiagnosisItem{SymptomItem: newSymptomItem(f), Remedy: f.Remedy, Next: list(f.Next), Symptoms: []SymptomItem{}}
		for j := range f.Symptoms {
			items[i].Symptoms = append(items[i].Symptoms, newSymptomItem(&f.Symptoms[j]))
		}
	}
	return items
}

func newSymptomItem(f *diagnose.Finding) SymptomItem {
	return SymptomItem{
		ID: string(f.ID), Severity: string(f.Severity), Title: f.Title, Broker: f.Broker, Topics: list(f.Topics),
		Evidence: findingFigures(f.Evidence), Explanation: f.Explanation,
	}
}

// CheckItems are those of a report.
func CheckItems(all []diagnose.Check) []CheckItem {
	items := make([]CheckItem, len(all))
	for i, c := range all {
		items[i] = CheckItem{c.What, told(c.Missing)}
	}
	return items
}

func findingFigures(in []diagnose.Figure) map[string]float64 {
	out := make(map[string]float64, len(in))
	for _, f := range in {
		out[f.Name] = f.Value
	}
	return out
}
