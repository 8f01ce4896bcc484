package quorum

import (
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

const (
	metadataVersion = "metadata.version"
	kraftVersion    = "kraft.version"
)

// features are those of a new cluster.
func (o Options) features() []kraft.FeatureLevel {
	if o.Features != nil {
		return o.Features
	}
	var all []kraft.FeatureLevel
	for _, f := range o.Controller.Features {
		if f.Name != metadataVersion {
			all = append(all, kraft.FeatureLevel{Name: f.Name, FeatureLevel: f.MaxSupportedVersion})
		}
	}
	return all
}

// bootstrapRecords are the first records of a new cluster: at the levels that its
// directory was formatted with by Kafka's tool, else at those of the options.
func (n *Node) bootstrapRecords(formatted metadata.Image) []kraft.Record {
	if formatted.MetadataVersion() == 0 {
		return controller.Bootstrap(n.opts.Controller.Static, n.opts.features()...)
	}
	var levels []kraft.FeatureLevel
	for name, level := range formatted.Features() {
		if name != metadataVersion {
			levels = append(levels, kraft.FeatureLevel{Name: name, FeatureLevel: level})
		}
	}
	recs := controller.Bootstrap(n.opts.Controller.Static, levels...)
	for _, rec := range recs {
		if f, ok := rec.(*kraft.FeatureLevel); ok && f.Name == metadataVersion {
			f.FeatureLevel = int16(formatted.MetadataVersion())
		}
	}
	return recs
}

// writeBootstrapSnapshot writes 0-0, by which Kafka knows a formatted directory.
func (n *Node) writeBootstrapSnapshot(now machine.Time) error {
	r := metadata.NewReplay(metadata.Empty())
	var recs []kraft.Record
	for _, rec := range n.bootstrapRecords(r.Image()) {
		if f, ok := rec.(*kraft.FeatureLevel); ok {
			recs = append(recs, f)
		}
		if err := r.Apply(rec); err != nil {
			return err
		}
	}
	o := &snapshotOrder{
		fs: n.opts.FS, dir: n.log.Path(""), voters: n.voters, lastMs: now.Wall, level: r.Image().MetadataVersion(),
		recs: func() []kraft.Record { return recs },
	}
	if o.Run(); o.err != nil {
		return o.err
	}
	n.snapshots = append(n.snapshots, o.id)
	return nil
}
