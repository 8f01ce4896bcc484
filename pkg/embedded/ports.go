package embedded

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Free ports come from below those that systems give to outgoing connections (32768
// and up on Linux, 49152 elsewhere): a broker that is down would find its own taken by
// some client.
const (
	firstPort = 20000
	lastPort  = 32000
)

// held are the ports of this process's clusters, from their start to their end: a node
// that is down has its port all the same, and no cluster beside it may take it. It is a
// variable of the package because the ports are the machine's, and not a cluster's.
var held ports

// ports counts who has a port.
type ports struct {
	mu sync.Mutex
	n  map[int]int
}

// take holds a port, and where alone is wanted only if nobody else does.
func (p *ports) take(port int, alone bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if alone && p.n[port] > 0 {
		return false
	}
	if p.n == nil {
		p.n = map[int]int{}
	}
	p.n[port]++
	return true
}

func (p *ports) release(port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n[port]--; p.n[port] <= 0 {
		delete(p.n, port)
	}
}

// listen listens on a port, or on a free one for 0, which it holds.
func listen(host string, port int) (net.Listener, error) {
	if port != 0 {
		return holding(host, port, false)
	}
	err := errHeld
	for range 200 { // more than bad luck
		var ln net.Listener
		if ln, err = holding(host, firstPort+rand.IntN(lastPort-firstPort), true); err == nil {
			return ln, nil
		}
	}
	return nil, fmt.Errorf("no free port found from %d to %d: %w", firstPort, lastPort, err)
}

var errHeld = errors.New("another cluster of this process has it")

func holding(host string, port int, alone bool) (net.Listener, error) {
	if !held.take(port, alone) {
		return nil, errHeld
	}
	ln, err := net.Listen("tcp", address(host, port))
	if err != nil {
		held.release(port)
	}
	return ln, err
}

// listenAgain listens on a port that a node had in an earlier life. Somebody else may
// have it for a moment.
func listenAgain(host string, port int) (ln net.Listener, err error) {
	for range 100 {
		if ln, err = net.Listen("tcp", address(host, port)); err == nil {
			return ln, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, err
}
