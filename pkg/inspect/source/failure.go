package source

import (
	"errors"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
)

// failureOf makes a Failure of a connection's or a request's error.
func failureOf(id inspect.Opt[inspect.BrokerID], err error) inspect.Failure {
	var ce *connect.Error
	if !errors.As(err, &ce) {
		return inspect.Failure{Broker: id, Phase: inspect.PhaseRequest, Error: err.Error()}
	}
	request := ce.Request
	if request == "" {
		request = "ApiVersions" // the first thing that a connection is opened for
	}
	return inspect.Failure{Broker: id, Address: ce.Address, Request: request, Phase: ce.Phase, Error: ce.Cause, TimedOut: ce.Timeout()}
}

// refusal is a Kafka error code in an answer.
func refusal(id inspect.Opt[inspect.BrokerID], addr, request string, code int16) inspect.Failure {
	f := inspect.Failure{
		Broker: id, Address: addr, Request: request, Phase: inspect.PhaseRequest,
		Error: codeName(code), Hint: retryHint(code),
	}
	if resource, ok := unauthorized(code); ok {
		f.Missing = access.MissingFor(request, resource)
		f.Hint = access.Hint(f.Missing)
	}
	return f
}

// codeName is Kafka's own name of an error code.
func codeName(code int16) string {
	const notLeaderOrFollower = 6 // renamed in Kafka 2.6 (KIP-392); the library keeps the old name
	if code == notLeaderOrFollower {
		return "NOT_LEADER_OR_FOLLOWER"
	}
	if e := kerr.TypedErrorForCode(code); e != nil {
		return e.Message
	}
	return "no error"
}

// unauthorized is the resource on which an ACL is missing.
func unauthorized(code int16) (inspect.ResourceType, bool) {
	switch code {
	case kerr.ClusterAuthorizationFailed.Code:
		return inspect.ResourceCluster, true
	case kerr.TopicAuthorizationFailed.Code:
		return inspect.ResourceTopic, true
	case kerr.GroupAuthorizationFailed.Code:
		return inspect.ResourceGroup, true
	case kerr.TransactionalIDAuthorizationFailed.Code:
		return inspect.ResourceTransactionalID, true
	}
	return "", false
}

// retryHint says what else than an ACL would help.
func retryHint(code int16) string {
	switch code {
	case kerr.NotLeaderForPartition.Code:
		return "leadership moved while it was read: ask again"
	case kerr.NotController.Code:
		return "the controller moved while it was asked: ask again"
	case kerr.NotCoordinator.Code:
		return "the coordinator moved while it was asked: ask again"
	case kerr.CoordinatorLoadInProgress.Code, kerr.CoordinatorNotAvailable.Code:
		return "the coordinator is still reading its groups: ask again"
	case kerr.OffsetNotAvailable.Code:
		// Partition.fetchOffsetForTimestamp: while the HW is below the start of the
		// leader's epoch.
		return "a new leader tells no offsets before its HW has reached the start of its leader epoch: ask again; " +
			"where it lasts, the ISR is below min.insync.replicas, without which the HW stands still (kafkaops describe topics --under-min-isr)"
	}
	return ""
}
