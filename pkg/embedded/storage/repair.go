package storage

import "fmt"

// Repair is one thing that was not as it should be and that the log could do
// without: what, where, and what was done about it.
type Repair struct {
	// File is a name in the FS that the Dir lies in.
	File string
	// Offset is the first one that it matters to, NoOffset if it is not known.
	Offset Offset
	// Err is ErrCorrupt, with what was found.
	Err error
	// Done is what was done: "cut there, 120 bytes dropped".
	Done string
}

// String is the sentence for a log.
func (r Repair) String() string {
	if r.Offset == NoOffset {
		return fmt.Sprintf("%s: %v: %s", r.File, r.Err, r.Done)
	}
	return fmt.Sprintf("%s at offset %d: %v: %s", r.File, r.Offset, r.Err, r.Done)
}

// maxRepairs bounds what waits for [Dir.Repairs]: a disk that rots would else fill
// the memory of who never asks.
const maxRepairs = 1000

// Repairs returns what was repaired since it was last asked, at first by Open, in
// order; of more than a thousand the first ones. A batch that was cut off by a
// crash is among them, a file that is missing is not.
func (d *Dir) Repairs() []Repair {
	rs := d.repairs
	d.repairs = nil
	return rs
}

func (d *Dir) repaired(file string, o Offset, err error, format string, args ...any) {
	if len(d.repairs) < maxRepairs {
		d.repairs = append(d.repairs, Repair{File: file, Offset: o, Err: err, Done: fmt.Sprintf(format, args...)})
	}
}
