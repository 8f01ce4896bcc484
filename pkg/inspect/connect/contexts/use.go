package contexts

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Use makes the context of that name the current one, in the file and in f. One
// value of the file changes, or a line is added at its end; the file is replaced
// at once, so that nobody reads half of it, and keeps its permissions. A symbolic
// link stays one.
func (f *File) Use(name string) error {
	if _, err := f.Get(name); err != nil {
		return err
	}
	if f.Current == name {
		return nil
	}
	text, err := f.edited(name)
	if err != nil {
		return err
	}
	// Whoever wrote the file may have found a way to write YAML that an edit by
	// line does not expect: what it says now is the proof.
	next := &File{Path: f.Path, text: text}
	if err := next.parse(); err != nil || next.Current != name || !reflect.DeepEqual(next.unplaced(), f.unplaced()) {
		return f.byHand(name)
	}
	if err := replace(f.Path, text); err != nil {
		return fmt.Errorf("%s: %s: %w", f.Path, keyCurrent, err)
	}
	*f = *next
	return nil
}

// unplaced are the contexts without their lines.
func (f *File) unplaced() []Context {
	out := make([]Context, len(f.Contexts))
	for i, c := range f.Contexts {
		c.Line = 0
		out[i] = c
	}
	return out
}

func (f *File) byHand(name string) error {
	return fmt.Errorf("%s:%d: %s is written in a way that cannot be changed safely: write %s: %s by hand",
		f.Path, max(1, f.currentLine), keyCurrent, keyCurrent, quoted(name))
}

// quoted is a name as YAML has it.
func quoted(name string) string {
	text, err := yaml.Marshal(name)
	if err != nil {
		return fmt.Sprintf("%q", name)
	}
	return strings.TrimSuffix(string(text), "\n")
}

// The forms of a text on one line, at the beginning of what is given.
var (
	singleQuoted = regexp.MustCompile(`^'(?:[^']|'')*'`)
	doubleQuoted = regexp.MustCompile(`^"(?:[^"\\]|\\.)*"`)
)

// edited is the file's text with another current context.
func (f *File) edited(name string) ([]byte, error) {
	root, err := f.root()
	if err != nil {
		return nil, err
	}
	value := valueOf(root, keyCurrent)
	if value == nil {
		return f.appended(name), nil
	}
	text, mark := strings.CutPrefix(string(f.text), byteOrderMark)
	lines := strings.SplitAfter(text, "\n")
	if value.Line > len(lines) {
		return nil, f.byHand(name)
	}
	runes := []rune(lines[value.Line-1])
	if value.Column-1 > len(runes) {
		return nil, f.byHand(name)
	}
	before, after := string(runes[:value.Column-1]), string(runes[value.Column-1:])
	var written string
	switch value.Style {
	case yaml.SingleQuotedStyle:
		written = singleQuoted.FindString(after)
	case yaml.DoubleQuotedStyle:
		written = doubleQuoted.FindString(after)
	default:
		written = value.Value
	}
	rest, ok := strings.CutPrefix(after, written)
	if !ok {
		return nil, f.byHand(name)
	}
	if written == "" { // there is nothing behind the colon
		before += " "
	}
	lines[value.Line-1] = before + quoted(name) + rest
	text = strings.Join(lines, "")
	if mark {
		text = byteOrderMark + text
	}
	return []byte(text), nil
}

func valueOf(root *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			return root.Content[i+1]
		}
	}
	return nil
}

// appended is the text with a line more, which ends as the others do.
func (f *File) appended(name string) []byte {
	end := "\n"
	if strings.Contains(string(f.text), "\r\n") {
		end = "\r\n"
	}
	text := string(f.text)
	if !strings.HasSuffix(text, "\n") {
		text += end
	}
	return []byte(text + keyCurrent + ": " + quoted(name) + end)
}

// replace puts text in the place of a file, all at once.
func replace(path string, text []byte) (err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".config-*.yaml")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if err == nil {
		err = keepOwner(tmp, info)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}
