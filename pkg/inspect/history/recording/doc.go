// Package recording keeps what was observed of a cluster in a file, for longer than
// the cluster itself does: its ISR events, and looks at it, which are whole Snapshots. The
// format has room for other series, which this version passes over.
//
//	w, err := recording.Open("isr.rec", clusterID) // creates it, or goes on with it
//	resume, ok := w.Resume()                       // from where to read on
//	err = w.Append(event)                          // …
//	err = w.Commit(coverage)                       // what was appended is now whole, up to here
//	err = w.AppendLook(snapshot)                   // beside them
//	err = w.Close()
//
//	r, err := recording.Read("isr.rec")
//	r.Coverages(), r.Gaps(), r.Damages() // for when it speaks, and for when not
//	err = r.Events(func(e inspect.IsrEvent) error { … })
//	err = r.Looks(since, until, func(s *inspect.Snapshot) error { … })
//
// [isrlog.Record] does the first for whoever follows a log.
//
// # What it holds on to
//
// An event is in the file exactly if the Commit behind it is. A commit says for which
// stretch of the metadata log, or of time, nothing is missing: where one does not begin
// at the end of the one before there is a gap, and the reader tells it. After a crash
// the file ends at its last whole commit: Open cuts off what comes behind, and says how
// much that was. Damage in the middle costs the blocks that it touches, and what those
// covered is a gap.
//
// Looks are written every 10 s of their time, those of a stretch together, and need no
// commit. Every 10 minutes, or 8 MiB, one is whole; the others are what changed, so that
// damage costs those up to the next whole one. [Reader.Looked] tells where there are any.
//
// One writer at a time: the file is locked for as long as a Writer is open
// ([ErrInUse]). Readers need no lock, also beside a writer. A file belongs to one
// cluster ([ForeignError]).
//
// # The file
//
// A file is a sequence of blocks. Numbers are big-endian, as in Kafka's own formats.
//
//	 0  marker     8 bytes  89 'K' 'O' 'P' 'S' 0d 0a 1a
//	 8  kind       uint16   1 head, 2 ISR events, 3 looks; others are for later, and
//	                        passed over
//	10  flags      uint16   bit 0: more, the next block belongs to the same commit
//	                        bit 1: the first look of the commit is whole
//	12  length     uint32   of the payload, at most 1 MiB
//	16  first      int64    earliest time in the payload, ms since 1970; 0 for none
//	24  last       int64    latest time in it
//	32  checksum   uint32   CRC-32C of the payload
//	36  checksum   uint32   CRC-32C of the 36 bytes before
//	40  payload
//
// Blocks are only ever appended. A reader that finds none where one should begin looks
// for the next marker with two right checksums. A commit of which an earlier block is
// damaged has fewer events than it says: it covers nothing then.
//
// Payloads are in the wire format of protocol buffers, so that fields can be added.
// Times are nanoseconds since 1970, lengths of time nanoseconds. A field that is not
// there is unknown, or empty. A file begins with a head, and has it again at least every
// MiB and wherever a writer went on with it:
//
//	message Head {
//	  uint32 version    = 1; // of the format: 1. A reader refuses a higher one
//	  string cluster_id = 2;
//	}
//
//	message Isr {
//	  repeated Event event = 1;
//	  Coverage coverage    = 2; // ends a commit: in its last block alone
//	  uint32 events        = 3; // of the commit, those of its earlier blocks included
//	}
//
//	message Event {
//	  int64  time              = 1;
//	  string topic             = 2;
//	  int32  partition         = 3;
//	  string type              = 4; // an inspect.IsrEventType
//	  string cause             = 5; // an inspect.IsrCause
//	  repeated sint32 brokers  = 6; // these lists are packed
//	  repeated sint32 replicas = 7;
//	  repeated sint32 isr_before = 8;
//	  repeated sint32 isr      = 9;
//	  repeated sint32 elr      = 10; // there, if with no entry, where it is known
//	  sint32 leader            = 11; // -1 for none
//	  sint32 leader_epoch      = 12;
//	  sint32 partition_epoch   = 13;
//	  sint64 offset            = 14; // in the metadata log
//	  int64  out               = 15; // how long who came back had been out
//	  string source            = 16; // an inspect.IsrSource
//	  int64  fenced_for        = 17; // how long who came back had been fenced
//	}
//
//	message Coverage {          // from the end of the coverage before, if that is where it begins
//	  string source     = 1;
//	  string where      = 2;    // who was read
//	  sint64 from       = 3;    // offsets, of a metadata log: from to to, that one excluded
//	  sint64 to         = 4;
//	  sint32 epoch      = 5;    // the quorum's, of what lies before to
//	  int64  since      = 6;    // times: of from, and of the last record before to
//	  int64  until      = 7;
//	  int64  every      = 8;    // time between two looks, where looks were compared
//	  uint32 unreadable = 9;    // records in versions that the writer did not know
//	  bool   anew       = 10;   // another log: its offsets do not go on from those before
//	}
//
// The payloads of a commit of looks, one after the other, are a frame of Zstandard (RFC
// 8878) with
//
//	message Looks {
//	  repeated bytes look = 1; // as package looks has them
//	}
package recording
