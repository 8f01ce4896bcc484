package metadata

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

var (
	orders  = kraft.UUID{0: 1}
	dirA    = kraft.UUID{0: 0xa}
	dirB    = kraft.UUID{0: 0xb}
	unknown = kraft.UUID{0: 99}
)

// replayed applies records to an image, all of which must be right.
func replayed(t testing.TB, im Image, records ...kraft.Record) Image {
	t.Helper()
	for _, rec := range records {
		var err error
		if im, err = im.Apply(rec); err != nil {
			t.Fatal(err)
		}
	}
	return im
}

// small is a cluster of one broker and one partition.
func small(t testing.TB) Image {
	return replayed(
		t, Empty(),
		&kraft.FeatureLevel{Name: "metadata.version", FeatureLevel: 33},
		&kraft.RegisterBroker{BrokerID: 1, BrokerEpoch: 14, Fenced: true, LogDirs: []kraft.UUID{dirA, dirB}},
		&kraft.Topic{Name: "orders", TopicID: orders},
		&kraft.Partition{
			TopicID: orders, Replicas: []int32{1, 2, 3}, ISR: []int32{1, 2}, Leader: 1, LeaderEpoch: 4, PartitionEpoch: 7,
			EligibleLeaderReplicas: []int32{3},
		},
	)
}

// change is a PartitionChange of orders-0 with one thing set.
func change(set func(*kraft.PartitionChange)) *kraft.PartitionChange {
	rec := kraft.NewPartitionChange(orders, 0)
	set(rec)
	return rec
}

func TestPartitionChange(t *testing.T) {
	t.Parallel()
	three := make([]kraft.UUID, 3)
	before := kraft.Partition{
		TopicID: orders, Replicas: []int32{1, 2, 3}, ISR: []int32{1, 2}, Leader: 1, LeaderEpoch: 4, PartitionEpoch: 7,
		EligibleLeaderReplicas: []int32{3}, Directories: three,
	}
	cases := []struct {
		name string
		set  func(*kraft.PartitionChange)
		want func(*kraft.Partition)
	}{
		{"nothing", func(*kraft.PartitionChange) {}, func(*kraft.Partition) {}},
		{
			"shrink: no new leader epoch",
			func(c *kraft.PartitionChange) { c.ISR = []int32{1} },
			func(p *kraft.Partition) { p.ISR = []int32{1} },
		},
		{
			"election",
			func(c *kraft.PartitionChange) { c.Leader = 2 },
			func(p *kraft.Partition) { p.Leader, p.LeaderEpoch = 2, 5 },
		},
		{
			"the same leader again: a new epoch all the same",
			func(c *kraft.PartitionChange) { c.Leader = 1 },
			func(p *kraft.Partition) { p.LeaderEpoch = 5 },
		},
		{
			"leaderless, ISR empty",
			func(c *kraft.PartitionChange) {
				c.ISR, c.Leader, c.LastKnownELR = []int32{}, kraft.NoLeader, []int32{1}
			},
			func(p *kraft.Partition) {
				p.ISR, p.Leader, p.LeaderEpoch, p.LastKnownELR = nil, kraft.NoLeader, 5, []int32{1}
			},
		},
		{
			"unclean election",
			func(c *kraft.PartitionChange) {
				c.ISR, c.Leader, c.LeaderRecoveryState, c.EligibleLeaderReplicas = []int32{3}, 3, kraft.Recovering, []int32{}
			},
			func(p *kraft.Partition) {
				p.ISR, p.Leader, p.LeaderEpoch, p.LeaderRecoveryState = []int32{3}, 3, 5, kraft.Recovering
				p.EligibleLeaderReplicas = nil
			},
		},
		{
			"reassignment starts",
			func(c *kraft.PartitionChange) {
				c.Replicas, c.AddingReplicas, c.RemovingReplicas = []int32{4, 1, 2, 3}, []int32{4}, []int32{3}
				c.Directories = []kraft.UUID{dirA, {}, {}, {}}
			},
			func(p *kraft.Partition) {
				p.Replicas, p.AddingReplicas, p.RemovingReplicas = []int32{4, 1, 2, 3}, []int32{4}, []int32{3}
				p.Directories = []kraft.UUID{dirA, {}, {}, {}}
			},
		},
		{
			"placement",
			func(c *kraft.PartitionChange) { c.Directories = []kraft.UUID{dirA, dirB, kraft.LostDirectory} },
			func(p *kraft.Partition) { p.Directories = []kraft.UUID{dirA, dirB, kraft.LostDirectory} },
		},
	}
	for _, c := range cases {
		im := replayed(t, small(t), change(c.set))
		want := before
		want.PartitionEpoch++
		c.want(&want)
		if diff := cmp.Diff(&want, partition(t, im)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", c.name, diff)
		}
	}
}

