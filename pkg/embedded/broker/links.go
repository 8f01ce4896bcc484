package broker

import (
	"net"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// Links are the ways between the nodes of a cluster, each in one direction. A request
// takes that from its sender to its receiver, the response the one back. Both are
// held up where the sender is, so that what the bytes go through is a plain socket.
// The zero value has no faults. It is for several goroutines.
type Links struct {
	mu    sync.Mutex
	links map[[2]machine.Peer]*Link
}

// Link is the way from one node to another.
func (l *Links) Link(from, to machine.Peer) *Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := [2]machine.Peer{from, to}
	if l.links[k] == nil {
		if l.links == nil {
			l.links = map[[2]machine.Peer]*Link{}
		}
		l.links[k] = &Link{changed: make(chan struct{}), conns: map[net.Conn]struct{}{}}
	}
	return l.links[k]
}

// Heal ends the faults of all links.
func (l *Links) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, link := range l.links {
		link.Heal()
	}
}

// Link is one direction between two nodes. What is under way when it is cut, or
// comes later, arrives once it is healed, unless who sent it has given up: so does
// TCP, which sends again.
type Link struct {
	mu      sync.Mutex
	cut     bool
	delay   time.Duration
	dropped map[int16]bool
	changed chan struct{} // closed at a change, and made anew
	// conns are those that the sender opened to the receiver.
	conns map[net.Conn]struct{}
}

func (l *Link) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.changed)
	l.changed = make(chan struct{})
}

// Cut holds everything back.
func (l *Link) Cut() { l.change(func() { l.cut = true }) }

// Slow makes everything late by d; 0 ends that.
func (l *Link) Slow(d time.Duration) { l.change(func() { l.delay = d }) }

// Hold holds requests of one API back, by its key; Release lets them go.
func (l *Link) Hold(key int16) {
	l.change(func() {
		if l.dropped == nil {
			l.dropped = map[int16]bool{}
		}
		l.dropped[key] = true
	})
}

// Release ends Hold.
func (l *Link) Release(key int16) { l.change(func() { delete(l.dropped, key) }) }

// Heal ends what Cut and Slow do, not what Hold does.
func (l *Link) Heal() { l.change(func() { l.cut, l.delay = false, 0 }) }

// Reset closes the connections that the sender has to the receiver. What they carry
// is lost: carried out or not, and not answered.
func (l *Link) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Close()
	}
}

// State is what the link does to what it carries.
func (l *Link) State() (cut bool, delay time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut, l.delay
}

func (l *Link) adopt(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns[c] = struct{}{}
}

func (l *Link) drop(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// pass returns when the link has let through what came to it at a time: false if
// that was not before the deadline, or gone is closed. key is of the request, −1
// for a response.
func (l *Link) pass(key int16, came, deadline time.Time, gone <-chan struct{}) bool {
	for {
		l.mu.Lock()
		held, due, changed := l.cut || l.dropped[key], came.Add(l.delay), l.changed
		free := l.delay == 0
		l.mu.Unlock()
		if !held && (free || !time.Now().Before(due)) {
			return true
		}
		until := deadline
		if !held && due.Before(deadline) {
			until = due
		}
		wait := time.Until(until)
		if wait <= 0 {
			return false
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-changed:
		case <-gone:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}
