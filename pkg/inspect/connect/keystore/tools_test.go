package keystore

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// need skips a test whose tool is not there, and fails it under CI=true.
func need(tb testing.TB, tools ...string) {
	tb.Helper()
	packages := map[string]string{"keytool": "default-jre-headless", "openssl": "openssl"}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		message := fmt.Sprintf("needs %s on the path: install Debian's %s", tool, packages[tool])
		if os.Getenv("CI") == "true" {
			tb.Fatal(message)
		}
		tb.Skip(message)
	}
}

// workshop makes stores with the real tools in a directory of its own.
type workshop struct {
	tb  testing.TB
	dir string
}

const opensslConf = `[req]
distinguished_name = dn
prompt = no
[dn]
CN = nobody
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[client]
basicConstraints = CA:FALSE
extendedKeyUsage = clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[server]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
subjectAltName = DNS:localhost, IP:127.0.0.1
`

// newWorkshop starts with a certificate authority: ca.pem and ca.key.
func newWorkshop(tb testing.TB) *workshop {
	tb.Helper()
	need(tb, "openssl")
	w := &workshop{tb: tb, dir: tb.TempDir()}
	w.write("openssl.cnf", opensslConf)
	w.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "ca.key")
	w.openssl("req", "-config", "openssl.cnf", "-x509", "-new", "-key", "ca.key", "-subj", "/CN=test authority",
		"-extensions", "ca", "-days", "2", "-out", "ca.pem")
	return w
}

// in is the workshop for a subtest.
func (w *workshop) in(tb testing.TB) *workshop { return &workshop{tb: tb, dir: w.dir} }

func (w *workshop) path(name string) string { return filepath.Join(w.dir, name) }

func (w *workshop) read(name string) []byte {
	w.tb.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.tb.Fatal(err)
	}
	return data
}

func (w *workshop) write(name, content string) {
	w.tb.Helper()
	if err := os.WriteFile(w.path(name), []byte(content), 0o600); err != nil {
		w.tb.Fatal(err)
	}
}

func (w *workshop) openssl(args ...string) { w.tb.Helper(); w.run("openssl", args...) }

// keytool starts a small JVM, which is most of what it costs.
func (w *workshop) keytool(args ...string) {
	w.tb.Helper()
	need(w.tb, "keytool")
	w.run("keytool", append([]string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-J-Xshare:auto"}, args...)...)
}

func (w *workshop) run(tool string, args ...string) {
	w.tb.Helper()
	cmd := exec.CommandContext(w.tb.Context(), tool, args...)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.tb.Fatalf("%s %s: %v\n%s", tool, strings.Join(args, " "), err, out)
	}
}

// issue makes NAME.key (PKCS#8), NAME.pem and NAME-chain.pem, the authority's
// certificate behind it.
func (w *workshop) issue(name, profile string, genpkey ...string) {
	w.tb.Helper()
	w.openssl(append([]string{"genpkey", "-out", name + ".key", "-algorithm"}, genpkey...)...)
	w.openssl("req", "-config", "openssl.cnf", "-new", "-key", name+".key", "-subj", "/CN="+name, "-out", name+".csr")
	w.openssl("x509", "-req", "-in", name+".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
		"-extfile", "openssl.cnf", "-extensions", profile, "-days", "2", "-out", name+".pem")
	w.write(name+"-chain.pem", string(w.read(name+".pem"))+string(w.read("ca.pem")))
}

// algorithms are arguments of openssl genpkey.
var algorithms = map[string][]string{
	"rsa":     {"RSA", "-pkeyopt", "rsa_keygen_bits:2048"},
	"ec":      {"EC", "-pkeyopt", "ec_paramgen_curve:P-256"},
	"ed25519": {"ED25519"},
}

func (w *workshop) key(name string) crypto.Signer {
	w.tb.Helper()
	block, _ := pem.Decode(w.read(name))
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		w.tb.Fatal(err)
	}
	return key.(crypto.Signer)
}

func (w *workshop) certs(name string) []*x509.Certificate {
	w.tb.Helper()
	var certs []*x509.Certificate
	for rest := w.read(name); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return certs
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			w.tb.Fatal(err)
		}
		certs = append(certs, cert)
	}
}

// caTrust is a spec that trusts the authority.
func (w *workshop) caTrust() Spec {
	w.tb.Helper()
	return Spec{TrustStoreType: "PEM", TrustStoreCertificates: NewSecret(string(w.read("ca.pem")))}
}

// broker is a TLS server that wants a certificate of the workshop's authority and
// sends back who it saw.
func (w *workshop) broker(version uint16) string {
	w.tb.Helper()
	if _, err := os.Stat(w.path("server.key")); err != nil {
		w.issue("server", "server", algorithms["ec"]...)
	}
	clients := x509.NewCertPool()
	clients.AddCert(w.certs("ca.pem")[0])
	return serve(w.tb, &tls.Config{
		Certificates: []tls.Certificate{{
			Certificate: [][]byte{w.certs("server.pem")[0].Raw}, PrivateKey: w.key("server.key"),
		}},
		ClientAuth: tls.RequireAndVerifyClientCert,
		ClientCAs:  clients,
		MinVersion: version,
		MaxVersion: version,
	})
}

// serve answers each connection with the common name of the client's certificate.
func serve(tb testing.TB, conf *tls.Config) string {
	tb.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", conf)
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan struct{})
	tb.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conn := c.(*tls.Conn)
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			if conn.Handshake() == nil {
				name := "nobody"
				if peers := conn.ConnectionState().PeerCertificates; len(peers) > 0 {
					name = peers[0].Subject.CommonName
				}
				_, _ = conn.Write([]byte(name))
			}
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// dial shakes hands and returns whom the broker saw.
func dial(tb testing.TB, addr string, conf *tls.Config) (string, error) {
	tb.Helper()
	raw, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	defer raw.Close()
	_ = raw.SetDeadline(time.Now().Add(20 * time.Second))
	var name bytes.Buffer
	_, err = name.ReadFrom(tls.Client(raw, conf))
	return name.String(), err
}
