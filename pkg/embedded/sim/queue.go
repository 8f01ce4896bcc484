package sim

// kind says what an event is.
type kind uint8

const (
	evArrive  kind = iota // a request reaches the process that it is for
	evServe               // the next request of a connection is taken up
	evAnswer              // a response reaches who asked
	evLost                // who asked learns that no response comes
	evClosed              // a process learns that a connection has ended
	evDisk                // an order of a disk gets on
	evWake                // a process's deadline may have come
	evTimeout             // the oldest request of a sender may be too old
	evClient              // a client acts
	evFault               // the next fault is due
	evUndo                // a fault ends
	evStart               // a process starts again
	evCheck               // everything is checked
)

// event is something that will happen at a time.
type event struct {
	at   int64 // in us
	seq  uint64
	kind kind
	// who is an endpoint, a client or a fault; life which one of its lives is meant.
	who  int32
	life uint32

	f *flight
	c *conn
	j *job
}

// before orders events: by time, then by when they were scheduled.
func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// queue is what will happen, a heap whose nodes have four children: fewer levels,
// and children that lie side by side.
type queue struct {
	heap []event
	seq  uint64
}

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

func (q *queue) len() int { return len(q.heap) }

// pop takes the next event out; the queue must not be empty.
func (q *queue) pop() event {
	h := q.heap
	top := h[0]
	last := h[len(h)-1]
	h[len(h)-1] = event{}
	h = h[:len(h)-1]
	q.heap = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&last) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = last
	return top
}
