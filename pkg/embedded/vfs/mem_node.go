package vfs

import "slices"

// node is a file or a directory of a Mem.
type node struct {
	// file is nil for a directory.
	file *content
	// entries are a directory's names, durable those that a crash surely keeps.
	entries map[string]*node
	durable map[string]*node
	// open counts handles; linked says that the node still has a name.
	open   int
	linked bool
}

func newDir() *node {
	return &node{entries: map[string]*node{}, durable: map[string]*node{}, linked: true}
}

func (n *node) isDir() bool { return n.file == nil }

// busy reports whether a file at or below n is open.
func (n *node) busy() bool {
	if n.open > 0 {
		return true
	}
	for _, child := range n.entries {
		if child.busy() {
			return true
		}
	}
	return false
}

// nameChange is a change of names that is not durable yet: n leaves from (if it
// was somewhere) and comes to (if it stays anywhere).
type nameChange struct {
	n        *node
	from, to place
	// fromDone and toDone say that the directory was synced since, or that there
	// is none to sync.
	fromDone, toDone bool
}

// place is a name in a directory; the zero value is nowhere.
type place struct {
	dir  *node
	name string
}

func (ch *nameChange) done() bool { return ch.fromDone && ch.toDone }

// maxPending bounds the changes remembered. A real kernel writes them out after
// seconds too.
const maxPending = 4096

// changed records a change of names.
func (m *Mem) changed(ch nameChange) {
	ch.fromDone, ch.toDone = ch.from.dir == nil, ch.to.dir == nil
	if ch.n.isDir() && ch.from.dir != nil && ch.to.dir != nil && ch.from.dir != ch.to.dir {
		// Directories that move into each other, in any order, could lose a tree
		// that was durable: that is more than a disk does.
		for i := range m.pending {
			m.pending[i].fromDone, m.pending[i].toDone = true, true
		}
		ch.fromDone, ch.toDone = true, true
	}
	m.pending = append(m.pending, ch)
	if len(m.pending) > maxPending {
		m.pending[0].fromDone, m.pending[0].toDone = true, true
	}
	m.fold()
}

// synced marks the changes in dir as durable.
func (m *Mem) synced(dir *node) {
	for i := range m.pending {
		ch := &m.pending[i]
		ch.fromDone = ch.fromDone || ch.from.dir == dir
		ch.toDone = ch.toDone || ch.to.dir == dir
	}
	m.fold()
}

// fold takes the changes that are durable, up to the first that is not, into
// the directories' durable names.
func (m *Mem) fold() {
	n := 0
	for n < len(m.pending) && m.pending[n].done() {
		ch := m.pending[n]
		apply(ch, func(d *node) map[string]*node { return d.durable })
		n++
	}
	m.pending = slices.Delete(m.pending, 0, n)
}

// apply changes the names that namesOf returns for a directory.
func apply(ch nameChange, namesOf func(*node) map[string]*node) {
	if ch.from.dir != nil {
		delete(namesOf(ch.from.dir), ch.from.name)
	}
	if ch.to.dir != nil {
		namesOf(ch.to.dir)[ch.to.name] = ch.n
	}
}
