package cli

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
	"github.com/kafkaops/kafkaops/pkg/inspect/host"
)

// ownDisks are those of brokers that run on this machine. What cannot be read of them is
// left out: the next command says where to look.
type ownDisks struct {
	machine host.Machine
	first   *host.Reading
}

// begin takes the first reading.
func (o *ownDisks) begin() { o.first, _ = o.machine.Read(time.Now()) }

// end takes the last one, and hands the disks over.
func (o *ownDisks) end(c *diagnose.Case, s *inspect.Snapshot) {
	if o.first == nil {
		return
	}
	last, err := o.machine.Read(time.Now())
	if err != nil {
		return
	}
	for i := range s.Brokers {
		b := &s.Brokers[i]
		var disks []diagnose.Disk
		for _, d := range host.Disks(o.first, last, o.machine.DirsOf(s.ClusterID.Or(""), b)) {
			disks = append(disks, diagnose.Disk(d))
		}
		c.Own(b.ID, disks)
	}
}
