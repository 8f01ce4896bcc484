package looks

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// put makes a thing what it is now. Kinds that are for a later version are passed over.
func (d *Decoder) put(t thing, content []byte) error {
	switch t.kind {
	case kindCluster:
		return d.putCluster(content)
	case kindFailures:
		d.snap.Failures = nil
		return parse(content, &d.snap.Failures)
	case kindTransactions:
		return parse(content, &d.snap.Transactions)
	case kindQuorum:
		return parse(content, &d.snap.Quorum)
	case kindBroker:
		return d.putBroker(content)
	case kindLogDirs, kindBrokerConfigs, kindFeatures, kindLoad:
		return d.putOfBroker(t, content)
	case kindTopic:
		return d.putTopic(content)
	case kindTopicConfigs, kindPartition:
		return d.putOfTopic(t, content)
	case kindGroup:
		return d.putGroup(content)
	}
	return nil
}

func (d *Decoder) putCluster(content []byte) error {
	var c cluster
	if err := parse(content, &c); err != nil {
		return err
	}
	s := &d.snap
	s.ClusterID, s.Controller, s.KeepsELR, s.ToldBy, s.Asked = c.ClusterID, c.Controller, c.KeepsELR, c.ToldBy, c.Asked
	s.UnkeptTopics, s.UnkeptGroups, s.Gone = c.UnkeptTopics, c.UnkeptGroups, c.Gone
	return nil
}

func (d *Decoder) putBroker(content []byte) error {
	var b inspect.Broker
	if err := parse(content, &b); err != nil {
		return err
	}
	all := &d.snap.Brokers
	i, found := d.broker(b.ID)
	if !found {
		*all = slices.Insert(*all, i, b)
		return nil
	}
	was := &(*all)[i]
	b.LogDirs, b.Configs, b.Features, b.Load = was.LogDirs, was.Configs, was.Features, was.Load
	*was = b
	return nil
}

func (d *Decoder) putOfBroker(t thing, content []byte) error {
	i, found := d.broker(inspect.BrokerID(t.index))
	if !found {
		return ErrNotOurs
	}
	b := &d.snap.Brokers[i]
	switch t.kind {
	case kindLogDirs:
		return parse(content, &b.LogDirs)
	case kindBrokerConfigs:
		return parse(content, &b.Configs)
	case kindLoad:
		b.Load = inspect.Unknown[inspect.Load]()
		return parse(content, &b.Load)
	}
	b.Features = inspect.Unknown[inspect.BrokerFeatures]() // maps are added to
	return parse(content, &b.Features)
}

func (d *Decoder) putTopic(content []byte) error {
	var t inspect.Topic
	if err := parse(content, &t); err != nil {
		return err
	}
	all := &d.snap.Topics
	i, found := d.topic(t.Name)
	if !found {
		*all = slices.Insert(*all, i, t)
		return nil
	}
	was := &(*all)[i]
	t.Configs, t.Partitions = was.Configs, was.Partitions
	*was = t
	return nil
}

func (d *Decoder) putOfTopic(of thing, content []byte) error {
	i, found := d.topic(of.name)
	if !found {
		return ErrNotOurs
	}
	t := &d.snap.Topics[i]
	if of.kind == kindTopicConfigs {
		return parse(content, &t.Configs)
	}
	p, err := d.parsePartition(of, content)
	if err != nil {
		return err
	}
	if i, found := partition(t, p.Index); found {
		t.Partitions[i] = p
	} else {
		t.Partitions = slices.Insert(t.Partitions, i, p)
	}
	return nil
}

// parsedPartition is what a partition's JSON came to.
type parsedPartition struct {
	json  []byte
	still *inspect.Partition
}

// parsePartition remembers what it parsed: most partitions of a whole look are as they
// were in the one before.
func (d *Decoder) parsePartition(of thing, content []byte) (inspect.Partition, error) {
	was := d.parsed[of]
	if was == nil {
		was = d.parsedBefore[of]
	}
	if was == nil || !bytes.Equal(was.json, content) {
		was = &parsedPartition{json: bytes.Clone(content), still: &inspect.Partition{}}
		if err := parse(content, was.still); err != nil {
			return inspect.Partition{}, err
		}
	}
	d.parsed[of] = was
	return *stillPartition(was.still), nil
}

func (d *Decoder) putGroup(content []byte) error {
	var g inspect.Group
	if err := parse(content, &g); err != nil {
		return err
	}
	all := &d.snap.Groups
	if i, found := d.group(g.Name); found {
		(*all)[i] = g
	} else {
		*all = slices.Insert(*all, i, g)
	}
	return nil
}

// remove takes away what is gone. What belonged to something that is gone already is too.
func (d *Decoder) remove(t thing) {
	s := &d.snap
	switch t.kind {
	case kindFailures:
		s.Failures = nil
	case kindTransactions:
		s.Transactions = inspect.Unknown[inspect.Transactions]()
	case kindQuorum:
		s.Quorum = inspect.Unknown[inspect.Quorum]()
	case kindBroker:
		if i, found := d.broker(inspect.BrokerID(t.index)); found {
			s.Brokers = slices.Delete(s.Brokers, i, i+1)
		}
	case kindLogDirs, kindBrokerConfigs, kindFeatures, kindLoad:
		if i, found := d.broker(inspect.BrokerID(t.index)); found {
			removeOfBroker(&s.Brokers[i], t.kind)
		}
	case kindTopic:
		if i, found := d.topic(t.name); found {
			s.Topics = slices.Delete(s.Topics, i, i+1)
		}
	case kindTopicConfigs, kindPartition:
		if i, found := d.topic(t.name); found {
			removeOfTopic(&s.Topics[i], t)
		}
	case kindGroup:
		if i, found := d.group(t.name); found {
			s.Groups = slices.Delete(s.Groups, i, i+1)
		}
	}
}

func removeOfBroker(b *inspect.Broker, k kind) {
	switch k {
	case kindLogDirs:
		b.LogDirs = inspect.Unknown[[]inspect.LogDir]()
	case kindBrokerConfigs:
		b.Configs = inspect.Unknown[[]inspect.Config]()
	case kindFeatures:
		b.Features = inspect.Unknown[inspect.BrokerFeatures]()
	case kindLoad:
		b.Load = inspect.Unknown[inspect.Load]()
	}
}

func removeOfTopic(t *inspect.Topic, of thing) {
	if of.kind == kindTopicConfigs {
		t.Configs = inspect.Unknown[[]inspect.Config]()
		return
	}
	if i, found := partition(t, of.index); found {
		t.Partitions = slices.Delete(t.Partitions, i, i+1)
	}
}

func (d *Decoder) broker(id inspect.BrokerID) (int, bool) {
	return slices.BinarySearchFunc(d.snap.Brokers, id, func(b inspect.Broker, id inspect.BrokerID) int { return cmp.Compare(b.ID, id) })
}

func (d *Decoder) topic(name string) (int, bool) {
	return slices.BinarySearchFunc(d.snap.Topics, name, func(t inspect.Topic, name string) int { return cmp.Compare(t.Name, name) })
}

func (d *Decoder) group(name string) (int, bool) {
	return slices.BinarySearchFunc(d.snap.Groups, name, func(g inspect.Group, name string) int { return cmp.Compare(g.Name, name) })
}

func partition(t *inspect.Topic, index int32) (int, bool) {
	return slices.BinarySearchFunc(t.Partitions, index, func(p inspect.Partition, index int32) int { return cmp.Compare(p.Index, index) })
}
