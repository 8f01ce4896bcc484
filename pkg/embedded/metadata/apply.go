package metadata

import (
	"cmp"
	"fmt"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// Apply returns the image after rec. An error means that the record contradicts
// the image, such as a change of a partition that there is not: the log is
// damaged, or whoever wrote it is wrong. The image itself is as it was.
//
// rec belongs to the image afterwards.
func (im Image) Apply(rec kraft.Record) (Image, error) {
	after, err := im.apply(rec)
	if err != nil {
		return im, fmt.Errorf("metadata: replay %s: %w", rec.Type(), err)
	}
	return after, nil
}

// apply has one line for each type.
func (im Image) apply(rec kraft.Record) (Image, error) {
	switch rec := rec.(type) {
	case *kraft.RegisterBroker:
		im.brokers = im.brokers.with(rec.BrokerID, &Broker{*rec})
	case *kraft.BrokerRegistrationChange:
		return im.changeBroker(rec)
	case *kraft.FenceBroker:
		return im.changeBroker(&kraft.BrokerRegistrationChange{BrokerID: rec.ID, BrokerEpoch: rec.Epoch, Fenced: kraft.Fenced})
	case *kraft.UnfenceBroker:
		return im.changeBroker(&kraft.BrokerRegistrationChange{BrokerID: rec.ID, BrokerEpoch: rec.Epoch, Fenced: kraft.Unfenced})
	case *kraft.UnregisterBroker:
		return im.unregisterBroker(rec)
	case *kraft.RegisterController:
		im.controllers = im.controllers.with(rec.ControllerID, rec)
	case *kraft.UnregisterController:
		im.controllers = im.controllers.without(rec.ControllerID)
	case *kraft.Topic:
		return im.addTopic(rec)
	case *kraft.RemoveTopic:
		return im.removeTopic(rec)
	case *kraft.Partition:
		return im.setPartition(rec)
	case *kraft.PartitionChange:
		return im.changePartition(rec)
	case *kraft.ClearELR:
		return im.clearELR(rec)
	case *kraft.Config:
		im.setConfig(rec)
	case *kraft.FeatureLevel:
		im.setFeature(rec)
	case *kraft.ProducerIDs:
		im.nextID = rec.NextProducerID
	case *kraft.BeginTransaction, *kraft.EndTransaction, *kraft.AbortTransaction:
		return im, fmt.Errorf("a transaction is not one record's: use Replay")
	case *kraft.Unknown:
		n, _ := im.skipped.get(rec.Of)
		im.skipped = im.skipped.with(rec.Of, n+1)
	}
	return im, nil
}

func (im Image) changeBroker(rec *kraft.BrokerRegistrationChange) (Image, error) {
	old, err := im.registered(rec.BrokerID, rec.BrokerEpoch)
	if err != nil {
		return im, err
	}
	b := *old
	switch rec.Fenced {
	case kraft.Fenced:
		b.Fenced = true
	case kraft.Unfenced:
		b.Fenced = false
	case kraft.FencingNoChange:
	default:
		return im, fmt.Errorf("fenced=%d: want -1, 0 or 1", rec.Fenced)
	}
	switch rec.InControlledShutdown {
	case kraft.InControlledShutdown:
		b.InControlledShutdown = true
	case kraft.ControlledShutdownNoChange:
	default:
		return im, fmt.Errorf("inControlledShutdown=%d: want 0 or 1", rec.InControlledShutdown)
	}
	if len(rec.LogDirs) > 0 {
		b.LogDirs = rec.LogDirs
	}
	if rec.CordonedLogDirs != nil {
		b.CordonedLogDirs = rec.CordonedLogDirs
	}
	im.brokers = im.brokers.with(b.BrokerID, &b)
	return im, nil
}

// registered returns the broker if that is its life.
func (im Image) registered(id int32, epoch int64) (*Broker, error) {
	b, ok := im.brokers.get(id)
	if !ok {
		return nil, fmt.Errorf("broker %d is not registered", id)
	}
	if b.BrokerEpoch != epoch {
		return nil, fmt.Errorf("broker %d has epoch %d, the record is about %d", id, b.BrokerEpoch, epoch)
	}
	return b, nil
}

func (im Image) unregisterBroker(rec *kraft.UnregisterBroker) (Image, error) {
	if _, err := im.registered(rec.BrokerID, rec.BrokerEpoch); err != nil {
		return im, err
	}
	im.brokers = im.brokers.without(rec.BrokerID)
	return im, nil
}

func (im Image) addTopic(rec *kraft.Topic) (Image, error) {
	if old, ok := im.topics.get(rec.Name); ok {
		return im, fmt.Errorf("topic %q is there already, with id %s", rec.Name, old.ID)
	}
	if name, ok := im.names.get(rec.TopicID); ok {
		return im, fmt.Errorf("topic %q: id %s is that of topic %q", rec.Name, rec.TopicID, name)
	}
	im.topics = im.topics.with(rec.Name, &Topic{rec.Name, rec.TopicID, newTable[int32, *kraft.Partition](cmp.Compare[int32])})
	im.names = im.names.with(rec.TopicID, rec.Name)
	return im, nil
}

// removeTopic removes its partitions and configs too: no records about those
// follow (Kafka's ReplicationControlManager and ConfigurationsDelta).
func (im Image) removeTopic(rec *kraft.RemoveTopic) (Image, error) {
	t, ok := im.TopicByID(rec.TopicID)
	if !ok {
		return im, fmt.Errorf("there is no topic with id %s", rec.TopicID)
	}
	im.topics = im.topics.without(t.Name)
	im.names = im.names.without(t.ID)
	im.configs = im.configs.without(Resource{kraft.ResourceTopic, t.Name})
	return im, nil
}

func (im *Image) setConfig(rec *kraft.Config) {
	r := Resource{rec.ResourceType, rec.ResourceName}
	configs, ok := im.configs.get(r)
	if !ok {
		configs = newTable[string, string](cmp.Compare[string])
	}
	if rec.Value != nil {
		configs = configs.with(rec.Name, *rec.Value)
	} else {
		configs = configs.without(rec.Name)
	}
	if configs.len() == 0 {
		im.configs = im.configs.without(r)
		return
	}
	im.configs = im.configs.with(r, configs)
}

func (im *Image) setFeature(rec *kraft.FeatureLevel) {
	if rec.FeatureLevel == 0 {
		im.features = im.features.without(rec.Name)
		return
	}
	im.features = im.features.with(rec.Name, rec.FeatureLevel)
}
