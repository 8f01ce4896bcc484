package group

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/timers"
)

// member is one of a group (ClassicGroupMember).
type member struct {
	id       string
	instance *string // group.instance.id, nil for a dynamic member

	clientID, clientHost                 string
	rebalanceTimeoutMs, sessionTimeoutMs int32
	protocolType                         string
	protocols                            []kmsg.JoinGroupRequestProtocol
	assignment                           []byte

	// joining and syncing are its requests that wait.
	joining, syncing *waiting
	// isNew: it does not know its id yet, so it cannot send heartbeats.
	isNew bool
	// pendingSync: its SyncGroup of this generation has not come.
	pendingSync bool
	session     timers.Timer
}

// waiting is a request whose answer comes later.
type waiting struct {
	token Token
	req   kmsg.Request
}

func (m *member) supports(name string) bool {
	return slices.ContainsFunc(m.protocols, func(p kmsg.JoinGroupRequestProtocol) bool { return p.Name == name })
}

// metadata is what the member says under a protocol.
func (m *member) metadata(name *string) []byte {
	for _, p := range m.protocols {
		if name != nil && p.Name == *name {
			return p.Metadata
		}
	}
	return []byte{}
}

// matches reports whether the member would say the same again.
func (m *member) matches(protocols []kmsg.JoinGroupRequestProtocol) bool {
	return slices.EqualFunc(m.protocols, protocols, func(a, b kmsg.JoinGroupRequestProtocol) bool {
		return a.Name == b.Name && bytes.Equal(a.Metadata, b.Metadata)
	})
}

// newMemberID is who asks, and a UUID as Java writes a random one
// (ClassicGroup.generateMemberId).
func (s *Shard) newMemberID(prefix string) string {
	var id [16]byte
	for i := range id {
		id[i] = byte(s.rng.Uint32())
	}
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%s-%x-%x-%x-%x-%x", prefix, id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// subscribed is what members of a consumer group want to read: the first field of
// every version of ConsumerProtocolSubscription.
func subscribed(metadata []byte) ([]string, bool) {
	var m kmsg.ConsumerMemberMetadata
	if len(metadata) < 2 {
		return nil, false
	}
	// Later versions only add to version 0, which is all that is of interest.
	v0 := append([]byte{0, 0}, metadata[2:]...)
	if m.ReadFrom(v0) != nil {
		return nil, false
	}
	return m.Topics, true
}

// readSubscriptions is ClassicGroup.computeSubscribedTopics.
func (g *group) readSubscriptions() {
	g.topics, g.topicsKnown = nil, false
	if g.protocolType == nil || *g.protocolType != consumerProtocol {
		return
	}
	if len(g.members) > 0 && g.protocol == nil {
		return
	}
	var all []string
	for _, m := range g.members {
		topics, ok := subscribed(m.metadata(g.protocol))
		if !ok {
			return
		}
		all = append(all, topics...)
	}
	g.topics, g.topicsKnown = all, true
}

// subscribesTo reports whether offsets of a topic are in use. What is not known of a
// group of consumers is taken for a yes.
func (g *group) subscribesTo(topic string) bool {
	if g.topicsKnown {
		return slices.Contains(g.topics, topic)
	}
	return g.protocolType != nil && *g.protocolType == consumerProtocol
}
