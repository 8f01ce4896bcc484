package acceptance

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// answers are what commands left behind, one value a path:
//
//	describe topics/exit                      0
//	describe topics/plain-0/elr               []
//	lag/plain-0/replicas/2/lag                0
//
// Values that no two clusters have in common, such as times and ids, are some,
// so that it still shows where one is null.
type answers map[string]string

const (
	null   = "null"
	some   = "some"
	absent = "absent" // the whole of an item, or of a list's member
)

// add adds one command's exit code, stderr and document.
func (a answers) add(t *testing.T, c *kafkatest.Cluster, command string, r *result) {
	t.Helper()
	a[command+"/exit"] = fmt.Sprint(r.exit)
	a[command+"/stderr"] = nameBrokers(c, r.stderr)
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	dec.UseNumber()
	var d map[string]any
	if err := dec.Decode(&d); err != nil {
		t.Fatalf("no document: %v: %v", err, r)
	}
	delete(d, "takenAt")
	items, _ := d["items"].([]any)
	delete(d, "items")
	a.flatten(c, command+"/document", d)
	a[command+"/items"] = some
	if len(items) == 0 {
		a[command+"/items"] = "none"
		return
	}
	a.flatten(c, command, items)
}

func (a answers) flatten(c *kafkatest.Cluster, at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, field := range v {
			a.flatten(c, at+"/"+key, field)
		}
	case []any:
		if !slices.ContainsFunc(v, hasParts) {
			a[at] = masked(at, fmt.Sprint(v))
			return
		}
		for i, member := range v {
			a.flatten(c, at+"/"+keyOf(i, member), member)
		}
	case nil:
		a[at] = null
	default:
		a[at] = masked(at, nameBrokers(c, fmt.Sprint(v)))
	}
}

// hasParts: an object, or a sentence. Words and ids are compared as a whole list.
func hasParts(v any) bool {
	_, object := v.(map[string]any)
	text, _ := v.(string)
	return object || strings.Contains(text, " ")
}

// keyOf names the member of a list by what it is about.
func keyOf(i int, member any) string {
	m, _ := member.(map[string]any)
	var words []string
	for _, key := range []string{"scope", "entity", "topic", "partition", "group", "transactionalId", "id", "broker", "path", "name"} {
		if v, ok := m[key]; ok && v != nil {
			words = append(words, fmt.Sprint(v))
		}
	}
	switch {
	case len(words) == 0:
		return fmt.Sprint(i)
	case m["path"] != nil:
		words[len(words)-1] = path.Base(words[len(words)-1])
	case m["topic"] != nil && len(words) == 2:
		return strings.Join(words, "-")
	}
	return strings.Join(words, ":")
}

// nameBrokers puts names for what is of this cluster alone.
func nameBrokers(c *kafkatest.Cluster, text string) string {
	var pairs []string
	for _, id := range c.Brokers() {
		pairs = append(pairs, c.BrokerAddr(id), fmt.Sprintf("broker-%d", id))
		for _, dir := range c.LogDirs(id) {
			pairs = append(pairs, dir, path.Base(dir))
		}
	}
	pairs = append(pairs, c.ClusterID(), "cluster-id")
	return strings.NewReplacer(pairs...).Replace(text)
}

// differing are the fields whose values differ from cluster to cluster and from
// moment to moment.
var differing = regexp.MustCompile(strings.Join([]string{
	`/(port|topicId|directoryId|leaderEpoch|(total|usable|replicas|done|rest)Bytes|percent)$`,
	`/(started|openMs|lastWrite|producerId|producerEpoch)$`,
	`/(member|clientId)$`,
	`^describe quorum/.*/(logEndOffset|lag|lastFetch|lastFetchMs|lastCaughtUp|lastCaughtUpMs|host)$`,
	`^describe quorum/0/observers/3/state$`, // lost, 6 s after it stopped
	`^describe quorum/0/(highWatermark|maxFollowerLag|maxFollowerLagMs)$`,
	`^describe features/.*[eE]poch$`,
	`^describe configs/.*controller.quorum.voters/.*value$`,
	// What a throttled replica has so far.
	`^lag/moving-0/replicas/2/(logEndOffset|lag|lagMax)$`,
	`^check health/0/maxLag$`,
	// When broker 3 was stopped.
	`^describe( topics|/0/unhealthy)/.*/since$`,
	// What coordinators write.
	`^lag/__.*(Offset|highWatermark)$`,
}, "|"))

// sinceClock is when it was stopped, in a sentence.
var sinceClock = regexp.MustCompile(` since \d\d:\d\d:\d\dZ`)

func masked(at, value string) string {
	value = sinceClock.ReplaceAllString(value, " since then")
	if differing.MatchString(at) && value != "" && value != "[]" {
		return some
	}
	return value
}

// diff is where b differs from a: path to both values. An item or a member that
// one of them lacks is one difference, not one a field.
func (a answers) diff(b answers) map[string][2]string {
	out := map[string][2]string{}
	for at, va := range a {
		vb, ok := b[at]
		switch {
		case !ok:
			out[a.missing(at, b)] = [2]string{"there", absent}
		case va != vb:
			out[at] = [2]string{va, vb}
		}
	}
	for at := range b {
		if _, ok := a[at]; !ok {
			out[b.missing(at, a)] = [2]string{absent, "there"}
		}
	}
	return out
}

// missing is the outermost part of the path that is not in other at all.
func (a answers) missing(at string, other answers) string {
	parts := strings.Split(at, "/")
	for n := 2; n < len(parts); n++ {
		outer := strings.Join(parts[:n], "/")
		if !other.has(outer) {
			return outer
		}
	}
	return at
}

func (a answers) has(outer string) bool {
	for at := range a {
		if at == outer || strings.HasPrefix(at, outer+"/") {
			return true
		}
	}
	return false
}
