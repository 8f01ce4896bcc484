package metadata

import "github.com/kafkaops/kafkaops/internal/kraft"

// Records returns the image as the records of a snapshot, in an order in which
// they can be replayed: features, brokers, controllers, topics each with its
// partitions, configs, producer ids. [Image.Skipped] is not in it. The records
// are copies, but their lists are the image's.
func (im Image) Records() []kraft.Record {
	var all []kraft.Record
	for name, level := range im.Features() {
		all = append(all, &kraft.FeatureLevel{Name: name, FeatureLevel: level})
	}
	for _, b := range im.Brokers() {
		rec := b.RegisterBroker
		all = append(all, &rec)
	}
	for _, c := range im.Controllers() {
		rec := *c
		all = append(all, &rec)
	}
	for _, t := range im.Topics() {
		all = append(all, &kraft.Topic{Name: t.Name, TopicID: t.ID})
		for _, p := range t.Partitions() {
			rec := *p
			all = append(all, &rec)
		}
	}
	for r, configs := range im.configs.all() {
		for key, value := range configs.all() {
			all = append(all, &kraft.Config{ResourceType: r.Type, ResourceName: r.Name, Name: key, Value: &value})
		}
	}
	if im.nextID > 0 { // whose the last block is does not matter any more, and Kafka says nobody's too
		all = append(all, &kraft.ProducerIDs{BrokerID: -1, BrokerEpoch: -1, NextProducerID: im.nextID})
	}
	return all
}
