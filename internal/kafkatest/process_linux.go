package kafkatest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// childAttr keeps a terminal's interrupt from the child (a test decides when
// its brokers die) and kills the child when the thread that started it ends,
// which covers a test binary that panics, times out or is killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitStopped waits until every thread of the process has stopped.
func awaitStopped(pid int) error {
	const atMost = 10 * time.Second
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		running := 0
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil {
			return err
		}
		for _, task := range tasks {
			stat, err := os.ReadFile(task)
			if err != nil {
				continue // it has ended
			}
			// "pid (name) state …", and a name may hold anything.
			if _, state, ok := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" ")); ok && !bytes.HasPrefix(state, []byte("T")) {
				running++
			}
		}
		switch {
		case len(tasks) == 0:
			return fmt.Errorf("kafkatest: pause: process %d is gone", pid)
		case running == 0:
			return nil
		case time.Since(began) > atMost:
			return fmt.Errorf("kafkatest: pause: %d threads of process %d still run after %s", running, pid, atMost)
		}
	}
}
