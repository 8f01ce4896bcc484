package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Config is what the screen has of the world outside.
type Config struct {
	Source Source
	// Title says what is watched, in a word or two: live, the name of a recording.
	Title string
	// Interval is about how far looks are apart.
	Interval time.Duration
	// Speed is how fast a recording plays at first, SpeedLeast to SpeedMost; 0 is 1.
	Speed float64
	// Color allows colours.
	Color bool
	// ReadOnly is why nothing may be changed; empty where Actions are offered.
	ReadOnly string
	Actions  []Action
	// Write keeps looks in a new recording, and returns its name; nil where that cannot be.
	// Changes of ISRs are not among what it keeps: a recording says for which stretch of the
	// log none is missing, and a screen cannot.
	Write func([]*inspect.Snapshot) (string, error)
	// Now is the time.
	Now func() time.Time
}

// Model is the program's: the state, and what asks for more. Its methods are called by
// bubbletea, or by a test, one after the other.
type Model struct {
	state
	cfg    Config
	ctx    context.Context
	digest *digest
	// stop ends the wait for the next look; nil while nobody waits.
	stop context.CancelFunc
	// shades are the colours on the terminal's background; nil for its own.
	shades *shades
	// drawn is the last screen, good while clean.
	drawn string
	clean bool
}

// New is a model that has seen nothing yet. What it starts ends with ctx.
func New(ctx context.Context, cfg Config) *Model {
	_, recording := cfg.Source.(Player)
	m := &Model{cfg: cfg, ctx: ctx, digest: newDigest(cfg.Interval)}
	m.state = state{
		title: cfg.Title, color: cfg.Color, now: cfg.Now(), at: -1, speed: cmp.Or(cfg.Speed, 1), recording: recording,
		readOnly: cfg.ReadOnly, actions: cfg.Actions,
	}
	m.open(newPlace(overviewScreen()))
	return m
}

// The messages, beside those of bubbletea.
type (
	// seenMsg is a look, or why there is none.
	seenMsg struct {
		look *Look
		seen Seen
		err  error
	}
	tickMsg time.Time
	// planMsg is what an action would do, doneMsg what it did.
	planMsg struct {
		plan Plan
		err  error
	}
	doneMsg struct {
		text string
		err  error
	}
)

// tickEvery is how often the age on the screen is looked at.
const tickEvery = time.Second

// Init asks for the first look.
func (m *Model) Init() tea.Cmd { return tea.Batch(m.next(), tick()) }

func tick() tea.Cmd { return tea.Tick(tickEvery, func(t time.Time) tea.Msg { return tickMsg(t) }) }

// next asks for the next look. There is one such command at a time, so that the digest,
// which it uses, is its own.
func (m *Model) next() tea.Cmd {
	ctx, stop := context.WithCancel(m.ctx)
	m.stop = stop
	want := Want{Groups: m.here().groups, Speed: m.speed}
	return func() tea.Msg {
		defer stop()
		seen, err := m.cfg.Source.Next(ctx, want)
		if err != nil || seen.Ended {
			return seenMsg{seen: seen, err: err}
		}
		return seenMsg{look: m.digest.look(&seen), seen: seen}
	}
}

// Update takes in a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	if !m.clean && m.height > 0 && m.look() != nil {
		m.here().settle(&m.state, m.room())
	}
	return m, cmd
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		m.clean = false
		return m.key(msg)
	case tea.WindowSizeMsg:
		m.clean = false
		m.width, m.height = msg.Width, msg.Height
	case tea.ColorProfileMsg:
		return askBackground(msg.Profile)
	case tea.BackgroundColorMsg:
		m.clean = false
		m.shades = shadesOn(msg.Color)
	case seenMsg:
		m.clean = false
		return m.seen(msg)
	case tickMsg:
		before := m.told()
		m.now = m.cfg.Now()
		m.clean = m.clean && before == m.told()
		return tick()
	case planMsg:
		m.clean = false
		if msg.err != nil {
			m.note = msg.err.Error()
			return nil
		}
		m.asked, m.boxTop = &msg.plan, 0
	case doneMsg:
		m.clean = false
		m.note = msg.text
		if msg.err != nil {
			m.note = msg.err.Error()
		}
	}
	return nil
}

// seen takes in a look, and asks for the next one.
func (m *Model) seen(msg seenMsg) tea.Cmd {
	m.now = m.cfg.Now()
	switch {
	case m.ctx.Err() != nil:
		return nil
	case msg.seen.Ended:
		m.ended, m.stop = true, nil
		return nil
	case errors.Is(msg.err, context.Canceled): // the recording was wound
	case msg.err != nil:
		m.fail(msg.err)
	default:
		m.ended = false
		m.add(msg.look, &msg.seen)
	}
	if m.paused && m.recording {
		m.stop = nil
		return nil
	}
	return m.next()
}

