package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/dashboards"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// printedFiles are the files that go with the exporter's metrics; each flag names one of
// them, or all.
type printedFiles struct{ dashboards, rules string }

const (
	dashboardsFlag = "print-dashboards"
	rulesFlag      = "print-rules"
)

func (p *printedFiles) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.dashboards, dashboardsFlag, "", "print a Grafana dashboard by its `name`, "+strings.Join(dashboards.Dashboards(), ", ")+"; without a name an array of all")
	f.StringVar(&p.rules, rulesFlag, "", "print a file of Prometheus rules by its `name`, "+strings.Join(dashboards.Rules(), ", ")+"; without a name one file of all")
	f.Lookup(dashboardsFlag).NoOptDefVal = dashboards.All
	f.Lookup(rulesFlag).NoOptDefVal = dashboards.All
	complete(cmd, dashboardsFlag, append(dashboards.Dashboards(), dashboards.All)...)
	complete(cmd, rulesFlag, append(dashboards.Rules(), dashboards.All)...)
}

func (p *printedFiles) asked() bool { return p.dashboards != "" || p.rules != "" }

// write writes what is asked for, which needs no cluster: other flags would be of no use,
// and are refused.
func (p *printedFiles) write(cmd *cobra.Command, out io.Writer) error {
	var flag, name string
	var of func(string) ([]byte, error)
	if p.dashboards != "" {
		flag, name, of = dashboardsFlag, p.dashboards, dashboards.Dashboard
	} else {
		flag, name, of = rulesFlag, p.rules, dashboards.RuleFile
	}
	text, err := of(name)
	if err != nil {
		return usagef("--%s: %w", flag, err)
	}
	var beside []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != flag {
			beside = append(beside, "--"+f.Name)
		}
	})
	if len(beside) > 0 {
		slices.Sort(beside)
		return usagef("--%s prints and ends: %s is of no use beside it", flag, strings.Join(beside, ", "))
	}
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
