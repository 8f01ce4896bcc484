package render

import (
	"math"
	"strings"
)

const (
	fullBlock  = '█'
	shadeBlock = '░'
	barEnd     = '▏'
)

// eighths are the blocks that fill 1/8 to 7/8 of a cell from the left.
var eighths = [...]rune{'▏', '▎', '▍', '▌', '▋', '▊', '▉'}

// Bar is a bar of width cells, filled from the left by the fraction of whole
// that part is, in steps of an eighth of a cell. It rounds down, so that only a
// complete part gives a full bar. The rest is blanks.
func Bar(width int, part, whole float64) string {
	return segments(width, cells(width, part, whole), cells(width, part, whole))
}

// BarSpan is how many records a group of [OffsetBar] should show where the most
// that any of them is behind is spread: a third more, so that the last one still
// has a quarter of a bar, and never so few that a handful of records in flight
// look like a lag. The whole log would make every lag too small to see.
func BarSpan(spread int64) int64 {
	const least = 100
	return max(least, spread+spread/3)
}

// OffsetBar draws the end of a log: the last span records before end, the
// leader's LEO, as far as this replica has them. Solid is committed, up to hw;
// shaded is not yet. A full bar is a replica that has all.
func OffsetBar(width int, span, end, leo, hw int64) string {
	if width < 1 {
		return ""
	}
	inner := width - 1
	whole := float64(span)
	from := float64(end) - whole
	solid := cells(inner, float64(min(hw, leo))-from, whole)
	return segments(inner, solid, cells(inner, float64(leo)-from, whole)) + string(barEnd)
}

// cells is how many eighths of width cells part fills.
func cells(width int, part, whole float64) int {
	if !(whole > 0) || !(part > 0) {
		return 0
	}
	return int(math.Floor(min(1, part/whole) * float64(width) * 8))
}

// segments draws solid eighths, then shade up to shaded eighths, then blanks.
func segments(width, solid, shaded int) string {
	var b strings.Builder
	for i := range width {
		filled := solid - i*8
		switch {
		case filled >= 8:
			b.WriteRune(fullBlock)
		case filled > 0:
			b.WriteRune(eighths[filled-1])
		case shaded-i*8 > 0:
			b.WriteRune(shadeBlock)
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Sparkline draws one cell for each value, the largest at full height. Zero is
// a dot and NaN, for unknown, a blank, so that nothing and no answer differ.
func Sparkline(values []float64) string {
	const levels = "▁▂▃▄▅▆▇█"
	steps := []rune(levels)
	top := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			top = max(top, v)
		}
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case v <= 0:
			b.WriteRune('·')
		default:
			step := int(math.Ceil(v/top*float64(len(steps)))) - 1
			b.WriteRune(steps[min(max(step, 0), len(steps)-1)])
		}
	}
	return b.String()
}
