package dashboards

import (
	"fmt"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
)

var legendRE = regexp.MustCompile(`\{\{([a-z]+)\}\}`)

// drawing is what one expression of a panel gave.
type drawing struct {
	title, unit, legend string
	data                []series
}

// What a drawing is like, in pixels.
const (
	drawWidth, drawHeight = 560, 180
	drawLeft              = 70
	drawMost              = 8 // named series
)

var drawColors = []string{"#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442", "#999999"}

// page is a document with a drawing for each expression.
func page(title string, began time.Time, drawn []drawing) string {
	var out strings.Builder
	fmt.Fprintf(&out, "<!doctype html><meta charset=utf-8><title>%[1]s</title><style>body{font:13px sans-serif}figure{display:inline-block;margin:8px}</style><h1>%[1]s</h1>\n", html.EscapeString(title))
	for i := range drawn {
		out.WriteString(drawn[i].svg(float64(began.Unix())))
	}
	return out.String()
}

// svg draws the series as lines over the time of the show.
func (d *drawing) svg(began float64) string {
	least, most, until := 0.0, math.Inf(-1), 1.0
	for _, s := range d.data {
		for i, v := range s.value {
			least, most, until = min(least, v), max(most, v), max(until, s.at[i]-began)
		}
	}
	if most <= least {
		most = least + 1
	}
	x := func(at float64) float64 { return drawLeft + at/until*(drawWidth-drawLeft-10) }
	y := func(v float64) float64 { return 10 + (most-v)/(most-least)*(drawHeight-30) }
	var out strings.Builder
	fmt.Fprintf(&out, "<figure><figcaption><b>%s</b> %s</figcaption><svg width=%d height=%d>\n", html.EscapeString(d.title), html.EscapeString(d.unit), drawWidth, drawHeight+16*min(len(d.data), drawMost))
	for _, v := range []float64{least, most} {
		fmt.Fprintf(&out, "<line x1=%d x2=%d y1=%.1f y2=%.1f stroke=#ccc /><text x=2 y=%.1f>%.4g</text>\n", drawLeft, drawWidth-10, y(v), y(v), y(v)+4, v)
	}
	for n, s := range d.data {
		color := drawColors[n%len(drawColors)]
		var points strings.Builder
		for i, v := range s.value {
			fmt.Fprintf(&points, "%.1f,%.1f ", x(s.at[i]-began), y(v))
		}
		fmt.Fprintf(&out, "<polyline fill=none stroke=\"%s\" stroke-width=1.5 points=\"%s\"/>\n", color, points.String())
		if n < drawMost {
			fmt.Fprintf(&out, "<text x=%d y=%d fill=\"%s\">%s</text>\n", drawLeft, drawHeight+16*n, color, html.EscapeString(s.named(d.legend)))
		}
	}
	out.WriteString("</svg></figure>\n")
	return out.String()
}

// TestPicture: a line begins at the left, ends at the right, and its highest point is at the top.
func TestPicture(t *testing.T) {
	t.Parallel()
	d := drawing{title: "a & b", legend: "broker {{broker}} {{cluster}}", data: []series{{labels: map[string]string{"broker": "3"}, at: []float64{100, 105, 110}, value: []float64{0, 4, 2}}}}
	got := page("p", time.Unix(100, 0), []drawing{d})
	for _, want := range []string{"a &amp; b", ">broker 3<", `points="70.0,160.0 310.0,10.0 550.0,85.0 "`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}
