package diagnose

import (
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What is said of log directories.
const (
	// DirOffline: a log directory has failed.
	DirOffline ID = "log-dir-offline"
	// DiskFull: a volume is full, or nearly.
	DiskFull ID = "disk-full"
)

// From which share of a volume that is left there is something to say.
const (
	lowSpace  = 0.10
	leastFree = 0.03
)

// findDisk looks at the log directories.
func findDisk(c *Case) []Finding {
	var out []Finding
	for i := range c.last.Brokers {
		b := &c.last.Brokers[i]
		dirs, ok := b.LogDirs.Get()
		if !ok {
			continue
		}
		hosted, led := c.hosted(b.ID)
		for j := range dirs {
			d := &dirs[j]
			total, sized := d.TotalBytes.Get()
			usable, known := d.UsableBytes.Get()
			switch share := float64(usable) / float64(max(total, 1)); {
			case d.Error != "":
				out = append(out, c.dirOffline(b, d, len(dirs)))
			case sized && known && total > 0 && share < lowSpace:
				f := Finding{
					ID: DiskFull, Severity: SeverityWarning, Broker: inspect.Known(b.ID), Topics: hosted.topics(),
					Title:       fmt.Sprintf("the disk of %s on broker %d is %.0f %% full", d.Path, b.ID, 100-100*share),
					Evidence:    []Figure{{"usableBytes", float64(usable)}, {"totalBytes", float64(total)}, {"replicasBytes", float64(d.ReplicasBytes.Or(0))}},
					Explanation: "When it is full the directory goes offline with all replicas in it, and where it is the only one the broker ends",
					Remedy:      "Make room by retention (retention.ms, retention.bytes of the largest topics), or move replicas away. Delete no segment by hand",
					Next:        []string{"kafkaops describe log-dirs", fmt.Sprintf("on broker %d: df -h %s", b.ID, d.Path)},
					class:       classRoot, about: hosted,
				}
				if share < leastFree {
					f.Severity, f.reach = SeverityCritical, hosted.with(led)
				}
				out = append(out, f)
			}
		}
	}
	return out
}

func (c *Case) dirOffline(b *inspect.Broker, d *inspect.LogDir, dirs int) Finding {
	lost := replicaSet{}
	for p := range c.last.Partitions {
		for _, id := range p.Offline {
			if id == b.ID {
				lost.add(p, id)
			}
		}
	}
	return Finding{
		ID: DirOffline, Severity: SeverityCritical, Broker: inspect.Known(b.ID), Topics: lost.topics(),
		Title:       fmt.Sprintf("log directory %s of broker %d is offline: %s", d.Path, b.ID, d.Error),
		Evidence:    []Figure{{"replicas", float64(len(lost))}, {"directories", float64(dirs)}},
		Explanation: fmt.Sprintf("A read or a write failed, and the broker has given it up with the %s in it until it is restarted", replicas(len(lost))),
		Remedy:      "Find the cause on its host (dmesg, smartctl, df), mend or replace the disk, then restart the broker: replicas are copied anew",
		Next:        []string{"kafkaops describe log-dirs", fmt.Sprintf("on broker %d: dmesg -T | tail; df -h %s", b.ID, d.Path)},
		class:       classRoot, about: lost, reach: lost,
	}
}

func (c *Case) logDirsMissing() string {
	for i := range c.last.Brokers {
		if b := &c.last.Brokers[i]; !b.LogDirs.IsKnown() && !b.Fenced.Or(false) {
			return fmt.Sprintf("broker %d did not tell its log directories", b.ID)
		}
	}
	return ""
}
