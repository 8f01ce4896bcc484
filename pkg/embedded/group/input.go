package group

import "github.com/twmb/franz-go/pkg/kmsg"

// Token is how a node knows again whose request an effect belongs to. This package
// only hands it back.
type Token uint64

// Time is a node's two clocks, in ms: MonoMs never goes back, WallMs is the time of
// day since 1970.
type Time struct{ MonoMs, WallMs int64 }

// Input is a fact that is stepped into a shard: one of the types below.
type Input interface{ isInput() }

type (
	// Request is a request about one group: a JoinGroup, SyncGroup, Heartbeat,
	// LeaveGroup, OffsetCommit or OffsetDelete, of the version that Body has. It is
	// answered with one Reply.
	//
	// Topics of an OffsetCommit have their ids and names both, where the node knows
	// them; a topic that there is not is none of it, nor of an OffsetDelete.
	Request struct {
		Token Token
		// ClientID and ClientHost are what DescribeGroups shows of a member.
		ClientID, ClientHost string
		Body                 kmsg.Request
	}
	// FetchOffsets is one group of an OffsetFetch, with Topics nil for all. It is
	// answered with one Fetched.
	FetchOffsets struct {
		Token Token
		Group kmsg.OffsetFetchRequestGroup
		// RequireStable waits for what is being committed (KIP-447).
		RequireStable bool
	}
	// Delete deletes groups, and is answered with one Deleted.
	Delete struct {
		Token  Token
		Groups []string
	}
	// Appended answers an Append: the records are in the log, and End is the offset
	// behind them. An append that failed is none: close the shard, for what it has
	// made of the records is not in the log.
	Appended struct {
		ID  uint64
		End int64
	}
	// HW is the partition's high watermark.
	HW struct{ Offset int64 }
	// TopicsDeleted are names of topics that are gone, of which offsets go too.
	TopicsDeleted struct{ Topics []string }
	// Tick says that time has passed. It is needed at NextDeadline.
	Tick struct{}
)

func (Request) isInput()       {}
func (FetchOffsets) isInput()  {}
func (Delete) isInput()        {}
func (Appended) isInput()      {}
func (HW) isInput()            {}
func (TopicsDeleted) isInput() {}
func (Tick) isInput()          {}

// Effect is an order to the node: one of the types below, to be carried out in the
// order in which they come.
type Effect interface{ isEffect() }

type (
	// Reply answers a Request.
	Reply struct {
		Token    Token
		Response kmsg.Response
	}
	// Fetched answers a FetchOffsets.
	Fetched struct {
		Token Token
		Group kmsg.OffsetFetchResponseGroup
	}
	// Deleted answers a Delete: a code for each of its groups.
	Deleted struct {
		Token Token
		Codes []Code
	}
	// Append writes records as one batch, behind those of earlier Appends. Answer:
	// Appended, as soon as they are in the leader's log.
	Append struct {
		ID      uint64
		Records []Record
	}
	// Note is a line for the node's log.
	Note struct{ Text string }
)

// Record is a record to write, at the present time of day. A nil Value is a tombstone.
type Record struct{ Key, Value []byte }

func (Reply) isEffect()   {}
func (Fetched) isEffect() {}
func (Deleted) isEffect() {}
func (Append) isEffect()  {}
func (Note) isEffect()    {}
