package kraft

// LeaderChange is the first record of each epoch of the quorum. The epoch is in
// the header of its batch.
type LeaderChange struct {
	Version        int16 // 0, as Kafka up to 4.4 writes it, or 1
	LeaderID       int32
	Voters         []LeaderChangeVoter
	GrantingVoters []LeaderChangeVoter // whose votes made it leader
}

// ControlType returns [ControlLeaderChange].
func (*LeaderChange) ControlType() ControlType { return ControlLeaderChange }

func (r *LeaderChange) fields() []field {
	return []field{
		plain("Version", fixed(&r.Version)),
		plain("LeaderId", fixed(&r.LeaderID)),
		plain("Voters", many(&r.Voters, (*LeaderChangeVoter).fields)),
		plain("GrantingVoters", many(&r.GrantingVoters, (*LeaderChangeVoter).fields)),
	}
}

// LeaderChangeVoter is a controller that may vote.
type LeaderChangeVoter struct {
	VoterID          int32
	VoterDirectoryID UUID // version 1
}

func (v *LeaderChangeVoter) fields() []field {
	return []field{
		plain("VoterId", fixed(&v.VoterID)),
		since(1, "VoterDirectoryId", fixed(&v.VoterDirectoryID)),
	}
}

// SnapshotHeader is the first record of a snapshot (KIP-630).
type SnapshotHeader struct {
	Version int16 // 0
	// LastContainedLogTimestamp is that of the last record in it, in ms.
	LastContainedLogTimestamp int64
}

// ControlType returns [ControlSnapshotHeader].
func (*SnapshotHeader) ControlType() ControlType { return ControlSnapshotHeader }

func (r *SnapshotHeader) fields() []field {
	return []field{
		plain("Version", fixed(&r.Version)),
		plain("LastContainedLogTimestamp", fixed(&r.LastContainedLogTimestamp)),
	}
}

// SnapshotFooter is the last record of a snapshot: one without is not whole.
type SnapshotFooter struct {
	Version int16 // 0
}

// ControlType returns [ControlSnapshotFooter].
func (*SnapshotFooter) ControlType() ControlType { return ControlSnapshotFooter }

func (r *SnapshotFooter) fields() []field {
	return []field{plain("Version", fixed(&r.Version))}
}

// KRaftVersion finalizes the quorum's own protocol (KIP-853): from 1 on the
// voters are in the log, as [KRaftVoters].
type KRaftVersion struct {
	Version      int16 // 0: of this record
	KRaftVersion int16
}

// ControlType returns [ControlKRaftVersion].
func (*KRaftVersion) ControlType() ControlType { return ControlKRaftVersion }

func (r *KRaftVersion) fields() []field {
	return []field{
		plain("Version", fixed(&r.Version)),
		plain("KRaftVersion", fixed(&r.KRaftVersion)),
	}
}

// KRaftVoters are all voters of a quorum whose members can change (KIP-853);
// Kafka's schema calls it VotersRecord.
type KRaftVoters struct {
	Version int16 // 0
	Voters  []KRaftVoter
}

// ControlType returns [ControlKRaftVoters].
func (*KRaftVoters) ControlType() ControlType { return ControlKRaftVoters }

func (r *KRaftVoters) fields() []field {
	return []field{
		plain("Version", fixed(&r.Version)),
		plain("Voters", many(&r.Voters, (*KRaftVoter).fields)),
	}
}

// KRaftVoter is one of them, as it says of itself.
type KRaftVoter struct {
	VoterID          int32
	VoterDirectoryID UUID
	Endpoints        []VoterEndpoint
	// The range of kraft.version that it supports, both ends included.
	MinSupportedVersion int16
	MaxSupportedVersion int16
}

func (v *KRaftVoter) fields() []field {
	return []field{
		plain("VoterId", fixed(&v.VoterID)),
		plain("VoterDirectoryId", fixed(&v.VoterDirectoryID)),
		plain("Endpoints", many(&v.Endpoints, (*VoterEndpoint).fields)),
		plain("KRaftVersionFeature", single{
			plain("MinSupportedVersion", fixed(&v.MinSupportedVersion)),
			plain("MaxSupportedVersion", fixed(&v.MaxSupportedVersion)),
		}),
	}
}

// VoterEndpoint is a listener of a voter.
type VoterEndpoint struct {
	Name string
	Host string
	Port uint16
}

func (e *VoterEndpoint) fields() []field {
	return []field{
		plain("Name", text{&e.Name}),
		plain("Host", text{&e.Host}),
		plain("Port", fixed(&e.Port)),
	}
}
