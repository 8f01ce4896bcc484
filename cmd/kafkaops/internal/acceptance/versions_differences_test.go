package acceptance

import (
	"cmp"
	"regexp"
	"slices"
	"testing"
)

// The clusters of TestVersions, by name. All others are compared with the first.
const (
	kafka44   = "4.4.0"
	kafka40   = "4.0.0"
	kafka39   = "3.9.1"
	zooKeeper = "3.9.1 with ZooKeeper"
)

var (
	older    = []string{kafka40, kafka39, zooKeeper}
	before40 = []string{kafka39, zooKeeper}
)

const gone3 = "kafkaops: broker 3: not among the live brokers, and replicas are assigned to it; "

// difference is what is not the same on some versions as on the newest.
type difference struct {
	on    []string
	where string // a regular expression for the whole path
	is    string
	why   string
}

// differences are all that there may be: one that is not here fails the test, and
// so does one that is here and was not seen.
var differences = []difference{
	// Eligible leader replicas (KIP-966).
	{older, `(describe topics|describe/0/unhealthy)/.*/(elr|lastKnownElr)`, null, "the controller keeps none before 4.1, where eligible.leader.replicas.version is off"},
	{older, `(describe topics|describe/0/unhealthy|lag)/gone-0/isr`, "[3]", "without ELR the last replica stays in the ISR when it stops"},
	{older, `(describe topics|describe/0/unhealthy|lag)/gone-0/status`, "[offline]", "and by that ISR nothing but the leader is missing"},
	{older, `(describe topics|describe/0/unhealthy)/gone-0/outOfSyncReplicas`, "[]", "as its ISR says"},
	{older, `(describe topics|describe/0/unhealthy)/gone-0/headroom`, "0", "as its ISR says"},
	{older, `lag/gone-0/replicas/3/inSync`, "true", "as its ISR says"},
	{older, `(describe|check health)/0/underMinIsr`, "1", "gone-0 is not among them"},
	{older, `(describe|check health)/0/underReplicated`, "5", "gone-0 is not among them"},
	{older, `(describe|check health)/0/reasons/1`, "1 partition accepts no acks=all write (under min ISR)", "gone-0 is not among them"},
	{older, `check health/0/reasons/2`, "5 partitions have lost a replica: broker 3 is out of all of them", "gone-0 is not among them"},
	{[]string{kafka40, kafka39}, `describe/0/reasons/2`, "5 partitions have lost a replica: broker 3 is out of all of them since then, controlled-shutdown", "gone-0 is not among them"},
	{[]string{zooKeeper}, `describe/0/reasons/2`, "5 partitions have lost a replica: broker 3 is out of all of them", "gone-0 is not among them, and there is no log that tells since when"},
	{[]string{kafka40}, `describe brokers/3/outOfSync`, "17", "gone-0 is not among them"},
	{older, `describe configs/broker:[12]:min.insync.replicas/source`, "DEFAULT_CONFIG", "with ELR on, the controller has the cluster's default written down"},

	// Fenced brokers (KIP-1073: DescribeCluster version 2).
	{before40, `describe brokers/[12]/fenced`, null, "brokers do not tell before 4.0"},
	{before40, `describe brokers/3`, absent, "a broker that is down is not listed before 4.0, and nothing is known of it"},
	{before40, `(describe|check health)/0/reasons/4`, "broker 3 is not among the live brokers; replicas are assigned to it", "that it is fenced is not told"},
	{before40, `(describe|check health)/0/brokersFenced`, null, "brokers do not tell before 4.0"},
	{before40, `describe (configs/broker:3|log-dirs/3|features/.*/brokers/3)/error`, "not among the live brokers", "that it is fenced is not told"},
	{before40, `describe configs/stderr`, gone3 + "its settings are unknown\n", "that it is fenced is not told"},
	{before40, `describe log-dirs/stderr`, gone3 + "its log directories are unknown\n", "that it is fenced is not told"},
	{before40, `describe features/stderr`, gone3 + "its features are unknown\n", "that it is fenced is not told"},

	// What the release is, and has.
	{[]string{kafka40}, `describe brokers/[12]/versionRange`, "4.0", "the release"},
	{before40, `describe brokers/[12]/versionRange`, "3.9", "the release"},
	{older, `describe log-dirs/[12]:data-0/cordoned`, null, "directories could not be cordoned (KIP-1066)"},
	{older, `describe configs/broker:[12]:cordoned.log.dirs`, absent, "directories could not be cordoned (KIP-1066)"},
	{older, `describe configs/broker:[12]:controller.quorum.auto.join.enable`, absent, "controllers could not join by themselves"},
	{older, `describe configs/broker:2:follower.replication.throttled.rate/readOnly`, "true", "these brokers say so, though it can be changed"},
	{before40, `describe configs/broker:[12]:num.recovery.threads.per.data.dir/(default|value|synonyms/.*/value)`, "1", "the default was raised in 4.0 (KIP-1030)"},
	{before40, `describe configs/broker:[12]:zookeeper.session.timeout.ms`, "there", "brokers could have their sessions with ZooKeeper"},
	{before40, `lag groups/modern`, absent, "the consumer protocol (KIP-848) came with 4.0"},
	{before40, `check access/.*/seen`, "2", "the consumer protocol (KIP-848) came with 4.0, so there is a group less"},

	// Feature levels.
	{older, `describe features/(share|streams).version`, absent, "not yet a feature"},
	{before40, `describe features/(eligible.leader.replicas|group|transaction).version`, absent, "not yet a feature"},
	{[]string{kafka40}, `describe features/eligible.leader.replicas.version/(brokers/[12]/)?finalizedLevel`, "0", "off in a new cluster of 4.0"},
	{[]string{kafka40}, `describe features/metadata.version/(brokers/[12]/)?(finalizedLevel|maxSupported)`, "25", "the release's own"},
	{[]string{kafka40}, `describe features/metadata.version/release`, "4.0-IV3", "the release's own"},
	{[]string{kafka39}, `describe features/metadata.version/(brokers/[12]/)?(finalizedLevel|maxSupported)`, "21", "the release's own"},
	{[]string{kafka39}, `describe features/metadata.version/(brokers/[12]/)?minSupported`, "1", "the release's own"},
	{[]string{kafka39}, `describe features/metadata.version/release`, "3.9-IV0", "the release's own"},

	// ZooKeeper.
	{[]string{zooKeeper}, `.*/document/cluster/controller`, null, "there is no quorum to ask for it"},
	{[]string{zooKeeper}, `describe brokers/[12]/controller`, null, "there is no quorum to ask for it"},
	{[]string{zooKeeper}, `check access/.*/status`, "unavailable", "there is no quorum to ask for the controller"},
	{[]string{zooKeeper}, `check access/.*/needs`, "there", "what the cluster cannot do needs nothing"},
	{[]string{zooKeeper}, `check access/.*/needs/0`, absent, "what the cluster cannot do needs nothing"},
	{[]string{zooKeeper}, `describe( topics|/0/unhealthy)/.*/(since|cause)`, null, "there is no metadata log"},
	{[]string{zooKeeper}, `describe quorum/items`, "none", "there is no quorum"},
	{[]string{zooKeeper}, `describe quorum/0`, absent, "there is no quorum"},
	{[]string{zooKeeper}, `describe/0/findings/small-quorum`, absent, "there is no quorum"},
	{[]string{zooKeeper}, `describe features/items`, "none", "brokers tell no features"},
	{[]string{zooKeeper}, `describe features/(kraft|metadata).version`, absent, "brokers tell no features"},
	{[]string{zooKeeper}, `describe configs/broker:[12]:controller.quorum.voters/value`, "", "there is no quorum"},
	{[]string{zooKeeper}, `describe configs/broker:[12]:controller.quorum.voters/source`, "DEFAULT_CONFIG", "there is no quorum"},
	{[]string{zooKeeper}, `describe configs/broker:[12]:controller.quorum.voters/deviates`, "false", "there is no quorum"},
}

// sameButFor fails the test where the answers of an older cluster differ from
// those of the newest in another way than is listed, or not in a way that is.
func sameButFor(t *testing.T, name string, newest, old answers) {
	t.Helper()
	var listed []difference
	for _, d := range differences {
		if slices.Contains(d.on, name) {
			listed = append(listed, d)
		}
	}
	seen := make([]int, len(listed))
	var unlisted [][3]string
	for at, values := range newest.diff(old) {
		i := slices.IndexFunc(listed, func(d difference) bool {
			return d.is == values[1] && regexp.MustCompile("^(?:"+d.where+")$").MatchString(at)
		})
		if i < 0 {
			unlisted = append(unlisted, [3]string{at, values[0], values[1]})
			continue
		}
		seen[i]++
	}
	slices.SortFunc(unlisted, func(a, b [3]string) int { return cmp.Compare(a[0], b[0]) })
	for _, u := range unlisted {
		t.Errorf("%s\n%s: %s\n%s: %s", u[0], kafka44, u[1], name, u[2])
	}
	for i, d := range listed {
		if seen[i] == 0 {
			t.Errorf("not so: %s is %q, because %s", d.where, d.is, d.why)
		}
	}
}
