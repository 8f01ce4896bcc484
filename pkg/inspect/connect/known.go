package connect

import (
	"fmt"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
)

// usedKeys are the settings that kafkaops acts on.
func usedKeys() []string {
	return []string{
		keyBootstrap, keyProtocol, keyMechanism, keyJAAS, keyKerberosService,
		keyTokenURL, keyClientID, keyClientSecret, keyScope,
		keyProtocols, keyCiphers, keyCheckName, "ssl.protocol",
		"ssl.keystore.type", "ssl.keystore.location", "ssl.keystore.password", "ssl.key.password",
		"ssl.keystore.key", "ssl.keystore.certificate.chain",
		"ssl.truststore.type", "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.certificates",
		keyURLEncode, keyRetriever, keyClientHandler, keyLoginHandler,
	}
}

// quietKeys are settings of clients that mean nothing here and harm nothing.
func quietKeys() []string {
	return []string{
		"client.id", "client.dns.lookup", "client.rack", "group.id", "acks", "retries", "compression.type",
		"request.timeout.ms", "default.api.timeout.ms", "socket.connection.setup.timeout.ms",
		"socket.connection.setup.timeout.max.ms", "connections.max.idle.ms", "metadata.max.age.ms",
		"reconnect.backoff.ms", "reconnect.backoff.max.ms", "retry.backoff.ms", "retry.backoff.max.ms",
		"send.buffer.bytes", "receive.buffer.bytes", "metric.reporters", "metrics.num.samples",
		"metrics.recording.level", "metrics.sample.window.ms", "enable.metrics.push",
		"key.serializer", "value.serializer", "key.deserializer", "value.deserializer",
		"auto.offset.reset", "enable.auto.commit", "isolation.level", "max.poll.records", "security.providers",
	}
}

// quietPrefixes begin settings of the login refresh thread, which a command that
// opens new connections for each pass has no need of.
func quietPrefixes() []string {
	return []string{"sasl.login.", "sasl.kerberos.", "sasl.oauthbearer.", "ssl.secure.random."}
}

// warningsOf are lines about what is odd in the file, and settings that do
// nothing here. They hold no value.
func warningsOf(f *javaprops.File) []string {
	known := map[string]bool{}
	for _, keys := range [][]string{usedKeys(), quietKeys()} {
		for _, key := range keys {
			known[key] = true
		}
	}
	var out []string
	add := func(ws []javaprops.Warning) {
		for _, w := range ws {
			out = append(out, fmt.Sprint(w))
		}
	}
	add(f.Warnings())
	add(f.Unknown(func(key string) bool {
		if known[key] {
			return true
		}
		for _, prefix := range quietPrefixes() {
			if strings.HasPrefix(key, prefix) {
				return true
			}
		}
		return false
	}))
	return out
}
