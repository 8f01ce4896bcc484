package source

import (
	"math"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// A replica's own LEO is told to replica id −2, by Apache Kafka on every broker
// that hosts the replica. Services that merely speak the protocol may not honour
// it: followers then answer as to a consumer (NOT_LEADER_OR_FOLLOWER), or with
// another error, or the connection is closed, and what a leader answers may be
// its HW. So where not one follower answered and some refused, no answer to
// replica id −2 is believed.

// role is how a broker hosts a replica.
type role int

const (
	leaders role = iota
	followers
)

// debugTally counts the replicas that answered replica id −2 and those that
// refused, by role. Whether refusals are failures is known at the end.
type debugTally struct {
	answered [2]int
	refused  [2][]debugRefusal
}

// debugRefusal is one cause for which count replicas of a broker did not answer.
type debugRefusal struct {
	// code is Kafka's, or closedConn.
	code    int16
	count   int
	why     string
	failure inspect.Failure
}

const closedConn = math.MinInt16

// dishonours reports whether a service that does not know replica id −2 answers
// so. A failed log directory or a topic that is going away is no such sign.
func (r debugRefusal) dishonours() bool {
	switch r.code {
	case notLeader, 35, 42, -1, closedConn: // UNSUPPORTED_VERSION, INVALID_REQUEST, UNKNOWN_SERVER_ERROR
		return true
	}
	return false
}

func (o *offsets) tally(who role, answered int, refused []debugRefusal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.debug.answered[who] += answered
	for _, r := range refused {
		if r.count > 0 {
			o.debug.refused[who] = append(o.debug.refused[who], r)
		}
	}
}

// settle decides what the refusals mean and clears what cannot be believed.
// Followers decide where there are any: a leader may answer with its HW.
func (o *offsets) settle() {
	d := &o.debug
	decides := followers
	if d.answered[followers] == 0 && len(d.refused[followers]) == 0 {
		decides = leaders
	}
	sign := slices.IndexFunc(d.refused[decides], debugRefusal.dishonours)
	if d.answered[decides] == 0 && sign >= 0 && !o.provenHonoured() {
		o.degrade(d.refused[decides][sign].why)
		for who := range d.refused {
			d.refused[who] = slices.DeleteFunc(d.refused[who], debugRefusal.dishonours)
		}
	}
	o.failRefused()
	for p := range o.pass.snap.Partitions {
		if p.Offsets == nil || p.Offsets.HW.IsKnown() {
			continue
		}
		if p.Offsets.Error == codeName(int16(notLeader)) {
			// Whoever answered is no longer the leader; its LEO is not the leader's.
			p.Offsets.LEOBefore, p.Offsets.LEOAfter = inspect.Unknown[inspect.Offset](), inspect.Unknown[inspect.Offset]()
		}
	}
}

const notLeader = 6 // NOT_LEADER_OR_FOLLOWER

// provenHonoured reports whether some leader told an LEO above the HW that it told
// later: to a consumer it would have told the HW.
func (o *offsets) provenHonoured() bool {
	for p := range o.pass.snap.Partitions {
		if p.Offsets == nil {
			continue
		}
		leo, told := p.Offsets.LEOBefore.Get()
		hw, known := p.Offsets.HW.Get()
		if told && known && leo > hw {
			return true
		}
	}
	return false
}

// failRefused makes each refusal a failure, one line for a broker and a cause.
func (o *offsets) failRefused() {
	for who, refused := range o.debug.refused {
		if role(who) == followers && o.pass.query.ForGroups {
			continue // they were asked to see whether leaders can be believed
		}
		for _, r := range refused {
			if role(who) == leaders {
				r.failure.Lost = "leaders' " + r.failure.Lost
			}
			o.pass.fail(r.failure)
		}
	}
}

// degrade gives up on replicas' own LEO for the whole pass.
func (o *offsets) degrade(why string) {
	o.pass.fail(inspect.Failure{
		Request: listOffsets, Phase: inspect.PhaseRequest, Notice: true,
		Error: "this service does not tell replicas' own log end offsets (replica id −2): " + why,
		Lost:  "LEO and lag are unknown; HW, LSO and log start are shown",
	})
	for p := range o.pass.snap.Partitions {
		off := p.Offsets
		if off == nil {
			continue
		}
		off.LEOBefore, off.LEOAfter = inspect.Unknown[inspect.Offset](), inspect.Unknown[inspect.Offset]()
		for i := range off.Followers {
			f := &off.Followers[i]
			f.LEO = inspect.Unknown[inspect.Offset]()
			b := o.pass.snap.Broker(f.Broker)
			if b != nil && b.Reachable.Or(false) {
				f.Refused = true
				f.Error = why
			}
		}
	}
}
