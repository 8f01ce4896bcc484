package access

import (
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Addition is one call of kafka-acls.sh that grants what is missing.
type Addition struct {
	Resource   inspect.ResourceType
	Operations []inspect.Operation
	// Names are single ones; none is all.
	Names []string
}

// fewNames is up to how many names an Addition names; more are granted as all.
const fewNames = 5

// Additions are what grants the missing ACLs: names where they are few and are all
// that can be missing, else all names. Operations on the same names are one call, but
// for those that allow more than to look (see [Caution]): to grant these takes a
// decision.
func Additions(missing []Grant) []Addition {
	var out []Addition
	for i := range missing {
		g := &missing[i]
		var names []string
		if g.Status == Partly && len(g.Without) <= fewNames && !slices.ContainsFunc(g.Without, unprintable) {
			names = g.Without
		}
		at := slices.IndexFunc(out, func(a Addition) bool {
			return a.Resource == g.Resource && slices.Equal(a.Names, names) && Caution(inspect.ACL{Operation: a.Operations[0], Resource: a.Resource}) == ""
		})
		if at < 0 || Caution(g.ACL) != "" {
			at = len(out)
			out = append(out, Addition{Resource: g.Resource, Names: names})
		}
		out[at].Operations = append(out[at].Operations, g.Operation)
	}
	return out
}

// Command is the call, to be pasted by who may change ACLs.
func (a Addition) Command(bootstrap, principal string) string {
	words := []string{"kafka-acls.sh", "--bootstrap-server", quote(bootstrap), "--add", "--allow-principal", quote(principal)}
	for _, o := range a.Operations {
		words = append(words, "--operation", toolName(o))
	}
	flag := map[inspect.ResourceType]string{
		inspect.ResourceCluster: "--cluster", inspect.ResourceTopic: "--topic", inspect.ResourceGroup: "--group",
		inspect.ResourceTransactionalID: "--transactional-id",
	}[a.Resource]
	names := a.Names
	switch {
	case a.Resource == inspect.ResourceCluster:
		return strings.Join(append(words, flag), " ")
	case len(names) == 0:
		names = []string{"*"}
	}
	for _, name := range names {
		words = append(words, flag, quote(name))
	}
	return strings.Join(words, " ")
}

// toolName is the operation as kafka-acls.sh takes it: DescribeConfigs.
func toolName(o inspect.Operation) string {
	var b strings.Builder
	for word := range strings.SplitSeq(string(o), "_") {
		b.WriteString(word[:1] + strings.ToLower(word[1:]))
	}
	return b.String()
}

// quote is a word of a POSIX shell's command line.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-:,=/@%+", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// unprintable names cannot be pasted.
func unprintable(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r >= 0x7f })
}
