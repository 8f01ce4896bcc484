package tui

import (
	"context"
	"errors"
	"io"
	"os"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Run shows what the source tells, until the person quits, or ctx ends: then the error is
// the context's, as it is context.Canceled after ^C. Whatever ends it, a panic included,
// the terminal is as it was.
func Run(ctx context.Context, cfg Config, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	profile := profileOf(cfg.Color, colorprofile.Detect(out, os.Environ()))
	p := tea.NewProgram(New(ctx, cfg), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler(), tea.WithColorProfile(profile))
	_, err := p.Run()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, tea.ErrInterrupted):
		return context.Canceled
	}
	return err
}
