package embedded

import (
	"fmt"
	"math/rand/v2"
	"net"
	"time"
)

// Free ports come from below those that systems give to outgoing connections (32768
// and up on Linux, 49152 elsewhere): a broker that is down would find its own taken by
// some client.
const (
	firstPort = 20000
	lastPort  = 32000
)

// listen listens on a port, or on a free one for 0.
func listen(host string, port int) (net.Listener, error) {
	if port != 0 {
		return net.Listen("tcp", address(host, port))
	}
	var err error
	for range 200 { // more than bad luck
		var ln net.Listener
		if ln, err = net.Listen("tcp", address(host, firstPort+rand.IntN(lastPort-firstPort))); err == nil {
			return ln, nil
		}
	}
	return nil, fmt.Errorf("no free port found from %d to %d: %w", firstPort, lastPort, err)
}

// listenAgain listens on a port that a node had in an earlier life. Somebody else may
// have it for a moment.
func listenAgain(host string, port int) (ln net.Listener, err error) {
	for range 100 {
		if ln, err = listen(host, port); err == nil {
			return ln, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, err
}
