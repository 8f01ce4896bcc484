package kafkatest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// cacheEnv moves the cache, for machines without a home directory.
const cacheEnv = "KAFKAOPS_TEST_CACHE"

// cacheRoot returns the directory of everything this package keeps:
//
//	kafka-VERSION/libs/*.jar        what Fetch resolved
//	kafka-VERSION/classes-JAVA.jsa  class data archive: halves a node's start
//	kafka-VERSION/format-ARGS/      a formatted controller's directory, to copy
//	run/                            clusters that are up, and what failed ones left
//	fetch.lock, cluster.lock
func cacheRoot() (string, error) {
	if dir := os.Getenv(cacheEnv); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("kafkatest: no cache directory: %w; set %s to one", err, cacheEnv)
	}
	return filepath.Join(dir, "kafkaops-test"), nil
}

// An install is one version of Kafka in the cache.
type install struct {
	version string
	root    string // the cache
	dir     string // root/kafka-VERSION
}

func installOf(version string) (install, error) {
	root, err := cacheRoot()
	if err != nil {
		return install{}, err
	}
	return install{version: version, root: root, dir: filepath.Join(root, "kafka-"+version)}, nil
}

// present reports whether the jars are there. They appear in one rename, so
// that half of them never are.
func (in install) present() bool {
	_, err := os.Stat(filepath.Join(in.dir, "libs"))
	return err == nil
}

// classpath returns all jars, in an order that never changes: a class data
// archive is good for one class path only.
func (in install) classpath() (string, error) {
	jars, err := filepath.Glob(filepath.Join(in.dir, "libs", "*.jar")) // Glob sorts
	if err != nil {
		return "", fmt.Errorf("kafkatest: list jars: %w", err)
	}
	if len(jars) == 0 {
		return "", fmt.Errorf("kafkatest: no jars in %s: remove it and run make deps", in.dir)
	}
	return strings.Join(jars, string(os.PathListSeparator)), nil
}

// archive returns the file of the class data archive for one Java: it is of no
// use to another.
func (in install) archive(java, version string) string {
	return filepath.Join(in.dir, "classes-"+shortHash(java, version)+".jsa")
}

// shortHash names files after what they depend on.
func shortHash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// runDir makes an empty directory for a cluster.
func (in install) runDir() (string, error) {
	run := filepath.Join(in.root, "run")
	if err := os.MkdirAll(run, 0o755); err != nil {
		return "", fmt.Errorf("kafkatest: %w", err)
	}
	dir, err := os.MkdirTemp(run, "cluster-")
	if err != nil {
		return "", fmt.Errorf("kafkatest: %w", err)
	}
	return dir, nil
}

// sweep removes what clusters of the past left. Only the holder of the
// cluster lock may call it.
func (in install) sweep() { _ = os.RemoveAll(filepath.Join(in.root, "run")) }
