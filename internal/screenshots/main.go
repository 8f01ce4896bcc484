// Command screenshots makes the pictures of kafkaops top in the README: make screenshots.
//
// It builds kafkaops, runs top --embedded in a terminal (package tmux), slows a disk by the
// keys that a person presses, and draws what is on the screen as SVG ([draw]). Nothing in
// a picture is written by hand, so two runs differ in cluster id, times and rates.
//
//	go run ./internal/screenshots DIR
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/internal/tmux"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1) //nolint:gocritic // stop only ends the watch for signals
	}
}

// patience bounds one step: something appears on the screen.
const patience = 2 * time.Minute

// step is what is done, what is then waited for, and the picture that is taken; empty where
// there is nothing of it.
type step struct {
	keys  []string
	until []string
	name  string
}

// incident is the one of which there are pictures.
func incident() []step {
	return []step{
		{until: []string{" OK ", "orders-3"}},
		{keys: []string{"3"}, until: []string{"› Brokers"}},
		{keys: []string{"G"}, until: []string{">     3  up"}},
		{keys: []string{"C-d"}, until: []string{"slow the disk of broker 3?"}},
		{keys: []string{"y"}, until: []string{"broker 3: each write"}},
		{keys: []string{"1"}, until: []string{" DEGRADED ", "cause: broker 3 is slow as a follower", "LEO-HW"}, name: "overview"},
		{keys: []string{"Enter"}, until: []string{"replica 3 is out-of-sync", "shrink  replica-lag"}, name: "partition"},
		{keys: []string{"7"}, until: []string{"broker 3 is slow as a follower"}, name: "findings"},
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("one argument is needed: the directory for the pictures")
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "screenshots-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	program := filepath.Join(work, "kafkaops")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/kafkaops/kafkaops/cmd/kafkaops").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w: %s", err, out)
	}
	for _, look := range []struct {
		suffix string
		colors colors
		only   string
	}{{"", dark(), ""}, {"-light", light(), "overview"}} {
		if err := take(ctx, program, work, look.colors, func(name string) string {
			if look.only != "" && name != look.only {
				return ""
			}
			return filepath.Join(args[0], name+look.suffix+".svg")
		}); err != nil {
			return err
		}
	}
	return nil
}

// take plays the incident in a terminal with these colours. file is where a picture goes;
// empty leaves it out.
func take(ctx context.Context, program, work string, c colors, file func(name string) string) (err error) {
	const width, height = 100, 26
	s, err := tmux.Start(ctx, tmux.Options{
		Width: width, Height: height, Background: c.background, Env: []string{"HOME=" + work, "XDG_STATE_HOME=" + work, "XDG_CONFIG_HOME=" + work},
		Script: "exec " + program + " top --embedded --interval 1s",
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	for _, st := range incident() {
		if len(st.keys) > 0 {
			if err := s.Keys(ctx, st.keys...); err != nil {
				return err
			}
		}
		if err := shoot(ctx, s, &st, c, width, height, file); err != nil {
			return err
		}
	}
	return nil
}

// shoot waits for a step's screen, and takes the picture.
func shoot(ctx context.Context, s *tmux.Session, st *step, c colors, width, height int, file func(name string) string) error {
	bounded, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := s.Await(bounded, func(screen string) bool {
		for _, text := range st.until {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	}); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(st.until, ", "), err)
	}
	if st.name == "" || file(st.name) == "" {
		return nil
	}
	styled, err := s.Styled(ctx)
	if err != nil {
		return err
	}
	name := file(st.name)
	fmt.Fprintln(os.Stderr, name)
	return os.WriteFile(name, []byte(draw(styled, width, height, c)), 0o644) //nolint:gosec // a picture for all
}
