package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Identity is whose a log directory is: meta.properties.
type Identity struct {
	ClusterID string
	NodeID    int32
	// DirectoryID is base64; a new directory gets it, an old one keeps its own
	// (KIP-858).
	DirectoryID string
}

// identify reads meta.properties, or writes it if there is none.
func identify(fsys vfs.FS, want Identity) (Identity, error) {
	b, err := vfs.ReadFile(fsys, metaProperties)
	if errors.Is(err, fs.ErrNotExist) {
		text := fmt.Sprintf("#\ncluster.id=%s\ndirectory.id=%s\nnode.id=%d\nversion=1\n", want.ClusterID, want.DirectoryID, want.NodeID)
		return want, failed("write", metaProperties, NoOffset, vfs.WriteFile(fsys, metaProperties, []byte(text)))
	}
	if err != nil {
		return Identity{}, failed("read", metaProperties, NoOffset, err)
	}
	props := properties(string(b), "=")
	node, err := strconv.ParseInt(props["node.id"], 10, 32)
	if err != nil || props["version"] != "1" {
		return Identity{}, failed("read", metaProperties, NoOffset, fmt.Errorf("%w: no version=1 with a node.id", ErrCorrupt))
	}
	got := Identity{ClusterID: props["cluster.id"], NodeID: int32(node), DirectoryID: props["directory.id"]}
	if got.ClusterID != want.ClusterID || got.NodeID != want.NodeID {
		return got, fmt.Errorf("%s: node %d of cluster %s; this is node %d of cluster %s: %w",
			metaProperties, got.NodeID, got.ClusterID, want.NodeID, want.ClusterID, ErrWrongDir)
	}
	return got, nil
}

// properties reads lines of key and value; # begins a comment.
func properties(text, sep string) map[string]string {
	props := map[string]string{}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), sep)
		if ok && !strings.HasPrefix(key, "#") {
			props[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return props
}

// cleanShutdown is .kafka_cleanshutdown. 4.4 still writes version 0
// (CleanShutdownFileHandler.CURRENT_VERSION).
type cleanShutdown struct {
	Version     int   `json:"version"`
	BrokerEpoch int64 `json:"brokerEpoch"`
}

// takeCleanShutdown reports whether the directory was closed, and by the broker
// of which epoch, and removes the mark: what happens from now on is not covered,
// once the caller has synced the directory.
// A mark that cannot be read counts all the same, as CleanShutdownFileHandler has
// it, with epoch -1.
func (d *Dir) takeCleanShutdown() (epoch int64, clean bool, err error) {
	b, err := vfs.ReadFile(d.fs, cleanShutdownFile)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, false, nil
	}
	if err != nil {
		return -1, false, failed("read", cleanShutdownFile, NoOffset, err)
	}
	mark := cleanShutdown{BrokerEpoch: -1}
	if err := json.Unmarshal(b, &mark); err != nil {
		mark.BrokerEpoch = -1
		d.repaired(cleanShutdownFile, NoOffset, fmt.Errorf("%w: %w", ErrCorrupt, err), "counts, of a broker epoch that is not known")
	}
	if err := removeFile(d.fs, cleanShutdownFile); err != nil {
		return -1, false, err
	}
	return mark.BrokerEpoch, true, nil
}

func writeCleanShutdown(fsys vfs.FS, epoch int64) error {
	b, err := json.Marshal(cleanShutdown{BrokerEpoch: epoch})
	if err != nil {
		return err
	}
	return failed("write", cleanShutdownFile, NoOffset, vfs.WriteFile(fsys, cleanShutdownFile, b))
}

// readTopicID reads partition.metadata; empty if there is none.
func readTopicID(fsys vfs.FS, dir string) (string, error) {
	name := path.Join(dir, partitionMeta)
	b, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", failed("read", name, NoOffset, err)
	}
	props := properties(string(b), ":")
	if props["version"] != "0" || props["topic_id"] == "" {
		return "", failed("read", name, NoOffset, fmt.Errorf("%w: no version 0 with a topic_id", ErrCorrupt))
	}
	return props["topic_id"], nil
}

func writeTopicID(fsys vfs.FS, dir, id string) error {
	name := path.Join(dir, partitionMeta)
	text := fmt.Sprintf("version: 0\ntopic_id: %s\n", id)
	return failed("write", name, NoOffset, vfs.WriteFile(fsys, name, []byte(text)))
}
