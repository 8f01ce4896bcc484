package acceptance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// tool runs one of Kafka's own tools against the brokers that are alive.
func tool(ctx context.Context, c *kafkatest.Cluster, class string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	args = append([]string{"--bootstrap-server", servers(c, alive(c)...)}, args...)
	stdout, stderr, exit, err := c.Tool(ctx, class, args...)
	if err == nil && exit != 0 {
		err = fmt.Errorf("%s: exit %d\n%s", class, exit, stderr)
	}
	return stdout, err
}

// told is a partition in words that both kafka-topics.sh and kafkaops tell.
type told struct {
	Name, Leader, Replicas, ISR, ELR, LastKnownELR, Adding, Removing string
}

// topicsTool is what kafka-topics.sh --describe lists with a flag more, by name
// and in its own order.
func topicsTool(ctx context.Context, c *kafkatest.Cluster, flags ...string) ([]told, error) {
	stdout, err := tool(ctx, c, kafkatest.TopicCommand, append([]string{"--describe"}, flags...)...)
	if err != nil {
		return nil, err
	}
	var out []told
	for line := range strings.Lines(stdout) {
		fields := map[string]string{}
		for field := range strings.SplitSeq(strings.TrimRight(line, "\n"), "\t") {
			if key, value, ok := strings.Cut(field, ":"); ok {
				fields[key] = strings.TrimSpace(value)
			}
		}
		if fields["Partition"] == "" { // a topic's own line
			continue
		}
		out = append(out, told{
			Name: fields["Topic"] + "-" + fields["Partition"], Leader: fields["Leader"], Replicas: fields["Replicas"],
			ISR: sortIDs(fields["Isr"]), ELR: sortIDs(fields["Elr"]), LastKnownELR: sortIDs(fields["LastKnownElr"]),
			Adding: sortIDs(fields["Adding Replicas"]), Removing: sortIDs(fields["Removing Replicas"]),
		})
	}
	return out, nil
}

func sortIDs(list string) string {
	ids := strings.Split(list, ",")
	slices.Sort(ids)
	return strings.Join(ids, ",")
}

func tell(p *render.PartitionItem) told {
	leader := "none"
	if id, ok := p.Leader.Get(); ok {
		leader = fmt.Sprint(id)
	}
	return told{
		Name: p.Topic + "-" + strconv.Itoa(int(p.Partition)), Leader: leader, Replicas: joinIDs(p.Replicas),
		ISR: joinIDs(p.ISR), ELR: joinIDs(p.ELR.Or(nil)), LastKnownELR: joinIDs(p.LastKnownELR.Or(nil)),
		Adding: joinIDs(p.AddingReplicas.Or(nil)), Removing: joinIDs(p.RemovingReplicas.Or(nil)),
	}
}

func joinIDs(ids []inspect.BrokerID) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	return strings.Join(words, ",")
}

// sameAsTopics compares describe topics with kafka-topics.sh --describe in every
// value that both tell, and each filter by that tool's rules with its own. The
// state of the cluster has to be at rest, and no broker paused, which that tool
// may wait for. It returns what the tool listed for each filter.
func sameAsTopics(t *testing.T, c *kafkatest.Cluster) map[string][]string {
	t.Helper()
	filters := []string{"", "under-replicated", "under-min-isr", "at-min-isr", "unavailable"}
	theirs := make([][]told, len(filters))
	errs := make([]error, len(filters))
	var wg sync.WaitGroup
	for i, f := range filters {
		wg.Go(func() {
			var flags []string
			if f != "" {
				flags = []string{"--" + f + "-partitions"}
			}
			theirs[i], errs[i] = topicsTool(t.Context(), c, flags...)
		})
	}
	wg.Wait()
	listed := map[string][]string{}
	for i, f := range filters {
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
		words := "describe topics"
		if f != "" {
			words += " --kafka-semantics --" + f + "-partitions"
		}
		ours := []told{}
		for _, p := range run[render.PartitionItem](t, c, 0, words).Items {
			ours = append(ours, tell(&p))
		}
		slices.SortFunc(theirs[i], func(a, b told) int { return strings.Compare(a.Name, b.Name) })
		slices.SortFunc(ours, func(a, b told) int { return strings.Compare(a.Name, b.Name) })
		if diff := cmp.Diff(theirs[i], ours, cmp.Transformer("nonNil", func(in []told) []told { return append([]told{}, in...) })); diff != "" {
			t.Errorf("%s, kafka-topics.sh - and ours +:\n%s", words, diff)
		}
		listed[f] = []string{}
		for _, p := range theirs[i] {
			listed[f] = append(listed[f], p.Name)
		}
	}
	return listed
}

// named are the partitions that describe topics shows with these flags.
func named(t *testing.T, c *kafkatest.Cluster, flags string) []string {
	t.Helper()
	names := []string{}
	for _, p := range run[render.PartitionItem](t, c, 0, "describe topics "+flags).Items {
		names = append(names, p.Topic+"-"+strconv.Itoa(int(p.Partition)))
	}
	return names
}
