package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/spf13/cobra"
)

// upOptions are the flags of cluster up.
type upOptions struct {
	placeOptions
	brokers, port     int
	ephemeral, detach bool
	settings          []string
	racks             []string
	host, release     string
	verbose           bool
	// asThere: --brokers was not given.
	asThere bool
}

const (
	defaultBrokers = 3
	defaultPort    = 9092
	// maxBrokers is more than anybody tries on one machine; the controller's id is
	// above it.
	maxBrokers = 99
	maxPort    = 65535
)

func newClusterUpCmd(env Env) *cobra.Command {
	var o upOptions
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a cluster of brokers and a controller on this machine",
		Long: `Broker i listens on --port + i - 1, the controller on the next free port; with
--port 0 all on free ones. Only this machine can connect, unless --host says otherwise:
there is no TLS and no login.

It runs until ^C, SIGTERM or kafkaops cluster down, which stop it cleanly. With
--detach it runs in the background, in a session of its own, and the command returns
when it is ready; what it says is in kafkaops.log in its data directory, of a cluster
in memory in a .log file beside its control socket until it has ended cleanly.

Settings are Kafka's broker configs, with Kafka's defaults (but
offsets.topic.num.partitions 8 and group.initial.rebalance.delay.ms 0). Those that
change nothing here are told; those that other flags set are refused. Data that is
there is opened again, with as many brokers or more. A second up on the same data is
refused, and so is a directory with anything else in it.

Exit codes: 0 stopped by down or SIGTERM, or ready in the background; 1 could not
start; 130 stopped by ^C, or told to stop before it was ready.`,
		Example: `  kafkaops cluster up --ephemeral
  kafkaops cluster up --detach --brokers 5 --set min.insync.replicas=2`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.asThere = !cmd.Flags().Changed("brokers")
			return o.run(cmd.Context(), env)
		},
	}
	o.register(cmd)
	cmd.Flag("timeout").Usage = "how long it may take to be ready"
	f := cmd.Flags()
	f.IntVar(&o.brokers, "brokers", defaultBrokers, "how many brokers; where there is data and this is not given, as many as it is of")
	f.IntVar(&o.port, "port", defaultPort, "port of broker 1; 0 for free ports")
	f.BoolVar(&o.ephemeral, "ephemeral", false, "keep everything in memory: no data on disk, gone at the end")
	f.BoolVar(&o.detach, "detach", false, "run in the background, and return when it is ready")
	f.StringArrayVar(&o.settings, "set", nil, "a broker config as `key=value`, of every broker and the controller; may be repeated")
	f.StringSliceVar(&o.racks, "rack", nil, "broker.rack of each broker, 1 first, with `commas` between or repeated")
	f.StringVar(&o.host, "host", "127.0.0.1", "`address` to listen on and to tell clients")
	f.StringVar(&o.release, "max-versions", "", "offer clients no API in a newer version than this `release` of Kafka, like 3.9")
	f.BoolVar(&o.verbose, "verbose", false, "print the log of the brokers and the controller on stderr")
	return cmd
}

// cluster are the flags as the engine takes them.
func (o *upOptions) cluster(p local.Place, env Env) (embedded.Options, error) {
	out := embedded.Options{Brokers: o.brokers, Racks: o.racks, Host: o.host, MaxVersions: o.release}
	switch {
	case o.brokers < 1 || o.brokers > maxBrokers:
		return out, usagef("--brokers %d: use 1 to %d", o.brokers, maxBrokers)
	case o.port < 0 || o.port+o.brokers-1 > maxPort:
		return out, usagef("--port %d: brokers would listen on ports up to %d; use 1 to %d, or 0 for free ones", o.port, o.port+o.brokers-1, maxPort-o.brokers+1)
	case len(o.racks) > 0 && (len(o.racks) != o.brokers || slices.Contains(o.racks, "")):
		return out, usagef("--rack %s: name one for each of %s, as Kafka places replicas by racks only where every broker has one",
			strings.Join(o.racks, ","), count(o.brokers, "broker"))
	case o.host == "":
		return out, usagef("--host: an empty address")
	case o.ephemeral && o.data != "":
		return out, usagef("--ephemeral keeps nothing, and --data says where to keep it: leave one out")
	}
	var err error
	if out.Config, err = brokerSettings(o.settings); err != nil {
		return out, err
	}
	if err := checkNames(&out); err != nil {
		return out, err
	}
	if !o.ephemeral {
		out.Dir = p.Data
	}
	out.Log = o.log(env.Terminal.Err)
	return out, nil
}

