package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/cockroachdb/datadriven"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestScreens plays scripts: looks, keys and the clock go in, the screen comes out.
//
//	window WxH [color]     the window has this size from now on
//	look [after=2s]        the next look; a line for each broker, partition, group, event
//	                       and failure, see [fakeLook]
//	fail                   the next look fails, with this text
//	clock                  time passes: 30s
//	keys                   keys, one after the other; the screen is printed at the end
//	type                   characters, each of them a key
//	screen                 the screen as it is
func TestScreens(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := newScript(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			return s.run(t, d)
		})
	})
}

// script is a model that a test plays with.
type script struct {
	m    *Model
	now  time.Time
	next Seen
	err  error
	// log are what actions did, and copied what was copied.
	log []string
}

func newScript(t *testing.T) *script {
	t.Helper()
	s := &script{now: time.Date(2026, 11, 29, 20, 15, 0, 0, time.UTC)}
	s.m = New(t.Context(), Config{
		Source: s, Title: "live", Interval: 2 * time.Second, Now: func() time.Time { return s.now },
		Actions: []Action{{
			Key: "ctrl+k", Name: "kill a broker", On: func(t Target) bool { return t.Broker.IsKnown() },
			Plan: func(_ context.Context, t Target) (Plan, error) {
				title := fmt.Sprintf("kill broker %s", t.Broker)
				return Plan{Title: title, Lines: []string{"its connections end", "undo: restart it"}, Do: func(context.Context) (string, error) {
					s.log = append(s.log, title)
					return title + ": done", nil
				}}, nil
			},
		}},
	})
	s.m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return s
}

// Next is what the script says.
func (s *script) Next(context.Context, Want) (Seen, error) { return s.next, s.err }

// take gives the model the next look.
func (s *script) take() { s.m.Update(s.m.next()()) }

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	switch d.Cmd {
	case "window":
		w, h, _ := strings.Cut(d.CmdArgs[0].Key, "x")
		s.m.Update(tea.WindowSizeMsg{Width: number64(t, w), Height: number64(t, h)})
		s.m.color = d.HasArg("color")
		return s.screen()
	case "look":
		after := "2s"
		d.MaybeScanArgs(t, "after", &after)
		s.now = s.now.Add(duration(t, after))
		s.next, s.err = fakeLook(t, s.now, d.Input), nil
		s.take()
		if d.HasArg("quiet") {
			return ""
		}
		return s.screen()
	case "fail":
		s.err = errors.New(d.Input)
		s.take()
	case "clock":
		s.now = s.now.Add(duration(t, d.CmdArgs[0].Key))
		s.m.Update(tickMsg(s.now))
	case "keys":
		for _, k := range d.CmdArgs {
			s.press(t, k.Key)
		}
	case "type":
		for _, r := range d.Input {
			s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	case "screen":
	default:
		t.Fatalf("no command %q", d.Cmd)
	}
	return s.screen()
}

// press presses a key by the name that it has in the key map.
func (s *script) press(t *testing.T, name string) {
	t.Helper()
	named := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "pgdown": tea.KeyPgDown,
		"pgup": tea.KeyPgUp, "home": tea.KeyHome, "end": tea.KeyEnd, "left": tea.KeyLeft, "right": tea.KeyRight, "backspace": tea.KeyBackspace,
	}
	if letter, ctrl := strings.CutPrefix(name, "ctrl+"); ctrl {
		s.send(tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl})
		return
	}
	if code, ok := named[name]; ok {
		s.send(tea.KeyPressMsg{Code: code})
		return
	}
	if name == "space" {
		name = " "
	}
	r := []rune(name)
	if len(r) != 1 {
		t.Fatalf("no key %q", name)
	}
	s.send(tea.KeyPressMsg{Code: r[0], Text: name})
}

// send sends a key, and what comes of it.
func (s *script) send(key tea.KeyPressMsg) {
	_, cmd := s.m.Update(key)
	for cmd != nil {
		msg := cmd()
		switch msg.(type) {
		case planMsg, doneMsg:
			_, cmd = s.m.Update(msg)
		case tea.QuitMsg:
			s.log = append(s.log, "quit")
			return
		default:
			return
		}
	}
}

// screen is what is seen; colours are told by words.
func (s *script) screen() string {
	text := s.m.View().Content
	if s.m.color {
		text = strings.NewReplacer("\x1b[0m", "}", "\x1b[m", "}", "\x1b[31m", "{bad ", "\x1b[32m", "{good ", "\x1b[33m", "{warn ", "\x1b[2m", "{dim ",
			"\x1b[1m", "{strong ", "\x1b[7m", "{reverse ").Replace(text)
	}
	var out strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if w := ansi.StringWidth(line); !s.m.color && w > s.m.width {
			fmt.Fprintf(&out, "TOO WIDE %d: ", w)
		}
		out.WriteString("|" + strings.TrimRight(line, " ") + "\n")
	}
	for _, l := range s.log {
		out.WriteString(l + "\n")
	}
	s.log = nil
	return out.String()
}

