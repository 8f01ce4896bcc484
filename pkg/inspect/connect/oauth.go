package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/keystore"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// The settings of OAUTHBEARER: those of KIP-768, and those that KIP-1139 has
// added beside the JAAS options.
const (
	keyTokenURL     = "sasl.oauthbearer.token.endpoint.url"
	keyClientID     = "sasl.oauthbearer.client.credentials.client.id"
	keyClientSecret = "sasl.oauthbearer.client.credentials.client.secret"
	keyScope        = "sasl.oauthbearer.scope"
	keyURLEncode    = "sasl.oauthbearer.header.urlencode"
	keyRetriever    = "sasl.oauthbearer.jwt.retriever.class"
)

// bearer is OAUTHBEARER with tokens from where the settings say.
type bearer struct {
	sasl.Mechanism
	tokens tokenSource
}

// tokenSource gives a token for a connection.
type tokenSource interface {
	get(ctx context.Context) (string, error)
	// forget drops what is kept: a broker has refused it.
	forget()
}

func (b *bearer) forget() { b.tokens.forget() }

// excuse is empty where there is none.
func (b *bearer) excuse() string {
	if known, ok := b.tokens.(excuser); ok {
		return known.excuse()
	}
	return ""
}

// newOAuth is OAUTHBEARER with a token that the client fetches by its own
// credentials (RFC 6749 §4.4), or that lies in a file.
func newOAuth(f *javaprops.File) (sasl.Mechanism, error) {
	login, err := loginOf(f, "OAuthBearerLoginModule")
	if err != nil {
		return nil, err
	}
	tokens, err := newTokenSource(f, &login)
	if err != nil {
		return nil, err
	}
	extensions := extensionsOf(&login)
	return &bearer{
		Mechanism: oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
			token, err := tokens.get(ctx)
			return oauth.Auth{Token: token, Extensions: extensions}, err
		}),
		tokens: tokens,
	}, nil
}

func newTokenSource(f *javaprops.File, login *javaprops.Login) (tokenSource, error) {
	if err := checkClass(f, keyRetriever, "DefaultJwtRetriever", "ClientCredentialsJwtRetriever", "FileJwtRetriever"); err != nil {
		return nil, err
	}
	text, ok := f.Get(keyTokenURL)
	if !ok {
		return nil, f.Errorf(keyTokenURL, "it is missing; OAUTHBEARER is supported with client credentials from a token endpoint, or a token in a file")
	}
	endpoint, err := url.Parse(text)
	if err != nil {
		return nil, f.Errorf(keyTokenURL, "it is no address")
	}
	switch {
	case endpoint.Scheme == "file" && endpoint.Path != "":
		return &tokenFile{endpoint.Path}, nil
	case (endpoint.Scheme == "http" || endpoint.Scheme == "https") && endpoint.Host != "":
		return newTokenEndpoint(f, login, endpoint)
	}
	return nil, f.Errorf(keyTokenURL, "it must begin with https://, http:// or file:///")
}

// newTokenEndpoint reads the client's credentials.
func newTokenEndpoint(f *javaprops.File, login *javaprops.Login, endpoint *url.URL) (*tokenEndpoint, error) {
	id, okID := setting(f, login, keyClientID, "clientId")
	secret, okSecret := setting(f, login, keyClientSecret, "clientSecret")
	if !okID || !okSecret {
		return nil, f.Errorf(keyJAAS, "it needs clientId=\"…\" and clientSecret=\"…\" (or the settings %s and %s)", keyClientID, keyClientSecret)
	}
	encode, err := f.Bool(keyURLEncode, false)
	if err != nil {
		return nil, err
	}
	conf := clientcredentials.Config{
		ClientID: id.Reveal(), ClientSecret: secret.Reveal(), TokenURL: endpoint.String(), AuthStyle: oauth2.AuthStyleInHeader,
	}
	if scope, ok := setting(f, login, keyScope, "scope"); ok {
		conf.Scopes = strings.Fields(scope.Reveal())
	}
	transport, err := tokenTransport(f, login, endpoint)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Transport: transport,
		// A redirect would carry the credentials to another server.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if !encode {
		client.Transport = rawBasicAuth{transport, id, secret}
	}
	shown := url.URL{Scheme: endpoint.Scheme, Host: endpoint.Host, Path: endpoint.Path}
	return &tokenEndpoint{
		fetch: func(ctx context.Context) (*oauth2.Token, error) {
			return conf.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
		},
		shown: shown.String(), id: id, secret: secret,
	}, nil
}

