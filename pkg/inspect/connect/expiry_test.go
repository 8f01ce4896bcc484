package connect

import (
	"encoding/base64"
	"testing"
	"time"
)

func TestExpiryOf(t *testing.T) {
	t.Parallel()
	jwt := func(claims string) string {
		return "h." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".s"
	}
	for token, want := range map[string]int64{
		jwt(`{"exp":1700000000}`):       1700000000,
		jwt(`{"exp":1700000000.75}`):    1700000000,
		jwt(`{"exp":1.7e9}`):            1700000000,
		jwt(`{"exp":"1700000000"}`):     0,
		jwt(`{"exp":-5}`):               0,
		jwt(`{"sub":"alice"}`):          0,
		jwt(`[1]`):                      0,
		jwt(`{"exp":1700000000}`) + ".": 0,
		"opaque":                        0,
		"a.!.b":                         0,
		"":                              0,
	} {
		got, ok := expiryOf(token)
		if ok != (want != 0) || ok && !got.Equal(time.Unix(want, 0)) {
			t.Errorf("expiryOf(%q) = %s, %t; want %d", token, got, ok, want)
		}
	}
}
