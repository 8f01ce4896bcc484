package fakekafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// respond appends the answer to req as a frame; nil says to close the connection.
//
// Order: what the request moves, the answer, what the request creates. So offsets
// are read after they moved, and a topic that is created by asking for it does
// not exist in that answer, but does by the time that the client has it.
func (c *Cluster) respond(s *server, out []byte, req wire.Request, reads ReplicaReads) []byte {
	c.mu.RLock()
	intercept := c.intercept
	c.mu.RUnlock()
	if intercept != nil {
		if resp, handled := intercept(s.broker.ID, req.Body); handled {
			if resp == nil {
				return nil
			}
			// The client expects its own version back, whatever the hook set.
			resp.SetVersion(req.Version)
			return wire.AppendResponse(out, req.CorrelationID, resp)
		}
	}
	if offsets, ok := req.Body.(*kmsg.ListOffsetsRequest); ok {
		c.moveOffsets(s.broker.ID, offsets)
	}
	out, missing := c.answer(s, out, req, reads)
	if len(missing) > 0 {
		c.mu.Lock()
		c.create(missing)
		c.mu.Unlock()
	}
	return out
}

// answer encodes under the lock, since answers share the model's slices.
func (c *Cluster) answer(s *server, out []byte, req wire.Request, reads ReplicaReads) ([]byte, []creation) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	v := c.view(s, reads)
	resp := v.answer(req.Body)
	if resp == nil {
		return nil, nil
	}
	return wire.AppendResponse(out, req.CorrelationID, resp), v.creations(req.Body)
}

// negotiate answers an ApiVersions in a version that the broker does not know.
func (c *Cluster) negotiate(s *server, out []byte, req wire.Request) []byte {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return wire.AppendResponse(out, req.CorrelationID, c.view(s, ReplicaReadsServed).apiVersionsUnsupported())
}

// moveOffsets plays what happens before an answer to ListOffsets. Without a hook
// and without AppendPerRead it takes no lock for writing: brokers that are read
// at the same time must not wait for one another.
func (c *Cluster) moveOffsets(broker int32, req *kmsg.ListOffsetsRequest) {
	c.mu.RLock()
	still := c.onOffsets == nil && !c.index.moving
	c.mu.RUnlock()
	if still {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.onOffsets != nil {
		c.onOffsets(c.model, broker)
		c.index = newIndex(c.model)
	}
	for _, rt := range req.Topics {
		for i := range rt.Partitions {
			if p := c.index.partition(rt.Topic, rt.Partitions[i].Partition); p != nil {
				p.Append(p.AppendPerRead)
			}
		}
	}
}

// view is what the broker sees; the caller holds the lock.
func (c *Cluster) view(s *server, reads ReplicaReads) *view {
	self := c.index.brokers[s.broker.ID]
	if self == nil {
		// The model has dropped it: a broker that is unregistered and still runs.
		self = s.broker
	}
	return &view{model: c.model, index: c.index, self: self, replicaReads: reads}
}
