package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// documentsOf are the kinds by command, with the struct that documents the item.
// A command of the tree that is missing here fails the test.
var documentsOf = map[string]struct {
	kind render.Kind
	item any
}{
	"describe":               {render.KindCluster, render.ClusterItem{}},
	"describe topics":        {render.KindPartition, render.PartitionItem{}},
	"describe brokers":       {render.KindBroker, render.BrokerItem{}},
	"describe configs":       {render.KindConfig, render.ConfigItem{}},
	"describe features":      {render.KindFeature, render.FeatureItem{}},
	"describe log-dirs":      {render.KindLogDir, render.DirItem{}},
	"describe quorum":        {render.KindQuorum, render.QuorumItem{}},
	"describe reassignments": {render.KindReassignment, render.ReassignmentItem{}},
	"describe transactions":  {render.KindTransaction, render.TransactionItem{}},
	"lag":                    {render.KindReplicaLag, render.LagItem{}},
	"lag groups":             {render.KindGroupLag, render.GroupItem{}},
	"check health":           {render.KindHealth, render.HealthItem{}},
	"check access":           {render.KindAccess, render.AccessItem{}},
}

// states are clusters in which different things are unknown, empty or wrong.
func states(t *testing.T) map[string]*fakekafka.Cluster {
	t.Helper()
	changed := func(change func(*fakekafka.Model)) *fakekafka.Cluster {
		m := healthyModel()
		change(m)
		return fakekafka.Start(t, m)
	}
	silent := changed(func(*fakekafka.Model) {})
	silent.Break(3, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.ApiVersions}})
	return map[string]*fakekafka.Cluster{
		"healthy":   changed(func(*fakekafka.Model) {}),
		"no topics": changed(func(m *fakekafka.Model) { m.Topics = nil }),
		"old": changed(func(m *fakekafka.Model) {
			m.APIs = fakekafka.APIs(kmsg.DescribeTopicPartitions, kmsg.DescribeCluster)
			m.APIs[kmsg.Metadata] = fakekafka.VersionRange{Max: 8}
			m.APIs[kmsg.DescribeLogDirs] = fakekafka.VersionRange{Max: 1}
		}),
		"refused": changed(func(m *fakekafka.Model) {
			transact(m)
			m.Deny = []kmsg.Key{
				kmsg.DescribeConfigs, kmsg.ListPartitionReassignments, kmsg.DescribeLogDirs, kmsg.ListOffsets, kmsg.DescribeQuorum,
				kmsg.DescribeTransactions, kmsg.OffsetFetch,
			}
		}),
		"unhealthy": changed(func(m *fakekafka.Model) {
			p := m.Topic("orders").Partitions[0]
			p.Leader, p.ISR, p.ELR = fakekafka.NoLeader, nil, []int32{2}
			m.Topic("orders").Partitions[1].Shrink(1, 3)
			m.Topic("payments-eu").Partitions[0].Adding = []int32{2, 3}
			m.Broker(3).LogDirs = []fakekafka.LogDir{{Path: "/c"}, {Path: "/b"}, {Path: "/a", Offline: true}}
			m.Broker(2).Fenced = true
		}),
		"busy": changed(func(m *fakekafka.Model) {
			reassign(m)
			transact(m)
			m.Group("billing").Commit("orders", 7, 5) // of no partition
			audit := m.AddGroup("audit", fakekafka.ConsumerGroup)
			audit.Join("audit-1", "payments-eu", 0)
			audit.Commit("payments-eu", 0, 1200)
			m.AddGroup("workflow", fakekafka.ShareGroup).Coordinator = 3
			m.Quorum = fakekafka.NewQuorum(3, 1, 2, 3)
			m.Quorum.Voter(102).LastFetchMs = -1
			m.Quorum.Voter(102).LastCaughtUpMs = -1
			m.Quorum.Voter(103).Host, m.Quorum.Voter(103).Port = "controller-3", 9093
		}),
		"silent broker": silent,
	}
}

