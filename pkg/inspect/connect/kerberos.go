package connect

import (
	"fmt"
	"os"
	"strings"

	krb5 "github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/kerberos"
)

const (
	keyKerberosService = "sasl.kerberos.service.name"
	envKerberosConfig  = "KRB5_CONFIG"
	kerberosConfig     = "/etc/krb5.conf"
)

// newKerberos is GSSAPI with Krb5LoginModule's options: a key table and a
// principal, or the ticket cache that kinit has filled.
func newKerberos(f *javaprops.File) (sasl.Mechanism, error) {
	login, err := loginOf(f, "Krb5LoginModule")
	if err != nil {
		return nil, err
	}
	service, ok := f.Get(keyKerberosService)
	if !ok {
		option, _ := login.Option("serviceName")
		service = option.Reveal()
	}
	if service == "" {
		return nil, f.Errorf(keyKerberosService, "it is missing: the name of the brokers' principal, mostly kafka")
	}
	path := os.Getenv(envKerberosConfig)
	if path == "" {
		path = kerberosConfig
	}
	conf, err := config.Load(path)
	if err != nil {
		return nil, f.Errorf(keyMechanism, "GSSAPI needs a Kerberos configuration in %s (or where %s says): %v", path, envKerberosConfig, err)
	}
	client, err := kerberosClient(f, &login, conf)
	if err != nil {
		return nil, err
	}
	return kerberos.Auth{Client: client, Service: service}.AsMechanism(), nil
}

func kerberosClient(f *javaprops.File, login *javaprops.Login, conf *config.Config) (*krb5.Client, error) {
	option := func(name string) string {
		value, _ := login.Option(name)
		return value.Reveal()
	}
	yes := func(name string) bool { return strings.EqualFold(option(name), "true") }
	// Active Directory refuses the pre-authentication type that the library offers
	// first; without it both kinds of KDC work.
	noFAST := krb5.DisablePAFXFAST(true)
	if yes("useKeyTab") {
		table, err := keytab.Load(strings.TrimPrefix(option("keyTab"), "file:"))
		if err != nil {
			return nil, f.Errorf(keyJAAS, "key table: %v", err)
		}
		user, realm, ok := strings.Cut(option("principal"), "@")
		if user == "" {
			return nil, f.Errorf(keyJAAS, "useKeyTab needs principal=\"name@REALM\"")
		}
		if !ok {
			realm = conf.LibDefaults.DefaultRealm
		}
		return krb5.NewWithKeytab(user, realm, table, conf, noFAST), nil
	}
	if !yes("useTicketCache") {
		return nil, f.Errorf(keyJAAS, "GSSAPI is supported with useKeyTab=true or useTicketCache=true")
	}
	path := option("ticketCache")
	if path == "" {
		path = strings.TrimPrefix(os.Getenv("KRB5CCNAME"), "FILE:")
	}
	if path == "" {
		path = fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid())
	}
	cache, err := credentials.LoadCCache(path)
	if err != nil {
		return nil, f.Errorf(keyJAAS, "ticket cache %s: %v; run kinit", path, err)
	}
	client, err := krb5.NewFromCCache(cache, conf, noFAST)
	if err != nil {
		return nil, f.Errorf(keyJAAS, "ticket cache %s: %v; run kinit", path, err)
	}
	return client, nil
}
