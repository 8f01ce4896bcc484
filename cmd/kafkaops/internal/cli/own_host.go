package cli

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
	"github.com/kafkaops/kafkaops/pkg/inspect/host"
)

// ownHost is this machine, for brokers that run on it. What cannot be read of it is left out:
// the next command says where to look.
type ownHost struct {
	machine host.Machine
	first   *host.Reading
}

// begin takes the first reading.
func (o *ownHost) begin() { o.first, _ = o.machine.Read(time.Now()) }

// end takes the last one, and hands over what came in between.
func (o *ownHost) end(c *diagnose.Case, s *inspect.Snapshot) {
	if o.first == nil {
		return
	}
	last, err := o.machine.Read(time.Now())
	if err != nil {
		return
	}
	load := host.LoadOf(o.first, last)
	for i := range s.Brokers {
		b := &s.Brokers[i]
		dirs, here := o.machine.DirsOf(s.ClusterID.Or(""), b)
		if !here {
			continue
		}
		own := diagnose.Host{Sent: load.Sent, Again: load.Again}
		for _, d := range host.Disks(o.first, last, dirs) {
			own.Disks = append(own.Disks, diagnose.Disk(d))
		}
		for _, i := range load.Interfaces {
			own.Interfaces = append(own.Interfaces, diagnose.Interface(i))
		}
		for _, p := range load.Pressures {
			own.Pressures = append(own.Pressures, diagnose.Pressure(p))
		}
		c.Own(b.ID, own)
	}
}
