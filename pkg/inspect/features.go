package inspect

import (
	"cmp"
	"slices"
	"strconv"
)

// PartFeatures asks every broker for its features: no more than the ApiVersions
// that each connection begins with.
const PartFeatures Parts = 1 << 9

// BrokerFeatures is what one broker tells of the cluster's features (KIP-584).
type BrokerFeatures struct {
	// Epoch is the offset in the metadata log at which the broker saw the finalized
	// levels; unknown where it tells none.
	Epoch Opt[int64]
	// Levels are the finalized levels; one that is not there is 0, which is off.
	Levels map[string]int16
	// Supported are the ranges that the broker supports, both ends included.
	Supported map[string]FeatureRange
}

// FeatureRange is a range of levels, both ends included.
type FeatureRange struct{ Min, Max int16 }

// Feature is one feature over all brokers that told of theirs.
type Feature struct {
	Name string
	// Level is the finalized level, 0 where the feature is off, as the broker with
	// the newest metadata tells it.
	Level Opt[int16]
	Epoch Opt[int64]
	// Min and Max are what all of these brokers support; unknown where they have no
	// level in common.
	Min, Max Opt[int16]
	Status   []FeatureStatus
	// Brokers is sorted by id, and so is Untold: those that told nothing.
	Brokers []BrokerFeature
	Untold  []Untold
}

// BrokerFeature is what one broker tells of one feature.
type BrokerFeature struct {
	Broker BrokerID
	Epoch  Opt[int64]
	// Level is finalized; Min and Max supported, both 0 where the broker does not
	// know the feature.
	Level    Opt[int16]
	Min, Max int16
}

// FeatureStatus is one word about a feature.
type FeatureStatus string

// The words, worst first; FeatureOK stands alone.
const (
	// FeatureUnsupported: a broker does not support the finalized level; it will
	// not start again.
	FeatureUnsupported FeatureStatus = "unsupported"
	// FeatureDisagree: brokers support different levels, as in the middle of an
	// upgrade, or one has not heard of the finalized level yet.
	FeatureDisagree FeatureStatus = "disagree"
	// FeatureUnknown: a broker did not answer, is fenced or gone, or tells no
	// features. Whether the level can be raised is then unknown too.
	FeatureUnknown FeatureStatus = "unknown"
	// FeatureUpgradable: all brokers, none left out, support a higher level than the
	// finalized. The controllers have to as well, and are not asked.
	FeatureUpgradable FeatureStatus = "upgradable"
	// FeatureOK: none of the above.
	FeatureOK FeatureStatus = "ok"
)

// Features compares what the brokers tell. Controllers are not asked: what they
// support is not in it.
func (s *Snapshot) Features() []Feature {
	names := map[string]bool{}
	told := []*Broker{}
	untold := s.Untold(func(b *Broker) bool { return b.Features.IsKnown() })
	for i := range s.Brokers {
		b := &s.Brokers[i]
		f, ok := b.Features.Get()
		if !ok {
			continue
		}
		told = append(told, b)
		for name := range f.Levels {
			names[name] = true
		}
		for name := range f.Supported {
			names[name] = true
		}
	}
	slices.SortFunc(told, func(a, b *Broker) int { return cmp.Compare(a.ID, b.ID) })
	out := make([]Feature, 0, len(names))
	for name := range names {
		out = append(out, featureOf(name, told, untold))
	}
	slices.SortFunc(out, func(a, b Feature) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func featureOf(name string, told []*Broker, untold []Untold) Feature {
	f := Feature{Name: name, Untold: untold}
	for _, b := range told {
		all := b.Features.Or(BrokerFeatures{})
		bf := BrokerFeature{Broker: b.ID, Epoch: all.Epoch, Min: all.Supported[name].Min, Max: all.Supported[name].Max}
		if epoch, ok := all.Epoch.Get(); ok {
			bf.Level = Known(all.Levels[name])
			if epoch >= f.Epoch.Or(epoch) {
				f.Level, f.Epoch = bf.Level, bf.Epoch
			}
		}
		f.Brokers = append(f.Brokers, bf)
	}
	f.judge(len(untold) > 0)
	return f
}

// judge fills in the common range and the words.
func (f *Feature) judge(untold bool) {
	first := f.Brokers[0]
	lowest, highest, differ, unsupported := first.Min, first.Max, false, false
	level, known := f.Level.Get()
	for i := range f.Brokers {
		b := &f.Brokers[i]
		lowest, highest = max(lowest, b.Min), min(highest, b.Max)
		differ = differ || b.Min != first.Min || b.Max != first.Max || b.Level != f.Level
		unsupported = unsupported || known && level > 0 && (level < b.Min || level > b.Max)
	}
	if lowest <= highest {
		f.Min, f.Max = Known(lowest), Known(highest)
	}
	add := func(when bool, word FeatureStatus) {
		if when {
			f.Status = append(f.Status, word)
		}
	}
	add(unsupported, FeatureUnsupported)
	add(differ, FeatureDisagree)
	add(untold || !known, FeatureUnknown)
	add(known && !untold && f.Max.Or(level) > level, FeatureUpgradable)
	add(len(f.Status) == 0, FeatureOK)
}

// MetadataVersion is the name of the feature that is Kafka's metadata version.
const MetadataVersion = "metadata.version"

// metadataVersions are the names of its levels, from level 1 on, as Kafka 4.4 has
// them (MetadataVersion.java).
var metadataVersions = [...]string{
	"3.0-IV1", "3.1-IV0", "3.2-IV0", "3.3-IV0", "3.3-IV1", "3.3-IV2", "3.3-IV3", "3.4-IV0", "3.5-IV0", "3.5-IV1",
	"3.5-IV2", "3.6-IV0", "3.6-IV1", "3.6-IV2", "3.7-IV0", "3.7-IV1", "3.7-IV2", "3.7-IV3", "3.7-IV4", "3.8-IV0",
	"3.9-IV0", "4.0-IV0", "4.0-IV1", "4.0-IV2", "4.0-IV3", "4.1-IV0", "4.1-IV1", "4.2-IV0", "4.2-IV1", "4.3-IV0",
	"4.4-IV0", "4.4-IV1", "4.4-IV2", "4.5-IV0",
}

// LevelName is a level as Kafka's tools name it: 4.4-IV2 for metadata.version,
// else the number.
func (f *Feature) LevelName(level int16) string {
	if f.Name == MetadataVersion && level >= 1 && int(level) <= len(metadataVersions) {
		return metadataVersions[level-1]
	}
	return strconv.Itoa(int(level))
}
