package kafkatest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
)

// The mechanisms of ListenerSecurity.
const (
	Plain       = "PLAIN"
	ScramSHA256 = "SCRAM-SHA-256"
	ScramSHA512 = "SCRAM-SHA-512"
	OAuthBearer = "OAUTHBEARER"
	GSSAPI      = "GSSAPI"
)

// ListenerSecurity is what one of Options.Listeners needs besides its protocol.
type ListenerSecurity struct {
	// Cert is what the brokers show, for SSL and SASL_SSL.
	Cert *certs.Cert
	// ClientAuth is ssl.client.auth: none, requested or required. ClientCA is whose
	// certificates are accepted.
	ClientAuth string
	ClientCA   *certs.CA

	// Mechanisms are those that SASL_PLAINTEXT and SASL_SSL offer.
	Mechanisms []string
	// Users have their passwords for PLAIN; for SCRAM they are the cluster's, made
	// when it is formatted.
	Users map[string]string
	// Node is whose password among Users the nodes log in with where they come to
	// this listener themselves, by PLAIN: to the controllers'.
	Node string
	// Principal and Keytab are the brokers' own, for GSSAPI.
	Principal, Keytab string

	// Properties are further settings of the listener, without its prefix.
	Properties map[string]string
}

// loginModules are Kafka's by mechanism.
func loginModules() map[string]string {
	const kafka = "org.apache.kafka.common.security."
	return map[string]string{
		Plain:       kafka + "plain.PlainLoginModule",
		ScramSHA256: kafka + "scram.ScramLoginModule",
		ScramSHA512: kafka + "scram.ScramLoginModule",
		OAuthBearer: kafka + "oauthbearer.OAuthBearerLoginModule",
		GSSAPI:      "com.sun.security.auth.module.Krb5LoginModule",
	}
}

// properties are a listener's settings; dir is where its files lie.
func (l ListenerSecurity) properties(name, dir string) map[string]string {
	p := map[string]string{}
	if l.Cert != nil {
		p["ssl.keystore.type"] = "PEM"
		p["ssl.keystore.location"] = l.keyFile(name, dir)
	}
	if l.ClientCA != nil {
		p["ssl.truststore.type"] = "PEM"
		p["ssl.truststore.location"] = l.trustFile(name, dir)
	}
	if l.ClientAuth != "" {
		p["ssl.client.auth"] = l.ClientAuth
	}
	if len(l.Mechanisms) > 0 {
		p["sasl.enabled.mechanisms"] = strings.Join(l.Mechanisms, ",")
	}
	for _, m := range l.Mechanisms {
		p[strings.ToLower(m)+".sasl.jaas.config"] = loginModules()[m] + " required" + l.jaasOptions(m) + ";"
	}
	for key, value := range l.Properties {
		p[key] = value
	}
	prefixed := map[string]string{}
	for key, value := range p {
		prefixed["listener.name."+strings.ToLower(name)+"."+key] = value
	}
	return prefixed
}

func (l ListenerSecurity) jaasOptions(mechanism string) string {
	var b strings.Builder
	switch mechanism {
	case Plain:
		if l.Node != "" {
			fmt.Fprintf(&b, " username=%q password=%q", l.Node, l.Users[l.Node])
		}
		for user, password := range sorted(l.Users) {
			fmt.Fprintf(&b, " user_%s=%q", user, password)
		}
	case GSSAPI:
		fmt.Fprintf(&b, " useKeyTab=true storeKey=true keyTab=%q principal=%q", l.Keytab, l.Principal)
	}
	return b.String()
}

func (l ListenerSecurity) keyFile(name, dir string) string {
	return filepath.Join(dir, name+"-key.pem")
}

func (l ListenerSecurity) trustFile(name, dir string) string {
	return filepath.Join(dir, name+"-trust.pem")
}

// write writes the files that properties name.
func (l ListenerSecurity) write(name, dir string) error {
	if l.Cert != nil {
		if err := os.WriteFile(l.keyFile(name, dir), l.Cert.PEM(""), 0o600); err != nil {
			return fmt.Errorf("kafkatest: %w", err)
		}
	}
	if l.ClientCA != nil {
		if err := os.WriteFile(l.trustFile(name, dir), l.ClientCA.PEM(), 0o600); err != nil {
			return fmt.Errorf("kafkatest: %w", err)
		}
	}
	return nil
}

// formatArgs are FormatArgs and what makes the SCRAM users.
func (o Options) formatArgs() []string {
	args := slices.Clone(o.FormatArgs)
	for _, l := range sorted(o.Security) {
		for _, m := range l.Mechanisms {
			if m != ScramSHA256 && m != ScramSHA512 {
				continue
			}
			for user, password := range sorted(l.Users) {
				arg := fmt.Sprintf("%s=[name=%s,password=%s]", m, user, password)
				if !slices.Contains(args, arg) { // another listener's too
					args = append(args, "--add-scram", arg)
				}
			}
		}
	}
	return args
}

// authorizerProperties let the nodes themselves, and tests over PLAINTEXT, do
// everything; all others need an ACL.
func (o Options) authorizerProperties() map[string]string {
	users := "User:ANONYMOUS"
	if node := o.Security[controller].Node; node != "" {
		users += ";User:" + node
	}
	return map[string]string{
		"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
		"super.users":           users,
	}
}
