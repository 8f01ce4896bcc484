// Package vfs is the engine's only door to the disk.
//
// A caller starts from
//
//   - [FS] and [File]: what a log's storage needs of a disk, and no more
//   - [NewReal]: a directory of this machine
//   - [NewMem]: a disk in memory, whose power can fail: [Mem.CrashClone]
//   - [NewFaults]: another FS with faults by rule: slow, stalled, full, broken
//
// They nest:
//
//	disk := vfs.NewMem(vfs.MemOptions{CapacityBytes: 64 << 20})
//	faulty := vfs.NewFaults(disk, rand.New(rand.NewPCG(seed, 0)), vfs.RealTime{})
//	faulty.Add(vfs.Rule{Name: "*.log", Ops: vfs.OpSync, Err: vfs.ErrIO, LoseUnsynced: true, Times: 1})
//	...
//	after := disk.CrashClone(rand.New(rand.NewPCG(seed, 1))) // what a reboot would find
//
// # Names
//
// Names are paths with slashes, relative to the FS's root, as [io/fs.ValidPath]
// has them: "orders-0/00000000000000000000.log", "." for the root. A name cannot
// leave the root by "..". Errors are *[io/fs.PathError] and match
// [io/fs.ErrNotExist], [io/fs.ErrExist], [ErrNoSpace], [ErrIO] and so on.
//
// # What is durable
//
// A file's data and length are durable when File.Sync has returned nil; that a
// name exists, is gone or has moved, when FS.SyncDir has returned nil for each
// directory that it stood in and stands in. Before that, each may or may not
// have happened after a power loss, but for this: a rename happens as a whole,
// and a name that was freed is not taken before it is free.
// A new file thus needs both: its own Sync and SyncDir of its directory. A
// process that dies, other than a machine, loses nothing.
//
// # What a crash clone may look like
//
// [Mem.CrashClone] takes what is durable and adds, as the rng decides, for each
// file nothing, everything, a beginning, or any subset of the sectors of 512
// bytes that were written since its last Sync, each as it was after some write
// (the last few are remembered). Its length is any that it had since then,
// whatever became of the data: where data is missing there are zeros, or what
// was durable there. A shorter length by Truncate happens as a whole or not at
// all, and no data from before it comes back if it did. Changes of names are
// taken in order up to some point, as a journal has them, or any subset.
//
// Clones share pages until one of them writes: a clone costs a pointer for each
// page of 4 KiB and file.
//
// # What it does not do
//
// No links, permissions, times or mmap. Reads do not wear a position: there is
// ReadAt only. Nothing is cached or buffered here.
package vfs
