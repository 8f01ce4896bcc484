package connect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
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
	envTicketCache     = "KRB5CCNAME"
	kerberosConfig     = "/etc/krb5.conf"
)

// gssapi is GSSAPI with a Kerberos client that serves all connections, until the
// file that it was made of changes: a key table is replaced, kinit has run.
type gssapi struct {
	service string
	// file holds the keys or the tickets; open makes a client of it.
	file string
	open func() (*krb5.Client, error)
	// turn is held by who uses client: the library's calls know no context, and one
	// that waits for a silent KDC must not gather others behind it.
	turn   chan struct{}
	client *krb5.Client
	seen   os.FileInfo
}

// newKerberos is GSSAPI with Krb5LoginModule's options: a key table and a
// principal, or the ticket cache that kinit has filled.
func newKerberos(f *javaprops.File) (sasl.Mechanism, error) {
	login, err := loginOf(f, "Krb5LoginModule")
	if err != nil {
		return nil, err
	}
	option := func(name string) string {
		value, _ := login.Option(name)
		return value.Reveal()
	}
	service, ok := f.Get(keyKerberosService)
	if !ok {
		service = option("serviceName")
	}
	if service == "" {
		return nil, f.Errorf(keyKerberosService, "it is missing: the name of the brokers' principal, mostly kafka")
	}
	g := &gssapi{service: service, turn: make(chan struct{}, 1)}
	yes := func(name string) bool { return strings.EqualFold(option(name), "true") }
	switch {
	case yes("useKeyTab"):
		err = g.useKeyTable(f, option("keyTab"), option("principal"))
	case yes("useTicketCache"):
		err = g.useTicketCache(f, option("ticketCache"))
	default:
		err = f.Errorf(keyJAAS, "GSSAPI is supported with useKeyTab=true or useTicketCache=true")
	}
	if err != nil {
		return nil, err
	}
	if err := g.refresh(); err != nil {
		return nil, f.Errorf(keyJAAS, "%v", err)
	}
	return g, nil
}

// realms are the configuration of the machine, read anew for each client.
func realms() (*config.Config, error) {
	path, _, _ := strings.Cut(os.Getenv(envKerberosConfig), ":")
	if path == "" {
		path = kerberosConfig
	}
	conf, err := config.Load(path)
	if err != nil && !errors.As(err, new(config.UnsupportedDirective)) {
		return nil, fmt.Errorf("configuration of Kerberos in %s (or where %s says): %w", path, envKerberosConfig, err)
	}
	return conf, nil
}

// noFAST: Active Directory refuses the pre-authentication type that the library
// offers first; without it both kinds of KDC work.
func noFAST() func(*krb5.Settings) { return krb5.DisablePAFXFAST(true) }

func (g *gssapi) useKeyTable(f *javaprops.File, file, principal string) error {
	g.file = strings.TrimPrefix(file, "file:")
	user, realm, _ := strings.Cut(principal, "@")
	switch {
	case g.file == "":
		return f.Errorf(keyJAAS, "useKeyTab needs keyTab=\"/path\"")
	case user == "":
		return f.Errorf(keyJAAS, "useKeyTab needs principal=\"name@REALM\"")
	}
	g.open = func() (*krb5.Client, error) {
		conf, err := realms()
		if err != nil {
			return nil, err
		}
		table, err := keytab.Load(g.file)
		if err != nil {
			return nil, fmt.Errorf("key table %s: %w", g.file, err)
		}
		in := realm
		if in == "" {
			in = conf.LibDefaults.DefaultRealm
		}
		return krb5.NewWithKeytab(user, in, table, conf, noFAST()), nil
	}
	return nil
}

func (g *gssapi) useTicketCache(f *javaprops.File, file string) error {
	if file == "" {
		file = os.Getenv(envTicketCache)
	}
	kind, path, typed := strings.Cut(file, ":")
	switch {
	case file == "":
		g.file = fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid())
	case typed && strings.EqualFold(kind, "FILE"):
		g.file = path
	case typed && !strings.HasPrefix(file, "/"):
		return f.Errorf(keyJAAS, "only a ticket cache in a file can be read: kinit -c FILE:/path, and ticketCache=\"/path\" or %s=/path", envTicketCache)
	default:
		g.file = file
	}
	g.open = func() (*krb5.Client, error) {
		conf, err := realms()
		if err != nil {
			return nil, err
		}
		cache, err := credentials.LoadCCache(g.file)
		if err != nil {
			return nil, fmt.Errorf("ticket cache %s: %w; run kinit", g.file, err)
		}
		client, err := krb5.NewFromCCache(cache, conf, noFAST())
		if err != nil {
			return nil, fmt.Errorf("ticket cache %s: %w; run kinit", g.file, err)
		}
		return client, nil
	}
	return nil
}

// refresh makes a client unless the file is the one that it was made of. Its
// caller has the turn, or is the only one to know g.
func (g *gssapi) refresh() error {
	info, err := os.Stat(g.file)
	if err != nil {
		return err
	}
	if was := g.seen; was != nil && os.SameFile(was, info) && was.ModTime().Equal(info.ModTime()) && was.Size() == info.Size() {
		return nil
	}
	client, err := g.open()
	if err != nil {
		return err
	}
	if g.client != nil {
		g.client.Destroy()
	}
	g.client, g.seen = client, info
	return nil
}

// Name implements sasl.Mechanism.
func (*gssapi) Name() string { return mechanismKerberos }

// Authenticate implements sasl.Mechanism. It asks the KDC for tickets and returns
// within ctx, which the library does not.
func (g *gssapi) Authenticate(ctx context.Context, addr string) (sasl.Session, []byte, error) {
	type result struct {
		session sasl.Session
		token   []byte
		err     error
	}
	silent := func() error {
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return &wordedError{text: "no answer of the KDC in time"}
	}
	select {
	case g.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, silent()
	}
	results := make(chan result, 1)
	go func() {
		defer func() { <-g.turn }()
		if err := g.refresh(); err != nil {
			results <- result{err: err}
			return
		}
		auth := kerberos.Auth{Client: g.client, Service: g.service}
		session, token, err := auth.AsMechanism().Authenticate(ctx, addr)
		results <- result{session, token, err}
	}()
	select {
	case r := <-results:
		if r.err != nil {
			return nil, nil, &wordedError{text: "Kerberos: " + kerberosError(r.err)}
		}
		return r.session, r.token, nil
	case <-ctx.Done():
		return nil, nil, silent()
	}
}

// The library's words for what is wrong with the settings.
var (
	noKDC = regexp.MustCompile(`no KDCs defined in configuration for realm (\S+?)\)`)
	noKey = regexp.MustCompile(`matching key not found in keytab\. Looking for "?([^"]+?)"? realm: (\S+)`)
)

// kerberosError is what the KDC said, without the library's way to it.
func kerberosError(err error) string {
	text := err.Error()
	const answer = "KRB Error: "
	if i := strings.LastIndex(text, answer); i >= 0 {
		return "the KDC answers " + text[i+len(answer):]
	}
	if strings.Contains(text, "no valid existing session") {
		return "the ticket has expired; run kinit"
	}
	if m := noKDC.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("no KDC is configured for realm %s (krb5.conf, or where %s says)", m[1], envKerberosConfig)
	}
	if m := noKey.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("the key table has no key of %s@%s that fits", m[1], m[2])
	}
	return text
}