func number64(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// fakeLook reads a look of lines
//
//	broker 3 [down|fenced]
//	orders 0 leader=1 replicas=1,2,3 [isr=1,2] [min=2] leo=1000 [hw=990] [f3=700]
//	group billing orders 0 committed=900
//	event shrink replica-lag orders 0 broker=3 isr=1,2
//	failure 3 some text
//
// f3 is the LEO of the follower on broker 3, which else is the leader's.
func fakeLook(t *testing.T, at time.Time, text string) Seen {
	t.Helper()
	s := &inspect.Snapshot{
		ClusterID: inspect.Known("64bNKcnqSLylJY2lNVGf3g"), TakenAt: at,
		Asked: inspect.PartOffsets | inspect.PartReachable | inspect.PartFenced | inspect.PartGroups,
	}
	seen := Seen{Snap: s, Evidence: "complete, by the metadata log"}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		arg := map[string]string{}
		for _, word := range f {
			if key, value, ok := strings.Cut(word, "="); ok {
				arg[key] = value
			}
		}
		switch f[0] {
		case "broker":
			id := number64(t, f[1])
			s.Brokers = append(s.Brokers, inspect.Broker{
				ID: inspect.BrokerID(id), Host: "kafka-" + f[1], Port: 9092,
				Fenced: inspect.Known(len(f) > 2 && f[2] == "fenced"), Reachable: inspect.Known(len(f) == 2), RoundTrip: inspect.Known(3 * time.Millisecond),
			})
		case "group":
			s.Groups = append(s.Groups, inspect.Group{
				Name: f[1], Type: inspect.Known(inspect.GroupConsumer), Protocol: inspect.ProtocolConsumer, State: inspect.Known("Stable"), Coordinator: 1,
				Members: inspect.Known([]inspect.Member{}), Commits: inspect.Known([]inspect.Commit{{
					TopicPartition: inspect.TopicPartition{Topic: f[2], Partition: int32(number64(t, f[3]))}, Offset: inspect.Known(inspect.Offset(number64(t, arg["committed"]))),
				}}),
			})
		case "event":
			seen.Events = append(seen.Events, inspect.IsrEvent{
				Time: at, Type: inspect.IsrEventType(f[1]), Cause: inspect.IsrCause(f[2]), Topic: f[3], Partition: int32(number64(t, f[4])),
				Brokers: ids(t, arg["broker"]), ISRBefore: ids(t, "1,2,3"), ISR: ids(t, arg["isr"]), Leader: 1, Source: inspect.SourceMetadataLog,
			})
		case "failure":
			s.Failures = append(s.Failures, inspect.Failure{
				Broker: inspect.Known(inspect.BrokerID(number64(t, f[1]))), Address: "kafka-" + f[1] + ":9092", Request: "ApiVersions", Phase: inspect.PhaseRequest,
				Error: strings.Join(f[2:], " "),
			})
		default:
			addPartition(t, s, f, arg)
		}
	}
	return seen
}

func ids(t *testing.T, text string) []inspect.BrokerID {
	t.Helper()
	var out []inspect.BrokerID
	for id := range strings.SplitSeq(text, ",") {
		if id != "" {
			out = append(out, inspect.BrokerID(number64(t, id)))
		}
	}
	return out
}

func addPartition(t *testing.T, s *inspect.Snapshot, f []string, arg map[string]string) {
	t.Helper()
	offset := func(key, other string) inspect.Opt[inspect.Offset] {
		text := other
		if v, ok := arg[key]; ok {
			text = v
		}
		return inspect.Known(inspect.Offset(number64(t, text)))
	}
	p := inspect.Partition{
		Topic: f[0], Index: int32(number64(t, f[1])), Leader: inspect.BrokerID(number64(t, arg["leader"])), LeaderEpoch: inspect.Known[inspect.Epoch](4),
		Replicas: ids(t, arg["replicas"]), ISR: ids(t, arg["replicas"]), MinInsyncReplicas: inspect.Known[int32](1),
		Adding: inspect.Known([]inspect.BrokerID(nil)), Removing: inspect.Known([]inspect.BrokerID(nil)),
	}
	if isr, ok := arg["isr"]; ok {
		p.ISR = ids(t, isr)
	}
	if least, ok := arg["min"]; ok {
		p.MinInsyncReplicas = inspect.Known(int32(number64(t, least)))
	}
	leo := offset("leo", "0")
	p.Offsets = &inspect.Offsets{LEOBefore: leo, LEOAfter: leo, HW: offset("hw", arg["leo"]), LSO: offset("hw", arg["leo"]), LogStart: inspect.Known[inspect.Offset](0)}
	for _, id := range p.Replicas {
		if id != p.Leader {
			p.Offsets.Followers = append(p.Offsets.Followers, inspect.FollowerOffset{Broker: id, LEO: offset(fmt.Sprintf("f%d", id), arg["leo"])})
		}
	}
	last := len(s.Topics) - 1
	if last < 0 || s.Topics[last].Name != f[0] {
		s.Topics = append(s.Topics, inspect.Topic{Name: f[0], MinInsyncReplicas: p.MinInsyncReplicas})
		last++
	}
	s.Topics[last].Partitions = append(s.Topics[last].Partitions, p)
}
