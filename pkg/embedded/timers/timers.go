// Package timers is what a state machine has set for later, in the order in which
// it is due. It has no clock: who owns a [Queue] tells it the time, in ms.
//
// A caller starts from the zero [Queue] and the zero [Timer]: [Queue.Set],
// [Queue.NextMs] for the deadline, [Queue.Ring] when it has come.
package timers

import (
	"container/heap"
	"math"
)

// Never is a time that does not come.
const Never int64 = math.MaxInt64

// Timer is something to do at a time. Its zero value is not set.
type Timer struct {
	// Ring is what to do; it is given before the timer is first due.
	Ring func()

	atMs int64
	seq  uint64 // of the setting: timers of one ms ring in the order they were set
	pos  int    // in the queue, from 1; 0: not set
}

// IsSet reports whether the timer is to ring.
func (t *Timer) IsSet() bool { return t.pos > 0 }

// AtMs is when the timer rings, or rang last.
func (t *Timer) AtMs() int64 { return t.atMs }

// Queue is all that is set, the next one first.
type Queue struct {
	heap order
	seq  uint64
}

// Set sets the timer, anew if it was set: it then rings after those that were set
// for the same time before.
func (q *Queue) Set(t *Timer, atMs int64) {
	q.seq++
	t.atMs, t.seq = atMs, q.seq
	if t.pos > 0 {
		heap.Fix(&q.heap, t.pos-1)
		return
	}
	heap.Push(&q.heap, t)
}

// Clear takes back what was set, if it was.
func (q *Queue) Clear(t *Timer) {
	if t.pos > 0 {
		heap.Remove(&q.heap, t.pos-1)
	}
}

// NextMs is when the next one is due, Never if none is set.
func (q *Queue) NextMs() int64 {
	if len(q.heap) == 0 {
		return Never
	}
	return q.heap[0].atMs
}

// Ring rings all that are due. Those that are set meanwhile ring too if they are
// due by then, so none may set itself for a time that has come.
func (q *Queue) Ring(nowMs int64) {
	for q.NextMs() <= nowMs {
		t := q.heap[0]
		q.Clear(t)
		t.Ring()
	}
}

// order is a heap.
type order []*Timer

func (q order) Len() int { return len(q) }

func (q order) Less(i, j int) bool {
	if q[i].atMs != q[j].atMs {
		return q[i].atMs < q[j].atMs
	}
	return q[i].seq < q[j].seq
}

func (q order) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].pos, q[j].pos = i+1, j+1
}

// Push is heap.Interface's.
func (q *order) Push(x any) {
	t := x.(*Timer)
	*q = append(*q, t)
	t.pos = len(*q)
}

// Pop is heap.Interface's.
func (q *order) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	t.pos = 0
	return t
}