func partition(t testing.TB, im Image) *kraft.Partition {
	t.Helper()
	topic, ok := im.TopicByID(orders)
	if !ok {
		t.Fatal("no topic")
	}
	p, ok := topic.Partition(0)
	if !ok {
		t.Fatal("no partition")
	}
	return p
}

func TestClearELR(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "orders"} {
		im := replayed(t, small(t), &kraft.Partition{TopicID: orders, PartitionID: 1, PartitionEpoch: 3}, &kraft.ClearELR{TopicName: name})
		if p := partition(t, im); p.EligibleLeaderReplicas != nil || p.PartitionEpoch != 8 || p.LeaderEpoch != 4 {
			t.Errorf("%q: got %+v", name, p)
		}
		topic, _ := im.Topic("orders")
		if p, _ := topic.Partition(1); p.PartitionEpoch != 3 {
			t.Errorf("%q: a partition without ELR has epoch %d, want 3", name, p.PartitionEpoch)
		}
	}
}

func TestBrokerChange(t *testing.T) {
	t.Parallel()
	im := small(t)
	step := func(rec kraft.Record, fenced, leaving bool, dirs, cordoned int) {
		t.Helper()
		im = replayed(t, im, rec)
		b, _ := im.Broker(1)
		if b.Fenced != fenced || b.InControlledShutdown != leaving || len(b.LogDirs) != dirs || len(b.CordonedLogDirs) != cordoned {
			t.Errorf("after %+v: %+v", rec, b)
		}
		if b.Active() == (fenced || leaving) {
			t.Errorf("after %+v: active %v", rec, b.Active())
		}
	}
	step(&kraft.BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 14, Fenced: kraft.Unfenced}, false, false, 2, 0)
	step(&kraft.BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 14, CordonedLogDirs: []kraft.UUID{dirA}}, false, false, 2, 1)
	step(&kraft.BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 14, LogDirs: []kraft.UUID{dirB}}, false, false, 1, 1)
	step(&kraft.BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 14, InControlledShutdown: kraft.InControlledShutdown}, false, true, 1, 1)
	step(&kraft.BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 14, CordonedLogDirs: []kraft.UUID{}}, false, true, 1, 0)
	step(&kraft.FenceBroker{ID: 1, Epoch: 14}, true, true, 1, 0)
	step(&kraft.UnfenceBroker{ID: 1, Epoch: 14}, false, true, 1, 0)
	step(&kraft.RegisterBroker{BrokerID: 1, BrokerEpoch: 20}, false, false, 0, 0)
	if _, ok := replayed(t, im, &kraft.UnregisterBroker{BrokerID: 1, BrokerEpoch: 20}).Broker(1); ok {
		t.Error("still registered")
	}
}

func TestRemoveTopic(t *testing.T) {
	t.Parallel()
	im := small(t)
	for _, r := range []Resource{{kraft.ResourceTopic, "orders"}, {kraft.ResourceBroker, ""}} {
		im = replayed(t, im, &kraft.Config{ResourceType: r.Type, ResourceName: r.Name, Name: "min.insync.replicas", Value: new("2")})
	}
	im = replayed(t, im, &kraft.RemoveTopic{TopicID: orders})
	if _, ok := im.Topic("orders"); ok {
		t.Error("the topic is there by name")
	}
	if _, ok := im.TopicByID(orders); ok {
		t.Error("the topic is there by id")
	}
	if value, ok := im.Config(Resource{kraft.ResourceTopic, "orders"}, "min.insync.replicas"); ok {
		t.Errorf("its config is %s", value)
	}
	if value, _ := im.Config(Resource{kraft.ResourceBroker, ""}, "min.insync.replicas"); value != "2" {
		t.Errorf("the cluster's config is %q", value)
	}
	// And it may come again, with another id.
	replayed(t, im, &kraft.Topic{Name: "orders", TopicID: unknown})
}

