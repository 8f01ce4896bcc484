package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// demo is a story being told: a cluster, the load on it, and what it is told to.
type demo struct {
	env   Env
	place local.Place
	port  int
	// stop ends the story where somebody stops its cluster from outside.
	stop context.CancelFunc
	// inner is where the output of commands goes.
	inner *term.Terminal
	up    *localCluster
	conn  connect.Config

	producers []*load.Producer
	follower  *load.Follower
}

func newDemo(env Env, p local.Place, port int, stop context.CancelFunc) *demo {
	return &demo{env: env, place: p, port: port, stop: stop, inner: env.Terminal.Transcript()}
}

// wasStopped: somebody has stopped the cluster from outside.
func (d *demo) wasStopped() bool { return d.up != nil && d.up.asked.Err() != nil }

// end stops the load and the cluster.
func (d *demo) end() error {
	d.stopLoad()
	if d.up == nil {
		return nil
	}
	return d.up.close()
}

func (d *demo) stopLoad() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // who has not asked for what came of it does not wait
	for _, p := range d.producers {
		p.Stop(ctx)
	}
	d.producers = nil
	if d.follower != nil {
		d.follower.Stop()
		d.follower = nil
	}
}

// say prints lines of the story; an empty one ends a paragraph. Where one is wider than
// the terminal, lines that belong together are broken anew.
func (d *demo) say(lines ...string) {
	for _, l := range fitted(lines, d.inner.Width) {
		fmt.Fprintln(d.inner.Out, l)
	}
}

// fitted are the lines of a text, none of which is wider than that, unless a word is; 0 is
// any width. Those that are indented stand for themselves.
func fitted(lines []string, width int) (out []string) {
	fits := func(l string) bool { return width <= 0 || ansi.StringWidth(l) <= width }
	if !slices.ContainsFunc(lines, func(l string) bool { return !fits(l) }) {
		return lines
	}
	var paragraph []string
	end := func() {
		if len(paragraph) > 0 {
			out = append(out, render.Wrap(strings.Join(paragraph, " "), width)...)
		}
		paragraph = nil
	}
	for _, l := range lines {
		switch text := strings.TrimLeft(l, " "); {
		case text == "":
			end()
			out = append(out, l)
		case text != l:
			end()
			if fits(l) {
				out = append(out, l)
				continue
			}
			indent := l[:len(l)-len(text)]
			for i, part := range render.Wrap(text, width-len(indent)) {
				if i == 1 {
					indent += "  "
				}
				out = append(out, indent+part)
			}
		default:
			paragraph = append(paragraph, l)
		}
	}
	end()
	return out
}

// show prints a command as it would be typed: in one line, whatever the width.
func (d *demo) show(line string) { fmt.Fprintln(d.inner.Out, "$ "+line) }

func (d *demo) tellStart(settings map[string]string) error {
	s := d.up.status()
	addrs, err := connect.ParseBootstrap(s.Bootstrap)
	if err != nil {
		return err
	}
	d.conn = connect.Config{Bootstrap: addrs}
	d.say(fmt.Sprintf("Three brokers in memory, ready after %s.", shortly(d.up.took)))
	if len(settings) > 0 {
		d.say("For a short demo these are shorter than Kafka's defaults:")
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			d.say(fmt.Sprintf("  %s=%s", key, settings[key]))
		}
	}
	d.say("")
	return nil
}

// tellWhere says how to reach the cluster.
func (d *demo) tellWhere() {
	d.say("To type along in another terminal:", "")
	d.show("export " + envBootstrap + "=" + strings.Join(d.conn.Bootstrap, ","))
	d.say("")
}

// getenv is the environment of the commands: the demo's cluster, and none of what
// this shell says of another.
func (d *demo) getenv(key string) string {
	switch key {
	case envBootstrap:
		return strings.Join(d.conn.Bootstrap, ",")
	case envCommandConfig, envController, envControllerConfig, envContext:
		return ""
	}
	return d.env.Getenv(key)
}

