package isrrule

// UnknownLEO stands for the log end offset of a follower that this leader has
// not heard from (UnifiedLog.UNKNOWN_OFFSET).
const UnknownLEO int64 = -1

// Progress is a leader's record of one follower, the part of Kafka's
// ReplicaState that decides about the ISR. It changes in two ways only: by a
// fetch of that follower, and when a leader epoch starts.
//
// LastCaughtUpMs and LastFetchLeaderLEO never go down within a leader epoch.
type Progress struct {
	// LEO is the offset of the follower's last fetch: everything before it is in
	// the follower's log. UnknownLEO until this leader was asked by it.
	LEO int64
	// LastCaughtUpMs is a time at which the follower surely had all that the
	// leader had. 0 is "long ago", which no limit forgives.
	LastCaughtUpMs int64
	// LastFetchMs and LastFetchLeaderLEO are the time of the last fetch and the
	// leader's LEO at that time.
	LastFetchMs        int64
	LastFetchLeaderLEO int64
}

// NewProgress is the record of a follower that the leader knows nothing of
// (ReplicaState.EMPTY).
func NewProgress() Progress { return Progress{LEO: UnknownLEO} }

// Fetch is a follower's fetch as its leader sees it.
type Fetch struct {
	// Offset is where the follower wants to read on, hence its LEO.
	Offset int64
	// LeaderLEO is the leader's LEO before it reads for this fetch.
	LeaderLEO int64
	AtMs      int64
}

// Fetched records a fetch (Replica.updateFetchStateOrThrow). Give it only the
// fetches that Kafka counts: from a follower, with no diverging epoch, of a
// broker epoch that is not stale, and each once, not again when it leaves the
// purgatory.
func (p *Progress) Fetched(f Fetch) {
	switch {
	case f.Offset >= f.LeaderLEO:
		p.LastCaughtUpMs = max(p.LastCaughtUpMs, f.AtMs)
	case f.Offset >= p.LastFetchLeaderLEO:
		// It has now all that there was at its previous fetch, so it was caught
		// up with that moment. Without this a follower that keeps up with a busy
		// leader, and so always trails by one fetch, would be dropped.
		p.LastCaughtUpMs = max(p.LastCaughtUpMs, p.LastFetchMs)
	}
	p.LEO = f.Offset
	p.LastFetchLeaderLEO = max(p.LastFetchLeaderLEO, f.LeaderLEO)
	p.LastFetchMs = f.AtMs
}

// LeaderEpoch is the start of a leader epoch at its leader.
type LeaderEpoch struct {
	// StartOffset is the leader's LEO when it took over.
	StartOffset int64
	AtMs        int64
	// ReElected is set where this broker led the partition before as well.
	ReElected bool
}

// LeaderEpochStarted begins the record anew (Replica.resetReplicaState). inISR
// says whether the follower is in the ISR of the new epoch: a member gets the
// full time to report, while one that is not must not hold back the HW.
func (p *Progress) LeaderEpochStarted(e LeaderEpoch, inISR bool) {
	var nowMs int64
	if inISR {
		nowMs = e.AtMs
	}
	if e.ReElected {
		*p = Progress{LEO: p.LEO, LastCaughtUpMs: nowMs, LastFetchMs: nowMs, LastFetchLeaderLEO: e.StartOffset}
		return
	}
	*p = Progress{LEO: UnknownLEO, LastCaughtUpMs: nowMs, LastFetchLeaderLEO: UnknownLEO}
}

// CaughtUp reports whether the leader takes the follower for caught up
// (ReplicaState.isCaughtUp): it has everything, or had so no longer than
// lagMaxMs (replica.lag.time.max.ms) ago.
func (p *Progress) CaughtUp(leaderLEO, nowMs, lagMaxMs int64) bool {
	return p.LEO == leaderLEO || nowMs-p.LastCaughtUpMs <= lagMaxMs
}
