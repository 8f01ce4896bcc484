package connect_test

import (
	"crypto/tls"
	"sync/atomic"
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// TestTLSVersions: what is agreed upon is what the settings allow a Java client.
func TestTLSVersions(t *testing.T) {
	var version atomic.Uint32
	m := fakekafka.NewModel(1)
	m.TLS = w.ca.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback()}).Server()
	m.TLS.VerifyConnection = func(state tls.ConnectionState) error {
		version.Store(uint32(state.Version))
		return nil
	}
	c := fakekafka.Start(t, m)
	for settings, want := range map[string]uint16{
		"": tls.VersionTLS13,
		"ssl.enabled.protocols=TLSv1.2,TLSv1.3\n":                            tls.VersionTLS13,
		"ssl.enabled.protocols=TLSv1.2\n":                                    tls.VersionTLS12,
		"ssl.cipher.suites=TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384\n":        tls.VersionTLS12,
		"ssl.cipher.suites=TLS_AES_128_GCM_SHA256\n":                         tls.VersionTLS13,
		"ssl.cipher.suites=TLS_UNKNOWN_TO_ALL,\\\n TLS_AES_128_GCM_SHA256\n": tls.VersionTLS13,
	} {
		src := newSource(t, w.properties(t, "security.protocol=SSL\n"+settings+trust), c.Bootstrap())
		if _, err := src.Snapshot(t.Context(), source.Query{}); err != nil {
			t.Errorf("%q: %v", settings, err)
		}
		if got := uint16(version.Load()); got != want {
			t.Errorf("%q: agreed upon %s, want %s", settings, tls.VersionName(got), tls.VersionName(want))
		}
	}
}
