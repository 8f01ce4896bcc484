package inspect

import (
	"cmp"
	"slices"
)

// UntoldCause says why a broker told nothing.
type UntoldCause string

// The causes.
const (
	// UntoldFenced: the cluster lists it as fenced: the controller does not hear from
	// it. It is not asked.
	UntoldFenced UntoldCause = "fenced"
	// UntoldGone: replicas are assigned to it, and the cluster does not list it.
	// Before Kafka 4.0 that is all that can be seen of a broker that is down.
	UntoldGone UntoldCause = "not among the live brokers"
	// UntoldSilent: it could not be connected or did not reply.
	UntoldSilent UntoldCause = "no answer"
	// UntoldRefused: it answered, but not this: a permission is missing, or it does
	// not have the API.
	UntoldRefused UntoldCause = "not told"
)

// Row reports whether the broker is worth a row of its own where each thing that a
// broker tells has one. A refusal is told as a [Failure], and for all brokers alike.
func (c UntoldCause) Row() bool { return c != UntoldRefused }

// Down reports whether the cluster itself says that the broker is not there,
// which is an answer, rather than that it could not be asked.
func (c UntoldCause) Down() bool { return c == UntoldFenced || c == UntoldGone }

// Untold is a broker of the cluster that told nothing of what all were asked.
type Untold struct {
	Broker BrokerID
	Cause  UntoldCause
}

// Untold lists, by id, the brokers for which told is false, and those that are
// not among Brokers though replicas are assigned to them.
func (s *Snapshot) Untold(told func(*Broker) bool) []Untold {
	var out []Untold
	for i := range s.Brokers {
		b := &s.Brokers[i]
		switch {
		case told(b):
		case b.Fenced.Or(false):
			out = append(out, Untold{b.ID, UntoldFenced})
		case !b.Reachable.Or(true):
			out = append(out, Untold{b.ID, UntoldSilent})
		default:
			out = append(out, Untold{b.ID, UntoldRefused})
		}
	}
	for _, id := range s.Gone {
		out = append(out, Untold{id, UntoldGone})
	}
	slices.SortFunc(out, func(a, b Untold) int { return cmp.Compare(a.Broker, b.Broker) })
	return out
}

// Unlisted are the brokers that replicas are assigned to and that are not among
// Brokers, not even as fenced ones. Sorted.
func (s *Snapshot) Unlisted() []BrokerID {
	listed := map[BrokerID]bool{}
	for i := range s.Brokers {
		listed[s.Brokers[i].ID] = true
	}
	return s.missingHosts(listed)
}
