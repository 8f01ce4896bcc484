package group

import (
	"container/heap"
	"math"
)

// Never is a deadline that does not come.
const Never int64 = math.MaxInt64

// timer is something to do at a time on the clock MonoMs.
type timer struct {
	ring func()

	atMs int64
	seq  uint64 // of the setting: timers of one ms ring in the order they were set
	pos  int    // in the queue, from 1; 0: not set
}

// timers is all that is set, the next one first.
type timers struct {
	queue timerQueue
	seq   uint64
}

// set sets the timer, anew if it was set.
func (ts *timers) set(t *timer, atMs int64) {
	ts.seq++
	t.atMs, t.seq = atMs, ts.seq
	if t.pos > 0 {
		heap.Fix(&ts.queue, t.pos-1)
		return
	}
	heap.Push(&ts.queue, t)
}

func (ts *timers) clear(t *timer) {
	if t.pos > 0 {
		heap.Remove(&ts.queue, t.pos-1)
	}
}

func (ts *timers) nextMs() int64 {
	if len(ts.queue) == 0 {
		return Never
	}
	return ts.queue[0].atMs
}

// ring rings all that are due, those that are set meanwhile too.
func (ts *timers) ring(nowMs int64) {
	for ts.nextMs() <= nowMs {
		t := ts.queue[0]
		ts.clear(t)
		t.ring()
	}
}

// timerQueue is a heap.
type timerQueue []*timer

func (q timerQueue) Len() int { return len(q) }

func (q timerQueue) Less(i, j int) bool {
	if q[i].atMs != q[j].atMs {
		return q[i].atMs < q[j].atMs
	}
	return q[i].seq < q[j].seq
}

func (q timerQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].pos, q[j].pos = i+1, j+1
}

// Push is heap.Interface's.
func (q *timerQueue) Push(x any) {
	t := x.(*timer)
	*q = append(*q, t)
	t.pos = len(*q)
}

// Pop is heap.Interface's.
func (q *timerQueue) Pop() any {
	last := len(*q) - 1
	t := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	t.pos = 0
	return t
}
