//go:build race

package group

// raced: the race detector makes a history cost five times as much.
const raced = true
