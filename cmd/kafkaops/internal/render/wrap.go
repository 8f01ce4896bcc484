package render

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks text between words into lines of at most width cells.
func Wrap(text string, width int) []string { return wrap(text, width, "") }

// wrap breaks text between words into lines of at most width cells, of which
// those after the first are indented by hang. A hyphen is no place to break:
// "under-replicated" stays one word, which a reader may search for.
func wrap(text string, width int, hang string) []string {
	width = max(width, len(hang)+1)
	var lines []string
	line, indent := "", ""
	end := func() {
		lines = append(lines, line)
		line, indent = hang, hang
	}
	for _, word := range strings.Fields(text) {
		if line != indent {
			if ansi.StringWidth(line)+1+ansi.StringWidth(word) <= width {
				line += " " + word
				continue
			}
			end()
		}
		// A word longer than a line is broken wherever the line ends.
		for ansi.StringWidth(line)+ansi.StringWidth(word) > width {
			head := ansi.Truncate(word, max(1, width-ansi.StringWidth(line)), "")
			if head == "" {
				break // a wide rune in one cell
			}
			line += head
			word = word[len(head):]
			end()
		}
		line += word
	}
	return append(lines, line)
}
