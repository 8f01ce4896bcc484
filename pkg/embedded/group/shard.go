package group

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/timers"
)

// Config is what all shards of a broker share, by Kafka's names. It must not change.
type Config struct {
	MinSessionTimeoutMs, MaxSessionTimeoutMs int32 // group.min.session.timeout.ms, group.max.session.timeout.ms
	MaxSize                                  int   // group.max.size
	InitialRebalanceDelayMs                  int64 // group.initial.rebalance.delay.ms
	MetadataMaxBytes                         int   // offset.metadata.max.bytes
	CommitTimeoutMs                          int64 // offsets.commit.timeout.ms
	RetentionMs                              int64 // offsets.retention.minutes
	RetentionCheckMs                         int64 // offsets.retention.check.interval.ms
	// MaxBatchBytes is max.message.bytes of __consumer_offsets.
	MaxBatchBytes int
}

// newMemberJoinMs is how long a new member's join may take
// (GroupCoordinatorConfig.classicGroupNewMemberJoinTimeoutMs).
const newMemberJoinMs int64 = 5 * 60 * 1000

// Never is a deadline that does not come.
const Never = timers.Never

// Shard is the coordinator of the groups of one partition of __consumer_offsets
// (GroupCoordinatorShard). It is changed by Load, Activate, Step and Close alone.
type Shard struct {
	cfg *Config
	rng *rand.Rand

	groups map[string]*group
	// written is what the log says, committed what it says below the HW.
	written, committed offsets
	writes             writes
	timers             timers.Queue
	cleanup            timers.Timer
	active, closed     bool

	// During a step only.
	now Time
	out []Effect
}

// New returns a shard that loads. rng draws member ids.
func New(cfg *Config, rng *rand.Rand) *Shard {
	s := &Shard{cfg: cfg, rng: rng, groups: map[string]*group{}, written: offsets{}, committed: offsets{}}
	s.writes.begin(s)
	return s
}

// Activate ends the loading: all that the log has below its end is loaded, and below
// the HW (GroupMetadataManager.onLoaded). Members get a session from now on.
func (s *Shard) Activate(now Time, out []Effect) []Effect {
	s.now, s.out, s.active = now, out, true
	for _, id := range s.ids() {
		g := s.groups[id]
		for _, m := range g.members {
			s.keepAlive(m)
		}
		if len(g.members) > s.cfg.MaxSize {
			s.notef("group %s: %d members were loaded, %d are allowed: rebalancing", id, len(g.members), s.cfg.MaxSize)
			s.prepareRebalance(g)
		}
	}
	s.cleanup.Ring = func() {
		s.after(&s.cleanup, s.cfg.RetentionCheckMs)
		s.expireOffsets()
	}
	s.after(&s.cleanup, s.cfg.RetentionCheckMs)
	return s.end()
}

// Active reports whether requests may be stepped.
func (s *Shard) Active() bool { return s.active && !s.closed }

// Step takes one fact in and appends to out what is to be done about it, in order.
func (s *Shard) Step(now Time, in Input, out []Effect) []Effect {
	if !s.Active() {
		panic("group: stepped while it is not active")
	}
	s.now, s.out = now, out
	switch in := in.(type) {
	case Request:
		s.request(in)
	case FetchOffsets:
		s.fetchOffsets(in)
	case Delete:
		s.deleteGroups(in)
	case Appended:
		s.writes.appended(in)
	case HW:
		s.writes.advance(in.Offset)
	case TopicsDeleted:
		s.topicsDeleted(in.Topics)
	case Tick:
		s.timers.Ring(now.MonoMs)
	default:
		panic(fmt.Sprintf("group: unknown input %T", in))
	}
	return s.end()
}

// request has one line for each API.
func (s *Shard) request(in Request) {
	switch req := in.Body.(type) {
	case *kmsg.JoinGroupRequest:
		s.join(in, req)
	case *kmsg.SyncGroupRequest:
		s.sync(in, req)
	case *kmsg.HeartbeatRequest:
		s.heartbeat(in, req)
	case *kmsg.LeaveGroupRequest:
		s.leave(in, req)
	case *kmsg.OffsetCommitRequest:
		s.commitOffsets(in, req)
	case *kmsg.OffsetDeleteRequest:
		s.deleteOffsets(in, req)
	default:
		panic(fmt.Sprintf("group: a request of type %T is not for it", req))
	}
}

// Close answers all who wait: this broker does not lead the partition any more
// (GroupMetadataManager.onUnloaded).
func (s *Shard) Close(now Time, out []Effect) []Effect {
	s.now, s.out, s.closed = now, out, true
	s.writes.fail(NotCoordinator)
	for _, id := range s.ids() {
		for _, m := range s.groups[id].members {
			s.joinFailed(m, "", NotCoordinator)
			s.syncFailed(m, NotCoordinator)
		}
	}
	return s.end()
}

// NextDeadline is when to step a Tick, Never if not before another input. Ask after
// every step.
func (s *Shard) NextDeadline() int64 {
	if !s.Active() {
		return Never
	}
	return s.timers.NextMs()
}

func (s *Shard) end() []Effect {
	out := s.out
	s.out = nil
	return out
}

func (s *Shard) emit(e Effect) { s.out = append(s.out, e) }

func (s *Shard) notef(format string, args ...any) { s.emit(Note{Text: fmt.Sprintf(format, args...)}) }

// after sets a timer, at least a ms from now: one that is due at once for ever would
// never let a step end.
func (s *Shard) after(t *timers.Timer, ms int64) { s.timers.Set(t, s.now.MonoMs+max(ms, 1)) }

// ids are the groups in the order in which they are walked.
func (s *Shard) ids() []string { return slices.Sorted(maps.Keys(s.groups)) }
