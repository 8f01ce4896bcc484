package kraft

// MetadataVersion is a level of the feature metadata.version: the older it is,
// the less may be written, for there may be nodes that know no more.
type MetadataVersion int16

// Levels from which records have more to say.
const (
	metadata33IV3 MetadataVersion = 7  // controlled shutdown, KIP-841
	metadata34IV0 MetadataVersion = 8  // migration from ZooKeeper, KIP-866
	metadata37IV2 MetadataVersion = 17 // directories, KIP-858
	metadata40IV1 MetadataVersion = 23 // ELR, KIP-966
	metadata43IV0 MetadataVersion = 30 // cordoned directories, KIP-1066
)

// RecordVersion returns the version in which Kafka's controller at that level
// writes rec (the *RecordVersion methods of its MetadataVersion). Whether the
// level has that type of record at all is not asked, and neither are levels that a
// release of Kafka knew ahead of its time: ELR's moved from one to the next.
func (v MetadataVersion) RecordVersion(rec Record) int16 {
	at := func(levels ...MetadataVersion) (version int16) {
		for i, level := range levels {
			if v >= level {
				version = int16(i) + 1
			}
		}
		return version
	}
	switch rec := rec.(type) {
	case *RegisterBroker:
		return at(metadata33IV3, metadata34IV0, metadata37IV2, metadata43IV0)
	case *Partition, *PartitionChange:
		return at(metadata37IV2, metadata40IV1)
	case *BrokerRegistrationChange:
		// Kafka takes the first version that has the field it sets.
		return lowest(rec)
	}
	return 0
}

// lowest returns the first version that has all the fields that rec sets.
func lowest(rec Record) (version int16) {
	for _, f := range rec.fields() {
		if f.since > version && !f.value.isDefault() {
			version = f.since
		}
	}
	return version
}
