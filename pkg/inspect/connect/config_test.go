package connect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBootstrap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		list string
		want []string
		err  string // a part of it
	}{
		{list: "kafka-1:9092", want: []string{"kafka-1:9092"}},
		{list: "a:1,b:65535", want: []string{"a:1", "b:65535"}},
		{list: " a:1 ,\tb:2\n", want: []string{"a:1", "b:2"}},
		{list: "a:1,,b:2,", want: []string{"a:1", "b:2"}},
		{list: "127.0.0.1:9092", want: []string{"127.0.0.1:9092"}},
		{list: "[::1]:9092", want: []string{"[::1]:9092"}},
		{list: "[2001:db8::7]:9092,[fe80::1%eth0]:9093", want: []string{"[2001:db8::7]:9092", "[fe80::1%eth0]:9093"}},

		{list: "", err: `no bootstrap server in ""`},
		{list: " , ,", err: `no bootstrap server in " , ,"`},
		{list: "kafka-1", err: `"kafka-1" is not host:port`},
		{list: ":9092", err: `":9092" is not host:port`},
		{list: "kafka-1:", err: `port "" is not a number from 1 to 65535`},
		{list: "::1:9092", err: `"::1:9092" is not host:port (such as kafka-1:9092, or [::1]:9092)`},
		{list: "[::1]", err: `"[::1]" is not host:port`},
		{list: "[::1:9092", err: `"[::1:9092" is not host:port`},
		{list: "[]:9092", err: `"[]:9092" is not host:port`},
		{list: "a:9092/path", err: `port "9092/path" is not a number`},
		{list: "PLAINTEXT://a:9092", err: `is not host:port`},
		{list: "a:b", err: `port "b" is not a number`},
		{list: "a:0", err: `port "0" is not a number from 1 to 65535`},
		{list: "a:65536", err: `port "65536" is not a number from 1 to 65535`},
		{list: "a:-1", err: `port "-1" is not a number from 1 to 65535`},
		{list: "a:1,b", err: `"b" is not host:port`},
		{list: "user:hush@a:1", err: `"…@a:1" holds an @: user and password belong into the command config`},
		{list: "hush@a:1", err: `"…@a:1" holds an @`},
		{list: "SASL_SSL://u:hu@sh@a:1", err: `"…@a:1" holds an @`},
		{list: "user:hush@", err: `"…@" holds an @`},
		{list: "a:1;b:2", err: `"a:1;b:2" is not host:port`},
	} {
		got, err := ParseBootstrap(tt.list)
		if diff := cmp.Diff(got, tt.want); diff != "" {
			t.Errorf("ParseBootstrap(%q): -got +want:\n%s", tt.list, diff)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("ParseBootstrap(%q) = %v, want an error with %q", tt.list, err, tt.err)
		}
		if err != nil && strings.Contains(err.Error(), "hu") {
			t.Errorf("ParseBootstrap(%q) shows the password: %v", tt.list, err)
		}
	}
}
