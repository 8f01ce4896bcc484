package sim

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// I16: a broker's image is that of the controller's log up to its offset; a topic
// that is made anew has a new id; nothing crosses from one id to another.

func (m *model) topicMade(rec *kraft.Topic) {
	if name, ok := m.ids[rec.TopicID]; ok && name != "" {
		m.w.fail("I16", "topic %s is made with the id %s, which %s had", rec.Name, rec.TopicID, name)
	}
	m.ids[rec.TopicID] = rec.Name
}

// checkImage compares a broker's image with the controller's.
func (w *World) checkImage(p *proc) {
	offset := p.node.MetadataOffset()
	m := &w.model
	i, found := slices.BinarySearchFunc(m.images, offset, func(im imageAt, o int64) int { return int(im.offset - o) })
	if !found {
		if offset > m.images[len(m.images)-1].offset {
			w.fail("I16", "%s has metadata up to %d, and the controller's log ends at %d", p.name, offset, m.images[len(m.images)-1].offset)
		}
		// The controller's own records lie between, or the broker stands within a batch.
		if i == 0 || i >= len(m.images) || m.images[i].offset-offset > 0 && !p.betweenBatches(m, i) {
			return
		}
		i--
	}
	if what := m.differ(p.node.Image(), m.images[i].image); what != "" {
		w.fail("I16", "%s at metadata offset %d: %s", p.name, offset, what)
	}
}

func (p *proc) betweenBatches(*model, int) bool { return false }

// differ says in what two images differ, "" if in nothing.
func (m *model) differ(a, b metadata.Image) string {
	x, y := a.Records(), b.Records()
	if len(x) != len(y) {
		return fmt.Sprintf("%d things, the controller has %d", len(x), len(y))
	}
	for i := range x {
		var errA, errB error
		v := b.MetadataVersion().RecordVersion(y[i])
		m.encA, errA = kraft.Append(m.encA[:0], x[i], v)
		m.encB, errB = kraft.Append(m.encB[:0], y[i], v)
		if errA != nil || errB != nil || !bytes.Equal(m.encA, m.encB) {
			return "it has " + describeWhole(x[i]) + ", the controller " + describeWhole(y[i])
		}
	}
	return ""
}

// topicConfig is a topic's config, or the cluster's default of the same name.
func topicConfig(im metadata.Image, topic, key string) string {
	if v, ok := im.Config(metadata.Resource{Type: kraft.ResourceTopic, Name: topic}, key); ok {
		return v
	}
	v, _ := im.Config(metadata.Resource{Type: kraft.ResourceBroker}, key)
	return v
}

// topicFlush is flush.messages, 0 where nobody has set it.
func topicFlush(im metadata.Image, topic string) int64 {
	n, err := strconv.ParseInt(topicConfig(im, topic, "flush.messages"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// topicMinISR is min.insync.replicas, 1 where nobody has set it.
func topicMinISR(im metadata.Image, topic string) int {
	n, err := strconv.Atoi(topicConfig(im, topic, "min.insync.replicas"))
	if err != nil {
		return 1
	}
	return n
}
