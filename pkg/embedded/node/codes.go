package node

import (
	"errors"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// Kafka's error codes that package replica has no need of.
const (
	unknownServerError         replica.Code = -1
	replicaNotAvailable        replica.Code = 9
	messageTooLarge            replica.Code = 10
	coordinatorLoadInProgress  replica.Code = 14
	notCoordinator             replica.Code = 16
	invalidTopic               replica.Code = 17
	recordListTooLarge         replica.Code = 18
	invalidTimestamp           replica.Code = 32
	invalidTxnState            replica.Code = 48
	securityDisabled           replica.Code = 54
	policyViolation            replica.Code = 44
	unsupportedCompressionType replica.Code = 76
	staleBrokerEpoch           replica.Code = 77
	invalidRecord              replica.Code = 87
	snapshotNotFound           replica.Code = 98
	positionOutOfRange         replica.Code = 99
	brokerIDNotRegistered      replica.Code = 102
	mismatchedEndpointType     replica.Code = 114
	unsupportedEndpointType    replica.Code = 115
	invalidRegularExpression   replica.Code = 128
)

// recordCode is what a batch that breaks the rules is answered with.
func recordCode(err error) replica.Code {
	switch {
	case errors.Is(err, record.ErrCorrupt):
		return replica.CorruptMessage
	case errors.Is(err, record.ErrInvalid):
		return invalidRecord
	case errors.Is(err, record.ErrCodec):
		return unsupportedCompressionType
	case errors.Is(err, record.ErrTimestamp):
		return invalidTimestamp
	case errors.Is(err, record.ErrTooLarge):
		return messageTooLarge
	}
	return unknownServerError
}
