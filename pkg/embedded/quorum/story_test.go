package quorum

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// TestStories tells what the controller answers. A story's commands:
//
//	brokers count=N              brokers 1 to N register and are unfenced
//	ask [v=N]                    one request, and its answer; see below
//	send [v=N]                   the same, if the answer may come later
//	disk slow|fast               orders run when told (run), or as they come
//	run                          the oldest order runs; what comes out of it
//	advance ms=N                 time passes, with a tick at each deadline
//	restart [unclean]            the node starts again on its directory
//	shutdown                     the node is asked to stop
//	snapshot                     one is written, as if it were due
//	trim                         what is before the newest snapshot goes
//	state                        offsets, the epoch, what is on the disk
//
// A request is its name and, on the lines that follow, fields as JSON. In those a
// string stands for an id: topic:orders, dir:1, or base64; epoch:1 is a broker's
// epoch, end the log's durable end, and end-1 the offset before; leader is the
// quorum's epoch. An answer has the fields that are not what they
// usually are.
func TestStories(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, file string) {
		t.Parallel()
		s := &story{epochs: map[int32]int64{}}
		datadriven.RunTest(t, file, func(t *testing.T, d *datadriven.TestData) string {
			return s.run(t, d)
		})
	})
}

type story struct {
	w       *world
	epochs  map[int32]int64
	names   map[machine.Token]string
	told    map[machine.Token]bool
	stopped bool
}

func (s *story) run(t *testing.T, d *datadriven.TestData) string {
	if s.w == nil {
		opts := testOptions(vfs.NewMem(vfs.MemOptions{}))
		opts.SnapshotMs = -1
		opts.Controller.MaxIdleMs = 0
		s.w = newWorld(t, opts)
		s.names, s.told = map[machine.Token]string{}, map[machine.Token]bool{}
	}
	s.w.tb = t
	switch d.Cmd {
	case "brokers":
		var count int
		d.ScanArgs(t, "count", &count)
		s.epochs = s.w.brokers(int32(count))
		return ""
	case "ask", "send":
		return s.send(t, d)
	case "disk":
		s.w.auto = d.HasArg("fast")
		s.w.take(nil)
		return s.news()
	case "run":
		s.w.runOne()
		return s.news()
	case "advance":
		var ms int64
		d.ScanArgs(t, "ms", &ms)
		s.w.advance(ms)
		return s.news()
	case "restart":
		if d.HasArg("unclean") {
			s.w.n.Abandon()
		} else {
			s.w.take(s.w.n.Shutdown(s.w.now, nil))
		}
		news := s.news()
		s.w.open()
		clear(s.told)
		s.stopped = false
		return news
	case "shutdown":
		s.w.take(s.w.n.Shutdown(s.w.now, nil))
		return s.news()
	case "snapshot":
		s.w.n.nextSnapshotMs = s.w.now.Mono
		s.w.step(machine.Tick{})
		return s.news()
	case "trim":
		s.w.n.opts.RetainBytes = 1
		s.w.step(machine.Tick{})
		return s.news()
	case "state":
		return s.state()
	}
	t.Fatalf("unknown command %q", d.Cmd)
	return ""
}

func (s *story) state() string {
	var b strings.Builder
	n := s.w.n
	fmt.Fprintf(&b, "epoch %d, log [%d, %d) of %d decided\n", n.epoch, n.logStart, n.durable, n.c.NextOffset())
	infos, err := s.w.opts.FS.ReadDir("__cluster_metadata-0")
	must(s.w.tb, err)
	for _, in := range infos {
		if strings.HasSuffix(in.Name, ".log") || strings.Contains(in.Name, "checkpoint") || in.Name == quorumStateFile {
			fmt.Fprintln(&b, in.Name)
		}
	}
	return b.String()
}

// send sends the request that a story spells.
func (s *story) send(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	name, fields, _ := strings.Cut(d.Input, "\n")
	req := requestNamed(t, name)
	version := int(req.MaxVersion())
	if d.HasArg("v") {
		d.ScanArgs(t, "v", &version)
	}
	req.SetVersion(int16(version))
	if strings.TrimSpace(fields) != "" {
		var in map[string]any
		if err := json.Unmarshal([]byte(fields), &in); err != nil {
			d.Fatalf(t, "%v", err)
		}
		s.set(reflect.ValueOf(req).Elem(), in)
	}
	token := s.w.send(req)
	s.names[token] = name
	if d.Cmd == "ask" {
		if _, ok := s.w.replies[token]; !ok {
			d.Fatalf(t, "no answer")
		}
	}
	return s.news()
}

func requestNamed(t *testing.T, name string) kmsg.Request {
	t.Helper()
	for key := range int16(kmsg.MaxKey + 1) {
		if req := kmsg.RequestForKey(key); req != nil && kmsg.NameForKey(key) == name {
			defaults(reflect.ValueOf(req).Elem())
			return req
		}
	}
	t.Fatalf("no request %q", name)
	return nil
}

// defaults sets a struct's default values, as kmsg's New functions do.
func defaults(v reflect.Value) {
	if d, ok := v.Addr().Interface().(interface{ Default() }); ok {
		d.Default()
	}
}

