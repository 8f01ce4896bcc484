package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// exitCodes is what each command answers in each state. A command that is not
// named here fails the test.
var exitCodes = map[string]struct {
	// unhealthy is the exit code for a cluster that is not; judged is that with
	// these flags more.
	unhealthy, judged int
	flags             string
	// ill makes a cluster unhealthy in what the command judges; nil is any
	// unhealthy one.
	ill func(*fakekafka.Model)
	// refused is a request that the command cannot answer in full without; nothing
	// where Kafka lets everybody ask.
	refused kmsg.Key
	// bootstrapOnly commands need no answer of any other broker.
	bootstrapOnly bool
}{
	"describe":         {exitOK, exitUnhealthy, "--exit-code", nil, kmsg.DescribeConfigs, false},
	"describe topics":  {exitOK, exitUnhealthy, "--exit-code", nil, kmsg.DescribeConfigs, true},
	"describe brokers": {exitOK, exitUnhealthy, "--exit-code", nil, kmsg.DescribeConfigs, false},
	"describe configs": {exitOK, exitUnhealthy, "--exit-code", func(m *fakekafka.Model) {
		m.Broker(1).Configs = map[string]string{"replica.lag.time.max.ms": "8"}
		m.Broker(2).Configs = map[string]string{"replica.lag.time.max.ms": "7"}
	}, kmsg.DescribeConfigs, false},
	"describe features": {exitOK, exitUnhealthy, "--exit-code", func(m *fakekafka.Model) {
		m.Broker(2).Supported = map[string]fakekafka.VersionRange{"metadata.version": {Min: 7, Max: 40}}
	}, nothing, false},
	"describe log-dirs": {exitOK, exitUnhealthy, "--exit-code", func(m *fakekafka.Model) {
		m.Broker(2).LogDirs = []fakekafka.LogDir{{Path: "/b"}, {Path: "/a", Offline: true}}
	}, kmsg.DescribeLogDirs, false},
	"describe quorum": {exitOK, exitUnhealthy, "--exit-code", func(m *fakekafka.Model) {
		m.Quorum = fakekafka.NewQuorum(3)
		m.Quorum.Voter(103).LastFetchMs -= 60_000
	}, kmsg.DescribeQuorum, true},
	// A reassignment is nothing ill, and there is no --exit-code.
	"describe reassignments": {exitOK, exitOK, "--samples 2 --interval 100ms", reassign, kmsg.ListPartitionReassignments, false},
	"describe transactions": {exitOK, exitUnhealthy, "--exit-code", func(m *fakekafka.Model) {
		m.Topic("orders").Partitions[1].Producers[0].LastTimestampMs = 1
		m.Transactions = nil
	}, kmsg.DescribeProducers, false},
	"lag": {exitOK, exitUnhealthy, "--exit-code", nil, kmsg.DescribeConfigs, false},
	"lag groups": {exitOK, exitUnhealthy, "--exit-code --min 1000", func(m *fakekafka.Model) {
		m.Group("billing").Commit("orders", 1, 0)
	}, kmsg.OffsetFetch, false},
	"check health": {exitUnhealthy, exitUnhealthy, "--max-lag 100000", nil, kmsg.DescribeConfigs, false},
	"check access": {exitUnhealthy, exitUnhealthy, "--topic orders", deny(kmsg.ListOffsets), kmsg.DescribeConfigs, false},
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, command := range asking(t) {
		codes, ok := exitCodes[command]
		if !ok {
			t.Errorf("kafkaops %s has no exit codes in this test", command)
			continue
		}
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			started := func(changes ...func(*fakekafka.Model)) *fakekafka.Cluster {
				m := healthyModel()
				transact(m)
				for _, change := range changes {
					if change != nil {
						change(m)
					}
				}
				return fakekafka.Start(t, m)
			}
			well, ill := started(), started(makeUnhealthy, codes.ill)
			broken := started(makeUnhealthy, codes.ill) // 1 beats 3
			broken.Break(3, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.ApiVersions}})
			refusing := started(codes.ill, deny(codes.refused))
			refused := exitFailed
			if command == "check access" { // what is refused is its answer
				refused = exitUnhealthy
			}
			for _, format := range []string{"table", "json"} {
				for _, tt := range []struct {
					state string
					c     *fakekafka.Cluster
					flags string
					want  int
				}{
					{"healthy", well, "", exitOK},
					{"healthy, judged", well, codes.flags, exitOK},
					{"unhealthy", ill, "", codes.unhealthy},
					{"unhealthy, judged", ill, codes.flags, codes.judged},
					{"refused", refusing, codes.flags, refused},
					{"bad flag", well, "--no-such-flag", exitUsage},
					{"bad value", well, "--timeout soon", exitUsage},
				} {
					if tt.state == "refused" && codes.refused == nothing {
						continue
					}
					r := ask(t, tt.c, command+" -o "+format+" "+tt.flags)
					if r.code != tt.want || (r.stdout == "") != (tt.want == exitUsage) || (r.stderr == "") != (tt.want == exitOK || tt.want == exitUnhealthy) {
						t.Errorf("-o %s, %s: got exit code %d, %d bytes on stdout, stderr %q; want %d",
							format, tt.state, r.code, len(r.stdout), r.stderr, tt.want)
					}
				}
				if codes.bootstrapOnly {
					continue
				}
				if r := ask(t, broken, command+" -o "+format+" "+codes.flags); r.code != exitFailed || r.stdout == "" {
					t.Errorf("-o %s: got exit code %d with a broker that does not answer and ill health; 1 beats 3", format, r.code)
				}
			}
		})
	}
}

