package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/kafkaops/kafkaops/pkg/exporter"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/spf13/cobra"
)

// exportOptions are the flags of export.
type exportOptions struct {
	options
	collectInterval, sampleInterval, maxAge     time.Duration
	topics, topicsExclude                       string
	groups, groupsExclude                       string
	partitionDetail, replicaDetail, groupDetail string
	clusterLabel                                string
	logLevel, logFormat                         string
	isrStore                                    string
	printed                                     printedFiles
	web                                         exporter.Web
}

const exportText = `Serves /metrics, /healthz (this process), /readyz (the cluster answered within
--max-age) and at / a page for people: the verdict, unhealthy partitions with since when
and why, ISR changes, brokers and disks. A scrape asks no broker: the cluster is
asked every --collect-interval, and between times every leader's log end offset
and high watermark and the ISRs every --sample-interval.

ISR changes are counted from the active controller's metadata log, each with its
cause, where a controller can be reached (--controller where brokers do not tell one)
and the credentials have CLUSTER_ACTION on the cluster, which also lets its holder act
as a broker and read SCRAM secrets: grant it with care. Else samples are compared,
which is a lower bound; kafkaops_isr_source says which it is.

--isr-store FILE also keeps these changes in FILE, for longer than the log does, to be
read by isr --store FILE and isr summary --store FILE: every event, whatever the filters
let through. A new FILE begins with all that the log has, of which nothing is counted.
Started again it goes on where FILE ends. It belongs to one cluster, and has one
writer. The log is read once more for it, which is 2.5 requests a second where nothing
happens. Where FILE cannot be written, what is served goes on; it is tried again, and
kafkaops_isr_store_up says so.

What was not observed is absent, never stale. It starts before Kafka does and
outlives it. SIGTERM ends it with exit code 0.

Filters are regular expressions (RE2) that match the whole name: --topics 'pay.*',
not pay. They bound every figure, sums over brokers and the cluster too. Where
--web.config.file asks for a password, all pages do: /healthz and /readyz too.

--print-dashboards and --print-rules ask no cluster: they print what goes with these
metrics, Grafana dashboards as JSON and Prometheus rules as YAML, all of them or one by
its name.`

