package render

import "github.com/kafkaops/kafkaops/pkg/inspect"

// KindConfig is describe configs: ConfigItem, brokers by id, then topics by name,
// each by the setting's name. All settings that were asked are in it, not only
// those that the table shows.
const KindConfig Kind = "Config"

// ConfigItem is one setting of one broker or topic, or a broker that told none:
// then all but Scope, Entity and Error is null, and the lists are empty.
type ConfigItem struct {
	// Scope is broker or topic; Entity the broker's id or the topic's name.
	Scope  inspect.ConfigScope `json:"scope"`
	Entity string              `json:"entity"`
	Name   inspect.Opt[string] `json:"name"`
	// Value is in force; null where the setting has none, and always where it is
	// sensitive.
	Value inspect.Opt[string] `json:"value"`
	// Source is where it comes from, by Kafka's names: DYNAMIC_TOPIC_CONFIG,
	// DYNAMIC_BROKER_CONFIG, DYNAMIC_DEFAULT_BROKER_CONFIG, STATIC_BROKER_CONFIG,
	// DEFAULT_CONFIG or UNKNOWN.
	Source inspect.Opt[inspect.ConfigSource] `json:"source"`
	// Default is Kafka's own; null where it has none.
	Default inspect.Opt[string] `json:"default"`
	// Deviates: somebody set it to something else than Kafka's default. Disagree:
	// not all brokers have the same. NotApplied is a value that is stored where it
	// should win and is not in force, else null.
	Deviates   inspect.Opt[bool]   `json:"deviates"`
	Disagree   inspect.Opt[bool]   `json:"disagree"`
	NotApplied inspect.Opt[string] `json:"notApplied"`
	Sensitive  inspect.Opt[bool]   `json:"sensitive"`
	// ReadOnly: it needs a restart to change.
	ReadOnly inspect.Opt[bool] `json:"readOnly"`
	// Synonyms are all places where it is set, the one that wins first.
	Synonyms []SynonymItem `json:"synonyms"`
	// Notes are sentences on what is wrong or dangerous about it.
	Notes []string `json:"notes"`
	// Error is why the broker told none: fenced, not among the live brokers or
	// no answer; else null.
	Error inspect.Opt[string] `json:"error"`
}

// SynonymItem is one place where a setting is set.
type SynonymItem struct {
	Name   string               `json:"name"`
	Value  inspect.Opt[string]  `json:"value"`
	Source inspect.ConfigSource `json:"source"`
}

// ConfigItems are the items of describe configs.
func ConfigItems(reports []inspect.ConfigReport) []ConfigItem {
	items := make([]ConfigItem, 0, len(reports))
	for i := range reports {
		r := &reports[i]
		if r.Untold != "" {
			items = append(items, ConfigItem{
				Scope: r.Scope, Entity: r.Entity, Synonyms: []SynonymItem{}, Notes: []string{}, Error: inspect.Known(string(r.Untold)),
			})
			continue
		}
		item := ConfigItem{
			Scope: r.Scope, Entity: r.Entity, Name: inspect.Known(r.Name), Value: r.Value,
			Source: inspect.Known(r.Source), Default: r.Default(),
			Deviates: inspect.Known(r.Deviates()), Disagree: inspect.Known(r.Disagree), NotApplied: r.NotApplied(),
			Sensitive: inspect.Known(r.Sensitive), ReadOnly: inspect.Known(r.ReadOnly), Synonyms: []SynonymItem{}, Notes: list(r.Notes),
		}
		for _, s := range r.Synonyms {
			item.Synonyms = append(item.Synonyms, SynonymItem(s))
		}
		items = append(items, item)
	}
	return items
}
