package kafkatest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A fileLock is held by one process of the machine at a time. The system
// releases it when the process dies, however it dies.
type fileLock struct{ f *os.File }

// lockFile waits for the lock at path, for as long as ctx permits. The file
// names the holder, for those who wait.
func lockFile(ctx context.Context, path string) (*fileLock, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	begun := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		free, err := tryLock(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("kafkatest: lock %s: %w", path, err)
		}
		if free {
			break
		}
		select {
		case <-ctx.Done():
			f.Close()
			holder, _ := os.ReadFile(path)
			return nil, fmt.Errorf("kafkatest: waited %s for %s, which %s holds: %w; one Kafka at a time: try a longer -timeout, or go test -p 1",
				time.Since(begun).Round(time.Second), path, bytes.TrimSpace(holder), ctx.Err())
		case <-tick.C:
		}
	}
	_ = f.Truncate(0)
	_, _ = f.WriteAt(fmt.Appendf(nil, "process %d, %s\n", os.Getpid(), filepath.Base(os.Args[0])), 0)
	return &fileLock{f}, nil
}

func (l *fileLock) unlock() { l.f.Close() }

// A clusterLock is this process's hold on the machine: the file lock is taken
// for its first cluster and released after its last, so that a test may start
// a cluster beside the one that its package shares.
type clusterLock struct {
	mu    sync.Mutex
	users int
	file  *fileLock
	turn  Turn
	taken time.Time
}

// A Turn is a stretch in which one process had the machine to itself. Its line is printed
// when it ends, so that a whole run's report can say where the time went: what waits for
// Kafka looks slow, and is not.
type Turn struct{ Waited, Held time.Duration }

func (t Turn) String() string {
	return fmt.Sprintf("kafkatest: turn: waited %.1f s, held %.1f s", t.Waited.Seconds(), t.Held.Seconds())
}

// ParseTurn reads a line of a test's output; ok is false where it is not a Turn's.
func ParseTurn(line string) (t Turn, ok bool) {
	var waited, held float64
	if n, _ := fmt.Sscanf(line, "kafkatest: turn: waited %f s, held %f s", &waited, &held); n != 2 {
		return Turn{}, false
	}
	return Turn{Waited: seconds(waited), Held: seconds(held)}, true
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// machine is a variable of the package because what it stands for is one for
// the process.
var machine clusterLock

// take returns the function that gives the lock back. fresh runs once, when
// this process has become the only one.
func (l *clusterLock) take(ctx context.Context, path string, fresh func()) (release func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users == 0 {
		asked := time.Now()
		if l.file, err = lockFile(ctx, path); err != nil {
			return nil, err
		}
		l.taken = time.Now()
		l.turn = Turn{Waited: l.taken.Sub(asked)}
		fresh()
	}
	l.users++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.users--; l.users == 0 {
			l.file.unlock()
			l.turn.Held = time.Since(l.taken)
			fmt.Fprintln(os.Stdout, l.turn) // among the output of the tests
		}
	}), nil
}
