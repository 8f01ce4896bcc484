// Package local keeps a cluster of the engine on this machine where commands of
// other processes find it: where its data lies, its control socket, the process
// that runs it in the background.
//
// A caller starts from [Find], which turns a name or a directory into a [Place].
// Who runs a cluster takes the place with [TakePlace] before anything of it is opened,
// and answers there with [Claim.Serve] through a [Host]; who commands it uses [Ask].
// [Detach] starts a program in the background and waits until its place answers.
//
// The control socket is a unix socket, on Windows too. It lies in a directory that
// only its owner may enter, can be opened by its owner only, and where the system
// tells who is at the other end (Linux, macOS) anybody else is refused. A cluster in
// memory has a socket as well, and in the background a log beside it until it has ended
// cleanly, but no other file.
//
// One connection carries one [Request] and one [Answer], each a line of JSON of at
// most 1 MiB. Nothing here is meant for another machine, or for clients of Kafka.
package local
