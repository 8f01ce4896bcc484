package vfs

import "slices"

// A disk writes sectors whole or not at all; memory is kept by pages.
const (
	sectorSize     = 512
	pageSize       = 4096
	sectorsPerPage = pageSize / sectorSize
)

// What a file remembers of its unsynced past, for crash clones. Files that are
// never synced, as Kafka's, must not remember all of it.
const (
	maxVersions = 3  // of a sector, besides what is durable and what is newest
	maxSizes    = 16 // of a file
	maxCuts     = 3  // truncations
)

// page is one page of a file. It may be changed in place by the content whose
// owner it carries; everyone else copies it first.
type page struct {
	owner *owner
	data  [pageSize]byte
}

// owner is an identity. It has a byte, since pointers to nothing may be equal.
type owner struct{ _ byte }

// content is a file's data: what a reader sees, and what a disk may hold of it.
//
// pages and durable.pages share pages until one is written: a Sync gives the
// content a new owner, so that no page from before it is changed in place. A
// page that is nil, or missing at the end, is zeros.
type content struct {
	owner *owner
	size  int64
	pages []*page

	// durable is what the last Sync promised.
	durable image
	// dirty holds, for each page that was written since, a bit for each sector.
	dirty map[int]uint8
	// old holds earlier unsynced versions of a sector, by its number in the file.
	old map[int64][][sectorSize]byte
	// sizes are those since the last Sync, the newest last.
	sizes []int64
	// lost are sectors that a failed Sync dropped: a later Sync does not write
	// them either, unless they are written again.
	lost map[int64]bool
	// before is the content just before the last unsynced truncation to less.
	before *content
}

// image is data and length as they are on the disk.
type image struct {
	size  int64
	pages []*page
}

func newContent() *content { return &content{owner: new(owner)} }

func at[T any](s []*T, i int) *T {
	if i < len(s) {
		return s[i]
	}
	return nil
}

// readAt copies what there is from off on.
func (c *content) readAt(p []byte, off int64) int {
	n := int(min(int64(len(p)), max(0, c.size-off)))
	p = p[:n]
	for len(p) > 0 {
		i, from := int(off/pageSize), int(off%pageSize)
		step := min(len(p), pageSize-from)
		if pg := at(c.pages, i); pg != nil {
			copy(p[:step], pg.data[from:])
		} else {
			clear(p[:step])
		}
		p, off = p[step:], off+int64(step)
	}
	return n
}

// writeAt writes p at off. It stops where a new page is needed and mayGrow
// refuses it.
func (c *content) writeAt(p []byte, off int64, mayGrow func() bool) (n int) {
	for n < len(p) {
		i, from := int(off/pageSize), int(off%pageSize)
		step := min(len(p)-n, pageSize-from)
		if at(c.pages, i) == nil && !mayGrow() {
			break
		}
		pg := c.writable(i)
		c.remember(i, from, from+step)
		copy(pg.data[from:], p[n:n+step])
		n, off = n+step, off+int64(step)
	}
	if n > 0 && off > c.size {
		c.setSize(off)
	}
	return n
}

// writable returns page i, ready to be changed in place.
func (c *content) writable(i int) *page {
	if missing := i + 1 - len(c.pages); missing > 0 {
		c.pages = append(c.pages, make([]*page, missing)...)
	}
	pg := c.pages[i]
	if pg == nil || pg.owner != c.owner {
		fresh := &page{owner: c.owner}
		if pg != nil {
			fresh.data = pg.data
		}
		c.pages[i] = fresh
	}
	return c.pages[i]
}

// remember marks the sectors of page i between two of its bytes as written, and
// keeps what they held if that was not durable yet.
func (c *content) remember(i, from, to int) {
	if c.dirty == nil {
		c.dirty = map[int]uint8{}
	}
	for s := from / sectorSize; s <= (to-1)/sectorSize; s++ {
		sector := int64(i)*sectorsPerPage + int64(s)
		clean := c.dirty[i]&(1<<s) == 0
		c.dirty[i] |= 1 << s
		if clean || c.lost[sector] { // what is lost was never on the disk
			delete(c.lost, sector)
			delete(c.old, sector)
			continue
		}
		if c.old == nil {
			c.old = map[int64][][sectorSize]byte{}
		}
		versions := c.old[sector]
		if len(versions) == maxVersions {
			versions = slices.Delete(versions, 0, 1)
		}
		c.old[sector] = append(versions, [sectorSize]byte(c.pages[i].data[s*sectorSize:]))
	}
}

