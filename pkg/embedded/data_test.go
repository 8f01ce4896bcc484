package embedded_test

import (
	"os"
	"path/filepath"
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
	for _, tt := range []struct {
		name string
		o    embedded.Options
		want string
	}{
		{"data in use", embedded.Options{Dir: dir}, "data directory " + dir + " is in use by another cluster of this process: stop that cluster first"},
		{"data of two clusters", embedded.Options{Dir: mixed}, "has data of two clusters"},
		{"a port in use", embedded.Options{Ports: []int{0, number}}, "broker 2: listen tcp 127.0.0.1:" + port},
		{"no such port", embedded.Options{Ports: []int{70000}}, "port 70000; want 1 to 65535"},
		{"too few brokers", embedded.Options{Brokers: -1}, "-1 brokers"},
		{"too many brokers", embedded.Options{Brokers: 100}, "100 brokers; want less than 100"},
		{"an unknown config", embedded.Options{Config: map[string]string{"log.retention.houers": "1"}}, "log.retention.houers"},
		{"a config that is no number", embedded.Options{Config: map[string]string{"num.partitions": "many"}}, "num.partitions=many: want a whole number from 1 on"},
		{"a config of nobody", embedded.Options{BrokerConfig: map[int]map[string]string{4: {}}}, "BrokerConfig of node 4, which there is not: brokers are 1 to 3"},
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
