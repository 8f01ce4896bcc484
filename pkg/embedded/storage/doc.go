// Package storage keeps partitions' logs on a disk, in Kafka's own files: what
// Apache Kafka wrote it opens, what it writes kafka-dump-log reads.
//
// A caller starts from
//
//   - [Open]: a log directory with all of its logs, recovered
//   - [Dir]: [Dir.Log], [Dir.Create], [Dir.Delete], the checkpoints, [Dir.Close]
//   - [Log]: [Log.Append], [Log.Read], [Log.Flush], [Log.TruncateTo], ...
//   - [Log.Dirt], [Log.Clean] and [Cleaning.Step]: compaction, piece by piece
//
// A broker, in short:
//
//	d, err := storage.Open(vfs.NewReal("/var/lib/kafka"), storage.Options{Identity: me}, now)
//	l, err := d.Create(storage.TopicPartition{Topic: "orders"}, topicID, storage.DefaultConfig(), now)
//	err = l.Append(batches, now) // stamped by record.Validator, or fetched from a leader
//	if upTo, due, ok := l.SyncDue(); ok && now >= due {
//		err = l.Flush(upTo, now)
//	}
//	buf, err = l.Read(buf[:0], storage.Fetch{From: 5, UpTo: hw, MaxBytes: 1 << 20, MinOne: true})
//	err = d.Close(brokerEpoch, now)
//
// It is pure but for the [vfs.FS] that it is given: time comes as an argument, and
// nothing runs on its own. A Dir and its logs are for one goroutine.
//
// # A log directory
//
//	meta.properties                   version=1, cluster.id, node.id, directory.id
//	.lock                             held while the directory is open
//	.kafka_cleanshutdown              {"version":0,"brokerEpoch":N}, from Close to the next Open
//	replication-offset-checkpoint     "0", count, then "topic partition HW" lines
//	recovery-point-offset-checkpoint  the same, with the first offset that may not be synced
//	log-start-offset-checkpoint       the same, with the log start where that is within a segment
//	cleaner-offset-checkpoint         the same, with the first offset that no compaction has seen
//	orders-0/                         a partition: topic-partition
//	    partition.metadata            "version: 0", "topic_id: " and the id, base64
//	    leader-epoch-checkpoint       "0", count, then "epoch startOffset" lines
//	    00000000000000000007.log      batches from offset 7 on, as package record draws them
//	    00000000000000000007.index
//	    00000000000000000007.timeindex
//	    00000000000000000042.snapshot producer state as of offset 42
//	    00000000000000000007.log.cleaned, .index.cleaned, .timeindex.cleaned
//	                                  what a compaction is making; it goes if that does not end
//	    00000000000000000007.log.swap, .index.swap, .timeindex.swap
//	                                  what it has made, and what is put in its place by an opening
//	    00000000000000000030.log.corrupt what lay behind a damage that no crash explains
//	orders-0.X-delete/                to be removed
//	orders-0.X-stray/                 of a topic that was deleted and made anew
//
// # Bytes
//
// All integers are big-endian, their width in bytes in brackets. An entry of an
// offset index says that the batch at a position ends with an offset:
//
//	offset - segment's base [4] | position in bytes [4]
//
// One of a time index says that up to the batch that ends with the offset, this is
// the largest timestamp, and that batch's:
//
//	timestamp in ms [8] | offset - segment's base [4]
//
// Entries ascend. There is one of each, the latter if the timestamp has grown, for
// the first batch after every index.interval.bytes; a segment that is complete has
// its largest timestamp as the time index's last entry. Files are made when there
// is something to write, and are not preallocated.
//
// A producer snapshot:
//
//	version [2]  1
//	CRC     [4]  CRC-32C of all that follows
//	count   [4]
//	entries [46] each:
//	    producer id [8] | epoch [2] | last sequence [4] | last offset [8] |
//	    last offset - base offset of that batch [4] | timestamp in ms [8] |
//	    coordinator epoch [4] | first offset of the open transaction [8]
//
// -1 is unknown, or none.
//
// # What survives
//
// What [Log.Flush] has returned nil for survives a power loss; what Append has,
// the death of the process. After a crash Open reads, from the recovery point on,
// every batch and its CRC, and the log ends before the first that is not valid.
// What can be made anew of the batches is, and [Dir.Repairs] tells. A second crash
// during recovery changes nothing. How, and what each crash leaves, is in DESIGN.md.
//
// An error of the disk is an [Error] with file and offset; bytes that cannot be
// read are never cut away as if they were not valid.
//
// # What may surprise
//
// A producer's state after a restart holds its last batch, not its last five:
// Kafka's snapshots keep no more. What was appended after the snapshot that was
// read is known in full. That batch's timestamp is the producer's last one, a
// marker's where a transaction has ended.
//
// Kafka's layout has no CRC over a batch's base offset and leader epoch, nor over a
// checkpoint: a wrong one that could be right is believed.
//
// # What it does not do
//
// Remote tiers, and an index of aborted transactions: a compaction finds them in the
// batches. Of __cluster_metadata it keeps the log ([OpenMetadata]), and not the
// quorum's own files. It judges no records: see package record.
package storage
