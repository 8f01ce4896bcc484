package storage

import (
	"path"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// finishSwaps finishes compactions that a crash has stopped after the segment that
// was made had got its name with .swap: it is whole, and of the segments that it
// stands for some may be gone (LogLoader.removeTempFilesAndCollectSwapFiles and
// what follows it). It returns what the directory holds then.
func (l *Log) finishSwaps(infos []vfs.Info, nowMs int64) ([]vfs.Info, error) {
	var swaps []*segment
	for _, in := range infos {
		if base, ok := parseOffsetName(in.Name, logSuffix+swapSuffix); ok {
			s := l.newSegment(base, in.Size, nowMs)
			s.rename(swapSuffix)
			swaps = append(swaps, s)
		}
	}
	for _, s := range swaps {
		l.cleaned = true
		if err := l.finishSwap(s, infos); err != nil {
			return nil, err
		}
	}
	if len(swaps) == 0 {
		return infos, nil
	}
	infos, err := l.fs.ReadDir(l.name)
	return infos, failed("list", l.name, NoOffset, err)
}

func (l *Log) finishSwap(s *segment, infos []vfs.Info) error {
	// Where it ends: segments from there on are not part of it.
	w, err := s.walk(0, l.dir.buf(), false)
	if err != nil {
		return err
	}
	end := s.base
	if _, _, err := s.firstFrom(w, func(h record.Batch) bool {
		end = Offset(h.NextOffset())
		return false
	}); err != nil {
		return err
	}
	if err := s.close(); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, in := range infos {
		names[path.Join(l.name, in.Name)] = true
	}
	s.offsets.exists, s.times.exists = names[s.offsets.name], names[s.times.name]
	var olds []*segment
	for _, in := range infos {
		base, ok := parseOffsetName(in.Name, logSuffix)
		if ok && (base == s.base || s.base < base && base < end) {
			olds = append(olds, l.newSegment(base, in.Size, 0))
		}
	}
	if err := l.removeSegments(olds...); err != nil {
		return err
	}
	return l.renameSegment(s, "")
}

// unfinished reports whether a file is of a compaction that had not come to its end,
// or is an index whose segment has its own name already.
func unfinished(name string) bool {
	return strings.HasSuffix(name, cleanedSuffix) || strings.HasSuffix(name, swapSuffix)
}
