package status

import (
	_ "embed" // what the page is made of
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// View is the page at one moment.
type View struct {
	// State is nil where nothing was observed that may still be shown.
	State *State
	// Standing says in a sentence how the cluster answers, Stale that it does not.
	Standing string
	Stale    bool
	// Query filters the partitions, by a regular expression.
	Query string
	// Version is the exporter's; DocumentURL has every metric.
	Version, DocumentURL string
}

var (
	//go:embed page.html
	pageText string
	//go:embed status.css
	style []byte
	//go:embed status.js
	script []byte

	page = template.Must(template.New("page").Funcs(template.FuncMap{
		"word": word, "count": count, "bytes": bytes, "percent": percent, "ids": ids, "statuses": statuses, "since": since,
		"cell": describeCell, "height": height, "clock": clock, "known": known,
	}).Parse(pageText))
)

// Style and Script are what the page refers to, as status.css and status.js.
func Style() []byte { return style }

// Script is the page's script.
func Script() []byte { return script }

// Policy is the Content-Security-Policy of the page: nothing comes from elsewhere, nothing
// runs that is not Script, and no other page frames it.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Write writes the whole page, and WriteFragment the part that changes.
func Write(w io.Writer, v *View) error { return write(w, "page", v) }

// WriteFragment writes the part of the page that changes.
func WriteFragment(w io.Writer, v *View) error { return write(w, "fragment", v) }

// most is how many partitions are listed: a filter finds the others.
const most = 200

// drawn is a View with what is left of it to be said.
type drawn struct {
	*View
	Shown           []Partition
	Matching, Rest  int
	MostLeft        int
	FirstAt, LastAt string
}

func write(w io.Writer, name string, v *View) error {
	d := drawn{View: v}
	if v.State != nil {
		found := v.State.filter(v.Query)
		d.Matching = len(found)
		d.Shown = found[:min(most, len(found))]
		d.Rest = len(found) - len(d.Shown)
		for i := range v.State.Brokers {
			for _, c := range v.State.Brokers[i].Timeline {
				d.MostLeft = max(d.MostLeft, c.Left)
			}
		}
		d.FirstAt = v.State.TakenAt.Add(-span).UTC().Format("15:04")
		d.LastAt = v.State.TakenAt.UTC().Format("15:04Z")
	}
	if err := page.ExecuteTemplate(w, name, &d); err != nil {
		return fmt.Errorf("status page: %w", err)
	}
	return nil
}

// word is a level as a headline has it.
func word(l inspect.Level) string { return strings.ToUpper(strings.ReplaceAll(string(l), "-", " ")) }

// count is a number with its thousands apart.
func count(n any) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func known(n inspect.Opt[int64]) string {
	v, ok := n.Get()
	if !ok {
		return "-"
	}
	return count(v)
}

// bytes is a size with a unit of 1024.
func bytes(n inspect.Opt[int64]) string {
	v, ok := n.Get()
	if !ok {
		return "-"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	f, i := float64(v), 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if f < 10 && i > 0 {
		return fmt.Sprintf("%.1f %s", f, units[i])
	}
	return fmt.Sprintf("%.0f %s", f, units[i])
}

func percent(share inspect.Opt[float64]) string {
	v, ok := share.Get()
	if !ok {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", math.Floor(100*v)) // 99.6 % is not full
}

func ids(of []inspect.BrokerID) string {
	if len(of) == 0 {
		return "none"
	}
	var out []string
	for _, id := range of {
		out = append(out, strconv.Itoa(int(id)))
	}
	return strings.Join(out, ",")
}

func statuses(of []inspect.Status) string {
	var out []string
	for _, s := range of {
		out = append(out, string(s))
	}
	return strings.Join(out, ", ")
}

// since is how long something has lasted at a time, and why; "" where it is not known.
func since(l Loss, now time.Time) string {
	if l.Since.IsZero() {
		return "-"
	}
	d := max(0, now.Sub(l.Since)).Round(time.Second)
	text := d.String()
	switch {
	case d >= 48*time.Hour:
		text = fmt.Sprintf("%dd", int(d.Hours())/24)
	case d >= time.Hour:
		text = fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	if l.AtLeast {
		text = "at least " + text
	}
	return text
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// describeCell says in words what a cell of the timeline shows.
func describeCell(c Cell) string {
	from, to := c.From.Format("15:04"), c.From.Add(step).Format("15:04Z")
	if c.Left == 0 {
		return from + " to " + to + ": none left an ISR"
	}
	var why []string
	for _, cause := range c.Causes {
		why = append(why, fmt.Sprintf("%d by %s", cause.Left, cause.Cause))
	}
	return fmt.Sprintf("%s to %s: %d left an ISR, %s", from, to, c.Left, strings.Join(why, ", "))
}

// height is how high a cell is drawn, of 8, where the highest of all is most.
func height(c Cell, most int) int {
	if c.Left == 0 || most == 0 {
		return 0
	}
	return max(1, int(math.Ceil(8*float64(c.Left)/float64(most))))
}
