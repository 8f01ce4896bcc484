package connect

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
	"golang.org/x/oauth2"
)

const (
	// refreshBefore is how long before its end a token is replaced.
	refreshBefore = 30 * time.Second
	// keepUndated is how long a token is kept whose end the endpoint does not tell.
	keepUndated = time.Minute
)

// tokenEndpoint keeps one token for all connections.
type tokenEndpoint struct {
	fetch func(context.Context) (*oauth2.Token, error)
	// shown is the address without what may be secret in it.
	shown string
	// id and secret are the client's.
	id, secret javaprops.Secret

	mu    sync.Mutex
	token string
	until time.Time
}

func (t *tokenEndpoint) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && time.Now().Before(t.until) {
		return t.token, nil
	}
	token, err := t.fetch(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return "", err
	case err != nil:
		return "", &wordedError{text: t.hide(fmt.Sprintf("token endpoint %s: %s", t.shown, tokenError(err)))}
	}
	t.token, t.until = token.AccessToken, token.Expiry.Add(-refreshBefore)
	if token.Expiry.IsZero() {
		t.until = time.Now().Add(keepUndated)
	}
	return t.token, nil
}

func (t *tokenEndpoint) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.token = ""
}

// hide takes out the secret, which an endpoint may echo where it refuses, in the
// forms in which it was sent: as it is, escaped, and with the client's id before it
// in base64.
func (t *tokenEndpoint) hide(text string) string {
	secret := t.secret.Reveal()
	if secret == "" {
		return text
	}
	id := t.id.Reveal()
	var forms []string
	for _, pair := range [][2]string{{id, secret}, {url.QueryEscape(id), url.QueryEscape(secret)}} {
		basic := base64.StdEncoding.EncodeToString([]byte(pair[0] + ":" + pair[1]))
		forms = append(forms, basic, strings.TrimRight(basic, "="), pair[1], base64.StdEncoding.EncodeToString([]byte(pair[1])))
	}
	for _, form := range forms {
		text = strings.ReplaceAll(text, form, "[hidden]")
	}
	return text
}

// maxTokenBytes is far more than brokers take, and less than a wrong file may have.
const maxTokenBytes = 1 << 20

// tokenFile is a token that something else keeps fresh, such as a service
// account's in Kubernetes.
type tokenFile struct{ path string }

func (t *tokenFile) get(context.Context) (string, error) { return t.read() }

func (t *tokenFile) read() (string, error) {
	f, err := os.Open(t.path)
	if err != nil {
		return "", &wordedError{text: fmt.Sprintf("token: %v", err)}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTokenBytes))
	if err != nil {
		return "", &wordedError{text: fmt.Sprintf("token: %v", err)}
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", &wordedError{text: fmt.Sprintf("token: %s is empty", t.path)}
	}
	return token, nil
}

func (t *tokenFile) forget() {}

// excuse says that the token has expired, which brokers do not say of tokens that
// they refuse. It looks into the token alone: whether it is genuine, and a JWT at
// all, is the broker's to judge.
func (t *tokenFile) excuse() string {
	token, err := t.read()
	if err != nil {
		return ""
	}
	until, ok := expiryOf(token)
	if !ok || time.Now().Before(until) {
		return ""
	}
	return fmt.Sprintf("the token in %s expired on %s", t.path, until.UTC().Format(time.RFC3339))
}

// expiryOf is the claim exp (RFC 7519 §4.1.4) of a JWT that is signed.
func expiryOf(token string) (time.Time, bool) {
	const parts = 3
	split := strings.Split(token, ".")
	if len(split) != parts {
		return time.Time{}, false
	}
	text, err := base64.RawURLEncoding.DecodeString(split[1])
	if err != nil {
		return time.Time{}, false
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if json.Unmarshal(text, &claims) != nil || claims.Exp <= 0 {
		return time.Time{}, false
	}
	return time.Unix(int64(claims.Exp), 0), true
}
