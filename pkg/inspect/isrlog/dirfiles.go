package isrlog

import (
	"cmp"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// dirFiles are the files of a metadata log directory, in the order of their offsets.
type dirFiles struct {
	segments  []segment
	snapshots []snapshot
	foreign   []string
}

type segment struct {
	name string
	base inspect.Offset
}

type snapshot struct {
	name   string
	offset inspect.Offset
}

// What else lies there, with nothing in it that is wanted: indexes, the state of
// producers, and files that are being written or removed.
var (
	otherNames    = []string{"leader-epoch-checkpoint", "partition.metadata", "quorum-state", ".lock", ".kafka_cleanshutdown"}
	otherSuffixes = []string{".index", ".timeindex", ".txnindex", ".snapshot", ".part", ".tmp", ".deleted", ".swap", ".cleaned"}
)

func (d *Dir) list() (files dirFiles, err error) {
	entries, err := fs.ReadDir(d.fsys, ".")
	if err != nil {
		return files, err
	}
	for _, e := range entries {
		name := e.Name()
		// A segment that retention has given up keeps its records for a while.
		stem, isLog := strings.CutSuffix(strings.TrimSuffix(name, ".deleted"), ".log")
		base, isNumbered := offsetOf(stem)
		switch {
		case isLog && isNumbered && !e.IsDir():
			files.segments = append(files.segments, segment{name, base})
			continue
		case isLog:
			files.foreign = append(files.foreign, name)
			continue
		}
		if stem, ok := strings.CutSuffix(name, ".checkpoint"); ok {
			at, _, _ := strings.Cut(stem, "-")
			if offset, ok := offsetOf(at); ok {
				if offset > 0 { // that of 0 has the features alone
					files.snapshots = append(files.snapshots, snapshot{name, offset})
				}
				continue
			}
		}
		if !slices.Contains(otherNames, name) && !slices.ContainsFunc(otherSuffixes, func(s string) bool { return strings.HasSuffix(name, s) }) {
			files.foreign = append(files.foreign, name)
		}
	}
	slices.SortStableFunc(files.segments, func(a, b segment) int { return cmp.Compare(a.base, b.base) })
	slices.SortStableFunc(files.snapshots, func(a, b snapshot) int { return cmp.Compare(a.offset, b.offset) })
	return files, nil
}

// offsetOf reads the number in a file's name, 20 digits.
func offsetOf(text string) (inspect.Offset, bool) {
	const digits = 20
	n, err := strconv.ParseUint(text, 10, 63)
	return inspect.Offset(n), err == nil && len(text) == digits
}
