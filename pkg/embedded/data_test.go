package embedded_test

import (
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
)

// TestDir: a cluster goes on where it was closed, with its id, its brokers and its data.
func TestDir(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "here")
	var id string
	for life := range 3 {
		o := embedded.Options{Dir: dir}
		if life == 0 {
			o.Brokers = 2
		}
		c, err := embedded.Start(within(t), o)
		if err != nil {
			t.Fatal(err)
		}
		if id == "" {
			id = c.ID()
		}
		if c.ID() != id || len(c.Brokers()) != 2 {
			t.Errorf("life %d: cluster %s of %d brokers, want %s of 2", life, c.ID(), len(c.Brokers()), id)
		}
		cl := client(t, c, kgo.ConsumeTopics("orders"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		if life == 0 {
			create(t, cl, "orders", 1, 2)
		}
		sendSync(t, cl, "orders")
		ctx := within(t)
		for n := 0; n <= life; {
			f := cl.PollFetches(ctx)
			if f.Err() != nil {
				t.Fatalf("life %d: %v", life, f.Err())
			}
			n += f.NumRecords()
		}
		cl.Close()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"controller/__cluster_metadata-0", "broker-1/orders-0", "broker-2/.kafka_cleanshutdown", "broker-2/meta.properties"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestStartRefused: what cannot be is said, with what to do; nothing is left.
func TestStartRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	taken := embeddedtest.New(t, embedded.Options{Brokers: 1, Dir: dir})
	_, port, _ := strings.Cut(taken.Broker(1).Address(), ":")
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	mixed := t.TempDir()
	for i, id := range []string{"MkU3OEVBNTcwNTJENDM2Qg", "TkU3OEVBNTcwNTJENDM2Qg"} {
		of := filepath.Join(mixed, "broker-"+strconv.Itoa(i+1))
		if err := os.Mkdir(of, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(of, "meta.properties"), []byte("cluster.id="+id+"\nnode.id=1\nversion=1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(mixed, "cluster.lock"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	beside := func(file, text string) string { // a cluster's directory with that file in it
		dir := t.TempDir()
		at := filepath.Join(dir, file)
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "cluster.lock"), nil, 0o644),
			os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, tt := range []struct {
		name string
		o    embedded.Options
		want string
	}{
		{"a directory of no broker", embedded.Options{Dir: beside("broker-150/x", "")}, "broker-150 is no directory of a cluster, whose brokers are 1 to 99: move it"},
		{"a directory like a broker's", embedded.Options{Dir: beside("broker-02/x", "")}, "broker-02 is no directory of a cluster"},
		{"an empty meta.properties", embedded.Options{Dir: beside("broker-1/meta.properties", "")}, filepath.Join("broker-1", "meta.properties") + ": it is empty, so nobody knows"},
		{"a meta.properties without an id", embedded.Options{Dir: beside("broker-1/meta.properties", "cluster.id=\n")}, "no cluster.id is in it, so nobody knows"},
		{"a release that is too old", embedded.Options{MaxVersions: "2.0"}, "MaxVersions: release 2.0 of Kafka is too old"},
		{"data in use", embedded.Options{Dir: dir}, "data directory " + dir + " is in use by another cluster of this process: stop that cluster first"},
		{"data of two clusters", embedded.Options{Dir: mixed}, "cluster.id is MkU3OEVBNTcwNTJENDM2Qg in " + filepath.Join("broker-1", "meta.properties") + " and TkU3OEVBNTcwNTJENDM2Qg in " + filepath.Join("broker-2", "meta.properties") + ": put the right one back"},
		{"a port in use", embedded.Options{Ports: []int{0, number}}, "broker 2: listen tcp 127.0.0.1:" + port},
		{"no such port", embedded.Options{Ports: []int{70000}}, "port 70000; want 1 to 65535"},
		{"too few brokers", embedded.Options{Brokers: -1}, "-1 brokers"},
		{"too many brokers", embedded.Options{Brokers: 100}, "100 brokers; want less than 100"},
		{"an unknown config", embedded.Options{Config: map[string]string{"log.retention.houers": "1"}}, "log.retention.houers"},
		{"a config that is no number", embedded.Options{Config: map[string]string{"num.partitions": "many"}}, "num.partitions=many: want a whole number from 1 on"},
		{"a config of nobody", embedded.Options{BrokerConfig: map[int]map[string]string{4: {}}}, "BrokerConfig of node 4, which there is not: brokers are 1 to 3"},
		{"a config of the ids", embedded.Options{Config: map[string]string{"node.id": "7"}}, "config node.id: it is set by Brokers"},
		{"a broker's config of the rack", embedded.Options{BrokerConfig: map[int]map[string]string{1: {"broker.rack": "a"}}}, "config broker.rack: it is set by Racks"},
		{"a host of no machine", embedded.Options{Host: "no-such-host.invalid"}, "host no-such-host.invalid cannot be resolved: "},
		{"a host of another machine", embedded.Options{Host: "192.0.2.1"}, "host 192.0.2.1: nobody can listen there: "}, // TEST-NET-1
		{"all addresses", embedded.Options{Host: "0.0.0.0"}, "host 0.0.0.0 stands for all addresses"},
		{"all addresses of IPv6", embedded.Options{Host: "::"}, "host :: stands for all addresses"},
		{"an unknown release", embedded.Options{MaxVersions: "3.99"}, "MaxVersions: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := embedded.Start(within(t), tt.o)
			if err == nil {
				t.Error(c.Close())
				t.Fatal("it starts")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, want it to say %q", err, tt.want)
			}
		})
	}
	// As another process would have it.
	if err := os.WriteFile(filepath.Join(dir, "cluster.pid"), []byte("4711\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = embedded.Start(within(t), embedded.Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "is in use by process 4711: stop that cluster first") {
		t.Errorf("data in use: got %v, want the owner's pid", err)
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	// Who was refused has not taken it with them.
	if err := embeddedtest.New(t, embedded.Options{Dir: dir}).Close(); err != nil {
		t.Error(err)
	}
	if err := taken.Broker(1).Restart(within(t)); err == nil || !strings.Contains(err.Error(), "the cluster is closed") {
		t.Errorf("restart in a closed cluster: %v", err)
	}
}

// TestForeignDir: what is not a cluster's of ours is refused, and is as it was.
func TestForeignDir(t *testing.T) {
	t.Parallel()
	const meta = "cluster.id=MkU3OEVBNTcwNTJENDM2Qg\nnode.id=1\nversion=1\n"
	for name, tt := range map[string]struct {
		files map[string]string
		want  string // empty where the cluster starts
	}{
		"empty":                {nil, ""},
		"a log of the command": {map[string]string{"kafkaops.log": "x"}, ""},
		"somebody's files":     {map[string]string{"a.txt": "x", "b/c": "y", "d": "", "e": "", "f": ""}, "it is not empty (a.txt, b, d and 2 more), and what lies there is no cluster's: choose an empty directory"},
		"a Kafka's log.dirs":   {map[string]string{"meta.properties": meta, "orders-0/00000000000000000000.log": ""}, "it has a Kafka's data (meta.properties)"},
		"several Kafkas'":      {map[string]string{"broker-1/meta.properties": meta, "controller/meta.properties": meta}, "it has a Kafka's data (broker-1/meta.properties)"},
	} {
		dir := t.TempDir()
		for file, text := range tt.files {
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		before := listing(t, dir)
		c, err := embedded.Start(within(t), embedded.Options{Brokers: 1, Dir: dir})
		if tt.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if err := c.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil {
			t.Fatalf("%s: it starts: %v", name, c.Close())
		}
		var refused *embedded.DirError
		if !errors.As(err, &refused) || refused.Dir != dir || !strings.Contains(filepath.ToSlash(err.Error()), tt.want) {
			t.Errorf("%s: got %v, want a DirError that says %q", name, err, tt.want)
		}
		if _, err := embedded.BrokersIn(dir); !errors.As(err, &refused) {
			t.Errorf("%s: BrokersIn: got %v", name, err)
		}
		if after := listing(t, dir); after != before {
			t.Errorf("%s: left\n%s\nwas\n%s", name, after, before)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var refused *embedded.DirError
	if _, err := embedded.Start(within(t), embedded.Options{Dir: filepath.Join(file, "below")}); !errors.As(err, &refused) || strings.Contains(err.Error(), "mkdir") {
		t.Errorf("below a file: got %v, want a DirError without the call that failed", err)
	}
}

// listing is every path below dir.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		b.WriteString(path + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBrokersIn: data is opened with as many brokers as it is of, or more.
func TestBrokersIn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	for _, tt := range []struct {
		brokers, there int
		want           string
	}{
		{2, 0, ""}, {1, 2, "data of 2 brokers, and a cluster of 1 would leave 1 behind"}, {3, 2, ""}, {0, 3, ""},
	} {
		if n, err := embedded.BrokersIn(dir); err != nil || n != tt.there {
			t.Errorf("before %+v: got %d, %v", tt, n, err)
		}
		c, err := embedded.Start(within(t), embedded.Options{Brokers: tt.brokers, Dir: dir})
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Fatalf("%+v: got %v", tt, err)
		}
		if err == nil {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestNothingLeft: a start that comes to nothing before a node has begun leaves no
// directory that was not there.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	ports := []int{0, taken.Addr().(*net.TCPAddr).Port}
	root := t.TempDir()
	dir := filepath.Join(root, "made", "here")
	if _, err := embedded.Start(within(t), embedded.Options{Dir: dir, Ports: ports}); err == nil {
		t.Fatal("it starts")
	}
	if left := listing(t, root); left != root+"\n" {
		t.Errorf("left:\n%s", left)
	}
	// Whichever node it is that would not take its configs.
	for _, o := range []embedded.Options{
		{Config: map[string]string{"log.retention.houers": "1"}},
		{Config: map[string]string{"min.insync.replicas": "many"}},
		{BrokerConfig: map[int]map[string]string{2: {"log.retention.houers": "1"}}},
		{BrokerConfig: map[int]map[string]string{embedded.ControllerID: {"num.partitions": "many"}}},
		{BrokerConfig: map[int]map[string]string{4: {}}},
	} {
		o.Dir = dir
		if _, err := embedded.Start(within(t), o); err == nil {
			t.Fatalf("it starts with %v, %v", o.Config, o.BrokerConfig)
		}
		if left := listing(t, root); left != root+"\n" {
			t.Errorf("%v, %v left:\n%s", o.Config, o.BrokerConfig, left)
		}
	}
	// Data that is there stays.
	c, err := embedded.Start(within(t), embedded.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	before := listing(t, root)
	if _, err := embedded.Start(within(t), embedded.Options{Dir: dir, Ports: ports}); err == nil {
		t.Fatal("it starts")
	}
	if left := listing(t, root); left != before {
		t.Errorf("left:\n%s\nwas\n%s", left, before)
	}
}

// TestUnheeded: what is Kafka's and changes nothing can be told before the start.
func TestUnheeded(t *testing.T) {
	t.Parallel()
	o := embedded.Options{
		Config:       map[string]string{"num.io.threads": "9", "min.insync.replicas": "2", "broker.session.timeout.ms": "1000"},
		BrokerConfig: map[int]map[string]string{1: {"log.retention.hours": "1", "num.io.threads": "8"}},
	}
	if got := o.Unheeded(); !slices.Equal(got, []string{"log.retention.hours", "num.io.threads"}) {
		t.Errorf("got %v", got)
	}
}

// TestOptions: ports, racks and configs are where they were asked for.
func TestOptions(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{
		Racks:        []string{"a", "", "c"},
		Config:       map[string]string{"num.partitions": "5", "default.replication.factor": "2"},
		BrokerConfig: map[int]map[string]string{1: {"message.max.bytes": "500"}},
	})
	cl := client(t, c)
	create(t, cl, "orders", -1, -1)
	p := partition(t, cl, "orders", 4, led)
	if len(p.Replicas) != 2 {
		t.Errorf("replicas %v, want two", p.Replicas)
	}
	brokers, err := cl.Request(within(t), metadataRequest())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range brokersOf(brokers) {
		want := map[int32]string{1: "a", 3: "c"}[b.NodeID]
		if got := b.Rack; (got == nil) != (want == "") || got != nil && *got != want {
			t.Errorf("broker %d is in rack %v, want %q", b.NodeID, got, want)
		}
	}
	large := func(broker int32) error {
		for id := range int32(5) {
			if partition(t, cl, "orders", id, led).Leader == broker {
				pc := client(t, c, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(kgo.NoCompression()))
				return pc.ProduceSync(within(t), &kgo.Record{Topic: "orders", Partition: id, Value: make([]byte, 1000)}).FirstErr()
			}
		}
		t.Fatalf("broker %d leads nothing", broker)
		return nil
	}
	if err := large(1); err == nil {
		t.Error("broker 1 takes a record of 1000 bytes, though its message.max.bytes is 500")
	}
	if err := large(2); err != nil {
		t.Errorf("broker 2: %v", err)
	}
}

// TestMaxVersions: clients are offered what a release of Kafka had.
func TestMaxVersions(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]int16{"": 18, "3.9": 17, "3.0": 12} {
		c := embeddedtest.New(t, embedded.Options{Brokers: 2, MaxVersions: release})
		cl := client(t, c)
		resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(within(t), cl)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range resp.ApiKeys {
			if k.ApiKey == int16(kmsg.Fetch) && k.MaxVersion != want {
				t.Errorf("MaxVersions %q: Fetch up to version %d, want %d", release, k.MaxVersion, want)
			}
		}
		// Brokers go on to speak with each other as they do.
		create(t, cl, "orders", 1, 2)
		sendSync(t, cl, "orders")
	}
}

// TestCheckpointsThatAreNone: the log warns of checkpoints that cannot be read, and what
// they told is found out again.
func TestCheckpointsThatAreNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var log lines
	o := embedded.Options{Brokers: 1, Dir: dir, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	names := []string{"recovery-point-offset-checkpoint", "replication-offset-checkpoint"}
	for life := range 2 {
		c, err := embedded.Start(within(t), o)
		if err != nil {
			t.Fatal(err)
		}
		cl := client(t, c)
		if life == 0 {
			create(t, cl, "orders", 1, 1)
		}
		sendSync(t, cl, "orders")
		cl.Close()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if got := strings.Contains(log.String(), `level=WARN msg="`+name+": "); got != (life == 1) {
				t.Errorf("life %d: got %q; want %s in it only where it was damaged", life, log.String(), name)
			}
			if err := os.WriteFile(filepath.Join(dir, "broker-1", name), []byte("garbage\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
