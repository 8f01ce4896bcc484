package vfs

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
)

// sortedKeys keeps a map's order out of what the rng decides.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func cloneMap[K comparable, V any](m map[K]V) map[K]V { return maps.Clone(m) }

// survival is how much of a file's unsynced data a crash leaves. Sector by
// sector alone would hardly ever leave all of a long write, or its beginning.
type survival int

const (
	nothing survival = iota
	everything
	beginning
	anySectors
	survivals // how many there are
)

// crash returns the file as it may be after a power loss; all of it durable. It
// changes nothing of c, and shares its pages: a caller that goes on to use c
// gives it a new owner.
func (c *content) crash(rng *rand.Rand) *content {
	if c.before != nil && rng.IntN(2) == 0 {
		return c.before.crash(rng) // the truncation did not reach the disk
	}
	how := survival(rng.IntN(int(survivals)))
	size := c.crashSize(how, rng)

	pages := slices.Clone(c.durable.pages)
	img := image{size: size, pages: pages}
	dirty := sortedKeys(c.dirty)
	whole := 0 // of beginning: how many dirty pages survive whole
	if len(dirty) > 0 {
		whole = rng.IntN(len(dirty) + 1)
	}
	for nth, i := range dirty {
		img.put(i, c.crashPage(i, how, nth-whole, rng))
	}
	out := newContent()
	out.size, out.pages = size, cut(img.pages, size)
	out.durable = image{size: size, pages: slices.Clone(out.pages)}
	return out
}

// crashSize picks a length that the file had since its last Sync.
func (c *content) crashSize(how survival, rng *rand.Rand) int64 {
	switch {
	case how == nothing || len(c.sizes) == 0:
		return c.durable.size
	case how == everything:
		return c.size
	default:
		if i := rng.IntN(len(c.sizes) + 1); i < len(c.sizes) {
			return c.sizes[i]
		}
		return c.durable.size
	}
}

// crashPage returns page i with those of its dirty sectors that survive. after
// is its place among the dirty pages, seen from where the beginning ends.
func (c *content) crashPage(i int, how survival, after int, rng *rand.Rand) *page {
	durable, newest := at(c.durable.pages, i), c.pages[i]
	switch {
	case how == nothing, how == beginning && after > 0:
		return durable
	case how == everything, how == beginning && after < 0:
		return c.persisted(i)
	}
	out := new(page)
	if durable != nil {
		out.data = durable.data
	}
	whole := 0 // of beginning: sectors that survive in the page it ends in
	if how == beginning {
		whole = rng.IntN(sectorsPerPage + 1)
	}
	for s := range sectorsPerPage {
		sector := int64(i)*sectorsPerPage + int64(s)
		if c.dirty[i]&(1<<s) == 0 || c.lost[sector] {
			continue
		}
		if how == beginning {
			if s < whole {
				copySector(out, newest, s)
			}
			continue
		}
		versions := c.old[sector]
		switch pick := rng.IntN(len(versions) + 2); pick {
		case len(versions): // durable, as it is
		case len(versions) + 1:
			copySector(out, newest, s)
		default:
			copy(out.data[s*sectorSize:], versions[pick][:])
		}
	}
	return out
}

// failSync is a Sync that failed: each dirty sector may have reached the disk,
// or be lost for good though the cache still shows it, or be dropped from the
// cache, so that a reader sees what was durable (fsyncgate; which of them it is
// depends on the file system).
func (c *content) failSync(rng *rand.Rand) {
	evicted := rng.IntN(2) == 0
	c.owner = new(owner)
	for _, i := range sortedKeys(c.dirty) {
		for s := range sectorsPerPage {
			if c.dirty[i]&(1<<s) == 0 || rng.IntN(2) == 0 {
				continue
			}
			sector := int64(i)*sectorsPerPage + int64(s)
			if evicted {
				copySector(c.writable(i), at(c.durable.pages, i), s)
			}
			if c.lost == nil {
				c.lost = map[int64]bool{}
			}
			c.lost[sector] = true
		}
	}
}
