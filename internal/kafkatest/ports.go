package kafkatest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports come from below the range that Linux hands to outgoing connections
// (32768 and up): a port from there could go to some client while a test has
// its broker stopped, and the broker could not return. Nor are they those of embedded
// clusters, 20000 and up, which other tests start meanwhile.
const (
	firstPort = 12000
	lastPort  = 20000
)

// freePorts returns n ports of loopback on which nobody listens. All are held
// until the last is found, so that they differ.
func freePorts(n int) (ports []int, err error) {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			err = errors.Join(err, l.Close())
		}
	}()
	for try := 0; len(ports) < n; try++ {
		if try > 100+10*n { // more than bad luck
			return nil, fmt.Errorf("kafkatest: found only %d of %d free ports from %d to %d: what listens on all of them?", len(ports), n, firstPort, lastPort)
		}
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		held = append(held, l)
		ports = append(ports, port)
	}
	return ports, nil
}
