package render

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// addBars adds a column of bars where the terminal has room for it. All have one
// scale, which the header tells, so that the worst stands out.
func addBars(t *Table, v View, rows []LagRow) {
	const least, most = 16, 40
	width := most
	if v.Width > 0 {
		width = min(most, v.Width-t.layout(v.Width).textWidth()-columnGap)
	}
	if width < least {
		return
	}
	spread := int64(0)
	for i := range rows {
		spread = max(spread, spreadOf(&rows[i]))
	}
	span := BarSpan(spread)
	t.Columns = append(t.Columns, Column{Name: barTitle(width, span), Only: OnTerminal})
	at := 0
	for i := range rows {
		for n, bar := range lagBars(width, span, &rows[i]) {
			style := Dim
			if !rows[i].Lag.Replicas[n].InSync {
				style = Bad
			}
			t.Rows[at].Cells = append(t.Rows[at].Cells, Cell{Text: bar, Style: style})
			at++
		}
	}
	t.Tail = append(t.Tail, "bars: where each log ends, from "+Thousands(span)+
		" records before its leader's LEO; shaded is not yet committed (HW to LEO)")
}

func barTitle(width int, span int64) string {
	from, to := "-"+Thousands(span)+" ", " LEO"
	return from + strings.Repeat("─", max(0, width-1-ansi.StringWidth(from+to))) + to
}

// spreadOf is how far the HW or any replica's LEO is behind the leader's LEO.
func spreadOf(r *LagRow) int64 {
	end, ok := r.Lag.LEO.Get()
	if !ok {
		return 0
	}
	spread := end - r.Lag.HW.Or(end)
	for i := range r.Lag.Replicas {
		spread = max(spread, end-r.Lag.Replicas[i].LEO.Or(end))
	}
	return int64(spread)
}

// lagBars are the bars of the replicas; none where the end of the leader's log
// or the HW is unknown.
func lagBars(width int, span int64, r *LagRow) []string {
	hw, committed := r.Lag.HW.Get()
	end, led := r.Lag.LEO.Get()
	bars := make([]string, len(r.Lag.Replicas))
	for i := range r.Lag.Replicas {
		if leo, ok := r.Lag.Replicas[i].LEO.Get(); ok && led && committed {
			bars[i] = OffsetBar(width, span, int64(end), int64(leo), int64(hw))
		}
	}
	return bars
}
