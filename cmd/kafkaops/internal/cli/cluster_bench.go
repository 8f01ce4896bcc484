package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/spf13/cobra"
)

// benchOptions are the flags of cluster bench.
type benchOptions struct {
	viewOptions
	each        time.Duration
	recordBytes int
	disk        string
	settings    []string
	delays      []time.Duration
	timeout     time.Duration
}

func newClusterBenchCmd(env Env) *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "What each level of safety costs on this machine: latency and throughput",
		Long: `Starts a cluster of its own, three brokers in memory or with --disk on a disk, and
measures in it: acks 0, 1 and all with 1, 2 and 3 replicas; then acks=all and three
replicas with links between the brokers that take longer, and with each compression.
A cluster that is up is left alone.

The latency is that of one record at a time, each sent when the one before is
acknowledged; the throughput that of as many as fit. All rows are measured three
times, one after the other: the latencies are of all three, the throughput is the
median. A percentile that there are too few records for is not told. Clients and
brokers share this machine, so compare rows with each other rather than with a
cluster of machines.`,
		Example: `  kafkaops cluster bench --for 200ms
  kafkaops cluster bench --for 100ms --record-bytes 100 --link-delay 2ms -o json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), env) },
	}
	o.register(cmd)
	f := cmd.Flags()
	f.DurationVar(&o.each, "for", time.Second, "how long each measurement takes, in three rounds; there are two for each row")
	f.IntVar(&o.recordBytes, "record-bytes", 1024, "size of a record's value")
	f.StringVar(&o.disk, "disk", "", "keep the logs in a new directory below this `directory`, which is removed at the end")
	f.StringArrayVar(&o.settings, "set", nil, "a broker config as `key=value`, such as flush.messages=1; may be repeated")
	f.DurationSliceVar(&o.delays, "link-delay", []time.Duration{time.Millisecond, 5 * time.Millisecond}, "one way between brokers, each `duration` a row; 0 for none")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "bounds the whole command")
	return cmd
}

func (o *benchOptions) check() (embedded.Options, error) {
	const minFor, maxRecord = 10 * time.Millisecond, 512 << 10
	out := embedded.Options{Brokers: benchBrokers}
	switch {
	case o.each < minFor:
		return out, usagef("--for %s is too short: the least is %s", o.each, minFor)
	case o.recordBytes < load.HeaderBytes || o.recordBytes > maxRecord:
		return out, usagef("--record-bytes %d: use %d to %d", o.recordBytes, load.HeaderBytes, maxRecord)
	case o.timeout < minTimeout:
		return out, usagef("--timeout %s is too short: the least is %s", o.timeout, minTimeout)
	}
	// Two measurements of each row.
	if least := 2 * time.Duration(len(o.cases())) * o.each; o.each > o.timeout || least > o.timeout {
		return out, usagef("--for %s: measuring takes longer than --timeout %s: use a shorter --for, or a longer --timeout", o.each, o.timeout)
	}
	for _, d := range o.delays {
		if d < 0 || d > time.Second {
			return out, usagef("--link-delay %s: use 0 to 1s", d)
		}
	}
	var err error
	if out.Config, err = brokerSettings(o.settings); err == nil {
		err = checkNames(&out)
	}
	return out, err
}

const benchBrokers = 3

// benchRounds is how often each row is measured, with all others between: what else the
// machine does for a while is in one of three.
const benchRounds = 3

// benchCase is one row to be measured.
type benchCase struct {
	acks        load.Acks
	replicas    int
	delay       time.Duration
	compression string
}

// cases are the rows, each part of them changing one thing.
func (o *benchOptions) cases() []benchCase {
	var out []benchCase
	for replicas := 1; replicas <= benchBrokers; replicas++ {
		for _, acks := range load.AllAcks() {
			out = append(out, benchCase{acks: acks, replicas: replicas, compression: "none"})
		}
	}
	safe := benchCase{acks: load.AcksAll, replicas: benchBrokers, compression: "none"}
	for _, d := range o.delays {
		if d > 0 {
			c := safe
			c.delay = d
			out = append(out, c)
		}
	}
	for _, codec := range load.Compressions()[1:] {
		c := safe
		c.compression = codec
		out = append(out, c)
	}
	return out
}

func (o *benchOptions) run(ctx context.Context, env Env) (err error) {
	view, err := o.view(env.Terminal)
	if err != nil {
		return err
	}
	view.Width = env.Terminal.Width
	options, err := o.check()
	if err != nil {
		return err
	}
	tellUnheeded(env, &options)
	if o.disk != "" {
		if options.Dir, err = os.MkdirTemp(o.disk, "kafkaops-bench-"); err != nil {
			return fmt.Errorf("--disk: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(options.Dir)) }()
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	c, err := embedded.Start(ctx, options)
	if err != nil {
		return fmt.Errorf("start a cluster to measure in: %w", err)
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return o.measureAll(ctx, env, view, c, options.Dir)
}

func (o *benchOptions) measureAll(ctx context.Context, env Env, view render.View, c *embedded.Cluster, dir string) error {
	addrs, err := connect.ParseBootstrap(c.Bootstrap())
	if err != nil {
		return err
	}
	conn := connect.Config{Bootstrap: addrs}
	client, err := admin.Open(conn)
	if err != nil {
		return err
	}
	defer client.Close()
	at, cases := time.Now(), o.cases()
	found := make([]measured, len(cases))
	for n := range benchRounds * len(cases) {
		i := n % len(cases)
		bc := cases[i]
		o.progress(env, n, benchRounds*len(cases))
		if err := o.measure(ctx, c, conn, client, "bench-"+strconv.Itoa(n+1), bc, &found[i]); err != nil {
			o.progress(env, -1, 0)
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("%d of %d measurements were done within %s: try a shorter --for or a longer --timeout", n, benchRounds*len(cases), o.timeout)
			}
			return fmt.Errorf("measure acks=%s with %d replicas: %w", bc.acks, bc.replicas, err)
		}
	}
	o.progress(env, -1, 0)
	rows := make([]render.BenchItem, len(cases))
	for i, bc := range cases {
		rows[i] = found[i].row(bc)
	}
	where := "memory"
	if dir != "" {
		where = filepath.Dir(dir)
	}
	return render.Bench(env.Terminal.Out, view, at, c.ID(), where, o.recordBytes, rows)
}

// progress tells on a terminal's stderr how far it is; -1 takes that away.
func (o *benchOptions) progress(env Env, i, of int) {
	if !env.Terminal.IsTTY {
		return
	}
	if i < 0 {
		_, _ = io.WriteString(env.Terminal.Err, "\r\x1b[K")
		return
	}
	fmt.Fprintf(env.Terminal.Err, "\rmeasuring %d of %d…", i+1, of)
}

// measured is what the rounds of one row have found.
type measured struct {
	single  load.Latencies
	records []float64 // per second, of each round
	bytes   []float64
}

func (m *measured) row(bc benchCase) render.BenchItem {
	at := func(share float64) inspect.Opt[float64] {
		if d, ok := m.single.At(share); ok {
			return inspect.Known(ms(d))
		}
		return inspect.Unknown[float64]()
	}
	return render.BenchItem{
		Acks: string(bc.acks), Replicas: bc.replicas, LinkDelayMs: ms(bc.delay), Compression: bc.compression,
		P50Ms: at(0.5), P99Ms: at(0.99), P999Ms: at(0.999),
		RecordsPerSecond: median(m.records), BytesPerSecond: median(m.bytes),
	}
}

// median is the middle one of an odd number.
func median(all []float64) float64 { return slices.Sorted(slices.Values(all))[len(all)/2] }

// measure is one round of a row: a topic of its own, first one record at a time, then as
// many as fit.
func (o *benchOptions) measure(
	ctx context.Context, c *embedded.Cluster, conn connect.Config, client *admin.Client, topic string, bc benchCase, m *measured,
) error {
	// As many partitions as brokers, so that each leads one.
	t := admin.Topic{Name: topic, Partitions: benchBrokers, ReplicationFactor: int16(bc.replicas)}
	if err := client.CreateTopic(ctx, t); err != nil {
		return err
	}
	setDelay(c, bc.delay)
	defer setDelay(c, 0)
	if _, err := o.load(ctx, conn, topic, bc, 1, &m.single); err != nil {
		return err
	}
	bulk, err := o.load(ctx, conn, topic, bc, 0, &load.Latencies{})
	if err != nil {
		return err
	}
	m.records, m.bytes = append(m.records, bulk.PerSecond()), append(m.bytes, bulk.BytesPerSecond())
	return client.DeleteTopic(ctx, topic)
}

// load runs one producer: a part of the time to warm up, then what counts.
func (o *benchOptions) load(ctx context.Context, conn connect.Config, topic string, bc benchCase, inFlight int, lat *load.Latencies) (load.Stats, error) {
	lo := load.Options{
		Topic: topic, Partition: load.AnyPartition, Acks: bc.acks, RecordBytes: o.recordBytes, InFlight: inFlight, Compression: bc.compression,
	}
	if inFlight != 1 {
		lo.Linger = bulkLinger
	}
	p, err := load.StartProducer(conn, lo)
	if err != nil {
		return load.Stats{}, err
	}
	const warmUp = 5 // a fifth of the time
	each := o.each / benchRounds
	// What takes longer than the time for it is waited for: nothing in no time would be
	// no measurement.
	span := func(d time.Duration) error {
		err := sleep(ctx, d)
		for err == nil && p.Stats().Acknowledged == 0 && p.Stats().Failed == 0 {
			err = sleep(ctx, time.Millisecond)
		}
		return err
	}
	err = span(each / warmUp)
	p.Reset()
	if err == nil {
		err = span(each)
	}
	stats := p.Stats()
	lat.Add(p)
	stopping, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	after := p.Stop(stopping)
	if err == nil && after.Failed > 0 {
		err = fmt.Errorf("%d records failed: %w", after.Failed, after.FirstError)
	}
	return stats, err
}

// bulkLinger is Kafka's default since 4.0 (KIP-1030): it fills batches.
const bulkLinger = 5 * time.Millisecond

// stopPatience is how long the answers to what was sent may take: thousands of records
// are on their way, to disks and on machines of any kind.
const stopPatience = time.Minute

// setDelay makes every link between brokers that slow.
func setDelay(c *embedded.Cluster, d time.Duration) {
	for from := 1; from <= benchBrokers; from++ {
		for to := 1; to <= benchBrokers; to++ {
			switch {
			case from == to:
			case d == 0:
				c.Link(from, to).Heal()
			default:
				c.Link(from, to).Slow(d)
			}
		}
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
