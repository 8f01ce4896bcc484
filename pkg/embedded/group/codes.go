package group

// Code is a Kafka error code, the number on the wire.
type Code int16

// The codes that this package answers.
const (
	None                      Code = 0
	UnknownServerError        Code = -1
	OffsetMetadataTooLarge    Code = 12
	CoordinatorLoadInProgress Code = 14
	CoordinatorNotAvailable   Code = 15
	NotCoordinator            Code = 16
	IllegalGeneration         Code = 22
	InconsistentGroupProtocol Code = 23
	InvalidGroupID            Code = 24
	UnknownMemberID           Code = 25
	InvalidSessionTimeout     Code = 26
	RebalanceInProgress       Code = 27
	NonEmptyGroup             Code = 68
	GroupIDNotFound           Code = 69
	MemberIDRequired          Code = 79
	GroupMaxSizeReached       Code = 81
	FencedInstanceID          Code = 82
	GroupSubscribedToTopic    Code = 86
)
