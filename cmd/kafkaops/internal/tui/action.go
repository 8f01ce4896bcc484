package tui

import (
	"context"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Action is something that changes a cluster. It is offered where [Config.ReadOnly] is
// empty, and done in three steps: Plan, the person's yes, [Plan.Do].
type Action struct {
	// Key is the key, such as "ctrl+f", and Name what it does in a few words: both for help.
	Key, Name string
	// On says whether it can be done to what is selected; nil is always.
	On func(Target) bool
	// Plan finds out what would be done, and changes nothing.
	Plan func(context.Context, Target) (Plan, error)
}

// Target is what is selected.
type Target struct {
	// Screen is the name of the screen.
	Screen string
	// Broker and Partition are known where the row, or the screen, is of one.
	Broker    inspect.Opt[inspect.BrokerID]
	Partition inspect.Opt[inspect.TopicPartition]
	// Look is the newest look.
	Look *Look
}

// Plan is what would be done.
type Plan struct {
	// Title is a question without its mark, Lines what exactly would be done, and how it is
	// undone.
	Title string
	Lines []string
	// Do does it, and says in a sentence what came of it.
	Do func(context.Context) (string, error)
}
