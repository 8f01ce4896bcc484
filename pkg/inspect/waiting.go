package inspect

// Waiting is what two looks at a cluster, some time apart, prove of records that
// wait for their commit.
type Waiting struct {
	// Partitions are those with a record that the first look saw and that was not
	// committed when the second one began; in the order of the second Snapshot.
	Partitions []TopicPartition
	// Unknown counts partitions of which neither that nor its opposite is proved.
	Unknown int
}

// WaitingSince compares the HWs of s with the LEOs of a look before; both need
// [PartOffsets]. What is below the leader's LEO of the first look was written by its
// end, and what is not below the HW of the second was not committed when that began: such
// a record has waited at least from the one to the other. No clock of a broker and no
// timestamp of a producer is part of that.
func (s *Snapshot) WaitingSince(before *Snapshot) Waiting {
	was := map[TopicPartition]*Partition{}
	for p := range before.Partitions {
		was[TopicPartition{p.Topic, p.Index}] = p
	}
	var w Waiting
	for p := range s.Partitions {
		at := TopicPartition{p.Topic, p.Index}
		first, there := was[at]
		if !there || first.TopicID.IsKnown() && p.TopicID.IsKnown() && !first.TopicID.Equal(p.TopicID) {
			continue // it was created meanwhile: nothing of it is that old
		}
		switch waits, ok := p.waitsSince(first).Get(); {
		case !ok:
			w.Unknown++
		case waits:
			w.Partitions = append(w.Partitions, at)
		}
	}
	return w
}

// waitsSince: a record of the look before is still above the HW.
func (p *Partition) waitsSince(before *Partition) Opt[bool] {
	now := p.Lag()
	if most, ok := now.UncommittedMax.Get(); ok && most == 0 {
		return Known(false) // nothing is above the HW, whatever there was
	}
	hw, ok := now.HW.Get()
	if !ok || before.Offsets == nil {
		return Unknown[bool]()
	}
	leo, ok := before.Offsets.LEOBefore.Get()
	switch {
	case !ok:
		return Unknown[bool]()
	case hw >= leo:
		// In whichever epoch: what the first leader had there is committed or gone.
		return Known(false)
	case p.LeaderEpoch.IsKnown() && p.LeaderEpoch.Equal(before.LeaderEpoch):
		return Known(true)
	}
	// Another leader may have cut those records off: others would be in their place.
	return Unknown[bool]()
}
