package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestExportPrints: the files that go with the metrics come without a cluster.
func TestExportPrints(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args     string
		code     int
		out, err string // what either begins with
	}{
		{args: "--print-rules=groups", out: "# Consumer groups"},
		{args: "--print-rules", out: "groups:\n"},
		{args: "--print-dashboards=replication", out: "{\n  \"uid\": \"kafkaops-replication\""},
		{args: "--print-dashboards", out: "[\n{\n"},
		{args: "--print-dashboards=nothing", code: 2, err: `kafkaops: --print-dashboards: there is no "nothing": brokers, cluster, groups, replication, or all`},
		{args: "--print-rules --print-dashboards", code: 2, err: "kafkaops: --print-dashboards prints and ends: --print-rules is of no use beside it"},
		{args: "--print-rules --topics a -b localhost:1", code: 2, err: "kafkaops: --print-rules prints and ends: --bootstrap-server, --topics is of no use beside it"},
	} {
		r := place{}.run(t.Context(), append([]string{"export"}, strings.Fields(tt.args)...)...)
		if r.code != tt.code || !strings.HasPrefix(r.stdout, tt.out) || !strings.HasPrefix(r.stderr, tt.err) {
			t.Errorf("export %s: exit %d, stdout %.60q, stderr %q; want %d, %q, %q", tt.args, r.code, r.stdout, r.stderr, tt.code, tt.out, tt.err)
		}
		if tt.args == "--print-dashboards" && !json.Valid([]byte(r.stdout)) {
			t.Error("the dashboards are not JSON")
		}
	}
}
