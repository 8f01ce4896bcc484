// Package embeddedtest starts an embedded cluster for a test, with settings that suit
// one, and ends it with the test.
//
// A caller starts from [New]. When the test has failed the logs of all nodes are printed.
package embeddedtest
