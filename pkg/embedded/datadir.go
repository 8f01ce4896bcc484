package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// A data directory:
//
//	cluster.lock, cluster.pid   who has it open; the first stays, and says whose it is
//	controller/                 as Kafka's metadata.log.dir
//	broker-1/, broker-2/, …     as Kafka's log.dirs
//	kafkaops.log                what a cluster in the background says; the command's
const (
	lockName      = "cluster.lock"
	pidName       = "cluster.pid"
	controllerDir = "controller"
	brokerDir     = "broker-"
	commandLog    = "kafkaops.log"
)

// DirError says why a directory cannot be [Options].Dir: it holds something else, or it
// cannot be written. Nothing was written there.
type DirError struct {
	Dir string
	// Err is what is wrong: an error of the file system, or what lies there.
	Err error
}

func (e *DirError) Error() string { return "data directory " + e.Dir + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *DirError) Unwrap() error { return e.Err }

// dirError leaves out which call of the system failed, and on which file of ours.
func dirError(dir string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return &DirError{Dir: dir, Err: err}
}

// BrokersIn is how many brokers have data in a directory that is meant to be
// [Options].Dir: 0 where it is empty or not there. The error is a *[DirError] where it
// can be none.
func BrokersIn(dir string) (int, error) {
	if err := checkDir(dir); err != nil {
		return 0, err
	}
	f, err := lookInto(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return f.brokers, err
}

// checkDir refuses a directory with something in it that is not a cluster's of ours: it
// may be anybody's, the more so where it is a Kafka's.
func checkDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return dirError(dir, err)
	}
	var foreign []string
	for _, e := range entries {
		switch e.Name() {
		case lockName:
			return nil
		case commandLog, "lost+found": // the latter is the file system's own
		default:
			foreign = append(foreign, e.Name())
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	for _, of := range append([]string{""}, foreign...) {
		file := filepath.Join(of, "meta.properties")
		if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
			return &DirError{dir, fmt.Errorf("it has a Kafka's data (%s) and none of a cluster of this kind: choose an empty directory", file)}
		}
	}
	const some = 3
	what := strings.Join(foreign[:min(some, len(foreign))], ", ")
	if more := len(foreign) - some; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return &DirError{dir, fmt.Errorf("it is not empty (%s), and what lies there is no cluster's: choose an empty directory", what)}
}

// lockDir makes a data directory if need be and takes it. made are the directories that
// it made, the outermost first.
func lockDir(dir string) (lock io.Closer, made []string, err error) {
	if err := checkDir(dir); err != nil {
		return nil, nil, err
	}
	made = missing(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, made, dirError(dir, err)
	}
	lock, err = vfs.NewReal(dir).Lock(lockName)
	if errors.Is(err, vfs.ErrLocked) {
		return nil, made, fmt.Errorf("data directory %s is in use%s: stop that cluster first, or choose another directory", dir, by(dir))
	}
	if err != nil {
		return nil, made, dirError(dir, err)
	}
	if err := os.WriteFile(filepath.Join(dir, pidName), fmt.Appendln(nil, os.Getpid()), 0o644); err != nil {
		return nil, made, errors.Join(dirError(dir, err), lock.Close())
	}
	return lock, made, nil
}

// missing are dir and the directories above it that are not there, the outermost first.
func missing(dir string) (out []string) {
	for {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return out
		}
		out = append([]string{dir}, out...)
		up := filepath.Dir(dir)
		if up == dir {
			return out
		}
		dir = up
	}
}

// tidy takes away what a start that came to nothing has made, as far as it is empty: of a
// node that has begun there are files.
func (c *Cluster) tidy() {
	if !c.fresh {
		return
	}
	gone := func(name string) bool {
		err := os.Remove(filepath.Join(c.opts.Dir, name))
		return err == nil || errors.Is(err, fs.ErrNotExist) // it had not come to that
	}
	empty := gone(controllerDir)
	for id := 1; id <= len(c.brokers); id++ {
		empty = gone(brokerDir+strconv.Itoa(id)) && empty
	}
	if !empty {
		return
	}
	_ = os.Remove(filepath.Join(c.opts.Dir, lockName))
	for i := len(c.made) - 1; i >= 0; i-- {
		_ = os.Remove(c.made[i])
	}
}

