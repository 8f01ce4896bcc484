package looks

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/fields"
)

var (
	// ErrNotOurs says that the content is none that an Encoder ever wrote.
	ErrNotOurs = fields.ErrNotOurs
	// ErrNotWhole says that a look tells only what changed, and that the one before it is
	// not known.
	ErrNotWhole = errors.New("the look before this one is not known")
)

// Decoder puts looks together again. The zero value begins at a whole one.
type Decoder struct {
	begun  bool
	ms     int64
	snap   inspect.Snapshot
	tables tables
	// partitions and commits are the Snapshot's, by their row.
	partitions []*inspect.Partition
	commits    []*inspect.Commit
	now        grid
	// parsed are the partitions since the last whole look, parsedBefore those before it.
	parsed, parsedBefore map[thing]*parsedPartition
}

// Reset forgets the last look: only a whole one can be next.
func (d *Decoder) Reset() { d.begun = false }

// Apply takes in the next look. The Snapshot is the Decoder's: it is good until the next
// call, and not to be changed. After an error, which is ErrNotWhole or ErrNotOurs, only
// a whole look can be next.
func (d *Decoder) Apply(look []byte) (*inspect.Snapshot, error) {
	in, err := parseLook(look)
	if err != nil {
		return nil, d.lost(err)
	}
	switch {
	case in.whole:
		d.begun, d.ms, d.snap, d.tables = true, 0, inspect.Snapshot{}, newTables()
		d.parsed, d.parsedBefore = map[thing]*parsedPartition{}, d.parsed
	case !d.begun:
		return nil, ErrNotWhole
	}
	d.ms += in.ms
	d.snap.TakenAt = time.UnixMilli(d.ms).UTC()
	for _, t := range in.things {
		if err := d.applyThing(t); err != nil {
			return nil, d.lost(err)
		}
	}
	if len(in.things) > 0 || in.whole {
		d.shape()
	}
	if err := d.applyColumns(&in); err != nil {
		return nil, d.lost(err)
	}
	return &d.snap, nil
}

func (d *Decoder) lost(err error) error {
	d.begun = false
	return err
}

// look is one as it is written.
type look struct {
	ms                                   int64
	whole                                bool
	things                               [][]byte
	partitions, brokers, quorum, commits []byte
}

func parseLook(in []byte) (l look, err error) {
	err = fields.Each(in, func(f fields.Field) error {
		switch f.Number {
		case fieldTime:
			l.ms = f.Signed()
		case fieldWhole:
			l.whole = f.N != 0
		case fieldThing:
			l.things = append(l.things, f.Bytes)
		case fieldPartitions:
			l.partitions = f.Bytes
		case fieldBrokers:
			l.brokers = f.Bytes
		case fieldQuorum:
			l.quorum = f.Bytes
		case fieldCommits:
			l.commits = f.Bytes
		}
		return nil
	})
	return l, err
}

func (d *Decoder) applyThing(in []byte) error {
	var t thing
	var content []byte
	err := fields.Each(in, func(f fields.Field) error {
		switch f.Number {
		case fieldKind:
			t.kind = kind(f.N)
		case fieldName:
			t.name = string(f.Bytes)
		case fieldIndex:
			t.index = int32(f.Signed())
		case fieldJSON:
			content = f.Bytes
		}
		return nil
	})
	if err != nil {
		return err
	}
	if content == nil {
		d.remove(t)
		return nil
	}
	return d.put(t, content)
}

func parse(content []byte, into any) error {
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%w: %w", ErrNotOurs, err)
	}
	return nil
}

// shape fits rows and tables to the things, and gives things that are new their numbers.
func (d *Decoder) shape() {
	d.partitions, d.commits = d.partitions[:0], d.commits[:0]
	for p := range d.snap.Partitions {
		d.partitions = append(d.partitions, p)
	}
	for i := range d.snap.Groups {
		commits := d.snap.Groups[i].Commits.Or(nil)
		for j := range commits {
			d.commits = append(d.commits, &commits[j])
		}
	}
	d.shapeTable(&d.tables.partitions, partitionRows, d.setPartition)
	d.shapeTable(&d.tables.brokers, brokerRows, d.setBroker)
	d.shapeTable(&d.tables.quorum, quorumRows, d.setQuorum)
	d.shapeTable(&d.tables.commits, commitRows, d.setCommit)
}

func (d *Decoder) shapeTable(t *table, rows func(*inspect.Snapshot, *grid), set func(int, []cell)) {
	d.now.reset()
	rows(&d.snap, &d.now)
	t.shape(d.now.widths)
	t.each(set)
}

func (d *Decoder) applyColumns(in *look) error {
	for _, of := range []struct {
		columns []byte
		table   *table
		set     func(int, []cell)
	}{
		{in.partitions, &d.tables.partitions, d.setPartition},
		{in.brokers, &d.tables.brokers, func(int, []cell) {}}, // all of them are set below
		{in.quorum, &d.tables.quorum, d.setQuorum},
		{in.commits, &d.tables.commits, d.setCommit},
	} {
		if err := of.table.apply(of.columns, of.set); err != nil {
			return err
		}
	}
	// Brokers' times move on with the look's: they are told from where it began, and the
	// rows may stand as they were.
	d.tables.brokers.each(d.setBroker)
	return nil
}

func (d *Decoder) setPartition(row int, cells []cell) {
	if o := d.partitions[row].Offsets; o != nil {
		setPartition(o, cells)
	}
}

func (d *Decoder) setBroker(row int, cells []cell) {
	setBroker(&d.snap.Brokers[row], d.snap.TakenAt, cells)
}

func (d *Decoder) setQuorum(row int, cells []cell) {
	q, _ := d.snap.Quorum.Get()
	switch n := row - 1; {
	case n < 0:
		q.HW = offset(cells[0])
		d.snap.Quorum = inspect.Known(q)
	case n < len(q.Voters):
		setNode(&q.Voters[n], cells)
	default:
		setNode(&q.Observers[n-len(q.Voters)], cells)
	}
}

func (d *Decoder) setCommit(row int, cells []cell) { setCommit(d.commits[row], cells) }
