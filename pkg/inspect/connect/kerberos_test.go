package connect_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/certs"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const krb5Login = `security.protocol=SASL_PLAINTEXT
sasl.mechanism=GSSAPI
sasl.kerberos.service.name=kafka
sasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required `

// keyTable logs in by a key table.
func keyTable(file, principal string) string {
	return krb5Login + fmt.Sprintf("useKeyTab=true storeKey=true keyTab=%q principal=%q;\n", file, principal)
}

// TestKerberos goes through GSSAPI with a real KDC and a Kafka of its own.
func TestKerberos(t *testing.T) {
	kdc := kafkatest.StartKDC(t)
	const listener, listenerTLS, alice = "KERBEROS", "KERBEROSTLS", "alice@" + kafkatest.Realm
	table := kdc.Keytab(t, "alice")
	t.Setenv("KRB5_CONFIG", kdc.Config())
	plain := kafkatest.ListenerSecurity{
		Mechanisms: []string{kafkatest.GSSAPI},
		Principal:  "kafka/127.0.0.1@" + kafkatest.Realm, Keytab: kdc.Keytab(t, "kafka/127.0.0.1"),
	}
	overTLS := plain
	overTLS.Cert = w.ca.Issue(certs.Request{Name: "broker", Hosts: certs.Loopback()})
	overTLS.ClientAuth, overTLS.ClientCA = "required", w.ca
	c := kafkatest.Start(t, kafkatest.Options{
		Listeners:  map[string]string{listener: "SASL_PLAINTEXT", listenerTLS: "SASL_SSL"},
		Security:   map[string]kafkatest.ListenerSecurity{listener: plain, listenerTLS: overTLS},
		Properties: map[string]string{"sasl.kerberos.service.name": "kafka"},
		Authorizer: true,
		JVM:        func(int32) []string { return []string{"-Djava.security.krb5.conf=" + kdc.Config()} },
	})
	c.CreateTopic(t, topic, c.Spread(2, 1), nil)
	for _, on := range []kafkatest.ACL{
		{Type: kmsg.ACLResourceTypeCluster, Name: kafkatest.ClusterResource},
		{Type: kmsg.ACLResourceTypeTopic, Name: "*"},
	} {
		on.Principal = "User:alice"
		on.Operations = []kmsg.ACLOperation{kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs}
		c.Allow(t, on)
	}
	addr := c.ListenerAddr(1, listener)

	t.Run("over TLS", func(t *testing.T) {
		over := func(text string) string { return strings.Replace(text, "SASL_PLAINTEXT", "SASL_SSL", 1) }
		cache := filepath.Join(t.TempDir(), "cache")
		kdc.Kinit(t, table, alice, cache, time.Hour)
		for _, login := range []choice{
			{"key table", keyTable(table, alice)},
			{"ticket cache", krb5Login + fmt.Sprintf("useTicketCache=true ticketCache=%q;\n", cache)},
		} {
			for _, key := range clientKeys(t) {
				t.Run(login.name+", "+key.name, func(t *testing.T) {
					wantAnswer(t, newSource(t, w.properties(t, over(login.properties)+trust+key.properties), c.ListenerAddr(1, listenerTLS)))
				})
			}
			for _, store := range trusts(t) {
				t.Run(login.name+", trust in "+store.name, func(t *testing.T) {
					wantAnswer(t, newSource(t, w.properties(t, over(login.properties)+store.properties+keys("alice.p12")), c.ListenerAddr(1, listenerTLS)))
				})
			}
		}
		good := trust + keys("alice.p12")
		for _, m := range []struct {
			name, properties string
			phase            inspect.Phase
			words            string
		}{
			{"unknown principal", keyTable(table, "nobody") + good, inspect.PhaseSASL, "KDC_ERR_C_PRINCIPAL_UNKNOWN"},
			{"another service", strings.Replace(keyTable(table, alice), "name=kafka", "name=hbase", 1) + good, inspect.PhaseSASL, "KDC_ERR_S_PRINCIPAL_UNKNOWN"},
			{"another realm", keyTable(table, "alice@ELSEWHERE") + good, inspect.PhaseSASL, "Kerberos: no KDC is configured for realm ELSEWHERE"},
			{"mechanism not enabled", plainLogin + good, inspect.PhaseSASL, "mechanism PLAIN is not enabled on this listener; it offers GSSAPI"},
			{"no client certificate", keyTable(table, alice) + trust, inspect.PhaseTLS, "it wants a client certificate"},
			{"no trust store", keyTable(table, alice) + keys("alice.p12"), inspect.PhaseTLS, "unknown authority"},
		} {
			t.Run(m.name, func(t *testing.T) {
				text := over(m.properties)
				if !strings.Contains(text, "security.protocol") {
					text += "security.protocol=SASL_SSL\n"
				}
				wantRefusal(t, newSource(t, w.properties(t, text), c.ListenerAddr(1, listenerTLS)), m.phase, m.words)
			})
		}
	})
	t.Run("another realm", func(t *testing.T) {
		src := newSource(t, w.properties(t, keyTable(table, "alice@ELSEWHERE")), addr)
		wantRefusal(t, src, inspect.PhaseSASL, "Kerberos: no KDC is configured for realm ELSEWHERE (krb5.conf")
	})
	t.Run("realm without KDC", func(t *testing.T) {
		cache := filepath.Join(t.TempDir(), "cache")
		kdc.Kinit(t, table, alice, cache, time.Hour)
		conf := filepath.Join(t.TempDir(), "krb5.conf")
		if err := os.WriteFile(conf, []byte("[libdefaults]\n default_realm = ELSEWHERE\n dns_lookup_kdc = false\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("KRB5_CONFIG", conf)
		src := newSource(t, w.properties(t, krb5Login+fmt.Sprintf("useTicketCache=true ticketCache=%q;", cache)), addr)
		wantRefusal(t, src, inspect.PhaseSASL, "Kerberos: no KDC is configured for realm "+kafkatest.Realm)
	})
	t.Run("key table", func(t *testing.T) {
		src := newSource(t, w.properties(t, keyTable(table, alice)), addr)
		wantAnswer(t, src)
		wantAnswer(t, src)
	})
	t.Run("key table, default realm", func(t *testing.T) {
		wantAnswer(t, newSource(t, w.properties(t, keyTable(table, "alice")), addr))
	})
	t.Run("ticket cache", func(t *testing.T) {
		cache := filepath.Join(t.TempDir(), "cache")
		kdc.Kinit(t, table, alice, cache, time.Hour)
		wantAnswer(t, newSource(t, w.properties(t, krb5Login+fmt.Sprintf("useTicketCache=true ticketCache=%q;", cache)), addr))
		t.Setenv("KRB5CCNAME", "FILE:"+cache)
		wantAnswer(t, newSource(t, w.properties(t, krb5Login+"useTicketCache=true;"), addr))
	})
	t.Run("ticket expires, kinit", func(t *testing.T) {
		cache := filepath.Join(t.TempDir(), "cache")
		kdc.Kinit(t, table, alice, cache, time.Second)
		src := newSource(t, w.properties(t, krb5Login+fmt.Sprintf("useTicketCache=true ticketCache=%q;", cache)), addr)
		kafkatest.Eventually(t, 10*time.Second, func() error {
			if _, err := src.Snapshot(t.Context(), source.Query{}); err == nil {
				return errors.New("the ticket still serves")
			}
			return nil
		})
		wantRefusal(t, src, inspect.PhaseSASL, "Kerberos: the ticket has expired; run kinit")
		kdc.Kinit(t, table, alice, cache, time.Hour)
		wantAnswer(t, src)
	})
	t.Run("key table replaced", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "keytab")
		copyFile(t, kdc.Keytab(t, "bob"), file)
		src := newSource(t, w.properties(t, keyTable(file, alice)), addr)
		wantRefusal(t, src, inspect.PhaseSASL, "Kerberos: the key table has no key of alice@"+kafkatest.Realm+" that fits")
		copyFile(t, table, file)
		wantAnswer(t, src)
	})
	t.Run("unknown principal", func(t *testing.T) {
		src := newSource(t, w.properties(t, keyTable(table, "nobody")), addr)
		wantRefusal(t, src, inspect.PhaseSASL, "Kerberos: the KDC answers", "KDC_ERR_C_PRINCIPAL_UNKNOWN")
	})
	t.Run("another service", func(t *testing.T) {
		text := strings.Replace(keyTable(table, alice), "name=kafka", "name=hbase", 1)
		wantRefusal(t, newSource(t, w.properties(t, text), addr), inspect.PhaseSASL, "Kerberos: the KDC answers", "KDC_ERR_S_PRINCIPAL_UNKNOWN")
	})
	t.Run("KDC silent", func(t *testing.T) {
		data, err := os.ReadFile(kdc.Config())
		if err != nil {
			t.Fatal(err)
		}
		conf := filepath.Join(t.TempDir(), "krb5.conf")
		silent := strings.ReplaceAll(string(data), kdc.Addr(), fakekafka.SilentPort(t))
		if err := os.WriteFile(conf, []byte(silent), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("KRB5_CONFIG", conf)
		src := newSourceWithin(t, w.properties(t, keyTable(table, alice)), addr, 1500*time.Millisecond)
		wantRefusal(t, src, inspect.PhaseSASL, "no answer of the KDC in time")
		wantRefusal(t, src, inspect.PhaseSASL, "no answer of the KDC in time")
	})
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, to, data)
}

// TestKerberosRefused: what cannot work is found before anything is asked.
func TestKerberosRefused(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "krb5.conf")
	if err := os.WriteFile(conf, []byte("[libdefaults]\n default_realm = R\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, conf, properties, words string }{
		{"no service", conf, strings.Replace(krb5Login, "sasl.kerberos.service.name=kafka\n", "", 1) + "useTicketCache=true;", "sasl.kerberos.service.name: it is missing"},
		{"no way in", conf, krb5Login + "refreshKrb5Config=true;", "useKeyTab=true or useTicketCache=true"},
		{"no key table", conf, krb5Login + `useKeyTab=true principal="alice";`, `useKeyTab needs keyTab="/path"`},
		{"no principal", conf, krb5Login + `useKeyTab=true keyTab="/none";`, `useKeyTab needs principal="name@REALM"`},
		{"key table missing", conf, krb5Login + `useKeyTab=true keyTab="/none" principal="alice";`, "/none: no such file or directory"},
		{"no table in it", conf, krb5Login + fmt.Sprintf("useKeyTab=true keyTab=%q principal=\"alice\";", conf), "key table " + conf},
		{"no cache", conf, krb5Login + `useTicketCache=true ticketCache="/none";`, "/none: no such file or directory"},
		{"cache of another kind", conf, krb5Login + `useTicketCache=true ticketCache="KEYRING:persistent:0";`, "only a ticket cache in a file"},
		{"no configuration", "/none", krb5Login + fmt.Sprintf("useKeyTab=true keyTab=%q principal=\"alice\";", conf), "configuration of Kerberos in /none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("KRB5_CONFIG", test.conf)
			path := w.properties(t, test.properties)
			_, err := connect.ReadProperties(path)
			if err == nil || !strings.Contains(err.Error(), test.words) || !strings.HasPrefix(err.Error(), path+":") {
				t.Errorf("error %v, want one of %s that says %q", err, path, test.words)
			}
		})
	}
}
