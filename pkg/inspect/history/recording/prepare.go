package recording

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Prepared is a recording that this process owns, and has not begun to append to:
// whoever starts before the cluster does knows its id later.
type Prepared struct {
	f    *os.File
	name string
	// found is nil where the file is new, or notOne says what else it is: one whose head
	// was never finished can be told from that by the cluster's id alone.
	found   *survey
	notOne  error
	claimed string
}

// Prepare finds out whether a recording can be appended to, and keeps others from doing
// so. Where there is no file it creates an empty one. Errors are those of [Open], but for
// the cluster's, which [Prepared.Claim] and [Prepared.Open] tell.
func Prepare(name string) (*Prepared, error) {
	f, err := openRegular(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	p := &Prepared{f: f, name: name}
	if err := p.survey(); err != nil {
		f.Close()
		return nil, err
	}
	return p, nil
}

func (p *Prepared) survey() error {
	if err := lock(p.f); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	var err error
	var notOne *NotOneError
	p.found, err = scan(p.name, p.f)
	if errors.As(err, &notOne) && p.mayBeUnbegun() {
		p.found, p.notOne = nil, err
		return nil
	}
	return err
}

// mayBeUnbegun reports a file that is shorter than the block that it begins with.
func (p *Prepared) mayBeUnbegun() bool {
	begun := make([]byte, headerSize)
	n, _ := p.f.ReadAt(begun, 0) // what cannot be read is not the beginning of one
	if n < headerSize {
		return bytes.HasPrefix(marker, begun[:min(n, len(marker))])
	}
	info, err := p.f.Stat()
	return err == nil && bytes.HasPrefix(begun, marker) && info.Size() < headerSize+int64(binary.BigEndian.Uint32(begun[12:]))
}

// Name is the file's.
func (p *Prepared) Name() string { return p.name }

// ClusterID is that of the cluster to which the recording belongs; unknown for a new one.
func (p *Prepared) ClusterID() inspect.Opt[string] {
	if p.found == nil {
		return inspect.Unknown[string]()
	}
	return inspect.Known(p.found.head.clusterID)
}

// Claim tells whether the recording could not be one of that cluster, as a
// *[ForeignError]. A new one is the cluster's that claims it first.
func (p *Prepared) Claim(clusterID string) error {
	if p.claimed == "" {
		p.claimed = p.ClusterID().Or(clusterID)
	}
	if p.claimed != clusterID {
		return &ForeignError{p.name, p.claimed, clusterID}
	}
	return nil
}

// Open goes on with the recording. Whatever comes of it, what was prepared is used up.
func (p *Prepared) Open(clusterID string) (*Writer, error) {
	w := &Writer{f: p.f, name: p.name, head: head{version: version, clusterID: clusterID}}
	err := noID(p.name)
	if clusterID != "" {
		err = w.begin(p)
	}
	if err != nil {
		p.f.Close()
		return nil, err
	}
	return w, nil
}

// Close gives the file free, where it was not opened.
func (p *Prepared) Close() error { return p.f.Close() }
