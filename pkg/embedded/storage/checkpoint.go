package storage

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// A checkpoint is text: a version, 0, a count, and so many lines.

// formatCheckpoint writes one; lines end with a newline.
func formatCheckpoint(lines []string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "0\n%d\n", len(lines))
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// parseCheckpoint returns the lines, each in fields. Errors are ErrCorrupt.
func parseCheckpoint(b []byte, fields int) ([][]string, error) {
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	if len(lines) < 2 || lines[0] != "0" {
		return nil, fmt.Errorf("%w: not a checkpoint of version 0", ErrCorrupt)
	}
	n, err := strconv.Atoi(lines[1])
	if err != nil || n != len(lines)-2 {
		return nil, fmt.Errorf("%w: line 2 is %q, %d lines follow", ErrCorrupt, lines[1], len(lines)-2)
	}
	all := make([][]string, 0, n)
	for i, l := range lines[2:] {
		fs := strings.Fields(l)
		if len(fs) != fields {
			return nil, fmt.Errorf("%w: line %d is %q", ErrCorrupt, i+3, l)
		}
		all = append(all, fs)
	}
	return all, nil
}

// readCheckpoint reads a file of the log directory. What cannot be read as one
// counts as lost: it holds nothing that the logs do not tell too, if slower. Only
// an error of the disk is one.
func (d *Dir) readCheckpoint(name string) (map[TopicPartition]Offset, error) {
	offsets := map[TopicPartition]Offset{}
	b, err := vfs.ReadFile(d.fs, name)
	if errors.Is(err, fs.ErrNotExist) {
		return offsets, nil
	}
	if err != nil {
		return nil, failed("read", name, NoOffset, err)
	}
	d.written[name] = b
	lines, err := parseCheckpoint(b, 3)
	if errors.Is(err, ErrCorrupt) {
		return offsets, nil
	}
	for _, l := range lines {
		p, err1 := strconv.ParseInt(l[1], 10, 32)
		o, err2 := strconv.ParseInt(l[2], 10, 64)
		if err1 != nil || err2 != nil || p < 0 || o < 0 {
			return map[TopicPartition]Offset{}, nil //nolint:nilerr // a line that is none: the file counts as lost
		}
		offsets[TopicPartition{Topic: l[0], Partition: int32(p)}] = Offset(o)
	}
	return offsets, nil
}

func formatOffsets(offsets map[TopicPartition]Offset) []byte {
	tps := make([]TopicPartition, 0, len(offsets))
	for tp := range offsets {
		tps = append(tps, tp)
	}
	slices.SortFunc(tps, TopicPartition.compare)
	lines := make([]string, 0, len(tps))
	for _, tp := range tps {
		lines = append(lines, fmt.Sprintf("%s %d %d", tp.Topic, tp.Partition, offsets[tp]))
	}
	return formatCheckpoint(lines)
}

// readEpochs reads leader-epoch-checkpoint; false if it is lost.
func readEpochs(fsys vfs.FS, dir string) (logstate.Epochs, bool, error) {
	name := path.Join(dir, epochCheckpoint)
	b, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return logstate.Epochs{}, false, nil
	}
	if err != nil {
		return logstate.Epochs{}, false, failed("read", name, NoOffset, err)
	}
	lines, err := parseCheckpoint(b, 2)
	if err != nil {
		return logstate.Epochs{}, false, nil //nolint:nilerr // what is no checkpoint counts as lost
	}
	var entries []logstate.EpochStart
	for _, l := range lines {
		e, err1 := strconv.ParseInt(l[0], 10, 32)
		o, err2 := strconv.ParseInt(l[1], 10, 64)
		if err1 != nil || err2 != nil {
			return logstate.Epochs{}, false, nil //nolint:nilerr // as above
		}
		entries = append(entries, logstate.EpochStart{Epoch: Epoch(e), Start: Offset(o)})
	}
	ascends := slices.IsSortedFunc(entries, func(a, b logstate.EpochStart) int {
		if a.Start >= b.Start {
			return 1
		}
		return cmp.Compare(a.Epoch, b.Epoch)
	})
	return logstate.NewEpochs(entries), ascends, nil
}

func (l *Log) writeEpochs() error {
	entries := l.epochs.Entries()
	lines := make([]string, 0, len(entries))
	for _, e := range entries {
		lines = append(lines, fmt.Sprintf("%d %d", e.Epoch, e.Start))
	}
	name := path.Join(l.name, epochCheckpoint)
	return failed("write", name, NoOffset, vfs.WriteFile(l.fs, name, formatCheckpoint(lines)))
}
