package looks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/fields"
)

// The numbers of Look's and Thing's fields.
const (
	fieldTime       = 1
	fieldWhole      = 2
	fieldThing      = 3
	fieldPartitions = 4
	fieldBrokers    = 5
	fieldQuorum     = 6
	fieldCommits    = 7

	fieldKind  = 1
	fieldName  = 2
	fieldIndex = 3
	fieldJSON  = 4
)

// Encoder codes one Snapshot after the other. The zero value begins with a whole look.
type Encoder struct {
	begun  bool
	ms     int64
	looks  int
	things map[thing]*told
	tables tables
	now    grid
	buf    []byte
}

// told is what a thing was, when the decoder was told of it.
type told struct {
	json  []byte
	still *inspect.Partition // of a partition
	look  int                // in which it was there last
}

// tables are the columns, by the number of their field.
type tables struct{ partitions, brokers, quorum, commits table }

func newTables() tables {
	return tables{
		partitions: table{climbs: partitionClimbs}, brokers: table{climbs: noneClimb},
		quorum: table{climbs: allClimb}, commits: table{climbs: allClimb},
	}
}

// Reset makes the next look whole, so that a Decoder can begin there.
func (e *Encoder) Reset() { e.begun = false }

// Append appends the look. Brokers, topics, partitions and groups have to be sorted, as
// [inspect.Snapshot] says, and it may not change meanwhile.
func (e *Encoder) Append(out []byte, s *inspect.Snapshot) []byte {
	ms := s.TakenAt.UnixMilli()
	e.looks++
	if e.begun {
		out = fields.AppendSigned(out, fieldTime, ms-e.ms)
	} else {
		e.begun, e.things, e.tables = true, map[thing]*told{}, newTables()
		out = fields.AppendSigned(out, fieldTime, ms)
		out = fields.AppendUint(out, fieldWhole, 1)
	}
	e.ms = ms
	out = e.appendThings(out, s)
	out = e.appendColumns(out, fieldPartitions, &e.tables.partitions, s, partitionRows)
	out = e.appendColumns(out, fieldBrokers, &e.tables.brokers, s, brokerRows)
	out = e.appendColumns(out, fieldQuorum, &e.tables.quorum, s, quorumRows)
	return e.appendColumns(out, fieldCommits, &e.tables.commits, s, commitRows)
}

// appendThings tells first what is gone, so that what comes under the same name is new.
func (e *Encoder) appendThings(out []byte, s *inspect.Snapshot) []byte {
	e.buf = e.buf[:0]
	eachThing(s, func(t thing, content any) {
		was := e.things[t]
		if was == nil {
			was = &told{}
			e.things[t] = was
		}
		was.look = e.looks
		if p, ok := content.(*inspect.Partition); ok {
			if was.still != nil && standsStill(p, was.still) {
				return
			}
			was.still = stillPartition(p)
			content = was.still
		}
		now, err := json.Marshal(content)
		if err != nil {
			panic(fmt.Sprintf("looks: %T has no JSON: %v", content, err)) // a field of a new type
		}
		if !bytes.Equal(was.json, now) {
			was.json = now
			e.buf = appendThing(e.buf, t, now)
		}
	})
	for _, t := range e.gone() {
		delete(e.things, t)
		out = appendThing(out, t, nil)
	}
	return append(out, e.buf...)
}

func (e *Encoder) gone() (gone []thing) {
	for t, was := range e.things {
		if was.look != e.looks {
			gone = append(gone, t)
		}
	}
	slices.SortFunc(gone, func(a, b thing) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name), cmp.Compare(a.index, b.index))
	})
	return gone
}

func appendThing(out []byte, t thing, content []byte) []byte {
	in := fields.AppendUint(nil, fieldKind, uint64(t.kind))
	in = fields.AppendText(in, fieldName, t.name)
	if t.index != 0 {
		in = fields.AppendSigned(in, fieldIndex, int64(t.index))
	}
	if content != nil {
		in = fields.AppendBytes(in, fieldJSON, content)
	}
	return fields.AppendBytes(out, fieldThing, in)
}

func (e *Encoder) appendColumns(out []byte, field fields.Number, t *table, s *inspect.Snapshot, rows func(*inspect.Snapshot, *grid)) []byte {
	e.now.reset()
	rows(s, &e.now)
	if e.buf = t.append(e.buf[:0], &e.now); len(e.buf) == 0 {
		return out
	}
	return fields.AppendBytes(out, field, e.buf)
}
