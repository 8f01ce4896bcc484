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
	switch phase := string(f.Phase); {
	case f.Phase != inspect.PhaseRequest && phase != "":
		if !strings.HasPrefix(f.Error, phase) {
			parts = append(parts, phase)
		}
	case f.Request != "" && !strings.Contains(f.Error, f.Request): // as in "no reply to ListOffsets"
		parts = append(parts, f.Request)
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
