package tui

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// state is all that the screen is made of. Messages change it, by methods of it and of
// [Model]; drawing only reads it.
type state struct {
	// title says what is watched: live, a recording's name, an embedded cluster.
	title string
	color bool
	width int
	// height of the window.
	height int
	// now is the time by the last message.
	now time.Time

	// looks are the last ones, the oldest first, and at is the one on the screen; −1 is the
	// newest, whichever that is. kept counts their partitions.
	looks []*Look
	at    int
	kept  int
	// events are the last changes of ISRs, and evidence what they rest on.
	events   []inspect.IsrEvent
	evidence string

	// lost is why the last look failed, and lostAt since when none came; nil where it did not.
	lost   error
	lostAt time.Time
	paused bool
	// recording: looks are of one, whose time is their own. ended: it has no more.
	recording, ended bool
	speed            float64

	// stack is how one got here; the last place is on the screen.
	stack []*place
	// typing is what is being typed, nil for nothing; asked a plan that waits for yes, and
	// helping whether help lies over the screen.
	typing  *typing
	asked   *Plan
	helping bool
	// boxTop is the first line of the plan or of help that is seen.
	boxTop int
	// note is what was last said, until the next key.
	note string
	// readOnly is why nothing may be changed; empty where it may.
	readOnly string
	actions  []Action
}

const (
	// looksMost and partitionsMost bound what is kept to step back to: half an hour of looks
	// at a small cluster, two looks at a large one. A partition takes about 1.4 KiB a look.
	looksMost      = 900
	looksLeast     = 2
	partitionsMost = 40_000
	// eventsMost is how many changes of ISRs are kept.
	eventsMost = 20_000
)

// look is the one on the screen; nil before the first.
func (s *state) look() *Look {
	if len(s.looks) == 0 {
		return nil
	}
	if s.at >= 0 {
		return s.looks[s.at]
	}
	return s.looks[len(s.looks)-1]
}

// add takes in a look.
func (s *state) add(l *Look, seen *Seen) {
	if seen.Anew {
		s.looks, s.kept, s.at, s.events = nil, 0, -1, nil
	}
	s.looks = append(s.looks, l)
	s.kept += len(l.Rows)
	for len(s.looks) > looksLeast && s.at != 0 && (len(s.looks) > looksMost || s.kept > partitionsMost) {
		s.kept -= len(s.looks[0].Rows)
		s.looks[0] = nil
		s.looks = s.looks[1:]
		if s.at > 0 {
			s.at--
		}
	}
	for i := range seen.Events {
		if e := &seen.Events[i]; e.Type != inspect.IsrCreate && e.Type != inspect.IsrDelete { // no change of an ISR to who looks
			s.events = append(s.events, *e)
		}
	}
	if over := len(s.events) - eventsMost; over > 0 {
		s.events = append([]inspect.IsrEvent(nil), s.events[over:]...)
	}
	if seen.Evidence != "" {
		s.evidence = seen.Evidence
	}
	s.lost = nil
}

// fail takes in that a look failed.
func (s *state) fail(err error) {
	if s.lost == nil {
		s.lostAt = s.now
		if l := s.look(); l != nil {
			s.lostAt = l.Snap.TakenAt
		}
	}
	s.lost = err
}

// hold keeps the look on the screen, whatever comes, and release lets it go.
func (s *state) hold() {
	if s.at < 0 {
		s.at = len(s.looks) - 1
	}
}

func (s *state) release() { s.at, s.paused = -1, false }

// step shows the look n later, or earlier where n is negative. Behind the newest one it
// goes on with what comes.
func (s *state) step(n int) {
	if len(s.looks) == 0 {
		return
	}
	s.hold()
	s.at = max(0, s.at+n)
	if s.at >= len(s.looks)-1 {
		s.at = -1
		if s.paused {
			s.hold()
		}
	}
}

// stale reports whether what is on the screen is no longer being told.
func (s *state) stale() bool { return s.lost != nil && s.at < 0 }

// age is how old the look on the screen is.
func (s *state) age() time.Duration {
	l := s.look()
	if l == nil || s.recording {
		return 0
	}
	return max(0, s.now.Sub(l.Snap.TakenAt))
}

// place is a screen with where one is on it.
type place struct {
	*screen
	// partition, group and broker are what it is of, where it is of one.
	partition inspect.TopicPartition
	group     string
	broker    inspect.BrokerID
	// filter is as it was typed, and find what it means.
	filter string
	find   finder
	// order is the index of the sorting, and down turns it around.
	order int
	down  bool
	// cursor is the id of the selected row, at where it is, and top the first row that is
	// drawn. moved: the person chose the row, which is followed then; else it is the first.
	cursor  string
	at, top int
	moved   bool
	marks   map[string]bool
	// back is how far the ISR timeline ends before now, and span how much it shows.
	back, span time.Duration

	listed  *listing
	shown   []int
	shownOf shownKey
}

// place on the screen.
func (s *state) here() *place { return s.stack[len(s.stack)-1] }

// open puts a place on the screen, over the ones before.
func (s *state) open(p *place) { s.stack = append(s.stack, p) }

// back leaves it.
func (s *state) back() {
	if len(s.stack) > 1 {
		s.stack = s.stack[:len(s.stack)-1]
	}
}
