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
// ready. Where the program ends before, the error has the last lines of its log;
// where ctx does, the program is ended. Where another one that runs in the background
// has the place, or gets it meanwhile, it is a *TakenError, and log is left alone.
func Detach(ctx context.Context, p Place, log string, program string, args ...string) (Status, error) {
	if err := makePrivate(p.Run); err != nil {
		return Status{}, err
	}
	made := missing(filepath.Dir(log))
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		return Status{}, &LogError{err}
	}
	out, err := openLog(ctx, p, log)
	if err != nil {
		return Status{}, err
	}
	defer out.Close()
	cmd := exec.Command(program, args...) // it outlives ctx
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = background()
	if err := cmd.Start(); err != nil {
		return Status{}, fmt.Errorf("start %s in the background: %w", program, err)
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
			return answer.Status, nil
		}
		select {
		case <-ended:
			said, all := lastLines(log)
			if all { // then there is nothing more to be read in it
				removeNew(log, made)
			}
			return Status{}, errors.New(said)
		case <-ctx.Done():
			_ = cmd.Process.Kill()
			<-ended
			return Status{}, fmt.Errorf("the cluster was not ready in time, and was ended; its log is %s: %w", log, ctx.Err())
		case <-tick.C:
		}
	}
}

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
