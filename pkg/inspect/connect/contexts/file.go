package contexts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Context is a named cluster. A zero field is not set.
type Context struct {
	Name string
	// Bootstrap and Controller are addresses as host:port.
	Bootstrap, Controller []string
	// CommandConfig and ControllerConfig are paths of client.properties, relative
	// to the working directory at most where [Read] was given such a path.
	CommandConfig, ControllerConfig string
	// JMX says where the brokers' own meters are: see Agents.
	JMX string
	// ClusterID is the id that the cluster must have.
	ClusterID string
	// ReadOnly says that kafkaops must not change the cluster.
	ReadOnly bool
	// Line is where in the file the context begins, from 1.
	Line int
}

// File is a configuration file as it was read.
type File struct {
	// Path is the file's, whether it is there or not.
	Path string
	// Current is the name of the context that is used where none is named; empty
	// for none. It may name one that is not there, which [File.Get] then says.
	Current string
	// Contexts are sorted by name.
	Contexts []Context

	text        []byte
	currentLine int
}

// maxBytes is more than anybody writes, and little enough to read.
const maxBytes = 1 << 20

// Path is where the file lies: $XDG_CONFIG_HOME/kafkaops/config.yaml, without that
// ~/.config/kafkaops/config.yaml. It is empty where neither can be told. A
// relative XDG_CONFIG_HOME is passed over, as its specification wants.
func Path(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := getenv("HOME")
		if home == "" {
			home = getenv("USERPROFILE") // Windows
		}
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "kafkaops", "config.yaml")
}

// Read reads the file. One that is not there has no contexts. Errors name file,
// line and field, and no values but addresses.
func Read(path string) (*File, error) {
	f := &File{Path: path}
	if path == "" {
		return f, nil
	}
	in, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("contexts: %w", err)
	}
	defer in.Close()
	f.text, err = io.ReadAll(io.LimitReader(in, maxBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("contexts: %w", err)
	case len(f.text) > maxBytes:
		return nil, fmt.Errorf("%s: longer than %d bytes: is this the right file?", path, maxBytes)
	}
	if err := f.parse(); err != nil {
		return nil, err
	}
	return f, nil
}

// Get returns the context of that name, or an error that lists those there are.
func (f *File) Get(name string) (*Context, error) {
	for i := range f.Contexts {
		if f.Contexts[i].Name == name {
			return &f.Contexts[i], nil
		}
	}
	return nil, fmt.Errorf("no context %q: %s", name, f.known())
}

// GetCurrent returns the current context; nil where there is none.
func (f *File) GetCurrent() (*Context, error) {
	if f.Current == "" {
		return nil, nil
	}
	c, err := f.Get(f.Current)
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %s: %w", f.Path, f.currentLine, keyCurrent, err)
	}
	return c, nil
}

// Names are those of all contexts, sorted.
func (f *File) Names() []string {
	names := make([]string, len(f.Contexts))
	for i := range f.Contexts {
		names[i] = f.Contexts[i].Name
	}
	return names
}

// known says which contexts there are.
func (f *File) known() string {
	switch {
	case f.Path == "":
		return "there are none, as neither XDG_CONFIG_HOME nor HOME says where their file is"
	case f.text == nil:
		return "there are none, as there is no " + f.Path
	case len(f.Contexts) == 0:
		return "there are none in " + f.Path
	}
	return fmt.Sprintf("%s has %s", f.Path, strings.Join(f.Names(), ", "))
}

// Agents are the addresses in JMX: URLs of Jolokia agents or Prometheus JMX exporters,
// with commas between them. A comma before anything but a URL is a part of one: of a
// password, say.
func (c *Context) Agents() (urls []string) {
	for piece := range strings.SplitSeq(c.JMX, ",") {
		begins := strings.HasPrefix(strings.TrimSpace(piece), "http://") || strings.HasPrefix(strings.TrimSpace(piece), "https://")
		if n := len(urls); n > 0 && !begins {
			urls[n-1] += "," + piece
			continue
		}
		urls = append(urls, piece)
	}
	for i := range urls {
		urls[i] = strings.TrimSpace(urls[i])
	}
	return slices.DeleteFunc(urls, func(u string) bool { return u == "" })
}
