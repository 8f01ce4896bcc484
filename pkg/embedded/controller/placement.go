package controller

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// place chooses the replicas of new partitions (Kafka's StripedReplicaPlacer of
// 4.4.0). Partitions go round the racks, and within a rack round its brokers, both
// from a random start; the first replica is on a broker that is not fenced, and
// fenced ones come last anyway. So leaders are spread, and the replicas of one
// partition over as many racks as there are.
func (op *operation) place(partitions, rf int) (assignments [][]int32, err *Error) {
	racks := newRacks(op.image, op.c.opts.Rand)
	switch {
	case rf > racks.brokers:
		return nil, errorf(InvalidReplicationFactor, "replication factor %d cannot be reached: only %d broker(s) are registered", rf, racks.brokers)
	case racks.unfenced == 0:
		return nil, errorf(InvalidReplicationFactor, "replication factor %d cannot be reached: all brokers are fenced", rf)
	}
	for range partitions {
		assignments = append(assignments, racks.place(rf))
	}
	return assignments, nil
}

// ring hands out brokers in turn, each once in a round, and begins every round
// one further.
type ring struct {
	brokers              []int32
	index, offset, round int
}

// next returns a broker that this round has not had yet.
func (r *ring) next(round int) (int32, bool) {
	if len(r.brokers) == 0 {
		return noBroker, false
	}
	if r.round != round {
		r.round, r.index, r.offset = round, 0, (r.offset+1)%len(r.brokers)
	}
	if r.index >= len(r.brokers) {
		return noBroker, false
	}
	b := r.brokers[(r.index+r.offset)%len(r.brokers)]
	r.index++
	return b, true
}

// rack is the brokers that fail together.
type rack struct {
	name             string
	unfenced, fenced ring
}

func (r *rack) next(round int) (int32, bool) {
	if b, ok := r.unfenced.next(round); ok {
		return b, true
	}
	return r.fenced.next(round)
}

// racks places one partition a round. Its lists are in the order of names and ids
// before they are ever shuffled.
type racks struct {
	rand              *rand.Rand
	list              []*rack
	brokers, unfenced int
	offset, round     int
}

func newRacks(image metadata.Image, rnd *rand.Rand) *racks {
	rs := &racks{rand: rnd}
	byName := map[string]*rack{}
	for id, b := range image.Brokers() {
		if !usable(b) {
			continue
		}
		name := "" // brokers without a rack share one
		if b.Rack != nil {
			name = *b.Rack
		}
		if byName[name] == nil {
			byName[name] = &rack{name: name}
			rs.list = append(rs.list, byName[name])
		}
		rs.brokers++
		if b.Fenced {
			byName[name].fenced.brokers = append(byName[name].fenced.brokers, id)
			continue
		}
		rs.unfenced++
		byName[name].unfenced.brokers = append(byName[name].unfenced.brokers, id)
	}
	slices.SortFunc(rs.list, func(a, b *rack) int { return strings.Compare(a.name, b.name) })
	for _, r := range rs.list {
		r.fenced.offset = rs.draw(len(r.fenced.brokers))
		r.unfenced.offset = rs.draw(len(r.unfenced.brokers))
	}
	rs.offset = rs.draw(len(rs.list))
	return rs
}

// usable: on its way out, or with every directory cordoned (KIP-1066), a broker
// gets no new replicas. A fenced one may be back soon, and does.
func usable(b *metadata.Broker) bool {
	leaving := b.InControlledShutdown && !b.Fenced
	cordoned := len(b.LogDirs) > 0
	for _, dir := range b.LogDirs {
		cordoned = cordoned && slices.Contains(b.CordonedLogDirs, dir)
	}
	return !leaving && !cordoned
}

func (rs *racks) draw(n int) int {
	if n == 0 {
		return 0
	}
	return rs.rand.IntN(n)
}

// place returns the replicas of one partition. There must be as many brokers as
// replicas, and one that is not fenced.
func (rs *racks) place(rf int) []int32 {
	if rs.round == rs.unfenced && rs.unfenced > 1 {
		// As many partitions as brokers: the same assignments would come again.
		rs.shuffle()
		rs.round = 0
	}
	rs.offset %= len(rs.list)
	first := rs.offset
	leader, ok := rs.list[first].unfenced.next(rs.round)
	for !ok {
		first = (first + 1) % len(rs.list)
		leader, ok = rs.list[first].unfenced.next(rs.round)
	}
	replicas := []int32{leader}
	for i := rs.offset; len(replicas) < rf; i = (i + 1) % len(rs.list) {
		if i == first {
			first = -1 // has its replica of the first time round
			continue
		}
		if b, ok := rs.list[i].next(rs.round); ok {
			replicas = append(replicas, b)
		}
	}
	rs.round++
	rs.offset++
	return replicas
}

func (rs *racks) shuffle() {
	rs.rand.Shuffle(len(rs.list), func(i, j int) { rs.list[i], rs.list[j] = rs.list[j], rs.list[i] })
	for _, r := range rs.list {
		for _, brokers := range [][]int32{r.fenced.brokers, r.unfenced.brokers} {
			rs.rand.Shuffle(len(brokers), func(i, j int) { brokers[i], brokers[j] = brokers[j], brokers[i] })
		}
	}
}