// nothing is no request.
const nothing kmsg.Key = -1

// TestExitCodesOfOtherCommands: those that ask nothing.
func TestExitCodesOfOtherCommands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		code int
		text string // what stdout, or for a failure stderr, begins with
	}{
		"":                     {exitOK, "kafkaops answers what an operator asks"},
		"--help":               {exitOK, "kafkaops answers what an operator asks"},
		"help":                 {exitOK, "kafkaops answers what an operator asks"},
		"help describe topics": {exitOK, "Lists the partitions"},
		"describe --help":      {exitOK, "Judges the whole cluster"},
		"lag -h":               {exitOK, "Reads the log end offset"},
		"version":              {exitOK, "kafkaops "},
		"--version":            {exitOK, "kafkaops "},
		"completion bash":      {exitOK, "# bash completion"},

		"nosuch":                    {exitUsage, "kafkaops: \"nosuch\" is not a command of kafkaops\n"},
		"descrieb":                  {exitUsage, "kafkaops: \"descrieb\" is not a command of kafkaops; did you mean describe?\n"},
		"help nosuch":               {exitUsage, "kafkaops: \"nosuch\" is not a command of kafkaops\n"},
		"help describe nosuch":      {exitUsage, "kafkaops: \"nosuch\" is not a command of kafkaops describe\n"},
		"describe nosuch":           {exitUsage, "kafkaops: \"nosuch\" is not a command of kafkaops describe; a topic is described by 'kafkaops describe topics nosuch'\n"},
		"describe brokers 1":        {exitUsage, "kafkaops: kafkaops describe brokers takes no argument, got \"1\"\n"},
		"check":                     {exitUsage, "kafkaops: check what? Use one of: access, health\n"},
		"check nosuch":              {exitUsage, "kafkaops: \"nosuch\" is not a command of kafkaops check\n"},
		"check -b kafka-1:9092":     {exitUsage, "kafkaops: unknown shorthand flag: 'b' in -b\n"},
		"cluster fault kill 2":      {exitUsage, "kafkaops: kafkaops cluster fault kill takes no argument, got \"2\": did you mean --broker 2?\n"},
		"cluster fault kill two":    {exitUsage, "kafkaops: kafkaops cluster fault kill takes no argument, got \"two\"\n"},
		"check health now":          {exitUsage, "kafkaops: kafkaops check health takes no argument, got \"now\"\n"},
		"version 1":                 {exitUsage, "kafkaops: kafkaops version takes no argument, got \"1\"\n"},
		"completion":                {exitUsage, "kafkaops: completion what? Use one of: bash, fish, powershell, zsh\n"},
		"completion nosuch":         {exitUsage, "kafkaops: \"nosuch\" is not a command of kafkaops completion\n"},
		"completion bash now":       {exitUsage, "kafkaops: kafkaops completion bash takes no argument, got \"now\"\n"},
		"--bootstrap-server=x help": {exitUsage, "kafkaops: unknown flag: --bootstrap-server\n"},
	} {
		r := place{}.run(t.Context(), strings.Fields(line)...)
		text, silent := r.stdout, r.stderr
		if want.code != exitOK {
			text, silent = r.stderr, r.stdout
			if !strings.Contains(r.stderr, "\nSee 'kafkaops ") || strings.Count(r.stderr, "\n") != 2 {
				t.Errorf("kafkaops %s: got stderr %q, want the mistake and where help is", line, r.stderr)
			}
		}
		if r.code != want.code || !strings.HasPrefix(text, want.text) || silent != "" {
			t.Errorf("kafkaops %s: got %+v, want %d and %q", line, r, want.code, want.text)
		}
	}
}

