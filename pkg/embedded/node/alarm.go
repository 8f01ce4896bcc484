package node

import (
	"container/heap"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// alarm is something to do at a time on the clock Mono. Its zero value is not
// set; ring is given once.
type alarm struct {
	ring func()

	atMs int64
	seq  uint64 // of the setting: alarms of one ms ring in the order they were set
	pos  int    // in the queue, from 1; 0: not set
}

// alarms is all that is set, the next one first.
type alarms struct {
	queue alarmQueue
	seq   uint64
}

// set sets the alarm, anew if it was set. machine.Never clears it.
func (as *alarms) set(a *alarm, atMs int64) {
	switch {
	case atMs == machine.Never:
		as.clear(a)
		return
	case a.pos > 0 && a.atMs == atMs:
		return
	}
	as.seq++
	a.atMs, a.seq = atMs, as.seq
	if a.pos > 0 {
		heap.Fix(&as.queue, a.pos-1)
		return
	}
	heap.Push(&as.queue, a)
}

func (as *alarms) clear(a *alarm) {
	if a.pos > 0 {
		heap.Remove(&as.queue, a.pos-1)
	}
}

func (as *alarms) nextMs() int64 {
	if len(as.queue) == 0 {
		return machine.Never
	}
	return as.queue[0].atMs
}

// ring rings all that are due. Those that are set meanwhile ring too if they are
// due by then, so none may set itself for a time that has come.
func (as *alarms) ring(nowMs int64) {
	for as.nextMs() <= nowMs {
		a := as.queue[0]
		as.clear(a)
		a.ring()
	}
}

// alarmQueue is a heap.
type alarmQueue []*alarm

func (q alarmQueue) Len() int { return len(q) }

func (q alarmQueue) Less(i, j int) bool {
	if q[i].atMs != q[j].atMs {
		return q[i].atMs < q[j].atMs
	}
	return q[i].seq < q[j].seq
}

func (q alarmQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].pos, q[j].pos = i+1, j+1
}

// Push is heap.Interface's.
func (q *alarmQueue) Push(x any) {
	a := x.(*alarm)
	*q = append(*q, a)
	a.pos = len(*q)
}

// Pop is heap.Interface's.
func (q *alarmQueue) Pop() any {
	last := len(*q) - 1
	a := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	a.pos = 0
	return a
}
