package render

import (
	"fmt"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// FailureLine is what stderr says of one failure, without a line break: who,
// which topic, how far it got, the cause, what is lost, what to try.
func FailureLine(f inspect.Failure) string {
	parts := []string{"kafkaops"}
	id, known := f.Broker.Get()
	switch {
	case known && f.Address != "":
		parts = append(parts, fmt.Sprintf("broker %d (%s)", id, f.Address))
	case known:
		parts = append(parts, fmt.Sprintf("broker %d", id))
	case f.Address != "":
		parts = append(parts, f.Address)
	}
	if f.Topic != "" {
		parts = append(parts, "topic "+f.Topic)
	}
	// The cause often names the request already: "no reply to ListOffsets".
	if step := stepOf(f); step != "" && !strings.Contains(f.Error, step) {
		parts = append(parts, step)
	}
	line := strings.Join(append(parts, f.Error), ": ")
	if f.Lost != "" {
		line += "; " + f.Lost
	}
	if f.Hint != "" {
		line += ". " + f.Hint
	}
	return Clean(line)
}

// stepOf is the phase, or the request itself where it got that far.
func stepOf(f inspect.Failure) string {
	if f.Phase == inspect.PhaseRequest || f.Phase == "" {
		return f.Request
	}
	return string(f.Phase)
}
