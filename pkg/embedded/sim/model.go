package sim

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// model is what the world knows that no process does: every partition that ever
// was, what the controller said of it, what was promised to whom.
type model struct {
	w     *World
	parts []*part
	byKey map[partKey]*part
	// images are what the controller decided, by the offset behind it.
	images []imageAt
	ids    map[kraft.UUID]string // every topic id that was ever given out

	// proof is the broker epoch that the registration which the controller looks at
	// names as that of a life which ended cleanly.
	proof int64
	// unsure: the controller is down, and what it decided last may be void.
	unsure bool
	// promised is how far the controller's log reached by which it has answered.
	promised int64
	// uncleanAsked counts the requests for an unclean election that were sent.
	uncleanAsked int
	// records numbers all records that were ever sent.
	records    uint64
	refusedIDs map[uint64]bool
	pids       map[int64]bool
	buf        []byte
	encA, encB []byte
}

type partKey struct {
	id    kraft.UUID
	index int32
}

type imageAt struct {
	offset int64
	image  metadata.Image
}

// part is a partition of a topic that has an id: one that is made anew under the
// same name is another.
type part struct {
	n      int
	topic  string
	id     kraft.UUID
	id64   string // base64, as storage has it
	index  int32
	exists bool

	// reg is what the controller decided last; isr what it said at each partition
	// epoch, and leaders who led at each leader epoch, 0 for none.
	reg     *kraft.Partition
	isr     [][]int32
	leaders []int32

	// canon are the batches that leaders appended, each of which is at its epoch
	// and offset once and for all.
	canon map[batchKey]batch
	// recs are the records of each, where topics are compacted, and lastOf is the last
	// committed one of each key.
	recs   map[batchKey][]rec
	lastOf map[hash]Offset
	// committed are the batches below the highest HW that any leader had: what
	// consumers may see, and what every later leader must have.
	committed []batch
	// hw is that HW, start the highest log start.
	hw, start Offset
	// hwAt is the highest HW that the leader of each epoch had.
	hwAt []Offset

	// losers are the members that lost what they held, by bits of their ids, until
	// they have caught up again. void says that nothing is promised any more: too
	// many lost, or an election was unclean.
	losers uint32
	void   bool
	// lastKnown is the newest leader epoch in which the last known leader was elected:
	// Kafka calls that unclean, but it may have lost nothing.
	lastKnown int32
	// lowFrom is from where on a leader has committed by a lower min.insync.replicas than
	// the controller's while there were ELRs, -1 if none has: see commit.
	lowFrom Offset
	// torn are the logs that the last member of the ISR has lost the end of: see tornLast.
	torn []tornLog
	// fromELR is the leader, if it is one that was elected from the ELR.
	fromELR int32
	// minISR is the lowest effective min.insync.replicas there was.
	minISR int

	// latest are answers to ListOffsets, by the leader epoch that gave them.
	latest []latestAnswer
	// producers are what the committed batches say of each.
	producers map[int64]sequence
	acked     []ackedRecord
}

type latestAnswer struct {
	epoch  int32
	offset Offset
}

type sequence struct {
	epoch int16
	next  int32
	last  Offset
}

func (m *model) init(w *World) {
	m.w, m.byKey, m.ids = w, map[partKey]*part{}, map[kraft.UUID]string{}
	m.refusedIDs, m.pids = map[uint64]bool{}, map[int64]bool{}
	m.images = append(m.images, imageAt{0, metadata.Empty()})
}

func (m *model) part(id kraft.UUID, index int32) *part { return m.byKey[partKey{id, index}] }

// decided takes in what the controller decided, durable or not.
func (m *model) decided(b controller.Batch, after metadata.Image) {
	if len(b.Records) == 0 {
		return
	}
	w := m.w
	w.hash.add(b.End())
	if w.watch != nil {
		w.watch.Decided(b, after)
	}
	before := m.newest()
	m.images = append(m.images, imageAt{b.End(), after})
	for _, rec := range b.Records {
		if w.trace != nil {
			w.tell("controller decides: %s", describeRecord(rec))
		}
		switch rec := rec.(type) {
		case *kraft.Topic:
			m.topicMade(rec)
		case *kraft.RemoveTopic:
			for _, p := range m.parts {
				if p.id == rec.TopicID {
					p.exists = false
				}
			}
		case *kraft.Partition:
			m.registered(m.addPart(after, rec.TopicID, rec.PartitionID), rec, nil, before, after)
		case *kraft.PartitionChange:
			p := m.part(rec.TopicID, rec.PartitionID)
			if p == nil {
				w.fail("I16", "the controller changes partition %d of a topic %s that it never made", rec.PartitionID, rec.TopicID)
				return
			}
			m.registered(p, nil, rec, before, after)
		case *kraft.RegisterBroker:
			m.checkRegistration(rec, before, after)
		case *kraft.ClearELR:
			m.resync(after)
		case *kraft.Config:
			m.minISRChanged(after)
		}
	}
}

