package group

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/timers"
)

// write is a batch on its way: ordered, then appended, then committed
// (CoordinatorRuntime.CoordinatorWriteEvent).
type write struct {
	id      uint64
	changes []change
	// end is the offset behind it, notAppended until it is known.
	end     int64
	waiters []waiter
}

// waiter is told once when a batch is committed, or that its time is up.
type waiter struct {
	done       func(Code)
	deadlineMs int64
}

const notAppended int64 = -1

// writes is all that is not committed, in the order of the log.
type writes struct {
	s       *Shard
	queue   []*write
	lastID  uint64
	hw      int64
	timeout timers.Timer
}

func (ws *writes) begin(s *Shard) {
	ws.s = s
	ws.timeout.Ring = ws.expire
}

// write orders changes to be appended. done is told when they are committed, or why
// they are not; nil for nobody. Where they do not fit a batch, nothing is written and
// done is told at once; parts may be written alone if split is set.
func (s *Shard) write(changes []change, split bool, done func(Code)) {
	if len(changes) == 0 {
		s.whenCommitted(done)
		return
	}
	batches, ok := s.batches(changes, split)
	if !ok {
		// What CoordinatorOperationExceptionHelper makes of RECORD_LIST_TOO_LARGE.
		if done != nil {
			done(UnknownServerError)
		}
		return
	}
	ws := &s.writes
	for i, batch := range batches {
		ws.lastID++
		w := &write{id: ws.lastID, changes: batch.changes, end: notAppended}
		if i == len(batches)-1 {
			s.await(w, done)
		}
		ws.queue = append(ws.queue, w)
		for _, c := range batch.changes {
			s.apply(c)
		}
		s.emit(Append{ID: w.id, Records: batch.records})
	}
	ws.watch()
}

func (s *Shard) await(w *write, done func(Code)) {
	if done != nil {
		w.waiters = append(w.waiters, waiter{done, s.now.MonoMs + s.cfg.CommitTimeoutMs})
	}
}

// whenCommitted calls done when all that was written before is committed: at once if
// nothing waits. What an answer says may have come from such a write.
func (s *Shard) whenCommitted(done func(Code)) {
	last := len(s.writes.queue) - 1
	switch {
	case done == nil:
	case last < 0:
		done(None)
	default:
		s.await(s.writes.queue[last], done)
		s.writes.watch()
	}
}

// batch is changes with their records.
type batch struct {
	changes []change
	records []Record
	bytes   int
}

// Bounds of what a batch needs beside keys and values (DefaultRecordBatch).
const (
	batchOverhead  = 61
	recordOverhead = 21
)

// batches puts changes into as few batches as they fit in.
func (s *Shard) batches(changes []change, split bool) ([]batch, bool) {
	all := []batch{{bytes: batchOverhead}}
	for _, c := range changes {
		r := c.record()
		size := len(r.Key) + len(r.Value) + recordOverhead
		last := &all[len(all)-1]
		if last.bytes+size > s.cfg.MaxBatchBytes {
			if !split || batchOverhead+size > s.cfg.MaxBatchBytes {
				return nil, false
			}
			all = append(all, batch{bytes: batchOverhead})
			last = &all[len(all)-1]
		}
		last.changes, last.records, last.bytes = append(last.changes, c), append(last.records, r), last.bytes+size
	}
	return all, true
}

// appended takes note of where a batch lies.
func (ws *writes) appended(in Appended) {
	for _, w := range ws.queue {
		if w.id == in.ID {
			w.end = in.End
		}
	}
	ws.advance(ws.hw)
}

// advance commits what the HW has passed.
func (ws *writes) advance(hw int64) {
	ws.hw = max(ws.hw, hw)
	for len(ws.queue) > 0 {
		w := ws.queue[0]
		if w.end == notAppended || w.end > ws.hw {
			break
		}
		ws.queue[0] = nil
		ws.queue = ws.queue[1:]
		for _, c := range w.changes {
			c.commit(ws.s.committed)
		}
		w.settle(None)
	}
	ws.watch()
}

func (w *write) settle(code Code) {
	waiters := w.waiters
	w.waiters = nil
	for _, wait := range waiters {
		wait.done(code)
	}
}

// expire tells those whose time is up that it is not known whether their records
// will be committed. They still may.
func (ws *writes) expire() {
	now := ws.s.now.MonoMs
	for _, w := range slices.Clone(ws.queue) {
		var late []waiter
		w.waiters = slices.DeleteFunc(w.waiters, func(wait waiter) bool {
			if wait.deadlineMs > now {
				return false
			}
			late = append(late, wait)
			return true
		})
		for _, wait := range late {
			wait.done(CoordinatorNotAvailable)
		}
	}
	ws.watch()
}

// watch sets the timer for the first whose time will be up.
func (ws *writes) watch() {
	at := Never
	for _, w := range ws.queue {
		for _, wait := range w.waiters {
			at = min(at, wait.deadlineMs)
		}
	}
	switch {
	case at == Never:
		ws.s.timers.Clear(&ws.timeout)
	case !ws.timeout.IsSet() || ws.timeout.AtMs() != at:
		ws.s.timers.Set(&ws.timeout, at)
	}
}

// fail tells all who wait.
func (ws *writes) fail(code Code) {
	queue := ws.queue
	ws.queue = nil
	for _, w := range queue {
		w.settle(code)
	}
}