// TestExitCode maps every kind of error.
func TestExitCode(t *testing.T) {
	t.Parallel()
	broken := &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
	for _, tt := range []struct {
		err    error
		want   int
		stderr string
	}{
		{nil, exitOK, ""},
		{errIncomplete, exitFailed, ""},
		{errUnhealthy, exitUnhealthy, ""},
		{broken, exitOK, ""},
		{fmt.Errorf("write: %w", fs.ErrClosed), exitOK, ""},
		{&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}, exitFailed, "kafkaops: write /dev/stdout: no space left on device\n"},
		{context.Canceled, exitInterrupted, ""},
		{fmt.Errorf("pass: %w", context.Canceled), exitInterrupted, ""},
		{usagef("--top: %w", errors.New("no\x1b[2J")), exitUsage, "kafkaops: --top: no\\x1b[2J\nSee 'kafkaops lag --help'.\n"},
		{nagiosError{nagiosCritical}, nagiosCritical, ""},
		{
			&source.BootstrapError{Failures: []inspect.Failure{
				{Address: "a:1", Phase: inspect.PhaseDial, Error: "refused"}, {Address: "b:2", Phase: inspect.PhaseTLS, Error: "expired\nyesterday"},
			}},
			exitFailed, "kafkaops: a:1: dial: refused\nkafkaops: b:2: TLS: expired\\nyesterday\n",
		},
		{errors.New("one\ntwo"), exitFailed, "kafkaops: one\\ntwo\n"},
	} {
		var stderr strings.Builder
		if got := exitCode(tt.err, &stderr, "kafkaops lag"); got != tt.want {
			t.Errorf("%v: got exit code %d, want %d", tt.err, got, tt.want)
		}
		if diff := cmp.Diff(stderr.String(), tt.stderr); diff != "" {
			t.Errorf("%v: -got +want:\n%s", tt.err, diff)
		}
	}
}

// TestInterrupted: each command ends with 130 and says nothing, whatever it waits
// for.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	lines := append(asking(t), "lag --samples 100 --interval 1h", "check health --nagios", "describe --watch -o json")
	for _, tt := range []struct {
		name  string
		fault func(line string) (f fakekafka.Faults, await kmsg.Key)
	}{
		{"mute", func(string) (fakekafka.Faults, kmsg.Key) { return fakekafka.Faults{Mute: true}, kmsg.ApiVersions }},
		{"hung later", func(line string) (fakekafka.Faults, kmsg.Key) {
			key := laterRequest(line)
			return fakekafka.Faults{HangOn: []kmsg.Key{key}}, key
		}},
	} {
		for _, line := range lines {
			t.Run(tt.name+" "+line, func(t *testing.T) {
				t.Parallel()
				m := healthyModel()
				transact(m)
				c := fakekafka.Start(t, m)
				fault, key := tt.fault(line)
				c.Break(1, fault)
				s := place{}.start(t, c.Addr(1), line+" --timeout 10m")
				await(t, c, key, 1)
				s.interrupt().want(t, exitInterrupted, "", "")
			})
		}
	}
	t.Run("between samples", func(t *testing.T) {
		t.Parallel()
		c := healthy(t)
		s := place{}.start(t, c.Addr(1), "lag --samples 3 --interval 1h")
		// All of a sample's: two brokers lead partitions and are asked six times, the
		// third one follows only.
		await(t, c, kmsg.ListOffsets, 2*6+1)
		s.interrupt().want(t, exitInterrupted, "", "")
	})
	t.Run("before it began", func(t *testing.T) {
		t.Parallel()
		c := healthy(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, line := range lines {
			place{}.run(ctx, append(strings.Fields(line), "-b", c.Bootstrap())...).want(t, exitInterrupted, "", "")
		}
	})
}

// laterRequest is one that the command sends to the bootstrap broker once it
// knows the brokers.
func laterRequest(line string) kmsg.Key {
	for command, key := range map[string]kmsg.Key{
		"describe features": kmsg.DescribeQuorum, "describe quorum": kmsg.DescribeQuorum, "describe log-dirs": kmsg.DescribeLogDirs,
		"describe brokers":       kmsg.ListPartitionReassignments,
		"describe reassignments": kmsg.ListPartitionReassignments, "describe transactions": kmsg.ListTransactions,
		"lag groups": kmsg.OffsetFetch,
	} {
		if strings.HasPrefix(line, command) {
			return key
		}
	}
	return kmsg.DescribeConfigs
}

// noReader is a pipe whose reader has gone, as os.Stdout reports it.
type noReader struct{ err error }

func (w noReader) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: w.err}
}

// TestClosedPipe ends silently; a full disk does not.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	c := unhealthy(t)
	lines := []string{"version", "completion bash", "completion zsh"}
	for _, command := range asking(t) {
		for _, flags := range []string{"", " -o wide", " -o json", " -o yaml", " --watch", " --watch -o json", " " + exitCodes[command].flags} {
			lines = append(lines, command+flags+" -b "+c.Addr(1))
		}
	}
	lines = append(lines, "check health --nagios -b "+c.Addr(1))
	for _, line := range lines {
		for _, tt := range []struct {
			err    error
			code   int
			stderr string
		}{
			{syscall.EPIPE, exitOK, ""},
			{syscall.ENOSPC, exitFailed, "kafkaops: write /dev/stdout: no space left on device\n"},
		} {
			d, env := place{}.double()
			d.Out = noReader{tt.err}
			code := run(t.Context(), strings.Fields(line), env)
			if strings.Contains(line, "--nagios") && tt.code == exitFailed {
				tt.code = nagiosUnknown
			}
			ran{code, d.Stdout.String(), d.Stderr.String()}.want(t, tt.code, "", tt.stderr)
		}
	}
}
