package kafkatest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// metaProperties marks a formatted log directory and says whose it is.
const metaProperties = "meta.properties"

// format makes the node's log directories what kafka-storage format would
// make them, without the second that its Java machine takes for each node: a
// broker needs only meta.properties, and what a controller needs besides (the
// first records of the metadata log) does not depend on who it is.
func (n *node) format(template, clusterID string) error {
	for i, dir := range n.logDirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("kafkatest: format node %d: %w", n.id, err)
		}
		if i == 0 { // the metadata log lies in the first directory
			if err := copyTemplate(dir, template, n.role == isController); err != nil {
				return fmt.Errorf("kafkatest: format node %d: %w", n.id, err)
			}
		}
		err := writeProperties(filepath.Join(dir, metaProperties), map[string]string{
			"version":      "1",
			"cluster.id":   clusterID,
			"node.id":      fmt.Sprint(n.id),
			"directory.id": newUUID(),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copyTemplate copies what a controller's format left besides
// meta.properties: bootstrap.checkpoint (before Kafka 4.1, and then for every
// node) or a snapshot in the directory of the metadata log.
func copyTemplate(dir, template string, controller bool) error {
	return filepath.WalkDir(template, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(template, path)
		if err != nil || rel == "." || rel == metaProperties {
			return err
		}
		if d.IsDir() {
			if !controller {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(dir, rel), 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), data, 0o600)
	})
}

// template returns a directory formatted for a controller with these
// arguments. It is made once and kept.
func (in install) template(ctx context.Context, j jvm, formatArgs []string) (string, error) {
	dir := filepath.Join(in.dir, "format-"+shortHash(formatArgs...))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	part, err := os.MkdirTemp(in.dir, "format-part-")
	if err != nil {
		return "", fmt.Errorf("kafkatest: %w", err)
	}
	defer os.RemoveAll(part)
	file := filepath.Join(j.logConfig, "format.properties")
	err = writeProperties(file, map[string]string{
		"process.roles":             "controller",
		"node.id":                   fmt.Sprint(FirstController),
		"controller.quorum.voters":  fmt.Sprintf("%d@127.0.0.1:%d", FirstController, firstPort),
		"controller.listener.names": controller,
		"listeners":                 fmt.Sprintf("%s://127.0.0.1:%d", controller, firstPort),
		"log.dirs":                  filepath.Join(part, "log"),
	})
	if err != nil {
		return "", err
	}
	args := append([]string{"format", "-t", newUUID(), "-c", file}, formatArgs...)
	if out, err := j.tool(ctx, "kafka.tools.StorageTool", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("kafkatest: kafka-storage %s: %w; check Options.FormatArgs\n%s", strings.Join(args, " "), err, out)
	}
	if err := os.Rename(filepath.Join(part, "log"), dir); err != nil && !os.IsExist(err) {
		return "", fmt.Errorf("kafkatest: %w", err)
	}
	return dir, nil
}

// newUUID returns a random id as Kafka writes it. Like Kafka's it never begins
// with a dash, which command lines would take for a flag.
func newUUID() string {
	for {
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails
		if id := base64.RawURLEncoding.EncodeToString(b[:]); id[0] != '-' {
			return id
		}
	}
}