// by says whose directory it is, if that is written there.
func by(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, pidName))
	pid := strings.TrimSpace(string(b))
	if err != nil || pid == "" {
		return ""
	}
	if pid == strconv.Itoa(os.Getpid()) {
		return " by another cluster of this process"
	}
	return " by process " + pid
}

// unlockDir gives the directory back.
func unlockDir(dir string, lock io.Closer) error {
	return errors.Join(os.Remove(filepath.Join(dir, pidName)), lock.Close())
}

// RemoveData removes what a cluster has written into a directory that was its
// [Options].Dir, for good: its nodes' data, the files beside them, and nothing else. The
// directory stays. Where there is no such data, or no directory, it does nothing. The error
// is a *[DirError] where what lies there is no cluster's, or where a cluster has it open.
func RemoveData(dir string) (err error) {
	if err := checkDir(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return dirError(dir, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, lockName)); errors.Is(err, fs.ErrNotExist) {
		return nil // no cluster was ever here
	}
	lock, err := vfs.NewReal(dir).Lock(lockName)
	if errors.Is(err, vfs.ErrLocked) {
		return &DirError{dir, fmt.Errorf("it is in use%s: stop that cluster first", by(dir))}
	}
	if err != nil {
		return dirError(dir, err)
	}
	defer func() {
		// Some systems do not remove what is open. It goes last: without it the rest would be
		// taken for somebody else's, and neither be opened nor removed again.
		if e := lock.Close(); err == nil {
			err = e
		}
		if err == nil {
			if err = os.Remove(filepath.Join(dir, lockName)); err != nil {
				err = dirError(dir, err)
			}
		}
	}()
	for _, e := range entries {
		if !isOurs(e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return dirError(dir, err)
		}
	}
	return nil
}

// isOurs: a cluster makes such a name in its data directory, beside its lock.
func isOurs(name string) bool {
	switch name {
	case controllerDir, pidName, commandLog:
		return true
	}
	id, numbered := brokerOf(name)
	return numbered && id > 0
}

// brokerOf reads the name of a broker's directory; id is 0 where a number is there, and
// no cluster gives one of that kind. numbered is false for other names.
func brokerOf(name string) (id int, numbered bool) {
	n, isBroker := strings.CutPrefix(name, brokerDir)
	id, err := strconv.Atoi(n)
	if !isBroker || err != nil {
		return 0, false
	}
	if id < 1 || id >= ControllerID || n != strconv.Itoa(id) {
		id = 0
	}
	return id, true
}

// found is what a data directory holds.
type found struct {
	clusterID string // "" if there is no cluster yet
	brokers   int
}

func lookInto(dir string) (found, error) {
	var f found
	entries, err := os.ReadDir(dir)
	if err != nil {
		return f, err
	}
	from := "" // where clusterID was read
	for _, e := range entries {
		broker, numbered := brokerOf(e.Name())
		switch {
		case numbered && !e.IsDir(), !numbered && e.Name() != controllerDir:
			continue
		case numbered && broker == 0:
			return f, &DirError{dir, fmt.Errorf("%s is no directory of a cluster, whose brokers are 1 to %d: move it elsewhere", e.Name(), ControllerID-1)}
		}
		f.brokers = max(f.brokers, broker)
		file := filepath.Join(e.Name(), "meta.properties")
		id, err := clusterID(filepath.Join(dir, file))
		switch {
		case err != nil:
			return f, &DirError{dir, fmt.Errorf("%s: %w", file, err)}
		case id == "" || id == f.clusterID:
		case f.clusterID != "":
			return f, &DirError{dir, fmt.Errorf("it has data of two clusters, or one id was changed: cluster.id is %s in %s and %s in %s: put the right one back, or move away what is of the other",
				f.clusterID, from, id, file)}
		default:
			f.clusterID, from = id, file
		}
	}
	return f, nil
}

// clusterID reads a meta.properties; "" if there is none.
func clusterID(file string) (string, error) {
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "cluster.id="); ok && id != "" {
			return id, nil
		}
	}
	what := "no cluster.id is in it"
	if len(b) == 0 {
		what = "it is empty"
	}
	return "", errors.New(what + ", so nobody knows whose data lies beside it: put the file back as it was, or move that directory away")
}
