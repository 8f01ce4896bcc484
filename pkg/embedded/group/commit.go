package group

import (
	"unicode/utf16"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// commitNamesGroup is the version of OffsetCommit from which on a group that there is
// not is called so.
const commitNamesGroup = 9

// commitOffsets is OffsetMetadataManager.commitOffset.
func (s *Shard) commitOffsets(in Request, req *kmsg.OffsetCommitRequest) {
	if code := s.validateCommit(req); code != None {
		s.emit(Reply{in.Token, refusedCommit(req, code)})
		return
	}
	if g := s.groups[req.Group]; g != nil && g.in(Stable, PreparingRebalance) {
		s.keepAlive(g.member(req.MemberID)) // a commit is a sign of life
	}
	resp := refusedCommit(req, None)
	expires := noTimestamp
	if req.Version <= 4 && req.RetentionTimeMillis != noRetentionTime {
		expires = s.now.WallMs + req.RetentionTimeMillis
	}
	var changes []change
	for i := range req.Topics {
		t := &req.Topics[i]
		for j := range t.Partitions {
			p := &t.Partitions[j]
			metadata := ""
			if p.Metadata != nil {
				metadata = *p.Metadata
			}
			if javaLength(metadata) > s.cfg.MetadataMaxBytes {
				resp.Topics[i].Partitions[j].ErrorCode = int16(OffsetMetadataTooLarge)
				continue
			}
			changes = append(changes, offsetChange{
				group: req.Group, topic: t.Topic, partition: p.Partition,
				value: &offset{
					at: p.Offset, leaderEpoch: p.LeaderEpoch, metadata: metadata,
					committedMs: s.now.WallMs, expiresMs: expires, topicID: t.TopicID,
				},
			})
		}
	}
	s.write(changes, false, func(code Code) {
		if code != None {
			resp = refusedCommit(req, code)
		}
		s.emit(Reply{in.Token, resp})
	})
}

// javaLength is String.length, by which Kafka measures what it calls bytes.
func javaLength(text string) int {
	if len(text) == 0 {
		return 0
	}
	return len(utf16.Encode([]rune(text)))
}

// validateCommit is OffsetMetadataManager.validateOffsetCommit and
// ClassicGroup.validateOffsetCommit.
func (s *Shard) validateCommit(req *kmsg.OffsetCommitRequest) Code {
	g := s.groups[req.Group]
	switch {
	case g == nil && req.Generation < 0, g != nil && g.state == Empty && req.Generation < 0:
		return None // of an administrator, or a consumer that is in no group
	case g == nil && req.Version >= commitNamesGroup:
		return GroupIDNotFound
	case g == nil:
		return IllegalGeneration
	case req.Generation < 0 && req.MemberID == "" && req.InstanceID == nil:
		return UnknownMemberID // the group is in use
	}
	if code := g.validate(req.MemberID, req.InstanceID); code != None {
		return code
	}
	switch {
	case req.Generation != g.generation:
		return IllegalGeneration
	case g.state == CompletingRebalance:
		return RebalanceInProgress
	}
	return None
}

// refusedCommit says the same of all partitions: this API has no other place for it.
func refusedCommit(req *kmsg.OffsetCommitRequest, code Code) *kmsg.OffsetCommitResponse {
	resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	resp.Topics = make([]kmsg.OffsetCommitResponseTopic, len(req.Topics))
	for i := range req.Topics {
		t := &resp.Topics[i]
		t.Topic, t.TopicID = req.Topics[i].Topic, req.Topics[i].TopicID
		t.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(req.Topics[i].Partitions))
		for j := range t.Partitions {
			t.Partitions[j].Partition, t.Partitions[j].ErrorCode = req.Topics[i].Partitions[j].Partition, int16(code)
		}
	}
	return resp
}
