package fakekafka

// Kafka's error codes, by Kafka's names.
const (
	none                     int16 = 0
	unknownTopicOrPartition  int16 = 3
	leaderNotAvailable       int16 = 5
	notLeaderOrFollower      int16 = 6
	replicaNotAvailable      int16 = 9
	coordinatorNotAvailable  int16 = 15
	notCoordinator           int16 = 16
	invalidTopic             int16 = 17
	invalidGroupID           int16 = 24
	unknownMemberID          int16 = 25
	topicAuthorizationFailed int16 = 29
	groupAuthorizationFailed int16 = 30
	clusterAuthorization     int16 = 31
	unsupportedVersion       int16 = 35
	invalidRequest           int16 = 42
	kafkaStorageError        int16 = 56
	groupIDNotFound          int16 = 69
	fencedLeaderEpoch        int16 = 74
	unknownLeaderEpoch       int16 = 75
	offsetNotAvailable       int16 = 78
	unknownTopicID           int16 = 100

	transactionalIDAuthorizationFailed int16 = 53
	transactionalIDNotFound            int16 = 105
	mismatchedEndpointType             int16 = 114
	unsupportedEndpointType            int16 = 115
)