// set sets fields from JSON.
func (s *story) set(v reflect.Value, in any) {
	t := s.w.tb
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		for key, value := range in.(map[string]any) {
			f := v.FieldByName(key)
			if !f.IsValid() {
				t.Fatalf("%s has no field %s", v.Type(), key)
			}
			s.set(f, value)
		}
	case reflect.Slice:
		if in == nil {
			v.SetZero()
			return
		}
		list := in.([]any)
		v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
		for i, one := range list {
			if v.Type().Elem().Kind() == reflect.Struct {
				defaults(v.Index(i))
			}
			s.set(v.Index(i), one)
		}
	case reflect.Pointer:
		if in == nil {
			v.SetZero()
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		s.set(v.Elem(), in)
	case reflect.Array:
		id := s.id(in.(string))
		reflect.Copy(v, reflect.ValueOf(id[:]))
	case reflect.String:
		v.SetString(in.(string))
	case reflect.Bool:
		v.SetBool(in.(bool))
	default:
		if text, ok := in.(string); ok {
			v.SetInt(s.number(text))
			return
		}
		v.SetInt(int64(in.(float64)))
	}
}

func (s *story) number(text string) int64 {
	if id, ok := strings.CutPrefix(text, "epoch:"); ok {
		n, err := strconv.Atoi(id)
		must(s.w.tb, err)
		return s.epochs[int32(n)]
	}
	if text == "leader" {
		return int64(s.w.n.epoch)
	}
	less, ok := strings.CutPrefix(text, "end")
	if !ok {
		s.w.tb.Fatalf("number %q", text)
	}
	n, _ := strconv.Atoi(less)
	return s.w.n.durable + int64(n)
}

func (s *story) id(text string) kraft.UUID {
	switch kind, name, _ := strings.Cut(text, ":"); kind {
	case "topic":
		if topic, ok := s.w.n.Image().Topic(name); ok {
			return topic.ID
		}
		s.w.tb.Fatalf("no topic %q", name)
	case "dir":
		n, err := strconv.Atoi(name)
		must(s.w.tb, err)
		return kraft.UUID{0: byte(n), 15: 99}
	}
	id, err := kraft.ParseUUID(text)
	must(s.w.tb, err)
	return id
}

// news are the answers that were not told yet, in order, and what else came.
func (s *story) news() string {
	var b strings.Builder
	var tokens []machine.Token
	for token := range s.w.replies {
		if !s.told[token] {
			tokens = append(tokens, token)
		}
	}
	slices.Sort(tokens)
	for _, token := range tokens {
		s.told[token] = true
		if s.names[token] == "" {
			continue // one of the brokers command
		}
		r := s.w.replies[token]
		fmt.Fprintf(&b, "%s:", s.names[token])
		if r.Response == nil {
			fmt.Fprintf(&b, " none, close %v\n", r.Close)
			continue
		}
		b.WriteByte('\n')
		s.print(&b, reflect.ValueOf(r.Response).Elem(), "  ")
	}
	for _, note := range s.w.notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	s.w.notes = nil
	if s.w.stopped != nil && !s.stopped {
		s.stopped = true
		fmt.Fprintf(&b, "stopped: %v\n", s.w.stopped.Err)
	}
	if b.Len() == 0 {
		return "nothing\n"
	}
	return b.String()
}

// print tells the fields that are not zero. A null list is told too: an answer
// must have none.
func (s *story) print(b *strings.Builder, v reflect.Value, indent string) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case name == "Version" || f.Type() == reflect.TypeFor[kmsg.Tags]():
		case name == "Configs" && f.Len() > 0:
			fmt.Fprintf(b, "%sConfigs: %d\n", indent, f.Len())
		case f.Type() == reflect.TypeFor[[]byte]():
			if f.Len() > 0 {
				fmt.Fprintf(b, "%s%s: %d bytes\n", indent, name, f.Len())
			}
		case f.Kind() == reflect.Slice && f.IsNil():
			fmt.Fprintf(b, "%s%s: null\n", indent, name)
		case f.Kind() == reflect.Slice && f.Len() == 0:
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			for j := range f.Len() {
				fmt.Fprintf(b, "%s%s:\n", indent, name)
				s.print(b, f.Index(j), indent+"  ")
			}
		case f.Kind() == reflect.Struct:
			if usual := reflect.New(f.Type()).Elem(); !f.IsZero() {
				defaults(usual)
				if reflect.DeepEqual(f.Interface(), usual.Interface()) {
					continue
				}
				fmt.Fprintf(b, "%s%s:\n", indent, name)
				s.print(b, f, indent+"  ")
			}
		case f.Kind() == reflect.Array:
			if !f.IsZero() {
				fmt.Fprintf(b, "%s%s: %s\n", indent, name, s.spell(f.Interface().([16]byte)))
			}
		case f.Kind() == reflect.Pointer:
			if !f.IsNil() {
				fmt.Fprintf(b, "%s%s: %v\n", indent, name, f.Elem())
			}
		case !f.IsZero():
			fmt.Fprintf(b, "%s%s: %v\n", indent, name, f)
		}
	}
}

// spell names a topic's id by its name: the id itself is drawn.
func (s *story) spell(id kraft.UUID) string {
	if topic, ok := s.w.n.c.Image().TopicByID(id); ok {
		return "topic:" + topic.Name
	}
	if id[15] == 99 {
		return fmt.Sprintf("dir:%d", id[0])
	}
	if id == metadataTopicID {
		return id.String()
	}
	return "an id"
}
