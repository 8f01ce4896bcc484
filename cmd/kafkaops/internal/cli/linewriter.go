package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
)

// latelyKept is how many lines a lineWriter remembers.
const latelyKept = 3

// lineWriter is where several goroutines say something, a line at a time.
type lineWriter struct {
	mu  sync.Mutex
	out io.Writer
	// hold: lines are not written but remembered, for who draws a screen.
	hold bool
	last []string
}

func (l *lineWriter) say(format string, args ...any) {
	line := strings.TrimPrefix(render.Clean(fmt.Sprintf(format, args...)), "kafkaops: ") // as failures begin
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.hold {
		fmt.Fprintln(l.out, "kafkaops: "+line)
		return
	}
	l.last = append(l.last, line)
	if n := len(l.last); n > latelyKept {
		l.last = l.last[n-latelyKept:]
	}
}

// lately are the last lines that were held back.
func (l *lineWriter) lately() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.last...)
}
