package access

import (
	"maps"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Addition is one call of kafka-acls.sh that grants what is missing.
type Addition struct {
	Resource   inspect.ResourceType
	Operations []inspect.Operation
	// Names are single ones, or what names begin with; none is all.
	Names    []string
	Prefixed bool
}

// fewNames is up to how many names an Addition names where all were asked about;
// more are granted as all.
const fewNames = 5

// Additions are what grants the missing ACLs, and no more than was asked about:
// all names only where all were. Operations on the same names are one call, but
// for those that allow more than to look (see [Caution]): to grant these takes a
// decision. What an addition cannot help has none, see [Grant.Advice].
func Additions(missing []Grant) []Addition {
	var out []Addition
	for i := range missing {
		for _, add := range missing[i].additions() {
			at := slices.IndexFunc(out, func(a Addition) bool {
				return a.Resource == add.Resource && a.Prefixed == add.Prefixed && slices.Equal(a.Names, add.Names) &&
					Caution(inspect.ACL{Operation: a.Operations[0], Resource: a.Resource}) == ""
			})
			if at < 0 || Caution(missing[i].ACL) != "" {
				out = append(out, add)
				continue
			}
			out[at].Operations = append(out[at].Operations, add.Operations...)
		}
	}
	return out
}

// additions name names where they are few, and else what was asked about.
func (g *Grant) additions() []Addition {
	add := func(prefixed bool, names ...string) Addition {
		return Addition{Resource: g.Resource, Operations: []inspect.Operation{g.Operation}, Names: names, Prefixed: prefixed}
	}
	if g.Resource == inspect.ResourceCluster {
		return []Addition{add(false)}
	}
	names := slices.DeleteFunc(slices.Clone(g.Without), func(name string) bool { return slices.Contains(g.Denied, name) })
	if len(g.Without) > 0 && len(names) == 0 && len(g.Closed) == 0 {
		return nil
	}
	all := g.Asked.All() && !g.Unasked
	few := len(names) > 0 && len(names) <= fewNames && !slices.ContainsFunc(names, unprintable)
	switch {
	case all && !(few && g.Status == Partly):
		return []Addition{add(false)}
	case g.Unasked && !few:
		return nil
	}
	below := map[string]bool{}
	for _, prefix := range g.Closed {
		below[prefix] = true
	}
	if !few || g.Status != Partly {
		names = slices.DeleteFunc(names, func(name string) bool {
			i := slices.IndexFunc(g.Asked.Prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
			if i >= 0 {
				below[g.Asked.Prefixes[i]] = true
			}
			return i >= 0
		})
	}
	names = slices.DeleteFunc(names, unprintable)
	var out []Addition
	if len(names) > 0 {
		out = append(out, add(false, names...))
	}
	if prefixes := slices.DeleteFunc(slices.Sorted(maps.Keys(below)), unprintable); len(prefixes) > 0 {
		out = append(out, add(true, prefixes...))
	}
	return out
}

// AdminConfig is the file that [Addition.Command] names for the connection of who
// may change ACLs.
const AdminConfig = "admin.properties"

// Tool is a call of kafka-acls.sh; where the brokers want more than an address, by
// the config of who runs it.
func Tool(bootstrap string, secured bool, words ...string) string {
	call := []string{"kafka-acls.sh", "--bootstrap-server", quote(bootstrap)}
	if secured {
		call = append(call, "--command-config", AdminConfig)
	}
	return strings.Join(append(call, words...), " ")
}

// Command is the call, to be pasted by who may change ACLs; secured as for [Tool].
func (a Addition) Command(bootstrap string, secured bool, principal string) string {
	words := []string{"--add", "--allow-principal", quote(principal)}
	for _, o := range a.Operations {
		words = append(words, "--operation", toolName(o))
	}
	names := a.Names
	switch {
	case a.Resource == inspect.ResourceCluster:
		return Tool(bootstrap, secured, append(words, flagOf(a.Resource))...)
	case len(names) == 0:
		names = []string{"*"}
	case a.Prefixed:
		words = append(words, "--resource-pattern-type", "prefixed")
	}
	for _, name := range names {
		words = append(words, flagOf(a.Resource), quote(name))
	}
	return Tool(bootstrap, secured, words...)
}

// flagOf is the flag for a resource, of kafka-acls.sh as of check access.
func flagOf(r inspect.ResourceType) string {
	return map[inspect.ResourceType]string{
		inspect.ResourceCluster: "--cluster", inspect.ResourceTopic: "--topic", inspect.ResourceGroup: "--group",
		inspect.ResourceTransactionalID: "--transactional-id",
	}[r]
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