// TestDocuments: for the same state of a cluster the same bytes, apart from
// takenAt; the documented form; lists never null; YAML says what JSON says.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, command := range asking(t) {
		if documentsOf[command].item == nil {
			t.Errorf("kafkaops %s is not tested here: add it to documentsOf", command)
		}
	}
	for state, c := range states(t) {
		for command, doc := range documentsOf {
			for _, flags := range []string{"", "--max-lag 10", "--samples 2 --interval 100ms", "nosuch orders nosuch*"} {
				if flags != "" && !takes(command, flags) {
					continue
				}
				t.Run(strings.Join([]string{state, command, flags}, " "), func(t *testing.T) {
					t.Parallel()
					line := command + " " + flags + " -o "
					first := ask(t, c, line+"json")
					c.Change(reorder)
					second := ask(t, c, line+"json")
					if strings.Contains(flags, "--samples") {
						// Rates and ages are by the clock.
					} else if diff := cmp.Diff(first.names(c), second.names(c), cmp.AllowUnexported(ran{})); diff != "" {
						t.Errorf("two runs differ:\n%s", diff)
					}
					checkForm(t, first, doc.kind, doc.item)
					inYAML := ask(t, c, line+"yaml")
					if strings.Contains(flags, "--samples") {
						return
					}
					var fromJSON, fromYAML any
					decodeJSON(t, first.names(c).stdout, &fromJSON)
					if err := yaml.Unmarshal([]byte(inYAML.names(c).stdout), &fromYAML); err != nil {
						t.Fatalf("stdout is not valid YAML: %v\n%s", err, inYAML.stdout)
					}
					if diff := cmp.Diff(normal(fromYAML), normal(fromJSON)); diff != "" || inYAML.code != first.code || inYAML.names(c).stderr != first.names(c).stderr {
						t.Errorf("YAML, exit codes %d and %d, -YAML +JSON:\n%s", inYAML.code, first.code, diff)
					}
				})
			}
		}
	}
}

// reorder turns around what has no order of its own.
func reorder(m *fakekafka.Model) {
	slices.Reverse(m.Brokers)
	slices.Reverse(m.Topics)
	slices.Reverse(m.Groups)
	slices.Reverse(m.Transactions)
	if m.Quorum != nil {
		slices.Reverse(m.Quorum.Voters)
		slices.Reverse(m.Quorum.Observers)
	}
	for _, b := range m.Brokers {
		slices.Reverse(b.LogDirs[1:])
	}
	for _, topic := range m.Topics {
		for _, p := range topic.Partitions {
			p.ISR, p.ELR, p.Adding = reversed(p.ISR), reversed(p.ELR), reversed(p.Adding)
		}
	}
}

// reversed is a copy: lists may share their elements.
func reversed(ids []int32) []int32 {
	ids = slices.Clone(ids)
	slices.Reverse(ids)
	return ids
}

// takes says which flags are of which command.
func takes(command, flags string) bool {
	switch flags {
	case "--max-lag 10":
		return command == "check health"
	case "--samples 2 --interval 100ms":
		return slices.Contains([]string{"lag", "lag groups", "describe reassignments"}, command)
	}
	return slices.Contains([]string{"lag", "lag groups", "describe topics", "describe configs", "describe reassignments"}, command)
}

func decodeJSON(t *testing.T, text string, into any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("stdout is no JSON: %v\n%s", err, text)
	}
}

// normal has numbers as their digits, whichever decoder they come from.
func normal(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[key] = normal(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = normal(v[i])
		}
		return out
	case nil, string, bool:
		return v
	}
	return fmt.Sprint(v)
}

