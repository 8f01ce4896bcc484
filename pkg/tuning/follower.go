package tuning

// follower is what the looks tell of one follower. The leader decides by the fetches
// that it gets; from outside only the follower's LEO is seen, now and then. The
// fetches are reconstructed from it:
//
//	lost  -> tight   a look finds it caught up
//	tight -> loose   a look finds it behind: an excursion begins
//	loose -> tight   a look finds it caught up: the excursion has healed
//	any   -> lost    it was not seen for too long, its log was cut, or the leader changed
//
// A tight follower fetches in rounds that are short against the looks, and counts as
// having all that its leader has at every moment. Of a loose one each change of its
// LEO is a fetch that was answered.
type follower struct {
	broker int32
	state  state
	inISR  bool
	// seenMs is the last look that knew its LEO, answeredMs when it was told, offset
	// that LEO.
	seenMs, answeredMs, offset int64
	// lagMs is how old the end of its log was then.
	lagMs int64
	// silentMs is since when it has shown no sign of life, 0 where it does. One that
	// is silent may seem to have everything, as nothing is written; its leader's clock
	// runs all the same.
	silentMs int64

	// For a loose one: between which two looks it made its last move, when its last
	// fetch came, and which event of the window that was.
	movedFromMs, movedToMs, fetchedMs int64
	fetch                             int
	// announced is the event with which the HW showed that the leader knows of the last
	// move, -1 where it has not.
	announced int
	// inPieces is set while it catches up on a backlog, more than an answer holds; moved
	// once it has moved in this excursion.
	inPieces, moved bool
	// ways and waysMs are how often it was seen, in this excursion, how long its fetches
	// are on their way, and for how long in all.
	ways, waysMs int64
	// behind counts the looks of this excursion.
	behind int
}

type state uint8

const (
	lost state = iota
	tight
	loose
)

// sight is what a look tells of a follower: its LEO, when that was told, whether by
// itself, whether the HW shows that its leader knows of it, and whether the look may have
// waited for it alone.
type sight struct {
	offset, atMs             int64
	answered, heldHW, heldUp bool
	// known is what its leader knows it to have: the HW, where it alone holds that back,
	// else Unknown.
	known int64
}

// event is what a leader would have learned of a follower. Events of different
// followers are not in order until a window is closed.
type event struct {
	atMs int64
	kind eventKind
	who  int
	// offset is what the leader then knows the follower to have, leo what it has
	// itself.
	offset, leo int64
	// caughtUpMs is when a follower that loosened was caught up last.
	caughtUpMs int64
}

type eventKind uint8

const (
	loosened eventKind = iota
	fetched
	tightened
	vanished // a tight one is not seen any more
)

// see takes what the newest of the marks tells of the follower. It returns false where
// the follower is lost and takes an excursion with it.
func (f *follower) see(who int, s sight, t *Track) bool {
	now := t.marks.last()
	caughtUp := s.offset >= now.leo
	if f.state == loose && f.inPieces && s.offset > f.offset {
		// It is nearly through its backlog, and will be before the next look.
		caughtUp = s.offset >= t.marks.leoAt(now.atMs-t.r.opts.IntervalMs)
	}
	if !s.answered && f.silentMs == 0 {
		f.silentMs = (f.answeredMs + now.atMs) / 2
	}
	switch {
	case f.state == lost && caughtUp:
		f.state = tight
		t.emit(event{atMs: now.atMs, kind: tightened, who: who, leo: now.leo})
	case f.state == lost:
	case f.state == tight && !caughtUp:
		f.loosen(who, s, t)
	case f.state == loose && s.offset < f.offset:
		return false
	case f.state == loose && caughtUp:
		f.tighten(who, s, t)
	case f.state == loose:
		f.behind++
		if s.offset > f.offset {
			f.move(who, s, t)
		} else if s.heldHW && f.announced < 0 && f.moved {
			f.announce(who, now, t)
		}
	}
	if s.answered || s.offset > f.offset {
		f.silentMs = 0
	}
	f.seenMs, f.answeredMs, f.offset = now.atMs, s.atMs, s.offset
	f.lagMs = now.atMs - t.marks.asOf(s.offset)
	return true
}

// slowAnswerMs is how late the answer of one that was silent must come for it to have been
// held up until then, rather than asked after it had come back.
const slowAnswerMs = 100

