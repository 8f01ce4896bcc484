package quorum

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// startTrim lets the oldest snapshots go, and the log before the first one that
// stays, if log and snapshots are larger than metadata.max.retention.bytes
// (KafkaMetadataLog.cleanSnapshotsRetentionSize). The newest snapshot always stays.
// Segments go as a whole, so the log's size counts what lies before its start too.
func (n *Node) startTrim(now machine.Time, out []machine.Effect) []machine.Effect {
	if n.closing || n.trimming || n.opts.RetainBytes < 0 {
		return out
	}
	total := n.logBytes
	for _, s := range n.snapshots {
		total += s.bytes
	}
	gone := 0
	for gone+1 < len(n.snapshots) && total > n.opts.RetainBytes {
		total -= n.snapshots[gone].bytes
		gone++
	}
	if gone == 0 {
		return out
	}
	o := &trimOrder{log: n.log, fs: n.opts.FS, nowMs: now.Wall, start: n.snapshots[gone].offset}
	for _, s := range n.snapshots[:gone] {
		o.files = append(o.files, n.log.Path(s.file()))
	}
	// Nobody gets them from now on, and nobody what comes before the first.
	n.snapshots = n.snapshots[gone:]
	n.logStart = max(n.logStart, o.start)
	n.trimming = true
	return n.run(laneLog, o, out)
}

// trimOrder removes segments and snapshots. A crash in the middle leaves more than
// it should be, and whoever starts then tries again.
type trimOrder struct {
	log   *storage.Log
	fs    vfs.FS
	nowMs int64
	start int64
	files []string // of snapshots

	err      error
	left     []error // snapshots that could not be removed
	logBytes int64
}

// Run is Order's.
func (o *trimOrder) Run() {
	if o.err = o.log.SetStart(storage.Offset(o.start)); o.err != nil {
		return
	}
	if _, o.err = o.log.ApplyRetention(o.nowMs); o.err != nil {
		return
	}
	o.logBytes = o.log.SizeBytes()
	for _, name := range o.files {
		// Some systems remove no file that is being read.
		if err := o.fs.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			o.left = append(o.left, diskError("remove", name, err))
		}
	}
	dir := o.log.Path("")
	o.err = diskError("sync directory", dir, o.fs.SyncDir(dir))
}

func (o *trimOrder) done(n *Node, _ machine.Time, out []machine.Effect) []machine.Effect {
	n.trimming = false
	if o.err != nil {
		return n.stop(o.err, out)
	}
	n.logBytes = o.logBytes
	n.epochs.TruncateFromStart(storage.Offset(n.logStart))
	for _, err := range o.left {
		out = append(out, machine.Note{Text: fmt.Sprintf("%v; the next start tries again", err)})
	}
	return out
}
