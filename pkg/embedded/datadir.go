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
//	cluster.lock, cluster.pid   who has it open
//	controller/                 as Kafka's metadata.log.dir
//	broker-1/, broker-2/, …     as Kafka's log.dirs
const (
	lockName      = "cluster.lock"
	pidName       = "cluster.pid"
	controllerDir = "controller"
	brokerDir     = "broker-"
)

// lockDir makes a data directory if need be and takes it.
func lockDir(dir string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	lock, err := vfs.NewReal(dir).Lock(lockName)
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("data directory %s is in use%s: stop that cluster first, or choose another directory", dir, by(dir))
	}
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, pidName), fmt.Appendln(nil, os.Getpid()), 0o644); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
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
	for _, e := range entries {
		n, isBroker := strings.CutPrefix(e.Name(), brokerDir)
		if id, err := strconv.Atoi(n); isBroker && err == nil && e.IsDir() {
			f.brokers = max(f.brokers, id)
		} else if e.Name() != controllerDir {
			continue
		}
		id, err := clusterID(filepath.Join(dir, e.Name()))
		switch {
		case err != nil:
			return f, err
		case id == "" || id == f.clusterID:
		case f.clusterID != "":
			return f, fmt.Errorf("data directory %s has data of two clusters, %s and %s (%s)", dir, f.clusterID, id, e.Name())
		default:
			f.clusterID = id
		}
	}
	return f, nil
}

// clusterID reads a node's meta.properties; "" if there is none.
func clusterID(dir string) (string, error) {
	b, err := os.ReadFile(filepath.Join(dir, "meta.properties"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "cluster.id="); ok {
			return id, nil
		}
	}
	return "", fmt.Errorf("%s: no cluster.id", filepath.Join(dir, "meta.properties"))
}
