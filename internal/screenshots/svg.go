package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// colors are a terminal's, each #rrggbb.
type colors struct {
	background, foreground string
	// basic are its first eight, black to white.
	basic [8]string
}

func dark() colors {
	return colors{"#14191f", "#d6dde6", [8]string{"#14191f", "#ff6b68", "#5fd787", "#ffd75f", "#5fafff", "#d787ff", "#5fd7d7", "#d6dde6"}}
}

func light() colors {
	return colors{"#fbfbfa", "#24292f", [8]string{"#24292f", "#c4122f", "#0f7b3f", "#8a5a00", "#0550ae", "#8250df", "#1b7c83", "#fbfbfa"}}
}

// Sizes in pixels.
const (
	cellWidth, cellHeight = 8.4, 18
	fontSize, baseline    = 14, 13.5
	margin                = 14
)

// pen is how characters are drawn: what SGR has set (ECMA-48, 8.3.117).
type pen struct {
	color          string // of the characters; empty is the foreground
	bold, dim, rev bool
}

// cell is one of the screen. The second of a wide character is empty.
type cell struct {
	text string
	pen  pen
}

// draw is a screen of width × height cells as a picture, SVG 1.1. Every run of characters
// is as wide as its cells whatever font there is, and blocks are rectangles, so that bars
// have no gaps.
func draw(screen string, width, height int, c colors) string {
	var b strings.Builder
	w, h := float64(width)*cellWidth+2*margin, height*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" font-family="ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%d">`+"\n",
		w, h, w, h, fontSize)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", c.background)
	for y, line := range strings.Split(strings.TrimSuffix(screen, "\n"), "\n") {
		if y < height {
			drawLine(&b, cells(line, c), y, c)
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// drawLine draws runs of cells that look the same.
func drawLine(b *strings.Builder, line []cell, y int, c colors) {
	for from := 0; from < len(line); {
		to := from + 1
		for to < len(line) && line[to].pen == line[from].pen && (isBlock(line[to].text) == isBlock(line[from].text)) {
			to++
		}
		drawRun(b, line[from:to], from, y, c)
		from = to
	}
}

func drawRun(b *strings.Builder, run []cell, x, y int, c colors) {
	p := run[0].pen
	color := p.color
	if color == "" {
		color = c.foreground
	}
	left, top, wide := margin+float64(x)*cellWidth, margin+y*cellHeight, float64(len(run))*cellWidth
	if p.rev {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, wide, cellHeight, color)
		color = c.background
	}
	if isBlock(run[0].text) {
		for i := 0; i < len(run); { // several of one kind are one, without seams
			n := 1
			for i+n < len(run) && run[i+n].text == run[i].text && (run[i].text <= "█" || run[i].text == "░") {
				n++
			}
			drawBlock(b, run[i].text, left+float64(i)*cellWidth, top, n, color)
			i += n
		}
		return
	}
	style := ""
	if p.bold {
		style += ` font-weight="bold"`
	}
	if p.dim {
		style += ` opacity="0.7"`
	}
	for _, w := range words(run) {
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
			left+float64(w.at)*cellWidth, float64(top)+baseline, float64(ansi.StringWidth(w.text))*cellWidth, color, style, html.EscapeString(w.text))
	}
}

// word is what is between two blanks and more, and at which cell it begins.
type word struct {
	at   int
	text string
}

func words(run []cell) []word {
	var out []word
	blanks := 2 // as before the first one
	for i, k := range run {
		if k.text == " " {
			blanks++
			continue
		}
		if blanks > 1 {
			out = append(out, word{at: i})
			blanks = 0
		}
		out[len(out)-1].text += strings.Repeat(" ", blanks) + k.text
		blanks = 0
	}
	return out
}

func isBlock(text string) bool { return text >= "▁" && text <= "░" && len(text) == len("█") }

// drawBlock draws n of ▁ to █ (filled from below) or ░, or one of ▉ to ▏ (from the left).
func drawBlock(b *strings.Builder, text string, x float64, top, n int, color string) {
	r := []rune(text)[0]
	y, w, h, more := float64(top), cellWidth*float64(n), float64(cellHeight), ""
	switch {
	case r == '░':
		more = ` opacity="0.35"`
	case r <= '█':
		h *= float64(r-'▁'+1) / 8
		y += cellHeight - h
	case r <= '▏':
		w *= float64('▏'-r+1) / 8
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.2f" width="%.2f" height="%.2f" fill="%s"%s/>`+"\n", x, y, w, h, color, more)
}

// cells reads a line as tmux captures it: characters, and SGR between them.
func cells(line string, c colors) []cell {
	var out []cell
	var p pen
	state := byte(0)
	for line != "" {
		seq, width, n, next := ansi.DecodeSequence(line, state, nil)
		line, state = line[n:], next
		if width > 0 {
			out = append(out, cell{seq, p})
			for range width - 1 {
				out = append(out, cell{"", p})
			}
			continue
		}
		if body, ok := strings.CutPrefix(seq, "\x1b["); ok && strings.HasSuffix(body, "m") {
			p = p.set(strings.Split(strings.TrimSuffix(body, "m"), ";"), c)
		}
	}
	return out
}

// set is the pen after an SGR with these parameters.
func (p pen) set(params []string, c colors) pen {
	for i := 0; i < len(params); i++ {
		n, _ := strconv.Atoi(params[i]) // empty is 0
		switch {
		case n == 0:
			p = pen{}
		case n == 1:
			p.bold = true
		case n == 2:
			p.dim = true
		case n == 7:
			p.rev = true
		case n == 22:
			p.bold, p.dim = false, false
		case n == 27:
			p.rev = false
		case n >= 30 && n <= 37:
			p.color = c.basic[n-30]
		case n == 39:
			p.color = ""
		case n == 38:
			var used int
			p.color, used = extended(params[i+1:], c)
			i += used
		}
	}
	return p
}

// extended is a colour of 256, 5;N, or of all, 2;R;G;B, and how many parameters it took.
func extended(params []string, c colors) (color string, used int) {
	at := func(i int) int {
		if i >= len(params) {
			return 0
		}
		n, _ := strconv.Atoi(params[i])
		return n
	}
	hex := func(r, g, b int) string { return fmt.Sprintf("#%02x%02x%02x", r, g, b) }
	if at(0) == 2 {
		return hex(at(1), at(2), at(3)), 4
	}
	n := at(1)
	switch {
	case n < 8:
		return c.basic[n], 2
	case n < 16:
		return c.basic[n-8], 2
	case n < 232: // a cube of six steps
		step := func(i int) int {
			if i == 0 {
				return 0
			}
			return 55 + 40*i
		}
		n -= 16
		return hex(step(n/36), step(n/6%6), step(n%6)), 2
	}
	grey := 8 + 10*(n-232)
	return hex(grey, grey, grey), 2
}
