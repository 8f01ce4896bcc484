// Package tui is kafkaops top: a cluster's replication, live in a terminal.
//
// Start from [Run], which shows what a [Source] tells until the person quits, and
// [Config], which says what it has of the world outside.
//
// # How it is made
//
//	Source --Seen--> digest --*Look--> Model.Update --> state --draw--> screen
//
// A Source takes looks: of a live cluster, or of a recording. A command asks it for the
// next one and digests it there, in the command's goroutine: what costs time for 20,000
// partitions never keeps a key waiting. What comes of it is a [Look], which nobody changes
// any more. [Model.Update] puts it into the state; keys change the state too, by one table
// (keys.go) that dispatch, footer and help all come from. Everything on the screen is a
// pure function of the state and the window's size (draw.go): it asks nobody, and reads no
// clock, for the time comes as a message.
//
// What is drawn is painted by meaning, as package render does it, in the terminal's own
// colours; where the terminal tells its background, each gets a shade for it at the very end
// (colors.go). No fact is told by a colour alone.
//
// A screen is an entry in a table (screens.go): a name, a listing of rows or a text, and
// what lies behind a row. Rows and bars come from package render, as those of the commands
// do.
//
// What changes a cluster is an [Action]: Plan says what would be done, the person confirms
// it, Do does it. Actions are handed in; none is made here. With [Config.ReadOnly] there
// are none.
//
// The package opens no connection, and writes to nothing but the terminal.
package tui