// checkForm checks the envelope, and that the document has exactly the fields of
// its struct, none of whose lists is null.
func checkForm(t *testing.T, r ran, kind render.Kind, item any) {
	t.Helper()
	var doc struct {
		APIVersion string `json:"apiVersion"`
		Kind       render.Kind
		Cluster    map[string]any
		TakenAt    string
		Complete   bool
		Errors     []map[string]any
		Items      []map[string]any
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(r.stdout)))
	dec.UseNumber()
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		t.Fatalf("the document has another form: %v\n%s", err, r.stdout)
	}
	if doc.APIVersion != "kafkaops/v1" || doc.Kind != kind || len(doc.Cluster) != 2 || !times.MatchString(doc.TakenAt) {
		t.Errorf("got %s %s of %v at %s, want kafkaops/v1 %s", doc.APIVersion, doc.Kind, doc.Cluster, doc.TakenAt, kind)
	}
	if doc.Errors == nil || doc.Items == nil {
		t.Error("errors or items is null")
	}
	if doc.Complete != (len(doc.Errors) == 0) || doc.Complete != (r.code != exitFailed) {
		t.Errorf("got complete %v with %d errors and exit code %d", doc.Complete, len(doc.Errors), r.code)
	}
	// What the cluster tells of a broker that is down, of a quorum that the answer does not
	// show, or of controllers that cannot be asked for their log, is a line and no error.
	asides := strings.Count(r.stderr, ": fenced: the controller does not hear from it; ") + strings.Count(r.stderr, "; went on without the controllers. ") +
		strings.Count(r.stderr, "; isr has no history, and export compares looks")
	if n := strings.Count(r.stderr, "\n") - asides; n < len(doc.Errors) || doc.Complete && n > 0 {
		t.Errorf("got %d errors in the document and %d lines on stderr:\n%s", len(doc.Errors), n, r.stderr)
	}
	for _, e := range doc.Errors {
		for _, field := range []string{"broker", "address", "request", "phase", "error"} {
			if _, ok := e[field]; !ok {
				t.Errorf("an error has no %s: %v", field, e)
			}
		}
		if e["error"] == "" || e["phase"] == "" || e["request"] == "" {
			t.Errorf("an error does not say what failed: %v", e)
		}
	}
	for _, i := range doc.Items {
		checkFields(t, string(kind), i, reflect.TypeOf(item))
	}
}

// checkFields compares an object with the struct that documents it.
func checkFields(t *testing.T, path string, got map[string]any, want reflect.Type) {
	t.Helper()
	var names []string
	for _, f := range reflect.VisibleFields(want) {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
		value, ok := got[name]
		if !ok {
			t.Errorf("%s has no %s", path, name)
			continue
		}
		kind := f.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		switch {
		case kind.Kind() == reflect.Slice && value == nil:
			t.Errorf("%s.%s is null, want a list", path, name)
		case kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct:
			for _, element := range value.([]any) {
				checkFields(t, path+"."+name, element.(map[string]any), kind.Elem())
			}
		case strings.HasPrefix(kind.Name(), "Opt["): // null where it is unknown
		case kind.Kind() == reflect.Struct && value != nil:
			checkFields(t, path+"."+name, value.(map[string]any), kind)
		}
	}
	for name := range got {
		if !slices.Contains(names, name) {
			t.Errorf("%s has a %s that is not documented", path, name)
		}
	}
}

// TestDocumentOfUnknowns: null, and never a number that looks like an answer.
func TestDocumentOfUnknowns(t *testing.T) {
	t.Parallel()
	c := states(t)["refused"]
	for _, item := range items[render.LagItem](t, ask(t, c, "lag -o json")) {
		if item.HighWatermark.IsKnown() || item.LogEndOffset.IsKnown() || item.Uncommitted.IsKnown() || item.MinInsyncReplicas.IsKnown() {
			t.Errorf("got %+v, want offsets and minimum null", item)
		}
		for _, rep := range item.Replicas {
			if rep.Lag.IsKnown() || rep.LogEndOffset.IsKnown() || rep.Error == (inspect.Opt[string]{}) {
				t.Errorf("got %+v, want lag and LEO null, and why", rep)
			}
		}
	}
	for _, item := range items[render.BrokerItem](t, ask(t, c, "describe brokers -o json")) {
		if item.LogDirs.IsKnown() || !item.Reachable.Or(false) || item.Controller.IsKnown() {
			t.Errorf("got %+v, want log directories and controller null", item)
		}
	}
}
