//go:build unix

package kafkatest

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// canSignal: processes can be paused and resumed.
const canSignal = true

// pause returns when the process has stopped. Until each of its threads has come
// to run and has seen the signal, which takes a while on a busy machine, those
// that run go on.
func pause(p *os.Process) error {
	if err := p.Signal(unix.SIGSTOP); err != nil {
		return err
	}
	return awaitStopped(p.Pid)
}

func resume(p *os.Process) error    { return p.Signal(unix.SIGCONT) }
func terminate(p *os.Process) error { return p.Signal(unix.SIGTERM) }

// tryLock takes the lock on f if it is free. It ends with f.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}
