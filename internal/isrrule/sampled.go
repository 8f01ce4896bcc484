package isrrule

import "iter"

// Sample is one look at a partition from outside: the leader's LEO at a time,
// and, for [Behind], the follower's LEO read right after it.
type Sample struct {
	AtMs      int64
	LeaderLEO int64
	// ReplicaLEO is UnknownLEO where the follower was not asked or did not answer.
	ReplicaLEO int64
}

// Certainty says how much the samples tell.
type Certainty uint8

// What samples can tell of an age.
const (
	// Unknown: nothing; the other fields of an Age mean nothing.
	Unknown Certainty = iota
	// AtLeast: the follower was behind in every sample, so only the lower bound
	// OverMs is known.
	AtLeast
	// Within: the age lies in (OverMs, Ms], or is 0.
	Within
)

// Age is how long ago something was last so, counted back from the newest
// sample.
type Age struct {
	Certainty Certainty
	// Ms is the age to within the sampling interval: the newest sample in which
	// it was so. Where only a lower bound is known it is that bound.
	Ms int64
	// OverMs is the lower bound: the next sample after, in which it was no longer
	// so. Equal to Ms where Ms is 0 or only a lower bound is known.
	OverMs int64
}

// TimeLag is the age of a follower's log: how long before the newest sample the
// leader's LEO last was no more than replicaLEO. It is 0 where the follower has
// all that the newest sample shows, and Unknown where a single sample shows it
// behind. Samples without the leader's LEO are to be left out.
//
// Where the leader's LEO goes down, as after an election, an older sample may
// lie above a newer one. "Last" still means the newest that fits.
//
// The age is never more than what the leader compares with
// replica.lag.time.max.ms, to within one sampling interval; see [Behind].
func TimeLag(newestFirst iter.Seq[Sample], replicaLEO int64) Age {
	return age(newestFirst, func(s Sample) bool { return s.LeaderLEO <= replicaLEO })
}

// Behind is how long before the newest sample the follower was last seen to have
// all that the leader had. It bounds from above what the leader compares with
// replica.lag.time.max.ms, as [TimeLag] does from below: a follower that trails
// by a constant second has a TimeLag of one second and a Behind that grows. The
// leader learns of what a sample has seen by the follower's next fetch, and may
// date it back to the fetch before. A moment of being caught up between two
// samples is not seen, so short intervals make it sharper.
//
// Samples of which an LEO is unknown are to be left out.
func Behind(newestFirst iter.Seq[Sample]) Age {
	return age(newestFirst, func(s Sample) bool { return s.LeaderLEO <= s.ReplicaLEO })
}

func age(newestFirst iter.Seq[Sample], was func(Sample) bool) Age {
	var nowMs, overMs int64
	n := 0
	for s := range newestFirst {
		if n == 0 {
			nowMs = s.AtMs
		}
		n++
		if was(s) {
			return Age{Certainty: Within, Ms: nowMs - s.AtMs, OverMs: overMs}
		}
		overMs = nowMs - s.AtMs
	}
	if n < 2 {
		return Age{}
	}
	return Age{Certainty: AtLeast, Ms: overMs, OverMs: overMs}
}
