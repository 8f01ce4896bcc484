package kafkatest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Realm is a KDC's only one.
const Realm = "TEST.KAFKAOPS"

// kdcTimeout is far more than a KDC takes to start, which is some milliseconds.
const kdcTimeout = 20 * time.Second

// A KDC is a running Kerberos server of MIT's: a child process on loopback, whose
// files all lie in a directory of the test.
type KDC struct {
	dir  string
	addr string
	cmd  *exec.Cmd
}

// NeedKDC skips the test where there is no KDC to run, and says what to install.
// With CI=true in the environment it fails the test instead.
func NeedKDC(tb testing.TB) {
	tb.Helper()
	for _, program := range []string{"krb5kdc", "kdb5_util", "kadmin.local", "kinit"} {
		if _, err := findKerberos(program); err != nil {
			const message = "kafkatest: there is no %s: install Debian's krb5-kdc and krb5-admin-server"
			if os.Getenv("CI") == "true" {
				tb.Fatalf(message, program)
			}
			tb.Skipf(message, program)
		}
	}
}

// findKerberos looks where Debian has programs for root as well: they run as anyone.
func findKerberos(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + program)
}

// StartKDC runs a KDC until tb ends. It skips tb where there is none; see
// NeedKDC.
func StartKDC(tb testing.TB) *KDC {
	tb.Helper()
	NeedKDC(tb)
	ports, err := freePorts(1)
	if err != nil {
		tb.Fatal(err)
	}
	k := &KDC{dir: tb.TempDir(), addr: fmt.Sprintf("127.0.0.1:%d", ports[0])}
	k.write(tb, "krb5.conf", `[libdefaults]
 default_realm = %[1]s
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
[realms]
 %[1]s = {
  kdc = %[2]s
 }
`, Realm, k.addr)
	k.write(tb, "kdc.conf", `[kdcdefaults]
 kdc_listen = %[2]s
 kdc_tcp_listen = %[2]s
[realms]
 %[1]s = {
  database_name = %[3]s/principal
  key_stash_file = %[3]s/stash
  acl_file = %[3]s/acl
  max_life = 1h
 }
[logging]
 kdc = FILE:%[3]s/kdc.log
`, Realm, k.addr, k.dir)
	k.run(tb, "kdb5_util", "create", "-s", "-r", Realm, "-P", "master")
	k.cmd = k.command(tb, "krb5kdc", "-n", "-r", Realm, "-P", filepath.Join(k.dir, "kdc.pid"))
	var output bytes.Buffer
	k.cmd.Stdout, k.cmd.Stderr, k.cmd.SysProcAttr = &output, &output, childAttr()
	spawn := newSpawner()
	if err := spawn.start(k.cmd); err != nil {
		tb.Fatalf("kafkatest: KDC: %v", err)
	}
	tb.Cleanup(func() {
		_ = k.cmd.Process.Kill()
		_ = k.cmd.Wait()
		spawn.close()
	})
	for deadline := time.Now().Add(kdcTimeout); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", k.addr)
		if err == nil {
			_ = conn.Close()
			return k
		}
		if time.Now().After(deadline) {
			tb.Fatalf("kafkatest: KDC: not up after %s: %v\n%s", kdcTimeout, err, output.String())
		}
	}
}

// Config is the krb5.conf of the KDC's clients: for KRB5_CONFIG, and for Java's
// java.security.krb5.conf.
func (k *KDC) Config() string { return filepath.Join(k.dir, "krb5.conf") }

// Addr is where the KDC listens, by TCP and UDP.
func (k *KDC) Addr() string { return k.addr }

// Keytab makes a principal with new keys, such as kafka/127.0.0.1, and returns a
// key table with them. A principal that exists gets new keys.
func (k *KDC) Keytab(tb testing.TB, principal string) string {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "keytab")
	k.admin(tb, "addprinc -randkey "+principal)
	k.admin(tb, fmt.Sprintf("ktadd -k %s %s", file, principal))
	return file
}

// Kinit puts a ticket of a principal into a cache, for as long as it shall live.
func (k *KDC) Kinit(tb testing.TB, keytab, principal, cache string, life time.Duration) {
	tb.Helper()
	k.run(tb, "kinit", "-k", "-t", keytab, "-c", "FILE:"+cache, "-l", fmt.Sprintf("%ds", int(life.Seconds())), principal)
}

func (k *KDC) admin(tb testing.TB, query string) {
	tb.Helper()
	k.run(tb, "kadmin.local", "-r", Realm, "-q", query)
}

func (k *KDC) command(tb testing.TB, program string, args ...string) *exec.Cmd {
	tb.Helper()
	path, err := findKerberos(program)
	if err != nil {
		tb.Fatalf("kafkatest: KDC: %v", err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "KRB5_CONFIG="+k.Config(), "KRB5_KDC_PROFILE="+filepath.Join(k.dir, "kdc.conf"))
	return cmd
}

func (k *KDC) run(tb testing.TB, program string, args ...string) {
	tb.Helper()
	out, err := k.command(tb, program, args...).CombinedOutput()
	// kadmin.local tells a failed query only in words.
	if err != nil || bytes.Contains(out, []byte(" while ")) && !bytes.Contains(out, []byte("already exists")) {
		tb.Fatalf("kafkatest: KDC: %s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
}

func (k *KDC) write(tb testing.TB, name, format string, args ...any) {
	tb.Helper()
	if err := os.WriteFile(filepath.Join(k.dir, name), fmt.Appendf(nil, format, args...), 0o600); err != nil {
		tb.Fatalf("kafkatest: KDC: %v", err)
	}
}