// newest is the image that was decided last.
func (m *model) newest() metadata.Image { return m.images[len(m.images)-1].image }

func (m *model) addPart(after metadata.Image, id kraft.UUID, index int32) *part {
	if p := m.part(id, index); p != nil {
		return p
	}
	t, _ := after.TopicByID(id)
	p := &part{
		n: len(m.parts), topic: m.ids[id], id: id, id64: id.String(), index: index, exists: true,
		canon: map[batchKey]batch{}, recs: map[batchKey][]rec{}, lastOf: map[hash]Offset{}, producers: map[int64]sequence{}, minISR: 1 << 20, lastKnown: -1, lowFrom: -1,
	}
	if t != nil {
		p.topic = t.Name
	}
	m.parts = append(m.parts, p)
	m.byKey[partKey{id, index}] = p
	return p
}

// registered is a change of a partition.
func (m *model) registered(p *part, made *kraft.Partition, change *kraft.PartitionChange, before, after metadata.Image) {
	old := p.reg
	now := partitionOf(after, p)
	if now == nil {
		p.exists = false // removed within the same batch
		return
	}
	p.reg = now
	m.remember(p)
	if m.unsure {
		old = nil // it may never have been decided
	}
	p.minISR = min(p.minISR, m.effectiveMinISR(p, after))
	m.checkLeadership(p, old, made, change, before)
	if old != nil {
		m.checkMembers(p, old, before, after)
	}
	m.forgetLosses(p)
	m.w.checkStrongISR(p)
}

// checkMembers looks at who is in an ISR and who a replica, and who was.
func (m *model) checkMembers(p *part, old *kraft.Partition, before, after metadata.Image) {
	if !m.uncleanRevert(p, old, before) {
		m.checkGrowth(p, old, after)
		m.checkReassignment(p, old)
	}
}

func partitionOf(im metadata.Image, p *part) *kraft.Partition {
	t, ok := im.TopicByID(p.id)
	if !ok {
		return nil
	}
	reg, _ := t.Partition(p.index)
	return reg
}

// remember keeps what the ISR was at each partition epoch, in between too: a batch
// may change a partition more than once, and brokers see the last state only.
func (m *model) remember(p *part) {
	for int(p.reg.PartitionEpoch) >= len(p.isr) {
		p.isr = append(p.isr, nil)
	}
	p.isr[p.reg.PartitionEpoch] = p.reg.ISR
}

// minISRChanged takes in that min.insync.replicas may have changed.
func (m *model) minISRChanged(after metadata.Image) {
	for _, p := range m.parts {
		if p.exists && p.reg != nil {
			p.minISR = min(p.minISR, m.effectiveMinISR(p, after))
		}
	}
}

// resync takes over the state of all partitions from an image: after a controller's
// restart, for what was not durable was never decided.
func (m *model) resync(im metadata.Image) {
	for _, p := range m.parts {
		reg := partitionOf(im, p)
		p.exists = reg != nil
		if reg == nil {
			continue
		}
		p.reg = reg
		p.isr = p.isr[:min(len(p.isr), int(reg.PartitionEpoch)+1)]
		m.remember(p)
		m.forgetLosses(p)
	}
}

// effectiveMinISR is getTopicEffectiveMinIsr.
func (m *model) effectiveMinISR(p *part, im metadata.Image) int {
	return min(topicMinISR(im, p.topic), len(p.reg.Replicas))
}

// forgetLosses lets a member that has left ISR and ELR be held to its word again,
// and one that has come back count as whole.
func (m *model) forgetLosses(p *part) {
	for _, b := range m.w.brokers() {
		s := b.shadowOf(p)
		if s == nil {
			continue
		}
		inISR := slices.Contains(p.reg.ISR, b.id)
		if !slices.Contains(p.reg.Replicas, b.id) {
			s.moved = true
		}
		switch {
		case !inISR && !slices.Contains(p.reg.EligibleLeaderReplicas, b.id):
			// It was in none, or has just left; the controller may yet let in who it does
			// not know to have been born again.
			s.excused = s.excused && !b.registered
			s.lost = s.lost && s.excused
		case s.excused:
			m.loses(s)
		case inISR:
			p.losers &^= 1 << b.id
			s.lacks = false
		}
	}
}

// controllerDied drops what was decided and may not have become durable: nobody has
// seen it, and the next life may decide otherwise.
func (m *model) controllerDied(durable int64) {
	n := len(m.images)
	for n > 1 && m.images[n-1].offset > durable {
		n--
	}
	m.images = m.images[:n]
	m.unsure = true
}

// controllerStarted takes over what a controller has found in its log.
func (m *model) controllerStarted(im metadata.Image, offset int64) {
	if m.images[len(m.images)-1].offset < offset {
		m.images = append(m.images, imageAt{offset, im})
	}
	m.unsure = false
	m.resync(im)
}
