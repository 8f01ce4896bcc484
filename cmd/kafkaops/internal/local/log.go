package local

import (
	"os"
	"path/filepath"
)

// RemoveLog takes away the log of a cluster in memory where this process writes to it: a
// cluster that has ended as it should has nothing to say there. On Windows a file that is
// open stays.
func (p *Place) RemoveLog() {
	log := p.Log(true)
	there, err := os.Stat(log)
	if err != nil {
		return
	}
	for _, out := range []*os.File{os.Stdout, os.Stderr} {
		if ours, err := out.Stat(); err == nil && os.SameFile(ours, there) {
			_ = os.Remove(log)
			return
		}
	}
}

// removeNew takes away a log, and the directories that were made for it, innermost first,
// as far as nothing else is in them.
func removeNew(log string, made []string) {
	if os.Remove(log) != nil {
		return
	}
	for _, dir := range made {
		if os.Remove(dir) != nil {
			return
		}
	}
}

// missing are dir and the directories above it that are not there, the innermost first.
func missing(dir string) (out []string) {
	for {
		if _, err := os.Lstat(dir); !os.IsNotExist(err) {
			return out
		}
		out = append(out, dir)
		up := filepath.Dir(dir)
		if up == dir {
			return out
		}
		dir = up
	}
}
