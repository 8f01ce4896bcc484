package vfs

import (
	"math/bits"
	"strings"
)

// Op is a kind of call; ops may be joined by |.
type Op uint32

// The ops of FS and File. OpWrite is WriteAt and Append; OpOpen is Open of a
// file that must exist, OpCreate of one that may be new.
const (
	OpOpen Op = 1 << iota
	OpCreate
	OpRead
	OpWrite
	OpTruncate
	OpSync
	OpRename
	OpRemove
	OpMkdir
	OpReadDir
	OpStat
	OpSyncDir
	OpLock
	OpClose
)

var opNames = [...]string{
	"open", "create", "read", "write", "truncate", "sync", "rename", "remove", "mkdir", "readdir", "stat", "syncdir", "lock", "close",
}

// String is the names of the ops, joined by |.
func (o Op) String() string {
	var names []string
	for rest := o; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros32(uint32(rest)); i < len(opNames) {
			names = append(names, opNames[i])
		}
	}
	return strings.Join(names, "|")
}
