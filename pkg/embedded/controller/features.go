package controller

import (
	"strconv"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// UpdateFeatures finalizes feature levels, all or none (KIP-584, KIP-1022). It is
// answered with an [UpdateFeaturesReply].
type UpdateFeatures struct {
	Updates      []FeatureUpdate
	ValidateOnly bool
}

// FeatureUpdate is a new level of one feature.
type FeatureUpdate struct {
	Name string
	// Level 0 is off.
	Level int16
	Type  UpgradeType
}

// UpgradeType is what the user has agreed to, in Kafka's numbers.
type UpgradeType int8

// The upgrade types.
const (
	Upgrade         UpgradeType = 1
	SafeDowngrade   UpgradeType = 2
	UnsafeDowngrade UpgradeType = 3
)

// UpdateFeaturesReply says why nothing was done, if so.
type UpdateFeaturesReply struct{ Err *Error }

// decide is Kafka's FeatureControlManager.updateFeatures.
func (r UpdateFeatures) decide(op *operation) UpdateFeaturesReply {
	for i, u := range r.Updates {
		for _, other := range r.Updates[:i] {
			if other.Name == u.Name {
				return UpdateFeaturesReply{errorf(InvalidRequest, "feature %s is in the request twice", u.Name)}
			}
		}
		if err := op.validFeature(u); err != nil {
			return UpdateFeaturesReply{err}
		}
	}
	elr := op.elrEnabled()
	for _, u := range r.Updates {
		op.write(&kraft.FeatureLevel{Name: u.Name, FeatureLevel: u.Level})
	}
	if op.elrEnabled() && op.image.Feature(featureMetadataVersion) < metadataVersion40IV1 {
		op.rollback()
		return UpdateFeaturesReply{errorf(InvalidUpdateVersion, "%s 1 needs %s %d", featureELR, featureMetadataVersion, metadataVersion40IV1)}
	}
	if op.elrEnabled() && !elr {
		op.makeELRSafe()
	}
	if r.ValidateOnly {
		op.rollback()
	}
	return UpdateFeaturesReply{}
}

// validFeature is updateFeature: every node must be able to live at the level.
func (op *operation) validFeature(u FeatureUpdate) *Error {
	now := op.image.Feature(u.Name)
	low, high := supported(op.c.opts.Features, u.Name)
	switch {
	case u.Type < Upgrade || u.Type > UnsafeDowngrade:
		return errorf(InvalidUpdateVersion, "feature %s: upgrade type %d: want 1, 2 or 3", u.Name, u.Type)
	case u.Level < 0:
		return errorf(InvalidUpdateVersion, "feature %s: level %d: want 0 or more", u.Name, u.Level)
	case u.Level < low || u.Level > high:
		return errorf(InvalidUpdateVersion, "feature %s: controller %d supports levels %d to %d, not %d", u.Name, op.c.opts.NodeID, low, high, u.Level)
	case u.Level < now && u.Type == Upgrade:
		return errorf(InvalidUpdateVersion, "feature %s: level %d is less than %d, and the request allows no downgrade", u.Name, u.Level, now)
	case u.Level > now && u.Type != Upgrade:
		return errorf(InvalidUpdateVersion, "feature %s: level %d is more than %d: no downgrade", u.Name, u.Level, now)
	case u.Level < now && u.Name == featureMetadataVersion:
		// Records that the lower level does not know may be in the log.
		return errorf(InvalidUpdateVersion, "%s cannot be taken back from %d to %d", u.Name, now, u.Level)
	}
	for id, b := range op.image.Brokers() {
		if low, high := supported(b.Features, u.Name); u.Level != 0 && (u.Level < low || u.Level > high) {
			return errorf(InvalidUpdateVersion, "feature %s: broker %d supports levels %d to %d, not %d", u.Name, id, low, high, u.Level)
		}
	}
	return nil
}

// makeELRSafe is maybeGenerateElrSafetyRecords. With ELRs, how many replicas hold
// every committed record must be the same for all brokers: min.insync.replicas of
// the node's file becomes the cluster's, and those of single brokers go.
func (op *operation) makeELRSafe() {
	if _, ok := op.image.Config(clusterDefault, minISRKey); !ok {
		value := op.static(minISRKey)
		op.write(&kraft.Config{ResourceType: kraft.ResourceBroker, Name: minISRKey, Value: &value})
	}
	for id := range op.image.Brokers() {
		name := strconv.Itoa(int(id))
		if _, ok := op.image.Config(brokerResource(name), minISRKey); ok {
			op.write(&kraft.Config{ResourceType: kraft.ResourceBroker, ResourceName: name, Name: minISRKey})
		}
	}
}

// supported returns the range of a feature, 0 to 0 for one that is not named.
func supported(ranges []kraft.FeatureRange, name string) (low, high int16) {
	for _, f := range ranges {
		if f.Name == name {
			return f.MinSupportedVersion, f.MaxSupportedVersion
		}
	}
	return 0, 0
}