// tighten ends an excursion.
func (f *follower) tighten(who int, s sight, t *Track) {
	at := f.caughtUpMs(s, t.marks)
	if f.inPieces && f.ways > 0 {
		// It has everything, and its leader learns so with a fetch that is on its way until
		// then: that one counts as of the fetch before, a round earlier, and holds the HW
		// from then on. With the next one it is back.
		wayMs := f.waysMs / f.ways
		before := max(at-wayMs, f.fetchedMs)
		had := t.marks.leoAt(before)
		t.emit(event{atMs: before, kind: fetched, who: who, offset: f.offset, leo: had})
		t.emit(event{atMs: before + 2*wayMs, kind: fetched, who: who, offset: had, leo: max(t.marks.leoAt(before+2*wayMs), had+1)})
		at = before + 4*wayMs
	}
	f.state, f.fetchedMs = tight, at
	t.emit(event{atMs: at, kind: tightened, who: who, leo: t.marks.leoAt(at)})
}

// measureWay takes in how long the fetches of one that catches up in pieces are on their
// way: what it has and its leader does not know of is what it took in in that time.
func (f *follower) measureWay(s sight) {
	if s.known == Unknown || s.known > s.offset {
		return
	}
	f.ways++
	f.waysMs += (s.offset - s.known) * (s.atMs - f.answeredMs) / (s.offset - f.offset)
}

// caughtUpMs is when a loose follower that is not behind any more caught up.
func (f *follower) caughtUpMs(s sight, m marks) int64 {
	now := m.last()
	at := (f.answeredMs + s.atMs) / 2 // the middle is right on average
	switch lagMs := now.atMs - m.asOf(s.offset); {
	case f.inPieces && lagMs > 0:
		// It goes on as it did between the last two looks.
		eachMs := max(f.lagMs-lagMs, lagMs)
		at = now.atMs + (now.atMs-f.seenMs)*lagMs/eachMs
	case f.silentMs != 0 && s.heldUp:
		at = s.atMs
	case f.silentMs != 0:
		at = (f.answeredMs + now.atMs) / 2
	}
	return max(at, f.fetchedMs)
}

// announce notes that the leader knows of the last move: the next fetch has come, and
// what it found is known once it is answered.
func (f *follower) announce(who int, now mark, t *Track) {
	at := max((f.seenMs+now.atMs)/2, f.fetchedMs)
	f.announced = len(t.events)
	t.emit(event{atMs: at, kind: fetched, who: who, offset: f.offset, leo: max(t.marks.leoAt(at), f.offset)})
}

// loosen begins an excursion, with the moment from which on the follower was behind.
func (f *follower) loosen(who int, s sight, t *Track) {
	at := max(t.marks.asOf(s.offset), f.fetchedMs)
	caughtUpMs := f.lastFetchMs(at, min(t.marks.hadMs(s.offset), at), t)
	f.state, f.behind, f.fetch, f.announced, f.inPieces, f.moved, f.ways, f.waysMs = loose, 1, -1, -1, false, false, 0, 0
	f.movedFromMs, f.movedToMs, f.fetchedMs = at, at, at
	t.emit(event{atMs: at, kind: loosened, who: who, offset: s.offset, leo: s.offset, caughtUpMs: caughtUpMs})
}

// lastFetchMs is when a follower that is behind from at on fetched last. It had everything
// since hadMs, and waits at its leader for the next record, asking again each
// replica.fetch.wait.max.ms; until it stood still, if it did.
func (f *follower) lastFetchMs(at, hadMs int64, t *Track) int64 {
	aliveMs := at
	switch {
	case f.silentMs == 0:
	case f.silentMs < at:
		aliveMs = max(f.silentMs, hadMs)
	default: // it fell silent since the look before, and before the record that it has not got
		aliveMs = (max(min(f.answeredMs, at), hadMs) + at) / 2
	}
	if aliveMs-hadMs <= t.r.opts.FetchWaitMs {
		return hadMs
	}
	return aliveMs - t.r.opts.FetchWaitMs/2
}

