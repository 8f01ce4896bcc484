package tui

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// shades are a colour for each of [render.Style]'s meanings, on a background that is known.
//
// Package render paints meanings in the terminal's own sixteen colours, which is all that a
// command can know of a terminal. The screen can ask what its background is, and then puts
// a shade in place of each that is read on it (a contrast of 4.5 and more, WCAG 2.1 AA)
// and is told from the others also by who does not see red or green. They are of the 256
// colours' cube, so that they are the same with 256 colours and with 16 million. Where the
// terminal does not say, has no more than sixteen, or has a background on which neither set
// is read, its own colours stay.
type shades struct{ good, warn, bad, dim color.RGBA }

func rgb(hex uint32) color.RGBA {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff} //nolint:gosec // its bytes
}

// darkShades are for a dark background, lightShades for a light one: aqua, yellow and
// salmon, or blue, brown and crimson.
func darkShades() *shades {
	return &shades{good: rgb(0x5fffd7), warn: rgb(0xffd700), bad: rgb(0xff875f), dim: rgb(0x9e9e9e)}
}

func lightShades() *shades {
	return &shades{good: rgb(0x005f87), warn: rgb(0x875f00), bad: rgb(0xd7005f), dim: rgb(0x626262)}
}

// leastContrast is WCAG's for text (1.4.3, level AA).
const leastContrast = 4.5

// shadesOn are those that are read on the background; nil, for the terminal's own, where
// none are, or it is unknown (nil).
func shadesOn(background color.Color) *shades {
	if background == nil {
		return nil
	}
	for _, s := range []*shades{darkShades(), lightShades()} {
		if s.contrast(background) >= leastContrast {
			return s
		}
	}
	return nil
}

// contrast is the least of any of them with the background.
func (s *shades) contrast(background color.Color) float64 {
	least := math.Inf(1)
	for _, c := range []color.RGBA{s.good, s.warn, s.bad, s.dim} {
		least = min(least, contrast(c, background))
	}
	return least
}

// contrast is WCAG's ratio of two colours, from 1 to 21.
func contrast(a, b color.Color) float64 {
	light, dark := luminance(a), luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

// luminance is WCAG's relative luminance, from 0 to 1.
func luminance(c color.Color) float64 {
	r, g, b := linear(c)
	return 0.2126*r + 0.7152*g + 0.0722*b
}

// linear is a colour in linear light, from 0 to 1 each, by sRGB's curve (IEC 61966-2-1).
func linear(c color.Color) (r, g, b float64) {
	of := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	red, green, blue, _ := c.RGBA()
	return of(red), of(green), of(blue)
}

// shade puts the shades in place of the terminal's own colours; nil leaves those.
func (s *shades) shade(screen string) string {
	if s == nil {
		return screen
	}
	sgr := func(c color.RGBA) string { return fmt.Sprintf("\x1b[38;2;%d;%d;%dm", c.R, c.G, c.B) }
	return strings.NewReplacer("\x1b[32m", sgr(s.good), "\x1b[33m", sgr(s.warn), "\x1b[31m", sgr(s.bad), "\x1b[2m", sgr(s.dim)).Replace(screen)
}

// profileOf is how many colours a terminal is given: those that it has, none where they are
// not wanted, and at least its own sixteen where they are.
func profileOf(wanted bool, has colorprofile.Profile) colorprofile.Profile {
	if !wanted {
		return colorprofile.ASCII
	}
	return max(has, colorprofile.ANSI)
}

// askBackground asks a terminal for its background where that is of use.
func askBackground(p colorprofile.Profile) tea.Cmd {
	if p < colorprofile.ANSI256 {
		return nil
	}
	return tea.RequestBackgroundColor
}