// kafkaops runs a command of ours in this process and shows it, as it would be typed,
// with what it prints. codes are the exit codes that are right; none is 0.
func (d *demo) kafkaops(ctx context.Context, line string, codes ...int) error {
	shown := "kafkaops " + line
	args := strings.Fields(line)
	if args[0] == "cluster" {
		args = append(args, d.place.Flags()...)
		shown = typed(line, d.place.Flags()...)
	}
	d.show(shown)
	code := run(ctx, args, Env{Terminal: d.inner, Getenv: d.getenv})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if code != exitOK {
		d.say(fmt.Sprintf("(exit code %d)", code))
	}
	d.say("")
	if len(codes) == 0 {
		codes = []int{exitOK}
	}
	if !slices.Contains(codes, code) {
		return fmt.Errorf("demo: %s ended with exit code %d, which was not to be expected", shown, code)
	}
	return nil
}

// bound is how long anything in a demo may take to come about.
const bound = time.Minute

// until asks again and again whether something has come about, at most as long as
// bound, and returns how long it took.
func (d *demo) until(ctx context.Context, what string, is func() bool) (time.Duration, error) {
	const every = 10 * time.Millisecond
	begun := time.Now()
	for {
		if is() {
			return time.Since(begun), nil
		}
		if time.Since(begun) > bound {
			return 0, fmt.Errorf("demo: within %s it did not come about that %s; on a machine that is busy with other things, try again", bound, what)
		}
		if err := sleep(ctx, every); err != nil {
			return 0, err
		}
	}
}

// look takes a Snapshot of the topic, which no command shows; nil where that failed.
func (d *demo) look(ctx context.Context, topic string, parts inspect.Parts) *inspect.Snapshot {
	const timeout = 3 * time.Second
	snap, err := source.New(d.conn, timeout).Snapshot(ctx, source.Query{Topics: []string{topic}, Parts: parts})
	if err != nil {
		return nil
	}
	return snap
}

// every reports whether something holds for all partitions of a topic that can be
// seen.
func every(snap *inspect.Snapshot, holds func(*inspect.Partition) bool) bool {
	if snap == nil {
		return false
	}
	n := 0
	for p := range snap.Partitions {
		if !holds(p) {
			return false
		}
		n++
	}
	return n > 0
}

// produce begins to write; what is left is stopped with the demo.
func (d *demo) produce(o load.Options) (*load.Producer, error) {
	p, err := load.StartProducer(d.conn, o)
	if err != nil {
		return nil, err
	}
	d.producers = append(d.producers, p)
	return p, nil
}

// settle waits until producers that have just begun have written some records, and as many
// again of which their latencies are: the first ones waited for connections.
func (d *demo) settle(ctx context.Context, some int64, all ...*load.Producer) error {
	for range 2 {
		for _, p := range all {
			p.Reset()
		}
		_, err := d.until(ctx, "the workload runs", func() bool {
			return !slices.ContainsFunc(all, func(p *load.Producer) bool { return p.Stats().Acknowledged <= some })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// follow begins to read.
func (d *demo) follow(topic string) (err error) {
	d.follower, err = load.StartFollower(d.conn, topic)
	return err
}

// finish stops a producer and returns what came of it.
func (d *demo) finish(ctx context.Context, p *load.Producer) load.Stats {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	d.producers = slices.DeleteFunc(d.producers, func(o *load.Producer) bool { return o == p })
	return p.Stop(ctx)
}

// audit reads the topic and tells what became of a producer's acknowledged records.
func (d *demo) audit(ctx context.Context, what, topic string, p *load.Producer, s load.Stats) (missing int, err error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	found, err := load.ReadAll(ctx, d.conn, topic, p.Run())
	if err != nil {
		return 0, fmt.Errorf("demo: read %s to its end: %w", topic, err)
	}
	missing = len(s.Missing(found))
	d.say(fmt.Sprintf("%s: %d acknowledged, %d failed; %d of the acknowledged are missing, %d are there twice.",
		what, s.Acknowledged, s.Failed, missing, found.Doubles))
	return missing, nil
}

// errStory is when what was observed is not what the story is about.
func errStory(format string, args ...any) error { return fmt.Errorf("demo: "+format, args...) }
