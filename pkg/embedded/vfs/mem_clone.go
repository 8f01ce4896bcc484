package vfs

import "math/rand/v2"

// Clone returns the disk as it is, with what is durable and what is not: what a
// new process finds after the old one was killed. Locks are free and no file is
// open; the hook stays behind. Neither sees what the other does from now on.
func (m *Mem) Clone() *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := NewMem(m.opts)
	copies := map[*node]*node{}
	out.root = m.root.clone(copies)
	// A change may hold nodes that have no name any more.
	for _, ch := range m.pending {
		ch.n = ch.n.clone(copies)
		ch.from.dir, ch.to.dir = ch.from.dir.clone(copies), ch.to.dir.clone(copies)
		out.pending = append(out.pending, ch)
	}
	out.pages = out.root.used()
	return out
}

// clone copies a node and all that it names, each once.
func (n *node) clone(copies map[*node]*node) *node {
	if n == nil {
		return nil
	}
	if c, ok := copies[n]; ok {
		return c
	}
	out := &node{linked: n.linked}
	copies[n] = out
	if !n.isDir() {
		out.file = n.file.snapshot()
		return out
	}
	out.entries = make(map[string]*node, len(n.entries))
	out.durable = make(map[string]*node, len(n.durable))
	for name, child := range n.entries {
		out.entries[name] = child.clone(copies)
	}
	for name, child := range n.durable {
		out.durable[name] = child.clone(copies)
	}
	return out
}

// used is how many pages the files at and below n take.
func (n *node) used() int64 {
	if !n.isDir() {
		return int64(n.file.used())
	}
	var sum int64
	for _, child := range n.entries {
		sum += child.used()
	}
	return sum
}

// CrashClone returns the disk as it may be after the power has failed now, as
// the package comment says. What the clone holds is durable. The same disk and
// the same state of rng give the same clone. m itself goes on as if nothing
// had been.
func (m *Mem) CrashClone(rng *rand.Rand) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()

	// The names first: a copy of each directory's durable ones, changed by those
	// changes that survive.
	names := map[*node]map[string]*node{}
	namesOf := func(d *node) map[string]*node {
		if names[d] == nil {
			names[d] = cloneMap(d.durable)
		}
		return names[d]
	}
	for _, ch := range m.surviving(rng) {
		apply(ch, namesOf)
	}

	out := NewMem(m.opts)
	out.root = m.root.crash(rng, namesOf)
	out.pages = out.root.used()
	return out
}

// surviving returns the changes of names that reach the disk, in order. A change
// that takes a name which an earlier one has freed needs that one: a file that
// was durable would else be overwritten.
func (m *Mem) surviving(rng *rand.Rand) []nameChange {
	needs, forced := m.dependencies()
	journal := rng.IntN(2) == 0 // in order up to a point
	upTo := rng.IntN(len(m.pending) + 1)
	// moved says where a node is after the changes that survived, origin where it
	// was before all: a rename whose predecessor was lost takes the node from there.
	moved, origin := map[*node]place{}, map[*node]place{}
	survived := make([]bool, len(m.pending))
	var out []nameChange
	for i, ch := range m.pending {
		if _, ok := origin[ch.n]; !ok {
			origin[ch.n] = ch.from
		}
		chosen := journal && i < upTo || !journal && rng.IntN(2) == 0
		survived[i] = forced[i] || chosen && (needs[i] < 0 || survived[needs[i]])
		if !survived[i] {
			continue
		}
		if at, ok := moved[ch.n]; ok {
			ch.from = at
		} else {
			ch.from = origin[ch.n]
		}
		moved[ch.n] = ch.to
		out = append(out, ch)
	}
	return out
}

// dependencies returns, for each pending change, the one that freed the name that
// it takes, or -1; and which changes are durable, for themselves or for another
// that needs them.
func (m *Mem) dependencies() (needs []int, forced []bool) {
	needs, forced = make([]int, len(m.pending)), make([]bool, len(m.pending))
	freed := map[place]int{}
	for i, ch := range m.pending {
		needs[i] = -1
		if j, ok := freed[ch.to]; ok && ch.to.dir != nil {
			needs[i] = j
		}
		freed[ch.from] = i
	}
	for i := len(m.pending) - 1; i >= 0; i-- {
		forced[i] = forced[i] || m.pending[i].done()
		if forced[i] && needs[i] >= 0 {
			forced[needs[i]] = true
		}
	}
	return needs, forced
}

func (n *node) crash(rng *rand.Rand, namesOf func(*node) map[string]*node) *node {
	if !n.isDir() {
		after := n.file.crash(rng)
		n.file.owner = new(owner)
		return &node{file: after, linked: true}
	}
	out := newDir()
	names := namesOf(n)
	for _, name := range sortedKeys(names) {
		child := names[name].crash(rng, namesOf)
		out.entries[name], out.durable[name] = child, child
	}
	return out
}
