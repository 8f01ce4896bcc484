package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/keystore"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// The settings of OAUTHBEARER client credentials: those of KIP-768, and those
// that KIP-1139 adds beside the JAAS options.
const (
	keyTokenURL     = "sasl.oauthbearer.token.endpoint.url"
	keyClientID     = "sasl.oauthbearer.client.credentials.client.id"
	keyClientSecret = "sasl.oauthbearer.client.credentials.client.secret"
	keyScope        = "sasl.oauthbearer.scope"
)

// newOAuth is OAUTHBEARER with a token that the client fetches by its own
// credentials (RFC 6749 §4.4). A token is kept until shortly before it expires.
func newOAuth(f *javaprops.File) (sasl.Mechanism, error) {
	login, err := loginOf(f, "OAuthBearerLoginModule")
	if err != nil {
		return nil, err
	}
	url, ok := f.Get(keyTokenURL)
	if !ok {
		return nil, f.Errorf(keyTokenURL, "it is missing; OAUTHBEARER is supported with client credentials from a token endpoint")
	}
	if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
		return nil, f.Errorf(keyTokenURL, "it is no http or https address; tokens in files are not supported")
	}
	id, okID := setting(f, &login, keyClientID, "clientId")
	secret, okSecret := setting(f, &login, keyClientSecret, "clientSecret")
	if !okID || !okSecret {
		return nil, f.Errorf(keyJAAS, "it needs clientId=\"…\" and clientSecret=\"…\" (or the settings %s and %s)", keyClientID, keyClientSecret)
	}
	conf := clientcredentials.Config{
		ClientID: id.Reveal(), ClientSecret: secret.Reveal(), TokenURL: url, AuthStyle: oauth2.AuthStyleInHeader,
	}
	if scope, ok := setting(f, &login, keyScope, "scope"); ok && scope.Reveal() != "" {
		conf.Scopes = strings.Fields(scope.Reveal())
	}
	client, err := tokenClient(f, &login)
	if err != nil {
		return nil, err
	}
	t := &tokens{fetch: func(ctx context.Context) (*oauth2.Token, error) {
		return conf.Token(context.WithValue(ctx, oauth2.HTTPClient, client))
	}, url: url}
	extensions := extensionsOf(&login)
	return oauth.Oauth(func(ctx context.Context) (oauth.Auth, error) {
		token, err := t.get(ctx)
		return oauth.Auth{Token: token, Extensions: extensions}, err
	}), nil
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

// tokenClient speaks to the token endpoint. As in Kafka, a private authority is
// trusted by ssl.truststore.* among the JAAS options, not by the broker's.
func tokenClient(f *javaprops.File, login *javaprops.Login) (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	location, ok := login.Option("ssl.truststore.location")
	if ok {
		spec := keystore.Spec{TrustStoreLocation: location.Reveal()}
		if password, ok := login.Option("ssl.truststore.password"); ok {
			spec.TrustStorePassword = keystore.NewSecret(password.Reveal())
		}
		if kind, ok := login.Option("ssl.truststore.type"); ok {
			spec.TrustStoreType = kind.Reveal()
		}
		material, err := keystore.Load(spec)
		if err != nil {
			return nil, f.Errorf(keyJAAS, "ssl.truststore.location: %v", err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: material.Roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport}, nil
}

// refreshBefore is how long before its end a token is replaced.
const refreshBefore = 30 * time.Second

// tokens keeps one token for all connections.
type tokens struct {
	fetch func(context.Context) (*oauth2.Token, error)
	url   string

	mu    sync.Mutex
	token *oauth2.Token
}

func (t *tokens) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != nil && (t.token.Expiry.IsZero() || time.Until(t.token.Expiry) > refreshBefore) {
		return t.token.AccessToken, nil
	}
	token, err := t.fetch(ctx)
	if err != nil {
		return "", fmt.Errorf("token endpoint %s: %w", t.url, tokenError(err))
	}
	t.token = token
	return token.AccessToken, nil
}

// tokenError is the endpoint's own word for the refusal, and never its whole
// answer, which may hold what we sent.
func tokenError(err error) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return err
	}
	switch {
	case refused.ErrorCode != "" && refused.ErrorDescription != "":
		return fmt.Errorf("%s: %s", refused.ErrorCode, refused.ErrorDescription)
	case refused.ErrorCode != "":
		return errors.New(refused.ErrorCode)
	case refused.Response != nil:
		return errors.New(refused.Response.Status)
	}
	return errors.New("refused")
}