// key takes a key.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case m.typing != nil:
		return m.typed(msg)
	case key == "ctrl+c":
		return tea.Interrupt
	case m.asked != nil:
		return m.answer(key)
	}
	m.note = ""
	if m.helping {
		if !m.scrollBox(key) {
			m.helping = false
		}
		return nil
	}
	if b, ok := bound(&m.state, key); ok {
		return b.do(m)
	}
	return nil
}

// answer takes what the person says to a plan.
func (m *Model) answer(key string) tea.Cmd {
	plan := m.asked
	switch key {
	case "y", "Y":
		m.asked = nil
		m.note = plan.Title + " …"
		return func() tea.Msg {
			text, err := plan.Do(m.ctx)
			return doneMsg{text, err}
		}
	case "n", "N", "esc", "q":
		m.asked = nil
		m.note = "nothing was done"
	default:
		m.scrollBox(key)
	}
	return nil
}

// plan asks an action what it would do.
func (m *Model) plan(a *Action) tea.Cmd {
	target := m.target()
	return func() tea.Msg {
		plan, err := a.Plan(m.ctx, target)
		return planMsg{plan, err}
	}
}

// goTo puts a screen in place of all.
func (m *Model) goTo(sc *screen) {
	for _, p := range m.stack {
		if p.name == sc.name && p.broker == 0 { // as it was left
			m.stack = []*place{p}
			return
		}
	}
	m.stack = []*place{newPlace(sc)}
	if sc.name != overviewScreen().name {
		m.stack = []*place{newPlace(overviewScreen()), m.stack[0]}
	}
}

func (m *Model) enter() tea.Cmd {
	p := m.here()
	if i, ok := p.selected(); ok {
		if in := p.enter(&m.state, p, i); in != nil {
			m.open(in)
		}
	}
	return nil
}

func (m *Model) escape() tea.Cmd {
	if p := m.here(); p.filter != "" {
		p.setFilter("")
		return nil
	}
	m.back()
	return nil
}

// pause holds the screen, or lets it go on.
func (m *Model) pause() tea.Cmd {
	if m.paused = !m.paused; m.paused {
		m.hold()
		return nil
	}
	m.release()
	if m.recording && m.stop == nil && !m.ended {
		return m.next()
	}
	return nil
}

// seek winds a recording.
func (m *Model) seek(by time.Duration) tea.Cmd {
	player, ok := m.cfg.Source.(Player)
	l := m.look()
	if !ok || l == nil {
		return nil
	}
	player.Seek(l.Snap.TakenAt.Add(by))
	m.release()
	m.ended = false
	if m.stop != nil {
		m.stop()
		return nil // who waits goes on
	}
	return m.next()
}

// How fast a recording may play.
const (
	SpeedLeast = 1.0 / 8
	SpeedMost  = 1024.0
)

// play changes the speed of a recording.
func (m *Model) play(by float64) tea.Cmd {
	m.speed = min(max(m.speed*by, SpeedLeast), SpeedMost)
	if m.stop != nil {
		m.stop()
	}
	return nil
}

// zoom changes how much time the timeline shows, scroll where it ends.
func (m *Model) zoom(by float64) {
	p := m.here()
	p.span = min(max(time.Duration(float64(p.span)*by), time.Minute), 7*24*time.Hour)
}

func (m *Model) scroll(by float64) {
	p := m.here()
	p.back = max(0, p.back-time.Duration(by*float64(p.span)))
}

// copy copies rows as JSON to the terminal's clipboard (OSC 52).
func (m *Model) copy() tea.Cmd {
	items := m.here().items()
	if len(items) == 0 {
		return nil
	}
	var out []byte
	for _, it := range items {
		text, err := json.Marshal(it)
		if err != nil {
			m.note = err.Error()
			return nil
		}
		out = append(append(out, text...), '\n')
	}
	m.note = fmt.Sprintf("copied %d as JSON, where the terminal allows it (OSC 52)", len(items))
	return tea.SetClipboard(string(out))
}

// write keeps what was seen in a recording.
func (m *Model) write() tea.Cmd {
	if m.cfg.Write == nil {
		m.note = "nothing can be written here"
		return nil
	}
	snaps := make([]*inspect.Snapshot, len(m.looks))
	for i, l := range m.looks {
		snaps[i] = l.Snap
	}
	return func() tea.Msg {
		name, err := m.cfg.Write(snaps)
		if err != nil {
			return doneMsg{err: err}
		}
		return doneMsg{text: fmt.Sprintf("wrote %d looks into %s", len(snaps), name)}
	}
}

// View is the screen.
func (m *Model) View() tea.View {
	if !m.clean {
		m.drawn, m.clean = m.shades.shade(draw(&m.state)), true
	}
	v := tea.NewView(m.drawn)
	v.AltScreen = true
	v.WindowTitle = "kafkaops top"
	return v
}
