package node

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/embedded/group"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// groupLoadBytes is how much of the log one step reads for a coordinator, so that
// nobody else waits long.
const groupLoadBytes = 256 << 10

// loadGroups reads a piece of the log (CoordinatorLoaderImpl). It is an alarm: the
// next piece is read by a later step.
func (n *Node) loadGroups(c *coordinator) {
	if c.gone || !c.p.live() {
		return
	}
	if start := c.p.log.Start(); c.next < start {
		c.next = start
	}
	more := false
	if c.next < c.until {
		var err error
		if more, err = n.loadPiece(c); err != nil {
			c.broken = true
			n.warnf("%s: its groups cannot be served until another broker leads it: %v", c.p.name, err)
			return
		}
	}
	if more {
		n.alarms.set(&c.load, n.now.Mono+1)
		return
	}
	c.next = c.until
	n.wakeGroups(c)
}

// loadPiece replays some batches. It is false when there are no more.
func (n *Node) loadPiece(c *coordinator) (bool, error) {
	read, err := c.p.log.Read(nil, storage.Fetch{From: c.next, UpTo: c.until, MaxBytes: groupLoadBytes, MinOne: true})
	if err != nil {
		if errors.Is(err, storage.ErrOffsetOutOfRange) {
			return true, nil // its start has moved meanwhile
		}
		return false, fmt.Errorf("read at offset %d: %w", c.next, err)
	}
	s := record.Scan(read)
	for s.Next() {
		if err := n.loadBatch(c, s.Batch()); err != nil {
			return false, err
		}
		c.next = storage.Offset(s.Batch().NextOffset())
	}
	return len(read) > 0 && c.next < c.until, s.Err()
}

func (n *Node) loadBatch(c *coordinator, b record.Batch) error {
	if b.Control() || b.Transactional() {
		// Offsets of transactions (KIP-98), of which there are none here.
		return nil
	}
	if err := b.CheckCRC(); err != nil {
		return fmt.Errorf("batch at offset %d: %w", b.BaseOffset(), err)
	}
	rs, err := b.Records(n.validator.Inflater())
	if err != nil {
		return fmt.Errorf("batch at offset %d: %w", b.BaseOffset(), err)
	}
	for rs.Next() {
		r := rs.Record()
		// A shard keeps parts of the value, and what it lies in is used again.
		if err := c.shard.Load(n.groupTime(), group.Record{Key: r.Key, Value: bytes.Clone(r.Value)}); err != nil {
			return fmt.Errorf("record at offset %d: %w", r.Offset, err)
		}
	}
	return rs.Err()
}

// maybeActivate begins to answer once all that was there is known to be committed.
// Kafka does so when it is read: the HW of a new leader trails, and an offset that was
// acknowledged before may then be shown as an older one, or as none.
func (n *Node) maybeActivate(c *coordinator) {
	if c.broken || c.next < c.until {
		return
	}
	if _, hw, _ := c.p.replica.Bounds(); hw < c.until {
		return
	}
	effects := c.shard.Activate(n.groupTime(), nil)
	_, hw, _ := c.p.replica.Bounds()
	c.inputs = append(c.inputs, group.HW{Offset: int64(hw)})
	n.wakeGroups(c)
	n.obeyGroups(c, effects)
}
