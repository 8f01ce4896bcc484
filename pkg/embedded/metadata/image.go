package metadata

import (
	"bytes"
	"cmp"
	"iter"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// metadataVersionFeature is the feature that says which records may be written.
const metadataVersionFeature = "metadata.version"

// Image is the state of the cluster at one offset of its log. Start from
// [Empty]. What its methods return belongs to the image: it is to be read only.
// All of them go in the order of their keys.
type Image struct {
	brokers     table[int32, *Broker]
	controllers table[int32, *kraft.RegisterController]
	topics      table[string, *Topic]
	names       table[kraft.UUID, string] // of topics, by id
	configs     table[Resource, table[string, string]]
	features    table[string, int16] // no 0
	nextID      int64                // of a producer
	skipped     table[kraft.Type, int]
}

// Empty is the image before the first record.
func Empty() Image {
	return Image{
		brokers:     newTable[int32, *Broker](cmp.Compare[int32]),
		controllers: newTable[int32, *kraft.RegisterController](cmp.Compare[int32]),
		topics:      newTable[string, *Topic](cmp.Compare[string]),
		names:       newTable[kraft.UUID, string](func(a, b kraft.UUID) int { return bytes.Compare(a[:], b[:]) }),
		configs:     newTable[Resource, table[string, string]](compareResources),
		features:    newTable[string, int16](cmp.Compare[string]),
		skipped:     newTable[kraft.Type, int](cmp.Compare[kraft.Type]),
	}
}

// Broker is a registered broker: its registration with all changes since.
type Broker struct{ kraft.RegisterBroker }

// Active reports whether the broker may lead and join ISRs: it is neither fenced
// nor on its way out (Kafka's ReplicationControlManager.isBrokerActive, less the
// directories).
func (b *Broker) Active() bool { return !b.Fenced && !b.InControlledShutdown }

// Topic is a topic and its partitions.
type Topic struct {
	Name       string
	ID         kraft.UUID
	partitions table[int32, *kraft.Partition]
}

// Partition returns a partition's state.
func (t *Topic) Partition(id int32) (p *kraft.Partition, ok bool) { return t.partitions.get(id) }

// Partitions returns all of them.
func (t *Topic) Partitions() iter.Seq2[int32, *kraft.Partition] { return t.partitions.all() }

// Len is how many partitions there are.
func (t *Topic) Len() int { return t.partitions.len() }

// with returns the topic with another state of one partition.
func (t *Topic) with(p *kraft.Partition) *Topic {
	return &Topic{t.Name, t.ID, t.partitions.with(p.PartitionID, p)}
}

// Resource is what configs belong to.
type Resource struct {
	Type int8   // kraft.ResourceTopic, ...
	Name string // "" for the default of all brokers
}

func compareResources(a, b Resource) int {
	return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name))
}

// Broker returns a registered broker.
func (im Image) Broker(id int32) (b *Broker, ok bool) { return im.brokers.get(id) }

// Brokers returns all of them, fenced ones too.
func (im Image) Brokers() iter.Seq2[int32, *Broker] { return im.brokers.all() }

// Controllers returns the registrations of controllers, active or not.
func (im Image) Controllers() iter.Seq2[int32, *kraft.RegisterController] {
	return im.controllers.all()
}

// Topic returns a topic by its name.
func (im Image) Topic(name string) (t *Topic, ok bool) { return im.topics.get(name) }

// TopicByID returns a topic by its id, which no other topic ever had.
func (im Image) TopicByID(id kraft.UUID) (t *Topic, ok bool) {
	name, ok := im.names.get(id)
	if !ok {
		return nil, false
	}
	return im.topics.get(name)
}

// Topics returns all of them by name.
func (im Image) Topics() iter.Seq2[string, *Topic] { return im.topics.all() }

// Config returns a dynamic configuration that was set at r itself.
func (im Image) Config(r Resource, key string) (value string, ok bool) {
	configs, ok := im.configs.get(r)
	if !ok {
		return "", false
	}
	return configs.get(key)
}

// Configs returns all that were set at r itself.
func (im Image) Configs(r Resource) iter.Seq2[string, string] {
	configs, ok := im.configs.get(r)
	if !ok {
		return func(func(string, string) bool) {}
	}
	return configs.all()
}

// Feature returns the finalized level, 0 for one that is off.
func (im Image) Feature(name string) int16 {
	level, _ := im.features.get(name)
	return level
}

// Features returns all levels above 0.
func (im Image) Features() iter.Seq2[string, int16] { return im.features.all() }

// MetadataVersion is the level of metadata.version, 0 before it was finalized.
func (im Image) MetadataVersion() kraft.MetadataVersion {
	return kraft.MetadataVersion(im.Feature(metadataVersionFeature))
}

// NextProducerID is where the next block of producer ids begins.
func (im Image) NextProducerID() int64 { return im.nextID }

// Skipped counts the records that the image does not hold because their type or
// version is not known: what it says may be incomplete.
func (im Image) Skipped() iter.Seq2[kraft.Type, int] { return im.skipped.all() }
