// Package cli is kafkaops' command line. Its door is [Main], which runs one
// command and returns its exit code.
//
// A command is a file: an options struct, newXCmd that only parses, run that
// only works, and render that draws. What a command needs from outside comes in
// an [Env], so that tests run whole commands without a process. One function,
// exitCode, maps errors to exit codes; nothing else ends the program.
package cli
