package sim

import (
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// flipIndex flips a bit in an index of a process that is down. What an index says
// is never trusted against the log, so nothing may come of it. Bits of the log
// itself are not flipped here: a leader has no other copy to notice it by, and
// serves what it has, as Kafka does.
func (w *World) flipIndex(p *proc) {
	var names []string
	var walk func(dir string)
	walk = func(dir string) {
		infos, err := p.mem.ReadDir(dir)
		if err != nil {
			return
		}
		for _, info := range infos {
			name := info.Name
			if dir != "." {
				name = dir + "/" + name
			}
			switch {
			case info.Dir:
				walk(name)
			case info.Size > 0 && (strings.HasSuffix(name, ".index") || strings.HasSuffix(name, ".timeindex") || strings.HasSuffix(name, ".snapshot")):
				names = append(names, name)
			}
		}
	}
	walk(".")
	if len(names) == 0 {
		return
	}
	name := names[w.rng.IntN(len(names))]
	f, err := p.mem.Open(name, vfs.ReadWrite)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	size, err := f.Size()
	if err != nil || size == 0 {
		return
	}
	var b [1]byte
	at := w.rng.Int64N(size)
	if _, err := f.ReadAt(b[:], at); err != nil {
		return
	}
	b[0] ^= 1 << w.rng.IntN(8)
	if _, err := f.WriteAt(b[:], at); err != nil {
		return
	}
	w.tell("a bit of %s at byte %d of %s is flipped", name, at, p.name)
}