// log is where the nodes tell what happens; without --verbose only what somebody should
// know who is looking for nothing, such as records that were damaged.
func (o *upOptions) log(w io.Writer) *slog.Logger {
	if o.verbose {
		return slog.New(slog.NewTextHandler(w, nil))
	}
	withoutTime := func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: withoutTime}))
}

// brokerSettings reads --set. What says which node it is and where, other flags do.
func brokerSettings(settings []string) (map[string]string, error) {
	out, err := parseSettings("set", settings)
	flags := strings.NewReplacer("Dir", "--data", "Brokers", "--brokers", "Host and Ports", "--host and --port", "Racks", "--rack")
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if by, ok := embedded.SetBy(name); ok {
			return nil, usagef("--set %s: it is set by %s", name, flags.Replace(by))
		}
	}
	return out, err
}

// checkNames says in the words of the flags what the engine would refuse.
func checkNames(o *embedded.Options) error {
	err := o.CheckNames()
	var option *embedded.OptionError
	if !errors.As(err, &option) {
		return err
	}
	if option.Field == "MaxVersions" {
		return usagef("--max-versions: %w", option.Err)
	}
	return usagef("--set: %w", option.Err)
}

// tellUnheeded says which settings are Kafka's and change nothing.
func tellUnheeded(env Env, o *embedded.Options) {
	if names := o.Unheeded(); len(names) > 0 {
		fmt.Fprintf(env.Terminal.Err, "kafkaops: configs of Kafka that change nothing here: %s\n", strings.Join(names, ", "))
	}
}

// parseSettings reads key=value flags.
func parseSettings(flag string, settings []string) (map[string]string, error) {
	out := make(map[string]string, len(settings))
	for _, s := range settings {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return nil, usagef("--%s %q: use key=value", flag, s)
		}
		if was, twice := out[key]; twice && was != value {
			return nil, usagef("--%s %s is there twice, as %q and as %q", flag, key, was, value)
		}
		out[key] = value
	}
	return out, nil
}

func (o *upOptions) run(ctx context.Context, env Env) error {
	p, err := o.place(env)
	if err != nil {
		return err
	}
	there, err := o.lookAtData(p)
	if err != nil {
		return err
	}
	options, err := o.cluster(p, env)
	if err != nil {
		return err
	}
	if o.detach {
		return o.runDetached(ctx, env, p, &options, there)
	}
	ctx, cancel := local.Attended(ctx, env.Getenv, env.Terminal.In)
	defer cancel()
	up, err := startLocal(ctx, env, p, options, o.port, o.timeout)
	if err != nil {
		return err
	}
	defer func() { _ = up.close() }() // where it was not closed below
	tellUnheeded(env, &options)
	o.tellNew(env, there, up.status())
	if err := o.tellUp(env, p, up.status(), there, up.took, "^C or "+typed("cluster down", p.Flags()...)); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-up.asked.Done():
	}
	begun := time.Now()
	if err := up.close(); err != nil {
		return fmt.Errorf("stop cluster %s: %w", p.Name, err)
	}
	fmt.Fprintf(env.Terminal.Err, "kafkaops: cluster %s stopped cleanly in %s\n", p.Name, shortly(time.Since(begun)))
	// A server that is told to stop has done what it was told.
	if cause := context.Cause(ctx); cause != nil && !isTerminated(cause) {
		return cause
	}
	return nil
}

// lookAtData is how many brokers have data in the place. Without --brokers as many are
// started; fewer cannot be.
func (o *upOptions) lookAtData(p local.Place) (there int, err error) {
	if o.ephemeral {
		return 0, nil
	}
	if p.Homeless != nil {
		return 0, usagef("%v, or --ephemeral", p.Homeless)
	}
	if there, err = embedded.BrokersIn(p.Data); err != nil {
		return 0, explainStart(context.Background(), nil, err, p, 0)
	}
	switch {
	case there == 0:
	case o.asThere:
		o.brokers = there
	case o.brokers < there:
		return 0, usagef("--brokers %d: there is data of %d in %s, and replicas would be left behind: use %d or more, or another --name or --data",
			o.brokers, there, p.Data, there)
	}
	return there, nil
}

