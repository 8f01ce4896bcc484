package contexts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"go.yaml.in/yaml/v3"
)

// The fields at the top.
const (
	keyCurrent  = "current-context"
	keyContexts = "contexts"
)

// fields are those of a context, in the order in which errors list them.
var fields = []string{
	"bootstrap-server", "command-config", "controller", "controller-config", "jmx", "cluster-id", "readonly",
}

// byteOrderMark begins files that some editors write.
const byteOrderMark = "\ufeff"

// parse fills f from its text.
func (f *File) parse() error {
	root, err := f.root()
	if err != nil || root == nil {
		return err
	}
	top, err := f.mapping(root, "")
	if err != nil {
		return err
	}
	for _, e := range top {
		switch e.name {
		case keyCurrent:
			f.currentLine = e.line
			if f.Current, err = f.scalar(e); err != nil {
				return err
			}
		case keyContexts:
			if err := f.parseContexts(e); err != nil {
				return err
			}
		default:
			if like := nearest(e.name, []string{keyCurrent, keyContexts}); like != "" {
				return f.errorf(e, "unknown field: did you mean %s?", like)
			}
		}
	}
	return nil
}

// root is the document's one value, or nil for an empty file.
func (f *File) root() (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(f.text, []byte(byteOrderMark))))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err == nil {
		err = dec.Decode(&more)
		if err == nil {
			return nil, fmt.Errorf("%s:%d: a second document begins: use one", f.Path, more.Line)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, f.syntaxError(err)
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	return root, nil
}

var libraryError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

// nameTab names the one character that nobody sees in an editor.
func nameTab(cause string) string {
	if strings.Contains(cause, "found character that cannot start any token") {
		return cause + " (such as a tab: YAML is indented with blanks)"
	}
	return cause
}

// syntaxError puts the library's own error, with its line, in our form.
func (f *File) syntaxError(err error) error {
	m := libraryError.FindStringSubmatch(err.Error())
	switch {
	case m == nil:
		return fmt.Errorf("%s: not valid YAML: %w", f.Path, err)
	case strings.HasPrefix(m[2], "unknown anchor"): // the library shows the name: it may be a password
		return fmt.Errorf("%s: not valid YAML: a text that begins with * stands for another one, which there is not: write it in quotes", f.Path)
	case m[1] == "":
		return fmt.Errorf("%s: not valid YAML: %s", f.Path, nameTab(m[2]))
	}
	return fmt.Errorf("%s:%s: not valid YAML: %s", f.Path, m[1], nameTab(m[2]))
}

// entry is a key of a mapping with its value.
type entry struct {
	name string
	// path is how errors call it: contexts.prod.jmx.
	path  string
	line  int
	value *yaml.Node
}

// errorf is an error about e that says where that is.
func (f *File) errorf(e entry, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %w", f.Path, e.line, e.path, fmt.Errorf(format, args...))
}

// mapping are the entries of a mapping, which has no key twice.
func (f *File) mapping(n *yaml.Node, path string) ([]entry, error) {
	n = target(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		what := path
		if what == "" {
			what = "the file"
		}
		return nil, fmt.Errorf("%s:%d: %s: is no mapping: write name: value, a line each", f.Path, n.Line, what)
	}
	var entries []entry
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		e := entry{name: key.Value, path: key.Value, line: key.Line, value: n.Content[i+1]}
		if path != "" {
			e.path = path + "." + e.name
		}
		switch first, twice := seen[e.name]; {
		case key.Tag == "!!merge":
			return nil, f.errorf(e, "merged fields are not supported: write them out")
		case key.Kind != yaml.ScalarNode || !printable(key.Value):
			return nil, fmt.Errorf("%s:%d: %s: a key that is no name", f.Path, key.Line, path)
		case twice:
			return nil, f.errorf(e, "is there twice, first in line %d", first)
		}
		seen[e.name] = e.line
		entries = append(entries, e)
	}
	return entries, nil
}

func printable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// target follows a reference (*name).
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (f *File) parseContexts(all entry) error {
	named, err := f.mapping(all.value, all.path)
	if err != nil {
		return err
	}
	for _, e := range named {
		c := Context{Name: e.name, Line: e.line}
		set, err := f.mapping(e.value, e.path)
		if err != nil {
			return err
		}
		for _, field := range set {
			if err := f.set(&c, field); err != nil {
				return err
			}
		}
		f.Contexts = append(f.Contexts, c)
	}
	slices.SortFunc(f.Contexts, func(a, b Context) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// set fills the field of c that e is about.
func (f *File) set(c *Context, e entry) (err error) {
	switch e.name {
	case "bootstrap-server":
		c.Bootstrap, err = f.addresses(e, connect.ParseBootstrap)
	case "controller":
		c.Controller, err = f.addresses(e, connect.ParseControllers)
	case "command-config":
		c.CommandConfig, err = f.file(e)
	case "controller-config":
		c.ControllerConfig, err = f.file(e)
	case "jmx":
		c.JMX, err = f.scalar(e)
	case "cluster-id":
		c.ClusterID, err = f.scalar(e)
	case "readonly":
		c.ReadOnly, err = f.yesOrNo(e)
	default:
		if strings.Contains(e.name, ":") && e.value.Kind == yaml.ScalarNode && e.value.Tag == "!!null" {
			return f.errorf(e, "no field but an address: within { } write several as [a:9092, b:9092]")
		}
		if like := nearest(e.name, fields); like != "" {
			return f.errorf(e, "unknown field: did you mean %s?", like)
		}
		return f.errorf(e, "unknown field: use %s", strings.Join(fields, ", "))
	}
	return err
}

// scalar is a text, as it is written: an id of digits alone is not taken for a
// number. An empty one is none, in quotes too: tools write current-context: "".
func (f *File) scalar(e entry) (string, error) {
	n := target(e.value)
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", f.errorf(e, "takes one text, not a list or a mapping")
	case n.Tag == "!!null", n.Value == "":
		return "", nil
	case !printable(n.Value):
		return "", f.errorf(e, "takes a text on one line")
	}
	return n.Value, nil
}

func (f *File) yesOrNo(e entry) (bool, error) {
	n := target(e.value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		return false, f.errorf(e, "use true or false")
	}
	return strconv.ParseBool(strings.ToLower(n.Value))
}

// addresses are a list, or one text with commas.
func (f *File) addresses(e entry, parse func(string) ([]string, error)) ([]string, error) {
	texts := []*yaml.Node{e.value}
	if n := target(e.value); n.Kind == yaml.SequenceNode {
		texts = n.Content
	}
	var parts []string
	for _, n := range texts {
		text, err := f.scalar(entry{name: e.name, path: e.path, line: n.Line, value: n})
		if err != nil {
			return nil, err
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	addrs, err := parse(strings.Join(parts, ","))
	if err != nil {
		return nil, f.errorf(e, "%w", err)
	}
	return addrs, nil
}

// file is a path, from the directory of the file.
func (f *File) file(e entry) (string, error) {
	path, err := f.scalar(e)
	switch {
	case err != nil || path == "":
		return "", err
	case path == "~" || strings.HasPrefix(path, "~/"):
		return "", f.errorf(e, "~ is the shell's: write the whole path, or one from %s", filepath.Dir(f.Path))
	case filepath.IsAbs(path):
		return path, nil
	}
	return filepath.Join(filepath.Dir(f.Path), path), nil
}
