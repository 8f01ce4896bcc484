package local

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
)

// DefaultName is the cluster that is meant where none is named.
const DefaultName = "default"

// Place is where a cluster lies.
type Place struct {
	// Name is as the user gave it; with a directory of its own, the directory's.
	Name string
	// Data is the directory of its logs, an absolute path. A cluster in memory has
	// none there; the path still tells it from others.
	Data string
	// Socket is its control socket. It and the log of a cluster in memory lie in Run.
	Socket, Run string
	// Homeless is why there is no Data: a cluster there can only be one in memory.
	Homeless error
	// own: Data was given by hand.
	own bool
}

// names are those that are good in a path and in a shell.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Find is the place of the cluster of that name, with its data in
// $XDG_STATE_HOME/kafkaops/clusters/NAME (~/.local/state without it), or of the one
// whose data lies in the directory data, unless that is empty. Nothing is opened or
// made. Without a home it is a place for a cluster in memory.
func Find(getenv func(string) string, name, data string) (Place, error) {
	if !names.MatchString(name) {
		return Place{}, fmt.Errorf("cluster name %q: use at most 64 letters, digits, dots, dashes and underscores, the first a letter or a digit", name)
	}
	p := Place{Name: name, own: data != ""}
	if p.own {
		abs, err := filepath.Abs(data)
		if err != nil {
			return Place{}, fmt.Errorf("data directory: %w", err)
		}
		p.Data, p.Name = resolved(abs), filepath.Base(abs)
	} else {
		state, err := StateHome(getenv)
		if err != nil {
			p.Homeless = fmt.Errorf("%w, or use --data DIR", err)
		} else {
			p.Data = filepath.Join(state, "kafkaops", "clusters", name)
		}
	}
	p.Run = runDir(getenv)
	id := p.Data
	if p.Homeless != nil {
		id = name
	}
	sum := sha256.Sum256([]byte(id))
	p.Socket = filepath.Join(p.Run, hex.EncodeToString(sum[:6])+".sock")
	// A unix socket's path has to fit into 104 bytes on macOS, 108 elsewhere, with a
	// zero at its end.
	const longest = 103
	if len(p.Socket) > longest {
		return Place{}, fmt.Errorf("the control socket's path %s is longer than %d bytes: set XDG_RUNTIME_DIR to a shorter directory", p.Socket, longest)
	}
	return p, nil
}

// Log is the file that a cluster in the background writes to.
func (p *Place) Log(ephemeral bool) string {
	if ephemeral {
		return p.Socket[:len(p.Socket)-len(".sock")] + ".log"
	}
	return filepath.Join(p.Data, "kafkaops.log")
}

// Flags are what a command needs to find the place again; empty for the default.
func (p *Place) Flags() []string {
	switch {
	case p.own:
		return []string{"--data", p.Data}
	case p.Name != DefaultName:
		return []string{"--name", p.Name}
	}
	return nil
}

// resolved follows symbolic links as far as the path is there, so that two ways to
// one directory are one place.
func resolved(path string) string {
	rest := ""
	for at := path; ; {
		if there, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(there, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = up
	}
}

// StateHome is where what a program keeps lies; see the XDG base directory
// specification, by which a relative path is passed over.
func StateHome(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	for _, home := range []string{getenv("HOME"), getenv("USERPROFILE")} { // the latter on Windows
		if home != "" {
			return filepath.Join(home, ".local", "state"), nil
		}
	}
	return "", errors.New("neither XDG_STATE_HOME nor HOME says where state is kept: set one")
}

// runDir is a directory of this user alone, which ends with the session where the
// system has such: $XDG_RUNTIME_DIR, else one with the user's number in its name.
func runDir(getenv func(string) string) string {
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "kafkaops")
	}
	tmp := getenv("TMPDIR")
	if !filepath.IsAbs(tmp) {
		tmp = os.TempDir()
	}
	if runtime.GOOS == "windows" { // the directory is the user's already, who has no number
		return filepath.Join(tmp, "kafkaops")
	}
	return filepath.Join(tmp, "kafkaops-"+strconv.Itoa(os.Getuid()))
}

// makePrivate makes the directory of sockets, or refuses one that others can enter.
func makePrivate(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("directory of control sockets: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("directory of control sockets: %w", err)
	}
	info, err := os.Lstat(dir) // not through a link that somebody else has laid
	if err != nil {
		return fmt.Errorf("directory of control sockets: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory: remove it, or set XDG_RUNTIME_DIR to a directory of your own", dir)
	}
	return checkPrivate(dir, info)
}
