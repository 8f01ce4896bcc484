package quorum

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

const quorumStateFile = "quorum-state"

// quorumState is quorum-state, as FileQuorumStateStore writes it: version 0 where
// kraft.version is 0, version 1 where the voters are in the log (KIP-853).
type quorumState struct {
	ClusterID        *string  `json:"clusterId,omitempty"`
	LeaderID         int32    `json:"leaderId"`
	LeaderEpoch      int32    `json:"leaderEpoch"`
	VotedID          int32    `json:"votedId"`
	VotedDirectoryID *string  `json:"votedDirectoryId,omitempty"`
	AppliedOffset    *int64   `json:"appliedOffset,omitempty"`
	CurrentVoters    []voterN `json:"currentVoters,omitempty"`
	DataVersion      int16    `json:"data_version"`
}

type voterN struct {
	VoterID int32 `json:"voterId"`
}

// readQuorumState reads it; the zero value if there is none.
func readQuorumState(fsys vfs.FS, name string) (quorumState, error) {
	b, err := vfs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return quorumState{}, nil
	}
	if err != nil {
		return quorumState{}, diskError("read", name, err)
	}
	var s quorumState
	if err := json.Unmarshal(b, &s); err != nil {
		return s, diskError("read", name, fmt.Errorf("%w: %w; remove it: the log knows its epochs too", storage.ErrCorrupt, err))
	}
	if s.DataVersion < 0 || s.DataVersion > 1 {
		return s, diskError("read", name, fmt.Errorf("%w: data_version %d, want 0 or 1", storage.ErrCorrupt, s.DataVersion))
	}
	return s, nil
}

// writeQuorumState makes the epoch this node's, durably: whatever becomes of it,
// no epoch is led twice.
func (n *Node) writeQuorumState() error {
	id := n.opts.Controller.NodeID
	// A leader is elected, and its vote no longer counts: -1, as Kafka has it.
	s := quorumState{LeaderID: id, LeaderEpoch: n.epoch, VotedID: -1}
	if n.voters == nil {
		none, zero := "", int64(0)
		s.ClusterID, s.AppliedOffset, s.CurrentVoters = &none, &zero, []voterN{{id}}
	} else {
		dir := kraft.UUID{}.String()
		s.VotedDirectoryID, s.DataVersion = &dir, 1
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	name := n.log.Path(quorumStateFile)
	return diskError("write", name, vfs.WriteFile(n.opts.FS, name, b))
}

// diskError wraps an error of the disk; nil stays nil.
func diskError(op, file string, err error) error {
	if err == nil {
		return nil
	}
	return &storage.Error{Op: op, File: file, Offset: storage.NoOffset, Err: err}
}