func (c *content) setSize(n int64) {
	c.size = n
	if c.sizes = append(c.sizes, n); len(c.sizes) > maxSizes {
		c.sizes = slices.Delete(c.sizes, 0, 1)
	}
}

// truncate sets the length and returns how many pages that freed.
func (c *content) truncate(n int64) (freed int) {
	if n >= c.size {
		if n > c.size {
			c.setSize(n)
		}
		return 0
	}
	before := c.used()
	c.before = c.snapshot().latest(maxCuts)
	c.pages = cut(c.pages, n)
	c.durable.pages = cut(c.durable.pages, n)
	c.durable.size = min(c.durable.size, n)
	c.size = n
	// If the truncation reached the disk, no length above it did after it.
	c.sizes = []int64{n}
	for i := range c.dirty {
		if int64(i)*pageSize >= n {
			delete(c.dirty, i)
		}
	}
	for _, sector := range sortedKeys(c.old) {
		if (sector+1)*sectorSize > n {
			delete(c.old, sector)
		}
	}
	for sector := range c.lost {
		if sector*sectorSize >= n {
			delete(c.lost, sector)
		}
	}
	return before - c.used()
}

// cut returns pages without what is at n and beyond, the others as they are.
func cut(pages []*page, n int64) []*page {
	out := slices.Clone(pages[:min(len(pages), int((n+pageSize-1)/pageSize))])
	if last := int(n / pageSize); n%pageSize != 0 && at(out, last) != nil {
		fresh := &page{data: out[last].data} // without an owner: never changed in place
		clear(fresh.data[n%pageSize:])
		out[last] = fresh
	}
	return out
}

// latest returns c, remembering n truncations in all. Clones share the past, so
// it is copied, not changed.
func (c *content) latest(n int) *content {
	if c == nil || n == 0 {
		return nil
	}
	out := *c
	out.before = c.before.latest(n - 1)
	return &out
}

// used is how many pages the content takes.
func (c *content) used() (n int) {
	for _, pg := range c.pages {
		if pg != nil {
			n++
		}
	}
	return n
}

// sync makes everything durable, but for what a failed Sync has lost.
func (c *content) sync() {
	for _, i := range sortedKeys(c.dirty) {
		c.durable.put(i, c.persisted(i))
	}
	c.durable.size = c.size
	c.durable.pages = c.durable.pages[:min(len(c.durable.pages), len(c.pages))]
	c.owner = new(owner)
	c.dirty, c.old, c.sizes, c.before = nil, nil, nil, nil
}

// persisted is page i as a Sync writes it: with the durable data where sectors
// are lost.
func (c *content) persisted(i int) *page {
	var mixed *page
	for s := range sectorsPerPage {
		if !c.lost[int64(i)*sectorsPerPage+int64(s)] {
			continue
		}
		if mixed == nil {
			mixed = &page{data: c.pages[i].data}
		}
		copySector(mixed, at(c.durable.pages, i), s)
	}
	if mixed != nil {
		return mixed
	}
	return c.pages[i]
}

// copySector copies sector s from one page, or zeros, to another.
func copySector(to, from *page, s int) {
	span := to.data[s*sectorSize : (s+1)*sectorSize]
	if from == nil {
		clear(span)
		return
	}
	copy(span, from.data[s*sectorSize:])
}

func (m *image) put(i int, pg *page) {
	if missing := i + 1 - len(m.pages); missing > 0 {
		m.pages = append(m.pages, make([]*page, missing)...)
	}
	m.pages[i] = pg
}

// snapshot returns a copy that shares all pages; neither changes them in place
// from now on.
func (c *content) snapshot() *content {
	c.owner = new(owner)
	out := *c
	out.owner = new(owner)
	out.pages = slices.Clone(c.pages)
	out.durable.pages = slices.Clone(c.durable.pages)
	out.sizes = slices.Clone(c.sizes)
	out.dirty = cloneMap(c.dirty)
	out.lost = cloneMap(c.lost)
	out.old = make(map[int64][][sectorSize]byte, len(c.old)) // its slices grow: they are copied
	for sector, versions := range c.old {
		out.old[sector] = slices.Clone(versions)
	}
	// before is never written to: both may have it.
	return &out
}