// tellNew says which brokers there was no data of, and where the controller is, whose
// port depends on how many there are.
func (o *upOptions) tellNew(env Env, there int, s local.Status) {
	if there == 0 || o.brokers <= there {
		return
	}
	who := fmt.Sprintf("broker %d is", o.brokers)
	if o.brokers > there+1 {
		who = fmt.Sprintf("brokers %d to %d are", there+1, o.brokers)
	}
	for _, n := range s.Nodes {
		if n.Controller {
			fmt.Fprintf(env.Terminal.Err, "kafkaops: %s new; the controller keeps its id, %d, and is at %s: the port that it had may be a broker's now\n", who, n.ID, n.Address)
		}
	}
}

// runDetached starts this program again, in the background.
func (o *upOptions) runDetached(ctx context.Context, env Env, p local.Place, options *embedded.Options, there int) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start in the background: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	switch a, err := local.Ask(ctx, p, local.Request{Do: local.VerbStatus}); {
	case err == nil:
		return explainTaken(&local.TakenError{Place: p, PID: a.Status.PID})
	case !errors.Is(err, local.ErrNotUp):
		return explainAsk(p, o.timeout, local.Request{Do: local.VerbStatus}, err)
	}
	log := p.Log(o.ephemeral)
	begun := time.Now()
	status, keep, err := local.Detach(ctx, p, log, self, o.again()...)
	var unwritten *local.LogError
	if errors.As(err, &unwritten) && !o.ephemeral { // the log is the first thing in its data
		return explainStart(ctx, nil, &embedded.DirError{Dir: p.Data, Err: cause(unwritten.Err)}, p, o.timeout)
	}
	if err != nil {
		return explainTaken(err)
	}
	defer keep() // also where nobody reads what is said
	tellUnheeded(env, options)
	o.tellNew(env, there, status)
	if err := o.tellUp(env, p, status, there, time.Since(begun), typed("cluster down", p.Flags()...)); err != nil {
		return err
	}
	fmt.Fprintf(env.Terminal.Err, "kafkaops: it runs in the background; its log is %s\n", log)
	return nil
}

// again are the arguments of the same command in the foreground.
func (o *upOptions) again() []string {
	args := []string{
		"cluster", "up", "--name=" + o.name, "--data=" + o.data, "--timeout=" + o.timeout.String(),
		"--brokers=" + strconv.Itoa(o.brokers), "--port=" + strconv.Itoa(o.port), "--host=" + o.host,
		"--ephemeral=" + strconv.FormatBool(o.ephemeral), "--verbose=" + strconv.FormatBool(o.verbose),
		"--max-versions=" + o.release,
	}
	for _, s := range o.settings {
		args = append(args, "--set="+s)
	}
	for _, r := range o.racks {
		args = append(args, "--rack="+r)
	}
	return args
}

// explainTaken says what to do about a cluster that is up already.
func explainTaken(err error) error {
	var taken *local.TakenError
	if errors.As(err, &taken) {
		return fmt.Errorf("%w; %s ends it, another --name is another cluster", err, typed("cluster down", taken.Place.Flags()...))
	}
	return err
}

// localCluster is a cluster that this process runs and that commands can reach.
type localCluster struct {
	cluster *embedded.Cluster
	host    *local.Host
	claim   *local.Claim
	place   local.Place
	// took is how long it needed to be ready.
	took time.Duration
	// asked is over when somebody asks for the end.
	asked  context.Context
	closed bool
}

// startLocal takes the place, starts the cluster and answers for it. Broker i
// listens on port + i - 1, unless port is 0.
func startLocal(ctx context.Context, env Env, p local.Place, o embedded.Options, port int, timeout time.Duration) (*localCluster, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	claim, err := local.TakePlace(ctx, p)
	if err != nil {
		return nil, explainTaken(err)
	}
	asked, ask := context.WithCancel(context.Background())
	host := local.NewHost(p, o.Dir, ask)
	claim.Serve(host)
	up := &localCluster{host: host, claim: claim, place: p, asked: asked}
	defer context.AfterFunc(asked, cancel)()
	if port != 0 {
		o.Ports = portsFrom(o.Host, port, o.Brokers)
	}
	begun := time.Now()
	up.cluster, err = embedded.Start(ctx, o)
	if err != nil {
		ask()
		claim.Close()
		return nil, explainStart(context.WithoutCancel(ctx), env.Getenv, err, p, timeout)
	}
	up.took = time.Since(begun)
	host.Up(up.cluster)
	return up, nil
}

