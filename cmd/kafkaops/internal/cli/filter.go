package cli

import (
	"path"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// nameFilter picks things by exact names and globs.
type nameFilter struct{ exact, globs []string }

// newNameFilter sorts arguments into names and globs: whatever holds any of *?[
// is a glob. Topics' names cannot, groups' can, and are then matched by it.
func newNameFilter(noun string, args []string) (nameFilter, error) {
	var f nameFilter
	for _, arg := range args {
		switch {
		case arg == "":
			return f, usagef("an empty %s name", noun)
		case !strings.ContainsAny(arg, "*?["):
			f.exact = append(f.exact, arg)
		default:
			if _, err := path.Match(arg, ""); err != nil {
				return f, usagef("%s pattern %q is not a glob: use *, ? and [a-z], and \\ before - or ] in brackets", noun, arg)
			}
			f.globs = append(f.globs, arg)
		}
	}
	slices.Sort(f.exact)
	f.exact = slices.Compact(f.exact)
	return f, nil
}

// all reports whether nothing was named.
func (f *nameFilter) all() bool { return len(f.exact)+len(f.globs) == 0 }

func (f *nameFilter) matches(name string) bool {
	return f.all() || slices.Contains(f.exact, name) ||
		slices.ContainsFunc(f.globs, func(g string) bool { return matches(g, name) })
}

// scope is what the filter is about, to Kafka's ACLs.
func (f *nameFilter) scope() inspect.Scope {
	scope := inspect.Scope{Names: f.exact}
	for _, glob := range f.globs {
		switch prefix := strings.TrimRight(glob, "*"); {
		case prefix == "":
			return inspect.Scope{}
		case prefix != glob && !strings.ContainsAny(prefix, `*?[\`):
			scope.Prefixes = append(scope.Prefixes, prefix)
		default:
			scope.Globs = append(scope.Globs, glob)
		}
	}
	return scope
}

// unmatchedGlobs returns the globs that none of the names answers to.
func (f *nameFilter) unmatchedGlobs(names []string) []string {
	var out []string
	for _, g := range f.globs {
		if !slices.ContainsFunc(names, func(n string) bool { return matches(g, n) }) {
			out = append(out, g)
		}
	}
	return out
}

// topicFilter picks topics.
type topicFilter struct {
	nameFilter
	excludeInternal bool
}

func newTopicFilter(args []string, excludeInternal bool) (topicFilter, error) {
	names, err := newNameFilter("topic", args)
	return topicFilter{names, excludeInternal}, err
}

// query asks for the named topics only where there is no glob to expand.
func (f *topicFilter) query() source.Query {
	q := source.Query{Keep: f.keep}
	if len(f.globs) == 0 {
		q.Topics = f.exact
	}
	return q
}

func (f *topicFilter) keep(name string, internal bool) bool {
	if f.excludeInternal && internal {
		return false
	}
	return f.matches(name)
}

// unmatched returns the names and globs that none of the topics answers to. A
// name that the broker was asked for is among the topics, with an error where
// there is none.
func (f *topicFilter) unmatched(topics []string) []string {
	var out []string
	for _, name := range f.exact {
		if !slices.Contains(topics, name) {
			out = append(out, name)
		}
	}
	return append(out, f.unmatchedGlobs(topics)...)
}

// matches reports whether the whole name answers to the glob. A slash, which a
// group's name may have, is a letter like others.
func matches(glob, name string) bool {
	letter := strings.NewReplacer("/", "\x00")
	ok, _ := path.Match(letter.Replace(glob), letter.Replace(name)) // the pattern was tried when it was parsed
	return ok
}
