package quorum

import (
	"fmt"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
)

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

	codeMismatchedEndpointType  int16 = 114
	codeUnsupportedEndpointType int16 = 115
)

// topicAuthorizationFailed is TOPIC_AUTHORIZATION_FAILED, with which Kafka refuses to
// create the metadata log as a topic.
const topicAuthorizationFailed controller.Code = 29

// codeOf is an error's code; 0 for nil.
func codeOf(err *controller.Error) int16 {
	if err == nil {
		return codeNone
	}
	return int16(err.Code)
}

// maxMessage bounds what an answer says for people, in bytes: it may quote a name
// that is as long as a string can be, and must fit into one itself.
const maxMessage = 1000

// messageOf is what an answer says for people; nil for nil.
func messageOf(err *controller.Error) *string {
	if err == nil {
		return nil
	}
	text := err.Message
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return &text
}

// errorf is an error that is found before the rules are asked.
func errorf(code controller.Code, format string, args ...any) *controller.Error {
	return &controller.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
