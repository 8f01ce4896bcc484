package render

import (
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// KindAdvice is tune: AdviceItem, the cluster's settings first, then topics by name.
const KindAdvice Kind = "Advice"

// AdviceItem is what to do about one setting, and why.
type AdviceItem struct {
	Setting string          `json:"setting"`
	Scope   AdviceScopeItem `json:"scope"`
	// Current is the value in force; null where it is unknown.
	Current inspect.Opt[string] `json:"current"`
	// Recommended is what the evidence supports; null where there is not enough of it.
	Recommended inspect.Opt[string] `json:"recommended"`
	// StartingPoint is what to begin with where evidence is missing. It comes from the
	// goal, not from this cluster; null where there is none.
	StartingPoint inspect.Opt[string] `json:"startingPoint"`
	Why           string              `json:"why"`
	// Evidence has n, how many independent observations there are, windowMs, for how long
	// was observed, and figures that depend on the setting.
	Evidence map[string]float64 `json:"evidence"`
	Bound    AdviceBoundItem    `json:"bound"`
	// Expected are figures of what is to be seen with the recommended value.
	Expected map[string]float64 `json:"expected"`
	// Cost is dynamic, restart, clears-elr; empty where nothing is to be changed.
	Cost []string `json:"cost"`
	// Apply are the commands or steps in their order, Undo those that lead back.
	Apply []string `json:"apply"`
	Undo  []string `json:"undo"`
}

// AdviceScopeItem is what a setting is set for.
type AdviceScopeItem struct {
	// Kind is cluster, topic, broker or client.
	Kind string `json:"kind"`
	// Name is the topic or the broker's id; empty for the cluster.
	Name string `json:"name"`
}

// AdviceBoundItem is how far the evidence reaches, at 95 % to either side.
type AdviceBoundItem struct {
	// Low and High enclose the values that the same reasoning might have come to; null is
	// open.
	Low  inspect.Opt[string] `json:"low"`
	High inspect.Opt[string] `json:"high"`
	Text string              `json:"text"`
}

// AdviceItems are those of all advice.
func AdviceItems(all []tuning.Advice) []AdviceItem {
	items := make([]AdviceItem, len(all))
	for i := range all {
		a := &all[i]
		items[i] = AdviceItem{
			Setting: a.Setting, Scope: AdviceScopeItem{string(a.Scope.Kind), a.Scope.Name},
			Current: told(a.Current), Recommended: told(a.Recommended), StartingPoint: told(a.StartingPoint), Why: a.Why,
			Evidence: figures(a.Evidence.Figures), Bound: AdviceBoundItem{told(a.Bound.Low), told(a.Bound.High), a.Bound.Text},
			Expected: figures(a.Expected), Cost: []string{}, Apply: list(a.Apply), Undo: list(a.Undo),
		}
		items[i].Evidence["n"], items[i].Evidence["windowMs"] = float64(a.Evidence.N), float64(a.Evidence.WindowMs)
		for _, c := range a.Cost {
			items[i].Cost = append(items[i].Cost, string(c))
		}
	}
	return items
}

// told is a text, unknown where it is empty.
func told(text string) inspect.Opt[string] {
	if text == "" {
		return inspect.Unknown[string]()
	}
	return inspect.Known(text)
}

func figures(in []tuning.Figure) map[string]float64 {
	out := make(map[string]float64, len(in))
	for _, f := range in {
		out[f.Name] = f.Value
	}
	return out
}
