package storage

import (
	"cmp"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// abortedTxn is a transaction that was aborted: all batches of the producer from
// first to the marker, last.
type abortedTxn struct {
	producer    int64
	first, last Offset
}

// findTxns finds the aborted transactions, of which the log's headers tell: Kafka
// looks them up in its transaction index.
func (c *Cleaning) findTxns() error {
	segs := c.log.segs
	if !c.advance(segs) {
		slices.SortFunc(c.aborted, func(a, b abortedTxn) int { return cmp.Compare(a.first, b.first) })
		c.txns = txnScan{aborted: c.aborted}
		c.phase, c.seg, c.pos = cleanMapping, 0, 0
		return nil
	}
	s := segs[c.seg]
	w, err := s.walk(c.pos, c.log.dir.buf(), false)
	if err != nil {
		return err
	}
	for until := c.pos + cleanPiece; w.pos < until; {
		ok, err := w.next()
		switch {
		case err != nil:
			return err
		case w.bad != nil:
			return &damage{s, w.bad}
		case !ok:
			c.pos = s.size
			return nil
		}
		c.txns.see(w.header, &c.aborted)
	}
	c.pos = w.pos
	return nil
}

// txnScan goes through a log's batches in order, and knows of each whether it
// counts (CleanedTransactionMetadata).
type txnScan struct {
	// aborted are those to come, by their first offsets.
	aborted []abortedTxn
	// open are producers' transactions under way.
	open map[int64]*openScan
}

type openScan struct {
	first   Offset
	aborted bool
	// seen: there is a batch of it yet.
	seen bool
}

// see notes what is open, and what a marker aborts.
func (t *txnScan) see(b record.Batch, aborted *[]abortedTxn) {
	if t.open == nil {
		t.open = map[int64]*openScan{}
	}
	id := b.ProducerID()
	if !b.Control() {
		if b.Transactional() && t.open[id] == nil {
			t.open[id] = &openScan{first: Offset(b.BaseOffset())}
		}
		return
	}
	if marker, ok := b.EndTxn(); ok {
		if o := t.open[id]; o != nil && !marker.Commit {
			*aborted = append(*aborted, abortedTxn{producer: id, first: o.first, last: Offset(b.LastOffset())})
		}
		delete(t.open, id)
	}
}

// gone reports whether a batch is of an aborted transaction, or is a marker of one
// of which no batch is left.
func (t *txnScan) gone(b record.Batch) bool {
	if t.open == nil {
		t.open = map[int64]*openScan{}
	}
	for len(t.aborted) > 0 && t.aborted[0].first <= Offset(b.LastOffset()) {
		a := t.aborted[0]
		t.aborted = t.aborted[1:]
		if a.last < Offset(b.BaseOffset()) {
			continue // the scan began after it
		}
		t.open[a.producer] = &openScan{first: a.first, aborted: true}
	}
	id := b.ProducerID()
	if !b.Control() {
		if !b.Transactional() {
			return false
		}
		o := t.open[id]
		if o == nil {
			o = &openScan{first: Offset(b.BaseOffset())}
			t.open[id] = o
		}
		o.seen = true
		return o.aborted
	}
	if b.Count() == 0 {
		return true // cleaned before
	}
	if _, ok := b.EndTxn(); !ok {
		return false
	}
	o := t.open[id]
	delete(t.open, id)
	return o == nil || !o.seen
}