func newExportCmd(env Env) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Serve the cluster's state to Prometheus, until stopped",
		Long:  exportText,
		Example: `  kafkaops export -b kafka-1:9092,kafka-2:9092
  kafkaops export -b kafka-1:9092 --replica-metrics unhealthy --topics-exclude '_.*' --web.config.file web.yml
  kafkaops export -b kafka-1:9092 --isr-store /var/lib/kafkaops/prod.isr
  kafkaops export --print-dashboards=replication >/var/lib/grafana/dashboards/kafka-replication.json
  kafkaops export --print-rules >/etc/prometheus/rules/kafkaops.yml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.printed.asked() {
				return o.printed.write(cmd, env.Terminal.Out)
			}
			if cmd.Flags().Changed("isr-store") && o.isrStore == "" {
				return usagef("--isr-store \"\": name a file")
			}
			if !cmd.Flags().Changed("max-age") {
				o.maxAge = max(o.maxAge, o.leastMaxAge())
			}
			return o.run(cmd.Context(), env)
		},
	}
	cmd.SetFlagErrorFunc(foreignFlag)
	o.registerConnection(cmd, env)
	f := cmd.Flags()
	f.DurationVar(&o.collectInterval, "collect-interval", exporter.DefaultCollectInterval, "time between collections of everything")
	f.DurationVar(&o.sampleInterval, "sample-interval", exporter.DefaultSampleInterval, "time between samples, for lags in time and ISR counters; longer on a large cluster")
	f.DurationVar(&o.maxAge, "max-age", exporter.DefaultMaxAge, "what was observed longer ago is not served; where not given, no less than --collect-interval and --timeout together")
	f.StringVar(&o.topics, "topics", "", "only topics whose whole name matches the `regexp`")
	f.StringVar(&o.topicsExclude, "topics-exclude", "", "no topics whose whole name matches the `regexp`")
	f.StringVar(&o.groups, "groups", "", "only groups whose whole name matches the `regexp`")
	f.StringVar(&o.groupsExclude, "groups-exclude", "", "no groups whose whole name matches the `regexp`")
	for _, d := range o.details() {
		f.StringVar(d.value, d.flag, string(exporter.DetailAll), d.usage)
		complete(cmd, d.flag, string(exporter.DetailAll), string(exporter.DetailUnhealthy), string(exporter.DetailNone))
	}
	f.StringVar(&o.clusterLabel, "cluster-label", "", "put a label cluster with this `value` on every series")
	f.StringVar(&o.isrStore, "isr-store", "", "keep every change of an ISR in this `file`, for isr --store to read")
	_ = cmd.MarkFlagFilename("isr-store")
	o.printed.register(cmd)
	// As every exporter of the Prometheus project has them.
	f.StringVar(&o.logLevel, "log.level", "info", "log no less than this `level`: debug, info, warn or error")
	f.StringVar(&o.logFormat, "log.format", "logfmt", "`format` of the log: logfmt or json")
	complete(cmd, "log.level", "debug", "info", "warn", "error")
	complete(cmd, "log.format", "logfmt", "json")
	f.StringSliceVar(&o.web.Listen, "web.listen-address", []string{":9308"}, "`address` to serve on; may be repeated")
	f.BoolVar(&o.web.Systemd, "web.systemd-socket", false, "serve on the sockets that systemd hands over instead")
	f.StringVar(&o.web.ConfigFile, "web.config.file", "", "TLS, client certificates and basic auth, by the exporter-toolkit's `file`")
	return cmd
}

// detailFlag is a flag that bounds how many series there are.
type detailFlag struct {
	flag, usage string
	value       *string
	set         func(*exporter.Options, exporter.Detail)
}

func (o *exportOptions) details() []detailFlag {
	return []detailFlag{
		{
			"partition-metrics", "series for partitions: all, unhealthy or none", &o.partitionDetail,
			func(to *exporter.Options, d exporter.Detail) { to.Partitions = d },
		},
		{
			"replica-metrics", "series for replicas: all, unhealthy (of unhealthy partitions) or none", &o.replicaDetail,
			func(to *exporter.Options, d exporter.Detail) { to.Replicas = d },
		},
		{
			"group-metrics", "series for groups: all, unhealthy (lag that grows or stands, something unknown, no members, or commits out of range) or none", &o.groupDetail,
			func(to *exporter.Options, d exporter.Detail) { to.Groups = d },
		},
	}
}

// minCollectInterval keeps a typing mistake from becoming a load on the cluster.
const minCollectInterval = time.Second

func (o *exportOptions) check() error {
	if err := checkTimeout(o.timeout); err != nil {
		return err
	}
	switch {
	case o.collectInterval < minCollectInterval:
		return usagef("--collect-interval %s is too short: the least is %s", o.collectInterval, minCollectInterval)
	case o.sampleInterval < minInterval:
		return usagef("--sample-interval %s is too short: the least is %s", o.sampleInterval, minInterval)
	case o.sampleInterval > o.collectInterval:
		return usagef("--sample-interval %s is longer than --collect-interval %s", o.sampleInterval, o.collectInterval)
	case o.maxAge < o.leastMaxAge():
		return usagef("--max-age %s is shorter than --collect-interval and --timeout together, %s: nothing would be served while a broker is waited for",
			o.maxAge, o.leastMaxAge())
	case len(o.web.Listen) == 0 && !o.web.Systemd:
		return usagef("--web.listen-address: an empty address")
	}
	return o.checkListen()
}

// checkListen finds what can be no address. One that is in use is found later.
func (o *exportOptions) checkListen() error {
	if o.web.Systemd {
		return nil
	}
	for _, address := range o.web.Listen {
		if strings.HasPrefix(address, "vsock://") { // the toolkit's
			continue
		}
		_, port, err := net.SplitHostPort(address)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return usagef("--web.listen-address: %q is not [host]:port, such as :9308", address)
		}
	}
	return nil
}

// logger logs to stderr.
func (o *exportOptions) logger(env Env) (*slog.Logger, error) {
	var level slog.Level
	switch o.logLevel {
	case "debug", "info", "warn", "error":
		_ = level.UnmarshalText([]byte(o.logLevel)) // it is one
	default:
		return nil, usagef("--log.level %q: use debug, info, warn or error", o.logLevel)
	}
	h := &slog.HandlerOptions{Level: level}
	switch o.logFormat {
	case "logfmt":
		return slog.New(slog.NewTextHandler(env.Terminal.Err, h)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(env.Terminal.Err, h)), nil
	}
	return nil, usagef("--log.format %q: use logfmt or json", o.logFormat)
}

// leastMaxAge is how old a collection can be when the next one has waited for a broker
// as long as it may.
func (o *exportOptions) leastMaxAge() time.Duration { return o.collectInterval + o.timeout }

// exporterOptions are the flags as the exporter takes them, but for its sources.
func (o *exportOptions) exporterOptions(env Env) (exporter.Options, error) {
	out := exporter.Options{
		CollectInterval: o.collectInterval, SampleInterval: o.sampleInterval, MaxAge: o.maxAge,
		ClusterLabel: o.clusterLabel, Version: ownVersion(),
	}
	log, err := o.logger(env)
	if err != nil {
		return out, err
	}
	out.Log = log
	for _, d := range o.details() {
		detail, err := exporter.ParseDetail(*d.value)
		if err != nil {
			return out, usagef("--%s: %w", d.flag, err)
		}
		d.set(&out, detail)
	}
	for _, e := range []struct {
		flag, expr string
		to         **regexp.Regexp
	}{
		{"topics", o.topics, &out.Filter.Topics},
		{"topics-exclude", o.topicsExclude, &out.Filter.TopicsExclude},
		{"groups", o.groups, &out.Filter.Groups},
		{"groups-exclude", o.groupsExclude, &out.Filter.GroupsExclude},
	} {
		names, err := exporter.ParseNames(e.expr)
		if err != nil {
			return out, usagef("--%s: %w", e.flag, err)
		}
		*e.to = names
	}
	return out, nil
}

func (o *exportOptions) run(ctx context.Context, env Env) error {
	if err := o.check(); err != nil {
		return err
	}
	options, err := o.exporterOptions(env)
	if err != nil {
		return err
	}
	t, err := o.resolve(env)
	if err != nil {
		return err
	}
	t.tellWarnings(env)
	if err := o.web.Check(); err != nil {
		return err
	}
	if err := o.openStore(&options); err != nil {
		return err
	}
	pool := &connect.Pool{}
	defer pool.Close()
	t.brokers.Pool = pool
	t.controllersAt.Pool = pool
	options.Requests = pool.Requests
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	whole := source.New(t.brokers, o.timeout, t.options()...)
	options.Collect = &guarded{whole, stop, options.ISRStore}
	options.ISR = isrlog.NewLog(t.brokers, &t.controllersAt, o.timeout)
	options.Sample = &guarded{whole.Within(min(o.timeout, sampleTimeout(o.sampleInterval))), stop, options.ISRStore}
	options.Log.Info("kafkaops export", "version", ownVersion(), "bootstrap", t.brokers.Bootstrap,
		"collect", o.collectInterval, "sample", o.sampleInterval, "max-age", o.maxAge, "timeout", o.timeout)
	if err := exporter.Serve(ctx, exporter.New(options), o.web); err != nil {
		return err
	}
	var wrong *source.WrongClusterError
	if cause := context.Cause(ctx); errors.As(cause, &wrong) {
		return t.explain(cause)
	}
	// A server that is told to stop has done what it was told.
	if cause := context.Cause(ctx); cause != nil && !isTerminated(cause) {
		return cause
	}
	options.Log.Info("stopped")
	return nil
}

// openStore finds what is wrong with the file before anything is served.
func (o *exportOptions) openStore(to *exporter.Options) error {
	if o.isrStore == "" {
		return nil
	}
	var err error
	if to.ISRStore, err = recording.Prepare(o.isrStore); err != nil {
		return storeError(err)
	}
	return nil
}

func storeError(err error) error { return fmt.Errorf("--isr-store: %w", err) }

// guarded ends the command where an address leads to another cluster than the
// context expects, or the file of --isr-store belongs to: nothing of that may be served
// under this one's name.
type guarded struct {
	snapshotter
	stop  context.CancelCauseFunc
	store *recording.Prepared // nil for none
}

func (g *guarded) Snapshot(ctx context.Context, q source.Query) (*inspect.Snapshot, error) {
	snap, err := g.snapshotter.Snapshot(ctx, q)
	var wrong *source.WrongClusterError
	if errors.As(err, &wrong) {
		g.stop(err)
	}
	if err != nil || g.store == nil {
		return snap, err
	}
	if id, ok := snap.ClusterID.Get(); ok {
		if err := g.store.Claim(id); err != nil {
			err = storeError(err)
			g.stop(err)
			return nil, err
		}
	}
	return snap, nil
}

// sampleTimeout bounds a sample, of which one request gets a third: a broker that
// has just begun to hang must not hold up the next ones for long.
func sampleTimeout(interval time.Duration) time.Duration {
	const least = 3 * time.Second
	return max(least, 3*interval)
}

// isTerminated reports whether a context of signal.NotifyContext ended by SIGTERM,
// which its cause says by name alone.
func isTerminated(cause error) bool {
	return cause.Error() == syscall.SIGTERM.String()+" signal received"
}