// rawBasicAuth sends credentials as Kafka does unless it is told otherwise
// (sasl.oauthbearer.header.urlencode): without the encoding that RFC 6749 §2.3.1
// asks for, and that many servers do not undo.
type rawBasicAuth struct {
	next       http.RoundTripper
	id, secret javaprops.Secret
}

// RoundTrip implements http.RoundTripper.
func (a rawBasicAuth) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.SetBasicAuth(a.id.Reveal(), a.secret.Reveal())
	return a.next.RoundTrip(req)
}

// setting is a setting of the file, else the JAAS option that it replaces.
func setting(f *javaprops.File, login *javaprops.Login, key, option string) (javaprops.Secret, bool) {
	if s, ok := f.Secret(key); ok {
		return s, true
	}
	return login.Option(option)
}

// extensionsOf are SASL extensions (KIP-342), JAAS options that begin with
// extension_.
func extensionsOf(login *javaprops.Login) map[string]string {
	out := map[string]string{}
	for _, option := range login.Options() {
		if name, ok := strings.CutPrefix(option, "extension_"); ok {
			value, _ := login.Option(option)
			out[name] = value.Reveal()
		}
	}
	return out
}

// tokenTransport speaks to the token endpoint. As in Kafka, its authority and the
// client's own key are set by ssl.* among the JAAS options, and not by those that
// are for brokers.
func tokenTransport(f *javaprops.File, login *javaprops.Login, endpoint *url.URL) (*http.Transport, error) {
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the process has a transport of its own")
	}
	transport = transport.Clone()
	stores, err := keystore.NewReloader(storesOf(func(key string) (javaprops.Secret, bool) { return login.Option(key) }))
	if err != nil {
		return nil, f.Errorf(keyJAAS, "%v", err)
	}
	transport.TLSClientConfig = stores.ClientConfig(endpoint.Hostname(), true)
	return transport, nil
}

// checkClass refuses a Java class that stands for something that is not here.
func checkClass(f *javaprops.File, key string, known ...string) error {
	value, ok := f.Get(key)
	if !ok {
		return nil
	}
	for _, class := range known {
		if value == class || strings.HasSuffix(value, "."+class) {
			return nil
		}
	}
	if len(known) == 0 {
		return f.Errorf(key, "a Java class cannot be used")
	}
	return f.Errorf(key, "this Java class cannot be used; known are %s", strings.Join(known, ", "))
}

// tokenError is the endpoint's own word for the refusal, and never its whole
// answer, which may hold what we sent.
func tokenError(err error) string {
	var refused *oauth2.RetrieveError
	var request *url.Error
	switch {
	case errors.As(err, &refused) && refused.ErrorCode != "" && refused.ErrorDescription != "":
		return fmt.Sprintf("%s: %s", refused.ErrorCode, refused.ErrorDescription)
	case errors.As(err, &refused) && refused.ErrorCode != "":
		return refused.ErrorCode
	case errors.As(err, &refused) && refused.Response != nil:
		return "answered " + refused.Response.Status
	case isTimeout(err):
		return "no answer in time"
	case errors.As(err, &request):
		return request.Err.Error() // without the address, which may hold more than is shown
	}
	return strings.TrimPrefix(err.Error(), "oauth2: ")
}
