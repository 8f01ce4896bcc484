package render

import "github.com/kafkaops/kafkaops/pkg/inspect"

// Style is what a piece of text means; its colour follows from it. A meaning is
// always in the words too, never only in the colour.
type Style uint8

// The styles.
const (
	Plain Style = iota
	Good
	Warn
	Bad
	Dim
	Strong
)

// SGR parameters. Only the eight basic colours, which every terminal theme
// keeps readable on its own background.
func (s Style) sgr() string {
	switch s {
	case Good:
		return "32"
	case Warn:
		return "33"
	case Bad:
		return "31"
	case Dim:
		return "2"
	case Strong:
		return "1"
	}
	return ""
}

// Paint puts the style's escape sequences around text, if color allows.
func Paint(color bool, s Style, text string) string {
	sgr := s.sgr()
	if !color || sgr == "" || text == "" {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// LevelStyle is the style of a verdict's word.
func LevelStyle(l inspect.Level) Style {
	switch l {
	case inspect.LevelOK:
		return Good
	case inspect.LevelUnavailable, inspect.LevelAtRisk:
		return Bad
	}
	return Warn
}

// StatusStyle is the style of a partition's words: that of the worst, which
// comes first.
func StatusStyle(words []inspect.Status) Style {
	if len(words) == 0 {
		return Plain
	}
	switch words[0] {
	case inspect.StatusOK:
		return Good
	case inspect.StatusOffline, inspect.StatusUnderMinISR:
		return Bad
	case inspect.StatusReassigning, inspect.StatusWrongLeader:
		return Plain
	}
	return Warn
}

// StateStyle is the style of a replica's state.
func StateStyle(s inspect.ReplicaState) Style {
	switch s {
	case inspect.ReplicaInSync:
		return Good
	case inspect.ReplicaOutOfSync, inspect.ReplicaOffline:
		return Bad
	case inspect.ReplicaUnknown:
		return Warn
	}
	return Plain
}
