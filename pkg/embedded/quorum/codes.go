package quorum

import "github.com/kafkaops/kafkaops/pkg/embedded/controller"

// Kafka's error codes that only this package answers with.
const (
	codeNone                  int16 = 0
	codeUnknownTopic          int16 = 3
	codeNotLeaderOrFollower   int16 = 6
	codeInvalidRequest        int16 = 42
	codeFencedLeaderEpoch     int16 = 74
	codeUnknownLeaderEpoch    int16 = 75
	codeSnapshotNotFound      int16 = 98
	codePositionOutOfRange    int16 = 99
	codeInconsistentClusterID int16 = 104
)

// codeOf is an error's code; 0 for nil.
func codeOf(err *controller.Error) int16 {
	if err == nil {
		return codeNone
	}
	return int16(err.Code)
}

// messageOf is what an answer says for people; nil for nil.
func messageOf(err *controller.Error) *string {
	if err == nil {
		return nil
	}
	return &err.Message
}
