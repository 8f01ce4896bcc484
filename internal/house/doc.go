// Package house holds tests only: they keep the house rules that no linter
// knows. Which package may import which, which may import a Kafka client,
// prometheus or a terminal UI, which are pure, that every package has a comment
// and a name that says what it holds.
//
// The table of all packages is in rooms_test.go. A new package has to be added
// there; the test that fails without it says so.
package house