func TestConfigsAndFeatures(t *testing.T) {
	t.Parallel()
	r := Resource{kraft.ResourceTopic, "orders"}
	im := replayed(
		t, small(t),
		&kraft.Config{ResourceType: r.Type, ResourceName: r.Name, Name: "b", Value: new("2")},
		&kraft.Config{ResourceType: r.Type, ResourceName: r.Name, Name: "a", Value: new("1")},
		&kraft.FeatureLevel{Name: "group.version", FeatureLevel: 1},
		&kraft.ProducerIDs{BrokerID: 1, NextProducerID: 1000},
		&kraft.RegisterController{ControllerID: 100},
		&kraft.Unknown{Of: 77},
		&kraft.Unknown{Of: 77},
		&kraft.NoOp{},
	)
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2"}, maps.Collect(im.Configs(r))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[kraft.Type]int{77: 2}, maps.Collect(im.Skipped())); diff != "" {
		t.Error(diff)
	}
	if got := im.MetadataVersion(); got != 33 {
		t.Errorf("metadata.version %d", got)
	}
	if got := im.NextProducerID(); got != 1000 {
		t.Errorf("next producer id %d", got)
	}
	if diff := cmp.Diff(map[string]int16{"metadata.version": 33, "group.version": 1}, maps.Collect(im.Features())); diff != "" {
		t.Error(diff)
	}
	im = replayed(
		t, im,
		&kraft.Config{ResourceType: r.Type, ResourceName: r.Name, Name: "a"},
		&kraft.Config{ResourceType: r.Type, ResourceName: r.Name, Name: "b"},
		&kraft.FeatureLevel{Name: "group.version"},
		&kraft.UnregisterController{ControllerID: 100},
	)
	if diff := cmp.Diff(append(small(t).Records(), &kraft.ProducerIDs{BrokerID: -1, BrokerEpoch: -1, NextProducerID: 1000}), im.Records()); diff != "" {
		t.Error(diff)
	}
}

func TestContradictions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rec  kraft.Record
		want string
	}{
		{&kraft.Topic{Name: "orders", TopicID: unknown}, `topic "orders" is there already`},
		{&kraft.Topic{Name: "other", TopicID: orders}, `is that of topic "orders"`},
		{&kraft.RemoveTopic{TopicID: unknown}, "no topic with id"},
		{&kraft.Partition{TopicID: unknown}, "no topic with id"},
		{&kraft.Partition{TopicID: orders, Replicas: []int32{1}, Directories: []kraft.UUID{dirA, dirB}}, "orders-0: 2 directories for 1 replicas"},
		{kraft.NewPartitionChange(unknown, 0), "no topic with id"},
		{kraft.NewPartitionChange(orders, 9), "no partition orders-9"},
		{change(func(c *kraft.PartitionChange) { c.Directories = []kraft.UUID{dirA} }), "1 directories for 3 replicas"},
		{change(func(c *kraft.PartitionChange) { c.Replicas = []int32{1} }), "3 directories for 1 replicas"},
		{change(func(c *kraft.PartitionChange) { c.LeaderRecoveryState = 5 }), "leaderRecoveryState=5"},
		{&kraft.ClearELR{TopicName: "other"}, `no topic "other"`},
		{&kraft.BrokerRegistrationChange{BrokerID: 2}, "broker 2 is not registered"},
		{&kraft.BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 13}, "broker 1 has epoch 14, the record is about 13"},
		{&kraft.BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 14, Fenced: 2}, "fenced=2"},
		{&kraft.BrokerRegistrationChange{BrokerID: 1, BrokerEpoch: 14, InControlledShutdown: -1}, "inControlledShutdown=-1"},
		{&kraft.UnregisterBroker{BrokerID: 1, BrokerEpoch: 13}, "has epoch 14"},
		{&kraft.EndTransaction{}, "use Replay"},
	} {
		before := small(t)
		after, err := before.Apply(c.rec)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.rec.Type().String()) {
			t.Errorf("%+v: error %v, want %q", c.rec, err, c.want)
		}
		if diff := cmp.Diff(before.Records(), after.Records()); diff != "" {
			t.Errorf("%+v: changed:\n%s", c.rec, diff)
		}
	}
}

