package quorum

import (
	"errors"
	"fmt"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// Open opens the metadata log directory, or formats an empty one, replays it and
// becomes the leader of a new epoch.
//
// Errors: vfs.ErrLocked if another process has it open, storage.ErrWrongDir if it
// is another node's, a *storage.Error of the disk, and what is wrong with a log
// that cannot be taken over. All can be tried again: what was done until then is
// whole.
func Open(opts Options, now machine.Time) (*Node, error) {
	opts = opts.withDefaults()
	n := &Node{opts: opts, observers: map[int32]*observer{}}
	id := storage.Identity{
		ClusterID: opts.Controller.ClusterID, NodeID: opts.Controller.NodeID, DirectoryID: kraft.DrawUUID(opts.Controller.Rand).String(),
	}
	var err error
	if n.dir, n.log, err = storage.OpenMetadata(opts.FS, id, logConfig(opts.SegmentBytes), now.Wall); err != nil {
		return nil, err
	}
	if err := n.start(now); err != nil {
		return nil, errors.Join(err, n.dir.Abandon())
	}
	return n, nil
}

// notef notes what a life begins with.
func (n *Node) notef(format string, args ...any) {
	n.notes = append(n.notes, machine.Note{Text: fmt.Sprintf(format, args...)})
}

// warnf is notef for what is damaged or lost.
func (n *Node) warnf(format string, args ...any) {
	n.notes = append(n.notes, machine.Note{Text: fmt.Sprintf(format, args...), Warn: true})
}

func (n *Node) start(now machine.Time) error {
	for _, r := range n.dir.Repairs() {
		if r.OfRecords() {
			n.warnf("%v: what was decided there and later is forgotten", r)
		}
	}
	// A killed process may have left any of these unsynced.
	if err := n.log.Flush(n.log.End(), now.Wall); err != nil {
		return err
	}
	state, err := readQuorumState(n.opts.FS, n.log.Path(quorumStateFile))
	if err != nil {
		return err
	}
	if err := n.loadSnapshots(); err != nil {
		return err
	}
	r, err := n.replay(now)
	if err != nil {
		return err
	}
	if err := n.soleVoter(r, state); err != nil {
		return err
	}
	n.image, n.durable, n.lastMs = r.Image(), int64(n.log.End()), r.lastMs
	n.lossy, n.voters, n.sinceBytes = r.lossy, r.voters, r.bytes
	n.epochs = n.log.Epochs()
	n.logStart = int64(n.log.Start())
	n.nextSnapshotMs = after(now.Mono, n.opts.SnapshotMs)
	if n.lossy {
		n.notef("the metadata log has records that this controller does not keep (ACLs, quotas, credentials or newer ones): they stay in the log, and no snapshots are written")
	}
	n.epoch = max(state.LeaderEpoch, int32(n.epochs.LatestEpoch()), 0) + 1
	if i := len(n.snapshots); i > 0 {
		n.epoch = max(n.epoch, n.snapshots[i-1].epoch+1)
	}
	if err := n.writeQuorumState(); err != nil {
		return err
	}
	if n.durable == 0 && len(n.snapshots) == 0 {
		if err := n.writeBootstrapSnapshot(now); err != nil {
			return err
		}
	}
	if err := n.takeOver(now, r); err != nil {
		return err
	}
	return nil
}

// takeOver begins the epoch: its first records, durable, and the controller on
// top of them.
func (n *Node) takeOver(now machine.Time, r *replay) error {
	voters := []record.Voter{{ID: n.opts.Controller.NodeID}}
	first := []record.Control{record.LeaderChange{LeaderID: n.opts.Controller.NodeID, Voters: voters, GrantingVoters: voters}}
	if n.voters != nil && n.durable == 0 {
		// Formatted with voters that can change (KIP-853): the log begins with them.
		first = append(first, record.KRaftVersion{Version: 1}, *n.voters)
	}
	bytes, err := record.AppendControl(nil, record.Options{BaseOffset: n.durable, LeaderEpoch: n.epoch}, now.Wall, first...)
	if err != nil {
		return err
	}
	n.epochs.Assign(logstate.Epoch(n.epoch), logstate.Offset(n.durable))
	next := n.durable + int64(len(first))
	n.queue(batch{n.durable, next, bytes}, n.image, now.Wall)
	write := func(recs ...kraft.Record) error {
		for _, rec := range recs {
			if err := r.Apply(rec); err != nil {
				return err
			}
		}
		b := controller.Batch{Base: next, Records: recs}
		next = b.End()
		return n.writeRecords(now, b, r.Image())
	}
	if r.InTransaction() {
		reason := "the controller that began it is gone"
		if err := write(&kraft.AbortTransaction{Reason: &reason}); err != nil {
			return err
		}
	}
	if n.decidedImage().MetadataVersion() == 0 {
		if err := write(n.bootstrapRecords(r.formatted)...); err != nil {
			return err
		}
	}
	n.c = controller.New(n.opts.Controller, n.decidedImage(), next, now.Mono)
	if err := n.register(now); err != nil {
		return err
	}
	o := n.newAppend(now)
	if o.Run(); o.err != nil {
		return o.err
	}
	n.appended(o)
	return nil
}

// register begins this controller's life in its own log (KIP-919).
func (n *Node) register(now machine.Time) error {
	_, b := controller.Handle(n.c, now.Mono, controller.RegisterController{RegisterController: kraft.RegisterController{
		ControllerID: n.opts.Controller.NodeID, IncarnationID: kraft.DrawUUID(n.opts.Controller.Rand),
		EndPoints: n.opts.EndPoints, Features: n.opts.Controller.Features,
	}})
	return n.write(now, b)
}

// soleVoter refuses a log whose quorum has other voters than this node: they
// could go on without it.
func (n *Node) soleVoter(r *replay, state quorumState) error {
	ids := map[int32]bool{}
	for _, v := range state.CurrentVoters {
		ids[v.VoterID] = true
	}
	if len(ids) == 0 {
		for _, v := range r.leader.Voters {
			ids[v.ID] = true
		}
	}
	if r.voters != nil {
		clear(ids)
		for _, v := range r.voters.Voters {
			ids[v.ID] = true
		}
	}
	if delete(ids, n.opts.Controller.NodeID); len(ids) == 0 {
		return nil
	}
	return fmt.Errorf("metadata log %s: its quorum has %d voters beside node %d; this controller is a quorum of one: "+
		"remove the others with Kafka's tools first", n.log.Path(""), len(ids), n.opts.Controller.NodeID)
}

// replay is what the log holds.
type replay struct {
	*metadata.Replay

	leader record.LeaderChange // the last
	voters *record.KRaftVoters // the last
	lastMs int64
	bytes  int64 // of the log, since the snapshot
	lossy  bool
	// formatted is what 0-0 holds, the snapshot that a directory is formatted with.
	formatted metadata.Image
	in        *record.Inflater
}

func newReplay() *replay {
	return &replay{Replay: metadata.NewReplay(metadata.Empty()), formatted: metadata.Empty(), in: record.NewInflater(record.DefaultInflateLimit)}
}

// readBytes is how much of the log is read at a time.
const readBytes = 1 << 20

// replay reads the newest snapshot that can be read, and the log from there on.
func (n *Node) replay(now machine.Time) (*replay, error) {
	r := newReplay()
	from, err := n.restore(r, now)
	if err != nil {
		return nil, err
	}
	var buf []byte
	for next := from; next < n.log.End(); {
		buf, err = n.log.Read(buf[:0], storage.Fetch{From: next, UpTo: n.log.End(), MaxBytes: readBytes, MinOne: true})
		if err != nil {
			return nil, err
		}
		s := record.Scan(buf)
		for s.Next() {
			b := s.Batch()
			if err := r.batch(b, int64(from)); err != nil {
				return nil, fmt.Errorf("metadata log %s: %w; the log contradicts itself, so nothing behind that can be trusted", n.log.Path(""), err)
			}
			r.bytes += int64(len(b))
			next = storage.Offset(b.NextOffset())
		}
		if len(buf) == 0 {
			return nil, fmt.Errorf("metadata log %s: nothing can be read at offset %d of %d", n.log.Path(""), next, n.log.End())
		}
	}
	return r, nil
}

// batch applies the records of a batch from an offset on.
func (r *replay) batch(b record.Batch, from int64) error {
	r.lastMs = max(r.lastMs, b.MaxTimestampMs())
	rs, err := b.Records(r.in)
	if err != nil {
		return fmt.Errorf("batch at offset %d: %w", b.BaseOffset(), err)
	}
	for rs.Next() {
		rec := rs.Record()
		if rec.Offset < from {
			continue
		}
		apply := r.data
		if b.Control() {
			apply = r.control
		}
		if err := apply(rec); err != nil {
			return fmt.Errorf("offset %d: %w", rec.Offset, err)
		}
	}
	return rs.Err()
}

func (r *replay) control(rec record.Record) error {
	c, err := record.ParseControl(rec)
	if err != nil {
		return err
	}
	switch c := c.(type) {
	case record.LeaderChange:
		r.leader = c
	case record.KRaftVoters:
		r.voters = &c
	}
	return nil
}

func (r *replay) data(rec record.Record) error {
	value, err := kraft.Decode(rec.Value)
	if err != nil {
		return err
	}
	r.lossy = r.lossy || !kept(value)
	return r.Apply(value)
}

// kept reports whether an image holds what the record says.
func kept(rec kraft.Record) bool {
	switch rec := rec.(type) {
	case *kraft.Unknown, *kraft.ClientQuota, *kraft.AccessControlEntry, *kraft.RemoveAccessControlEntry, *kraft.UserScramCredential,
		*kraft.RemoveUserScramCredential, *kraft.DelegationToken, *kraft.RemoveDelegationToken:
		return false
	case *kraft.ZkMigrationState:
		return rec.ZkMigrationState == 0
	}
	return true
}

// Abandon is the end of a process that was killed: files are closed, nothing is
// written. No order may be running.
func (n *Node) Abandon() {
	n.stopped = true
	_ = n.dir.Abandon() // there is nobody left to tell
}
