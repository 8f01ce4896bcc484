package connect

import (
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
)

// Principal is the name that brokers know these credentials by, such as
// "User:alice", by Kafka's default rules: those of the cluster (a principal
// builder, sasl.kerberos.auth.to.local.rules and its like) may make another of it,
// and no broker tells. It is empty where the file does not say it either: the
// subject of a certificate that the broker may not ask for, a token's, a ticket's.
func (s *Security) Principal() string {
	if s == nil {
		return anonymous
	}
	now, _ := s.now()
	return now.principal
}

const anonymous = "User:ANONYMOUS"

// principalOf reads it from the file; protocol is in upper case.
func principalOf(f *javaprops.File, protocol string) string {
	mechanism, _ := f.Get(keyMechanism)
	switch {
	case protocol == "PLAINTEXT":
		return anonymous
	case !strings.HasPrefix(protocol, "SASL_"):
		return ""
	case mechanism == mechanismScram256 || mechanism == mechanismScram512:
		if isDelegationToken(f) { // the principal is the token's owner
			return ""
		}
	case mechanism != mechanismPlain:
		return ""
	}
	login, err := f.JAAS(keyJAAS)
	if err != nil {
		return ""
	}
	user, _ := login.Option("username")
	return "User:" + user.Reveal()
}
