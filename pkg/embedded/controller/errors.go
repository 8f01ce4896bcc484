package controller

import "fmt"

// Code is Kafka's error code, with Kafka's number.
type Code int16

// The codes that a controller answers with.
const (
	UnknownServerError          Code = -1
	UnknownTopicOrPartition     Code = 3
	NotLeaderOrFollower         Code = 6
	InvalidTopic                Code = 17
	UnsupportedVersion          Code = 35
	TopicAlreadyExists          Code = 36
	InvalidPartitions           Code = 37
	InvalidReplicationFactor    Code = 38
	InvalidReplicaAssignment    Code = 39
	InvalidConfig               Code = 40
	NotController               Code = 41
	InvalidRequest              Code = 42
	PolicyViolation             Code = 44
	FencedLeaderEpoch           Code = 74
	StaleBrokerEpoch            Code = 77
	PreferredLeaderNotAvailable Code = 80
	EligibleLeadersNotAvailable Code = 83
	ElectionNotNeeded           Code = 84
	NoReassignmentInProgress    Code = 85
	InvalidUpdateVersion        Code = 95
	UnknownTopicID              Code = 100
	DuplicateBrokerRegistration Code = 101
	BrokerIDNotRegistered       Code = 102
	InconsistentClusterID       Code = 104
	IneligibleReplica           Code = 107
	NewLeaderElected            Code = 108
	InvalidRegistration         Code = 119
)

// codeNames are the names that Kafka's documentation has for them.
var codeNames = map[Code]string{
	UnknownServerError:          "UNKNOWN_SERVER_ERROR",
	UnknownTopicOrPartition:     "UNKNOWN_TOPIC_OR_PARTITION",
	NotLeaderOrFollower:         "NOT_LEADER_OR_FOLLOWER",
	InvalidTopic:                "INVALID_TOPIC_EXCEPTION",
	UnsupportedVersion:          "UNSUPPORTED_VERSION",
	TopicAlreadyExists:          "TOPIC_ALREADY_EXISTS",
	InvalidPartitions:           "INVALID_PARTITIONS",
	InvalidReplicationFactor:    "INVALID_REPLICATION_FACTOR",
	InvalidReplicaAssignment:    "INVALID_REPLICA_ASSIGNMENT",
	InvalidConfig:               "INVALID_CONFIG",
	NotController:               "NOT_CONTROLLER",
	InvalidRequest:              "INVALID_REQUEST",
	PolicyViolation:             "POLICY_VIOLATION",
	FencedLeaderEpoch:           "FENCED_LEADER_EPOCH",
	StaleBrokerEpoch:            "STALE_BROKER_EPOCH",
	PreferredLeaderNotAvailable: "PREFERRED_LEADER_NOT_AVAILABLE",
	EligibleLeadersNotAvailable: "ELIGIBLE_LEADERS_NOT_AVAILABLE",
	ElectionNotNeeded:           "ELECTION_NOT_NEEDED",
	NoReassignmentInProgress:    "NO_REASSIGNMENT_IN_PROGRESS",
	InvalidUpdateVersion:        "INVALID_UPDATE_VERSION",
	UnknownTopicID:              "UNKNOWN_TOPIC_ID",
	DuplicateBrokerRegistration: "DUPLICATE_BROKER_REGISTRATION",
	BrokerIDNotRegistered:       "BROKER_ID_NOT_REGISTERED",
	InconsistentClusterID:       "INCONSISTENT_CLUSTER_ID",
	IneligibleReplica:           "INELIGIBLE_REPLICA",
	NewLeaderElected:            "NEW_LEADER_ELECTED",
	InvalidRegistration:         "INVALID_REGISTRATION",
}

// String returns Kafka's name.
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return fmt.Sprintf("error %d", int16(c))
}

// Error is why a request, or a part of one, was refused. A nil one is success.
type Error struct {
	Code    Code
	Message string // for people: what was wrong and what would be right
}

// Error returns the code's name and the message.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

func errorf(code Code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}
