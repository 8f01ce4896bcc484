package connect_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"
)

// What the brokers want of a token.
const (
	tokenAudience   = "kafka"
	tokenIssuerName = "https://issuer.example"
)

// tokenIssuer is a token endpoint for client credentials (RFC 6749 §4.4), whose
// tokens are JWTs signed by ES256.
type tokenIssuer struct {
	server *httptest.Server
	key    *ecdsa.PrivateKey
	issued atomic.Int32
	last   atomic.Value
}

func newTokenIssuer() *tokenIssuer {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	i := &tokenIssuer{key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", i.token)
	mux.HandleFunc("POST /mute", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the client has gone
		<-r.Context().Done()
	})
	i.server = httptest.NewServer(mux)
	return i
}

func (i *tokenIssuer) url() string { return i.server.URL }

func (i *tokenIssuer) close() { i.server.Close() }

// token answers as authorization servers do, and echoes what it got where it
// refuses, as some of them do.
func (i *tokenIssuer) token(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	id, secret, _ := r.BasicAuth()
	if id != "alice" || secret != clientSecret || r.FormValue("grant_type") != "client_credentials" {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":"invalid_client","error_description":"Invalid client or credentials","debug":%q}`, r.Header.Get("Authorization"))
		return
	}
	i.issued.Add(1)
	audience := tokenAudience
	if scope := r.FormValue("scope"); scope != "" {
		audience = scope
	}
	token := i.sign(audience, 5*time.Minute)
	i.last.Store(token)
	fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":300}`, token)
}

// lastToken is empty before the first one.
func (i *tokenIssuer) lastToken() string {
	token, _ := i.last.Load().(string)
	return token
}

// sign makes a token for alice that is good for so long.
func (i *tokenIssuer) sign(audience string, life time.Duration) string {
	now := time.Now()
	text := segment(map[string]any{"alg": "ES256", "typ": "JWT", "kid": "test"}) + "." + segment(map[string]any{
		"iss": tokenIssuerName, "sub": "alice", "aud": audience, "iat": now.Unix(), "exp": now.Add(life).Unix(),
	})
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, sum[:])
	if err != nil {
		panic(err)
	}
	const half = 32
	signature := make([]byte, 2*half)
	r.FillBytes(signature[:half])
	s.FillBytes(signature[half:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// jwks is the public key as brokers read it.
func (i *tokenIssuer) jwks() []byte {
	point, err := i.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		panic(err)
	}
	const half = 32
	encode := base64.RawURLEncoding.EncodeToString
	data, err := json.Marshal(map[string]any{"keys": []any{map[string]string{
		"kty": "EC", "crv": "P-256", "kid": "test", "use": "sig", "alg": "ES256",
		"x": encode(point[1 : 1+half]), "y": encode(point[1+half:]),
	}}})
	if err != nil {
		panic(err)
	}
	return data
}

func segment(claims map[string]any) string {
	data, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(data)
}
