// Package quorum is the controller's process, a quorum of one: the rules of
// package controller, the metadata log that they write, and what answers the
// brokers' requests, as a machine.Machine.
//
// A caller starts from [Open], then steps; see package machine for the loop.
//
// What it answers is durable: no reply, and no record to a broker that follows
// the log, goes out before all that was decided until then is synced.
package quorum