// move reconstructs the fetch that brought a loose follower from f.offset to
// s.offset.
func (f *follower) move(who int, s sight, t *Track) {
	e := event{kind: fetched, who: who, offset: f.offset}
	asOf, movedMs := t.marks.asOf(s.offset), f.movedFromMs
	if f.caughtUpBetween(asOf, t) {
		// It had everything, and its leader knew; and stands still again.
		at := max((f.answeredMs+asOf)/2, f.fetchedMs)
		t.emit(event{atMs: at, kind: tightened, who: who, leo: t.marks.leoAt(at)})
		f.fetchedMs = at
		behind := f.behind
		f.loosen(who, s, t)
		f.behind += behind
		return
	}
	if f.answersWaiting(s.offset, t) {
		f.moved = true
		f.movedFromMs, f.movedToMs = f.seenMs, t.marks.last().atMs
		return
	}
	f.moved = true
	switch {
	case f.movedToMs != f.seenMs:
	case f.inPieces:
		// It moves from look to look, and likely several times between two.
		movedMs = f.movedToMs
	default:
		movedMs = (f.movedFromMs + f.movedToMs) / 2
	}
	if asOf >= movedMs && !f.cutShort(s, t) {
		// The follower now has what the leader had at a moment after the follower's
		// move before. So nothing shows that the answer was cut short by its size, and
		// that moment is when the fetch came to the leader: the leader will take the
		// follower for caught up with it (Replica.updateFetchStateOrThrow, second rule).
		e.atMs, e.leo = max((t.marks.hadMs(s.offset)+asOf)/2, f.fetchedMs), s.offset
		f.inPieces = false
	} else {
		// It catches up on a backlog in pieces, and asks for the next at once. Then the
		// answer before was one piece too.
		if f.fetch >= 0 {
			before := &t.events[f.fetch]
			before.leo = max(before.leo, f.offset+1)
		}
		e.atMs = max((f.movedFromMs+f.movedToMs)/2, f.fetchedMs)
		e.leo = max(t.marks.leoAt(e.atMs), s.offset+1)
		f.inPieces = true
		f.measureWay(s)
	}
	if f.announced >= 0 {
		f.fetch = f.announced
		t.events[f.fetch] = e
	} else {
		f.fetch = len(t.events)
		t.emit(e)
	}
	f.fetchedMs, f.announced = e.atMs, -1
	f.movedFromMs, f.movedToMs = f.seenMs, t.marks.last().atMs
}

// answersWaiting reports whether a move is the first of its excursion and no more than what
// came when the excursion began: the answer to the fetch that waited at the leader then
// (DelayedFetch). It tells of no other fetch than that with which the follower was caught up.
func (f *follower) answersWaiting(offset int64, t *Track) bool {
	return !f.moved && t.marks.hadMs(offset)-f.fetchedMs < t.r.opts.IntervalMs/2
}

// cutShort reports whether the HW shows that the answer did not hold all that there was: the
// leader knows of a fetch between those of the two looks, and so it came after the first
// look. A whole answer to it would hold what the leader had then.
func (f *follower) cutShort(s sight, t *Track) bool {
	return s.known > f.offset && s.known < s.offset && s.offset < t.marks.leoAt(f.answeredMs)
}

// stillTimes is how many times the way of an answer the follower must have stood still for
// the stillness not to be the way's: over a long link it moves at least each third time.
const stillTimes = 4

// caughtUpBetween reports whether a loose follower that has moved caught up before this
// look and fell behind again: it stood still for long, and now has what its leader had a
// moment ago. Over a link that is as long as that moment it would not have stood still.
func (f *follower) caughtUpBetween(asOf int64, t *Track) bool {
	nowMs := t.marks.last().atMs
	wayMs, stillMs := nowMs-asOf, f.answeredMs-f.movedToMs
	return !f.inPieces && asOf > f.answeredMs && wayMs < t.r.opts.IntervalMs && stillMs >= stillTimes*wayMs
}

// mark is the leader's LEO at a time.
type mark struct{ atMs, leo int64 }

// marks are those of a window, and one from before it, oldest first. LEOs never go
// down in it. Between two marks records are taken to have come evenly.
type marks []mark

func (m marks) last() mark { return m[len(m)-1] }

// upTo is the last mark at which the leader had no more than offset.
func (m marks) upTo(offset int64) int {
	i := len(m) - 1
	for i > 0 && m[i].leo > offset {
		i--
	}
	return i
}

// asOf is the last moment at which the leader had no more than offset, as expected of
// records that come evenly.
func (m marks) asOf(offset int64) int64 {
	i := m.upTo(offset)
	if i == len(m)-1 || m[i].leo > offset {
		return m[i].atMs
	}
	a, b := m[i], m[i+1]
	return a.atMs + int64(float64(b.atMs-a.atMs)*float64(offset-a.leo+1)/float64(b.leo-a.leo+1))
}

// hadMs is since when the leader had as much as offset, as expected; 0 where that was before
// all that is kept.
func (m marks) hadMs(offset int64) int64 {
	if m[0].leo >= offset {
		return 0
	}
	return m.asOf(offset - 1)
}

// leoAt is the leader's LEO at a moment.
func (m marks) leoAt(atMs int64) int64 {
	i := len(m) - 1
	for i > 0 && m[i].atMs > atMs {
		i--
	}
	if i == len(m)-1 || m[i].atMs > atMs {
		return m[i].leo
	}
	a, b := m[i], m[i+1]
	return a.leo + int64(float64(b.leo-a.leo)*float64(atMs-a.atMs)/float64(b.atMs-a.atMs))
}
