package inspect

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFailureOrder: whichever answer came first, the failures are in one order,
// also where one request was sent for two purposes.
func TestFailureOrder(t *testing.T) {
	t.Parallel()
	sorted := []Failure{
		{Address: "a:1", Request: "DescribeConfigs", Error: "refused", Lost: "min.insync.replicas is unknown"},
		{Address: "a:1", Request: "DescribeConfigs", Error: "refused", Lost: "settings are unknown"},
		{Address: "a:1", Request: "DescribeConfigs", Error: "timed out"},
		{Address: "a:1", Request: "DescribeQuorum", Error: "refused"},
	}
	got := slices.Clone(sorted)
	slices.Reverse(got)
	slices.SortStableFunc(got, Failure.Compare)
	if diff := cmp.Diff(got, sorted); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}
