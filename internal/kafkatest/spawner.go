package kafkatest

import (
	"os/exec"
	"runtime"
)

// A spawner starts processes, all from one thread that lives as long as the
// spawner does. Linux sends a child its death signal when the *thread* that
// started it ends, and Go ends threads as it likes: a broker started from just
// any goroutine can die in the middle of a test.
type spawner struct {
	orders chan order
}

type order struct {
	cmd  *exec.Cmd
	done chan<- error
}

func newSpawner() *spawner {
	s := &spawner{orders: make(chan order)}
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		for o := range s.orders {
			o.done <- o.cmd.Start()
		}
	}()
	return s
}

func (s *spawner) start(cmd *exec.Cmd) error {
	done := make(chan error)
	s.orders <- order{cmd, done}
	return <-done
}

// close ends the thread, and with it whatever it started and still runs.
func (s *spawner) close() { close(s.orders) }
