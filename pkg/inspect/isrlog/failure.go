package isrlog

import (
	"errors"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
)

const (
	describeQuorum   = "DescribeQuorum"
	otherCredentials = "If the controllers need other credentials, name them by --controller-config"
)

// FailureOf says why the log cannot be had, by an error of [Log], and what to try.
func FailureOf(err error) *inspect.Failure {
	var ce *connect.Error
	if errors.As(err, &ce) {
		f := &inspect.Failure{Address: ce.Address, Request: ce.Request, Phase: ce.Phase, Error: ce.Cause, TimedOut: ce.Timeout()}
		switch ce.Phase {
		case inspect.PhaseDial:
			f.Hint = "If the controllers have another address from here, name it by --controller"
		case inspect.PhaseTLS, inspect.PhaseSASL:
			f.Hint = otherCredentials
		case inspect.PhaseRequest:
			// So does a listener that wants its clients to authenticate.
			if strings.HasPrefix(ce.Cause, "closed the connection on ") || strings.Contains(ce.Cause, "speaks TLS, and ") {
				f.Hint = otherCredentials
			}
			if ce.Request == describeQuorum && f.TimedOut {
				f.Hint = "A broker that knows of no active controller does not answer that. If there is one, name it by --controller"
			}
		}
		return f
	}
	f := &inspect.Failure{Request: "Fetch", Phase: inspect.PhaseRequest, Error: err.Error()}
	var code *codeError
	if errors.As(err, &code) && code.code == kerr.UnknownTopicID.Code {
		f.Hint = "That is a broker's address, and brokers do not serve the log: name a controller's by --controller"
	}
	if strings.Contains(f.Error, describeQuorum) { // nobody told where to fetch from
		f.Request = describeQuorum
	}
	return f
}
