package storage

import (
	"bytes"
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
// counts as lost, with what that means: it holds nothing that the logs do not tell
// too, if slower. Only an error of the disk is one.
func (d *Dir) readCheckpoint(name, lost string) (map[TopicPartition]Offset, error) {
	offsets := map[TopicPartition]Offset{}
	b, err := vfs.ReadFile(d.fs, name)
	if errors.Is(err, fs.ErrNotExist) {
		d.written[name] = formatOffsets(nil) // none says what one without entries does
		return offsets, nil
	}
	if err != nil {
		return nil, failed("read", name, NoOffset, err)
	}
	d.written[name] = b
	if len(b) == 0 {
		return offsets, nil // as Kafka makes it, before it writes
	}
	if offsets, err = parseOffsets(b); err != nil {
		d.repaired(name, NoOffset, err, "counts as lost, so %s", lost)
	}
	return offsets, nil
}

// parseOffsets reads a checkpoint of offsets, none of it if a line is none. Errors
// are ErrCorrupt.
func parseOffsets(b []byte) (map[TopicPartition]Offset, error) {
	lines, err := parseCheckpoint(b, 3)
	if err != nil {
		return nil, err
	}
	offsets := make(map[TopicPartition]Offset, len(lines))
	for i, l := range lines {
		p, err1 := strconv.ParseInt(l[1], 10, 32)
		o, err2 := strconv.ParseInt(l[2], 10, 64)
		if err1 != nil || err2 != nil || p < 0 || o < 0 {
			return nil, fmt.Errorf("%w: line %d is %q", ErrCorrupt, i+3, strings.Join(l, " "))
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

// readEpochs reads leader-epoch-checkpoint; false if it is lost, or says what
// cannot be.
func (l *Log) readEpochs() (logstate.Epochs, bool, error) {
	name := path.Join(l.name, epochCheckpoint)
	b, err := vfs.ReadFile(l.fs, name)
	if errors.Is(err, fs.ErrNotExist) {
		return logstate.Epochs{}, false, nil
	}
	if err != nil {
		return logstate.Epochs{}, false, failed("read", name, NoOffset, err)
	}
	entries, err := parseEpochs(b)
	if err != nil {
		l.dir.repaired(name, NoOffset, err, "made anew from the log's batches")
		return logstate.Epochs{}, false, nil
	}
	return logstate.NewEpochs(entries), true, nil
}

// parseEpochs reads a checkpoint of epochs. Both columns ascend, from 0 or more.
// Errors are ErrCorrupt.
func parseEpochs(b []byte) ([]logstate.EpochStart, error) {
	lines, err := parseCheckpoint(b, 2)
	if err != nil {
		return nil, err
	}
	entries := make([]logstate.EpochStart, 0, len(lines))
	before := logstate.EpochStart{Epoch: logstate.NoEpoch, Start: NoOffset}
	for i, l := range lines {
		e, err1 := strconv.ParseInt(l[0], 10, 32)
		o, err2 := strconv.ParseInt(l[1], 10, 64)
		entry := logstate.EpochStart{Epoch: Epoch(e), Start: Offset(o)}
		if err1 != nil || err2 != nil || entry.Epoch <= before.Epoch || entry.Start <= before.Start {
			return nil, fmt.Errorf("%w: line %d is %q, after epoch %d from offset %d",
				ErrCorrupt, i+3, strings.Join(l, " "), before.Epoch, before.Start)
		}
		entries, before = append(entries, entry), entry
	}
	return entries, nil
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
