package main

import (
	"cmp"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/table"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// panel is a question and its answer.
type panel struct {
	title, about string
	draw         kind
	unit         string
	queries      []query
	// width of the 24 columns, and height in rows of Grafana's grid.
	width, height uint32
	// runbook is the alert whose section of RUNBOOK.md says what to do.
	runbook string
	// steps are from which value on which colour; the first holds below.
	steps []step
	// states are words for values.
	states map[string]state
	// none is what is shown where there is no series.
	none string
}

// kind is how a panel is drawn.
type kind int

const (
	lines    kind = iota // over time
	stacked              // over time, what adds up
	bars                 // events over time
	number               // the last value
	grid                 // a table of what there is now
	heat                 // how many series have which value, over time
	timeline             // states over time
)

// query is an expression, its metrics unscoped, and what a series of it is called.
type query struct{ expr, legend string }

type step struct {
	from  float64
	color string
}

type state struct{ word, color string }

// Colours that are told apart without red and green too (Okabe and Ito): always beside a
// word or a number.
const (
	fine    = "#009E73"
	warning = "#E69F00"
	bad     = "#D55E00"
	calm    = "#56B4E9"
	quiet   = "#999999"
)

// noneIsFine: 0 is as it should be, anything above is color.
func noneIsFine(color string) []step { return []step{{color: fine}, {1, color}} }

// runbookURL is where the sections are.
const runbookURL = "https://github.com/kafkaops/kafkaops/blob/main/dashboards/RUNBOOK.md#"

// built is a panel that is made already, for the dashboard's builder to place.
type built struct{ dashboard.Panel }

func (b built) Build() (dashboard.Panel, error) { return b.Panel, nil }

func (p *panel) builder(l labels) (cog.Builder[dashboard.Panel], error) {
	out, err := p.drawn().Build()
	if err != nil {
		return nil, err
	}
	for i, q := range p.queries {
		target, err := p.target(l, i, q)
		if err != nil {
			return nil, err
		}
		out.Targets = append(out.Targets, target)
	}
	link, err := dashboard.NewDashboardLinkBuilder("What to do: " + p.runbook).Type(dashboard.DashboardLinkTypeLink).
		Url(runbookURL + strings.ToLower(p.runbook)).TargetBlank(true).Build()
	if err != nil {
		return nil, err
	}
	from := source()
	out.Title, out.Description, out.Datasource, out.Links = &p.title, &p.about, &from, []dashboard.DashboardLink{link}
	out.GridPos = &dashboard.GridPos{W: p.width, H: cmp.Or(p.height, 8)}
	return built{out}, nil
}

// target is a query, with what the viewer has chosen.
func (p *panel) target(l labels, i int, q query) (variants.Dataquery, error) {
	expr, err := l.scoped(q.expr)
	if err != nil {
		return nil, err
	}
	if strings.Contains(q.legend, "{{") {
		q.legend += " {{cluster}}" // empty where the exporter has one cluster
	}
	t := prometheus.NewDataqueryBuilder().Expr(expr).LegendFormat(q.legend).RefId(string(rune('A' + i))).Datasource(source())
	if p.draw == grid {
		t.Instant().Format(prometheus.PromQueryFormatTable)
	} else {
		t.Range()
	}
	return t.Build()
}

// drawn is how the panel is drawn, and nothing of what it shows.
func (p *panel) drawn() cog.Builder[dashboard.Panel] {
	switch p.draw {
	case number:
		b := stat.NewPanelBuilder().Unit(p.unit).Thresholds(p.thresholds()).Mappings(p.mappings()).
			ColorMode(common.BigValueColorModeBackgroundSolid).GraphMode(common.BigValueGraphModeArea).
			ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"}))
		if p.none != "" {
			b.NoValue(p.none)
		}
		return b
	case grid:
		return table.NewPanelBuilder().Unit(p.unit).Thresholds(p.thresholds()).NoValue(p.none).
			Transformations([]dashboard.DataTransformerConfig{
				{Id: "organize", Options: map[string]any{"excludeByName": map[string]bool{"Time": true, "__name__": true, "job": true, "alertstate": true, "after": true}}},
			})
	case heat:
		return heatmap.NewPanelBuilder().Calculate(true).ShowLegend().
			Color(heatmap.NewHeatmapColorOptionsBuilder().Mode(heatmap.HeatmapColorModeScheme).Scheme("Viridis").Steps(32)).
			YAxis(heatmap.NewYAxisConfigBuilder().Unit(p.unit).Min(0))
	case timeline:
		return statetimeline.NewPanelBuilder().Mappings(p.mappings()).MergeValues(true).ShowValue(common.VisibilityModeAuto).
			RowHeight(0.8).Thresholds(p.thresholds()).Legend(common.NewVizLegendOptionsBuilder().ShowLegend(false))
	}
	b := timeseries.NewPanelBuilder().Unit(p.unit).Min(0).LineWidth(1.5).ShowPoints(common.VisibilityModeNever).
		Thresholds(p.thresholds()).
		Legend(common.NewVizLegendOptionsBuilder().ShowLegend(true).DisplayMode(common.LegendDisplayModeTable).Placement(common.LegendPlacementBottom).Calcs([]string{"lastNotNull", "max"})).
		Tooltip(common.NewVizTooltipOptionsBuilder().Mode(common.TooltipDisplayModeMulti).Sort(common.SortOrderDescending))
	switch p.draw {
	case stacked:
		b.FillOpacity(40).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	case bars:
		b.DrawStyle(common.GraphDrawStyleBars).FillOpacity(80).Stacking(common.NewStackingConfigBuilder().Mode(common.StackingModeNormal))
	default:
		b.FillOpacity(8)
	}
	if len(p.steps) > 1 && p.draw == lines {
		b.ThresholdsStyle(common.NewGraphThresholdsStyleConfigBuilder().Mode(common.GraphThresholdsStyleModeDashed))
	}
	return b
}

func (p *panel) thresholds() cog.Builder[dashboard.ThresholdsConfig] {
	steps := []dashboard.Threshold{{Color: calm}}
	for i, s := range p.steps {
		if i == 0 {
			steps[0].Color = s.color
			continue
		}
		steps = append(steps, dashboard.Threshold{Value: &s.from, Color: s.color})
	}
	return dashboard.NewThresholdsConfigBuilder().Mode(dashboard.ThresholdsModeAbsolute).Steps(steps)
}

func (p *panel) mappings() []dashboard.ValueMapping {
	if len(p.states) == 0 {
		return []dashboard.ValueMapping{}
	}
	words := map[string]dashboard.ValueMappingResult{}
	for value, s := range p.states {
		words[value] = dashboard.ValueMappingResult{Text: &s.word, Color: &s.color}
	}
	return []dashboard.ValueMapping{{ValueMap: &dashboard.ValueMap{Type: "value", Options: words}}}
}
