package cli

import (
	"path"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// topicFilter picks topics by exact names and globs.
type topicFilter struct {
	exact, globs    []string
	excludeInternal bool
}

// newTopicFilter sorts arguments into names and globs: a topic's name cannot
// hold any of *?[.
func newTopicFilter(args []string, excludeInternal bool) (topicFilter, error) {
	f := topicFilter{excludeInternal: excludeInternal}
	for _, arg := range args {
		switch {
		case arg == "":
			return f, usagef("an empty topic name")
		case !strings.ContainsAny(arg, "*?["):
			f.exact = append(f.exact, arg)
		default:
			if _, err := path.Match(arg, ""); err != nil {
				return f, usagef("topic pattern %q is not a glob: use *, ? and [a-z], and \\ before - or ] in brackets", arg)
			}
			f.globs = append(f.globs, arg)
		}
	}
	slices.Sort(f.exact)
	f.exact = slices.Compact(f.exact)
	return f, nil
}

// all reports whether no topic was named.
func (f *topicFilter) all() bool { return len(f.exact)+len(f.globs) == 0 }

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
	if f.all() || slices.Contains(f.exact, name) {
		return true
	}
	return slices.ContainsFunc(f.globs, func(g string) bool { return matches(g, name) })
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
	for _, g := range f.globs {
		if !slices.ContainsFunc(topics, func(t string) bool { return matches(g, t) }) {
			out = append(out, g)
		}
	}
	return out
}

func matches(glob, name string) bool {
	ok, _ := path.Match(glob, name) // the pattern was tried when it was parsed
	return ok
}