func TestTransaction(t *testing.T) {
	t.Parallel()
	r := NewReplay(small(t))
	apply := func(rec kraft.Record) {
		t.Helper()
		if err := r.Apply(rec); err != nil {
			t.Fatal(err)
		}
	}
	level := func(want int16) {
		t.Helper()
		if got := r.Image().Feature("x"); got != want {
			t.Errorf("level %d, want %d", got, want)
		}
	}
	refused := func(rec kraft.Record) {
		t.Helper()
		if err := r.Apply(rec); err == nil {
			t.Errorf("%s was accepted", rec.Type())
		}
	}
	apply(&kraft.FeatureLevel{Name: "x", FeatureLevel: 1})
	level(1)
	refused(&kraft.EndTransaction{})
	refused(&kraft.AbortTransaction{})
	apply(&kraft.BeginTransaction{})
	refused(&kraft.BeginTransaction{})
	apply(&kraft.FeatureLevel{Name: "x", FeatureLevel: 2})
	apply(&kraft.RemoveTopic{TopicID: orders})
	refused(kraft.NewPartitionChange(orders, 0)) // gone, inside
	level(1)
	if !r.InTransaction() {
		t.Error("not in a transaction")
	}
	apply(&kraft.AbortTransaction{})
	level(1)
	apply(kraft.NewPartitionChange(orders, 0))
	apply(&kraft.BeginTransaction{})
	apply(&kraft.FeatureLevel{Name: "x", FeatureLevel: 3})
	apply(&kraft.EndTransaction{})
	level(3)
	if r.InTransaction() {
		t.Error("still in a transaction")
	}
}

// TestImages: whatever is replayed, earlier images stay as they were, and an image
// is the same as the replay of its own records.
func TestImages(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		im := small(t)
		type moment struct {
			image   Image
			records []kraft.Record
		}
		var past []moment
		id := rapid.Int32Range(0, 3)
		topic := rapid.SampledFrom([]kraft.UUID{orders, {0: 2}, {0: 3}})
		ids := rapid.SliceOfN(rapid.Int32Range(1, 5), 0, 3)
		for range rapid.IntRange(1, 30).Draw(rt, "n") {
			var rec kraft.Record
			switch rapid.IntRange(0, 8).Draw(rt, "what") {
			case 0:
				rec = &kraft.RegisterBroker{BrokerID: id.Draw(rt, "id"), BrokerEpoch: 1, Fenced: true}
			case 1:
				rec = &kraft.BrokerRegistrationChange{BrokerID: id.Draw(rt, "id"), BrokerEpoch: 1, Fenced: kraft.Unfenced}
			case 2:
				u := topic.Draw(rt, "topic")
				rec = &kraft.Topic{Name: u.String(), TopicID: u}
			case 3:
				rec = &kraft.RemoveTopic{TopicID: topic.Draw(rt, "topic")}
			case 4:
				rec = &kraft.Partition{TopicID: topic.Draw(rt, "topic"), PartitionID: id.Draw(rt, "id"), Replicas: ids.Draw(rt, "ids")}
			case 5, 6:
				c := kraft.NewPartitionChange(topic.Draw(rt, "topic"), id.Draw(rt, "id"))
				c.ISR, c.Leader, c.EligibleLeaderReplicas = ids.Draw(rt, "ids"), id.Draw(rt, "leader"), ids.Draw(rt, "elr")
				rec = c
			case 7:
				rec = &kraft.ClearELR{}
			case 8:
				value := rapid.SampledFrom([]*string{nil, new("1"), new("2")}).Draw(rt, "value")
				rec = &kraft.Config{ResourceType: 2, ResourceName: topic.Draw(rt, "topic").String(), Name: "key", Value: value}
			}
			past = append(past, moment{im, im.Records()})
			im, _ = im.Apply(rec) // what contradicts is refused, and changes nothing
		}
		for _, m := range past {
			if now := m.image.Records(); !reflect.DeepEqual(m.records, now) {
				rt.Fatalf("an earlier image changed:\n%s", cmp.Diff(m.records, now))
			}
		}
		if diff := cmp.Diff(im.Records(), replayed(t, Empty(), im.Records()...).Records()); diff != "" {
			rt.Fatalf("its records do not make the image:\n%s", diff)
		}
	})
}
