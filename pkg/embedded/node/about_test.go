package node

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestToldFeatures: no client is told of a feature whose APIs are not here.
func TestToldFeatures(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	w.start(1)
	if !w.run(5000, w.unfenced) {
		t.Fatal("not unfenced")
	}
	n := w.hosts[1].node
	a := n.about()
	var names []string
	for _, f := range a.Supported {
		names = append(names, f.Name)
	}
	if want := []string{"eligible.leader.replicas.version", "kraft.version", "metadata.version"}; !slices.Equal(names, want) {
		t.Errorf("supported: %v, want %v", names, want)
	}
	for _, f := range a.Finalized {
		if !slices.Contains(names, f.Name) || f.Level == 0 {
			t.Errorf("finalized: %+v", f)
		}
	}
	if a.Epoch != n.MetadataOffset()-1 || a.NodeID != 1 || a.ClusterID != "cluster" {
		t.Errorf("about: %+v", a)
	}
}

// TestForeign: a broker changes its own configs and what is not a broker's.
func TestForeign(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	w.start(1)
	for _, tt := range []struct {
		typ  int8
		name string
		ok   bool
	}{{4, "1", true}, {4, "", true}, {4, "2", false}, {4, "x", false}, {2, "2", true}} {
		if err := w.hosts[1].node.foreign(kmsg.ConfigResourceType(tt.typ), tt.name); (err == nil) != tt.ok {
			t.Errorf("type %d, %q: %v", tt.typ, tt.name, err)
		}
	}
}
