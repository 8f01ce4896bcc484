package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// board is a dashboard.
type board struct {
	// name is the file's and the end of its address, title what people see.
	name, title, about string
	rows               []row
}

// row is a line across the dashboard with what stands below it.
type row struct {
	title  string
	panels []panel
}

// tag is what finds all dashboards of kafkaops, for the links between them.
const tag = "kafkaops"

// source is the Prometheus that the viewer has chosen.
func source() common.DataSourceRef {
	kind, uid := "prometheus", "${datasource}"
	return common.DataSourceRef{Type: &kind, Uid: &uid}
}

// json is the dashboard as Grafana imports and provisions it.
func (b *board) json(l labels) ([]byte, error) {
	// The newer schema is read by Grafana 12 and newer alone, and by no provisioning of files
	// before; the classic one by all.
	d := dashboard.NewDashboardBuilder(b.title). //nolint:staticcheck // see above
							Uid("kafkaops-"+b.name).Description(b.about).Tags([]string{tag, "kafka"}).
							Editable().Tooltip(dashboard.DashboardCursorSyncCrosshair).Time("now-1h", "now").Timezone("utc").Refresh("30s").
							Link(dashboard.NewDashboardLinkBuilder("kafkaops").Type(dashboard.DashboardLinkTypeDashboards).Tags([]string{tag}).IncludeVars(true).KeepTime(true))
	chosen, err := variables(l)
	if err != nil {
		return nil, err
	}
	d.Variables(chosen)
	for _, r := range b.rows {
		d.WithRow(dashboard.NewRowBuilder(r.title))
		for i := range r.panels {
			p, err := r.panels[i].builder(l)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.panels[i].title, err)
			}
			d.WithPanel(p)
		}
	}
	made, err := d.Build()
	if err != nil {
		return nil, err
	}
	// Panels are told apart by a number, which the builder leaves to Grafana; provisioned
	// twice they have to be the same.
	for i := range made.Panels {
		id := uint32(i + 1)
		if p := made.Panels[i].Panel; p != nil {
			p.Id = &id
		} else if r := made.Panels[i].RowPanel; r != nil {
			r.Id = id
		}
	}
	text, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// variables are what the viewer chooses, the same in all dashboards, so that a link carries
// them along.
func variables(l labels) ([]cog.Builder[dashboard.VariableModel], error) {
	out := []cog.Builder[dashboard.VariableModel]{dashboard.NewDatasourceVariableBuilder("datasource").Label("Prometheus").Type("prometheus")}
	for _, v := range []struct{ name, label, of, by string }{
		{"instance", "Exporter", "kafkaops_up", "instance"},
		{"cluster", "Cluster", "kafkaops_up", "cluster"},
		{"topic", "Topic", "kafka_topic_partitions", "topic"},
		{"broker", "Broker", "kafka_broker_up", "broker"},
		{"group", "Group", "kafka_consumergroup_info", "consumergroup"},
	} {
		of, err := l.scoped(v.of)
		if err != nil {
			return nil, err
		}
		// A variable must not ask for itself, or for what is chosen after it.
		of = strings.ReplaceAll(of, `,`+v.by+`=~"$`+v.name+`"`, "")
		if v.name == "instance" {
			of = v.of
		}
		query := "label_values(" + of + ", " + v.by + ")"
		out = append(out, dashboard.NewQueryVariableBuilder(v.name).Label(v.label).Datasource(source()).
			Query(dashboard.StringOrMap{String: &query}).Definition(query).Multi(true).IncludeAll(true).AllValue(".*").
			Refresh(dashboard.VariableRefreshOnTimeRangeChanged).Sort(dashboard.VariableSortNaturalAsc).
			Current(dashboard.VariableOption{
				Text: dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}}, Value: dashboard.StringOrArrayOfString{ArrayOfString: []string{"$__all"}},
			}))
	}
	return out, nil
}
