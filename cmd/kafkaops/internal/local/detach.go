package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Detach starts the program in the background, in a session of its own, with its
// output going to the file log, and returns when the place answers that it is
// ready. It stays when keep is called, which the caller does once it has said that it is
// there. Where the program ends before, the error has the last lines of its log;
// where ctx does, the program is told to end, and killed if it takes long. It ends as well
// where this process dies before that, however it does: see [Attended]. Where
// another one that runs in the background has the place, or gets it meanwhile, it is a
// *TakenError, and log is left alone.
func Detach(ctx context.Context, p Place, log string, program string, args ...string) (s Status, keep func(), err error) {
	if err := makePrivate(p.Run); err != nil {
		return Status{}, nil, err
	}
	made := missing(filepath.Dir(log))
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		return Status{}, nil, &LogError{err}
	}
	out, err := openLog(ctx, p, log)
	if err != nil {
		return Status{}, nil, err
	}
	defer out.Close()
	cmd := exec.Command(program, args...) // it outlives ctx
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = background()
	release, child, err := attend(cmd)
	if err != nil {
		return Status{}, nil, err
	}
	defer func() {
		if err != nil {
			release.Close()
		}
	}()
	err = cmd.Start()
	child.Close() // the program has its own
	if err != nil {
		return Status{}, nil, fmt.Errorf("start %s in the background: %w", program, err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // how it ended is in its log
	}()
	const every = 5 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		answer, err := Ask(ctx, p, Request{Do: VerbStatus})
		if err == nil && answer.Status.Ready && answer.Status.PID == cmd.Process.Pid {
			return answer.Status, func() {
				_, _ = release.Write([]byte{released}) // it may have ended meanwhile
				release.Close()
			}, nil
		}
		select {
		case <-ended:
			said, all := lastLines(log)
			if all { // then there is nothing more to be read in it
				removeNew(log, made)
			}
			return Status{}, nil, errors.New(said)
		case <-ctx.Done():
			release.Close()
			select {
			case <-ended:
			case <-time.After(endPatience):
				_ = cmd.Process.Kill()
				<-ended
			}
			if errors.Is(ctx.Err(), context.Canceled) { // nobody will read what became of it
				removeNew(log, made)
			}
			return Status{}, nil, fmt.Errorf("the cluster was not ready in time, and was ended; its log is %s: %w", log, ctx.Err())
		case <-tick.C:
		}
	}
}

// endPatience is how long a program in the background may take to close what it has
// opened, when nobody waits for it any more.
const endPatience = 5 * time.Second

// LogError says that the log of a cluster in the background cannot be written.
type LogError struct{ Err error }

func (e *LogError) Error() string { return "log of the cluster: " + e.Err.Error() }

// Unwrap returns Err.
func (e *LogError) Unwrap() error { return e.Err }

// lastLines is the end of a log, for an error, and whether that is all of it.
func lastLines(path string) (said string, all bool) {
	const most = 5
	text, err := os.ReadFile(path)
	lines := strings.Split(string(bytes.TrimSpace(text)), "\n")
	if err != nil || lines[0] == "" {
		return "the cluster's process ended at once and left nothing in " + path, false
	}
	if len(lines) > most {
		return strings.Join(lines[len(lines)-most:], "\n") + "\n(the end of " + path + ")", false
	}
	return strings.TrimPrefix(strings.Join(lines, "\n"), "kafkaops: "), true
}