// explainStart says what to try where a cluster did not come up.
func explainStart(ctx context.Context, getenv func(string) string, err error, p local.Place, timeout time.Duration) error {
	// Which package says it is nobody's business.
	if inner := errors.Unwrap(err); inner != nil && strings.HasPrefix(err.Error(), "embedded: ") {
		err = inner
	}
	var dir *embedded.DirError
	switch {
	case isAddressInUse(err):
		return fmt.Errorf("start cluster %s: %w%s; choose another --port, or 0 for free ones", p.Name, err, whoHas(ctx, getenv, err))
	case errors.As(err, &dir):
		return fmt.Errorf("start cluster %s: %w; use --data DIR or --ephemeral", p.Name, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("cluster %s was not ready within %s: %w; --verbose shows what it does, --timeout gives it longer", p.Name, timeout, err)
	}
	return fmt.Errorf("start cluster %s: %w", p.Name, err)
}

// cause leaves out the path that is told already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// whoHas names the cluster of this machine that listens on the address which is in use,
// if one does.
func whoHas(ctx context.Context, getenv func(string) string, err error) string {
	var op *net.OpError
	if !errors.As(err, &op) || op.Addr == nil {
		return ""
	}
	_, port, _ := net.SplitHostPort(op.Addr.String())
	found, err := local.List(ctx, getenv)
	if err != nil {
		return "" // what is wrong is said without it
	}
	for _, f := range found {
		if f.Status == nil {
			continue
		}
		for _, n := range f.Status.Nodes {
			if _, its, err := net.SplitHostPort(n.Address); err == nil && its == port {
				return fmt.Sprintf(": %s of cluster %s has it (process %d; %s ends that)", nodeName(n.ID), f.Place.Name, f.Status.PID, typed("cluster down", f.Place.Flags()...))
			}
		}
	}
	return ""
}

func (u *localCluster) status() local.Status { return u.host.Status() }

// close stops the cluster cleanly, then gives its place back. It may be called twice.
func (u *localCluster) close() error {
	if u.closed {
		return nil
	}
	u.closed = true
	u.host.Down()
	err := u.cluster.Close()
	if err == nil {
		u.place.RemoveLog() // before others learn that the place is free
	}
	u.claim.Close()
	return err
}

// portsFrom are the brokers' ports and then, for the controller, the next one that is
// free now.
func portsFrom(host string, port, brokers int) []int {
	ports := make([]int, brokers, brokers+1)
	for i := range ports {
		ports[i] = port + i
	}
	const tries = 100
	for at := port + brokers; at < port+brokers+tries && at <= maxPort; at++ {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(at)))
		if err == nil {
			l.Close()
			return append(ports, at)
		}
		if !isAddressInUse(err) {
			break // nor is another one better: embedded.Start says why
		}
	}
	return ports // and any free one for the controller
}

// tellUp prints where the cluster is and what to type next: there is how many brokers had
// data, which then has topics.
func (o *upOptions) tellUp(env Env, p local.Place, s local.Status, there int, took time.Duration, end string) error {
	t := env.Terminal
	where := p.Data
	if o.ephemeral {
		where = "in memory: gone when it ends"
	}
	brokers, controller := 0, ""
	for _, n := range s.Nodes {
		if n.Controller {
			controller = n.Address
		} else {
			brokers++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cluster %s is up: %s, ready after %s (process %d)\n\n", p.Name, count(brokers, "broker"), shortly(took), s.PID)
	for _, line := range [][2]string{
		{"bootstrap", s.Bootstrap}, {"controller", controller}, {"cluster id", s.ID}, {"data", where}, {"socket", p.Socket},
	} {
		fmt.Fprintf(&b, "  %-11s %s\n", line[0], line[1])
	}
	fmt.Fprintf(&b, "\nnext: kafkaops describe -b %s\n", s.Bootstrap)
	topics := typed("cluster topics create orders", append(p.Flags(), "--partitions", "6")...)
	if there > 0 {
		topics = typed("cluster topics list", p.Flags()...)
	}
	for _, line := range []string{
		topics,
		typed("cluster fault slow-disk", append(p.Flags(), "--broker", strconv.Itoa(brokers))...) + ", then " + typed("cluster heal", p.Flags()...),
	} {
		fmt.Fprintf(&b, "      %s\n", line)
	}
	fmt.Fprintf(&b, "to leave -b out: export %s=%s\n", envBootstrap, s.Bootstrap)
	fmt.Fprintf(&b, "end:  %s\n", end)
	_, err := io.WriteString(t.Out, cleanLines(b.String()))
	return err
}

// cleanLines is Clean for each line of a text.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = render.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// shortly rounds a duration to what a person reads: 47ms, 1.3s.
func shortly(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}
