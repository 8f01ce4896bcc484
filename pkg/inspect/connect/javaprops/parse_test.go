package javaprops

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parseTests are also asked of Java.
var parseTests = []struct {
	name, file string
	want       []string // "line key=value", quoted
	err        string
}{
	{name: "empty", file: ""},
	{name: "equals sign", file: "key=value", want: []string{`1 "key"="value"`}},
	{name: "colon with blanks", file: "key : value", want: []string{`1 "key"="value"`}},
	{name: "blank", file: "key value", want: []string{`1 "key"="value"`}},
	{name: "tab and form feed", file: "a\tb\nc\fd", want: []string{`1 "a"="b"`, `2 "c"="d"`}},
	{name: "one separator only", file: "key=a=b\nk2 = :x\nk3==x", want: []string{`1 "key"="a=b"`, `2 "k2"=":x"`, `3 "k3"="=x"`}},
	{name: "blanks at the end stay", file: "key = value \t", want: []string{"1 \"key\"=\"value \\t\""}},
	{name: "no value", file: "a\nb=\nc :  ", want: []string{`1 "a"=""`, `2 "b"=""`, `3 "c"=""`}},
	{name: "no key", file: "=x", want: []string{`1 ""="x"`}},
	{name: "comments", file: "! comment\n  # another\\\na=b#c\n\t!x", want: []string{`3 "a"="b#c"`}},
	{name: "blank lines and form feeds", file: "\n \t\n\f\f a=\fb\n\f\n", want: []string{`3 "a"="b"`}},
	{name: "line ends", file: "a=1\rb=2\r\nc=3\n\rd=4\r\n\r\ne=5", want: []string{`1 "a"="1"`, `2 "b"="2"`, `3 "c"="3"`, `5 "d"="4"`, `7 "e"="5"`}},
	{
		name: "value over three lines", file: "# c\nsasl.jaas.config=a.B required \\\n  username=\"u\" \\\r\n\t\fpassword=\"p\";\nnext=1",
		want: []string{`2 "sasl.jaas.config"="a.B required username=\"u\" password=\"p\";"`, `5 "next"="1"`},
	},
	{name: "key over two lines", file: "ke\\\n  y=v", want: []string{`1 "key"="v"`}},
	{name: "an even number of backslashes ends the line", file: "a=b\\\\\nc=d", want: []string{`1 "a"="b\\"`, `2 "c"="d"`}},
	{name: "an odd number does not", file: "a=b\\\\\\\nc=d", want: []string{`1 "a"="b\\c=d"`}},
	{name: "a continued line may be blank", file: "a=b\\\n\nc=d", want: []string{`1 "a"="b"`, `3 "c"="d"`}},
	{name: "a continued line is no comment", file: "a=b\\\n#c", want: []string{`1 "a"="b#c"`}},
	{name: "unless nothing is before it", file: "\\\n#c\nd=e", want: []string{`3 "d"="e"`}},
	{name: "CR CR LF continues once", file: "a=b\\\r\r\nc=d", want: []string{`1 "a"="b"`, `3 "c"="d"`}},
	{name: "a backslash ends the file", file: "a=b\\", want: []string{`1 "a"="b"`}},
	{name: "a backslash and a line end do", file: "a=b\\\n", want: []string{`1 "a"="b"`}},
	{name: "a backslash alone", file: "\\", want: []string{`1 ""=""`}},
	{name: "a backslash and a line end alone", file: "\\\n", want: []string{`1 ""=""`}},
	{name: "escapes", file: `a=\t\n\r\f\\\q\"\b\x`, want: []string{`1 "a"="\t\n\r\f\\q\"bx"`}},
	{name: "escapes in a key", file: `a\ b\=c\:d\#\\=e`, want: []string{`1 "a b=c:d#\\"="e"`}},
	{name: "an escaped comment sign", file: `\#a=b`, want: []string{`1 "#a"="b"`}},
	{name: "an escaped blank leads the value", file: `a=\  b`, want: []string{`1 "a"="  b"`}},
	{name: "unicode", file: `\u00e9=\u20Ac\u0041\uD83D\uDE00`, want: []string{`1 "é"="€A😀"`}},
	{name: "unicode escapes separate nothing", file: `a\u003db=\u000ac`, want: []string{`1 "a=b"="\nc"`}},
	{name: "surrogates over two lines", file: "a=\\uD83D\\\n  \\uDE00", want: []string{`1 "a"="😀"`}},
	{name: "ISO-8859-1", file: "a=\xe9\x85\x00", want: []string{`1 "a"="é\u0085\x00"`}},
	{name: "UTF-8 comes out as ISO-8859-1", file: "a=é", want: []string{`1 "a"="Ã©"`}},
	{name: "nothing is expanded", file: "a=1\nb=${a}${env:HOME}\n${a}=c", want: []string{`1 "a"="1"`, `2 "b"="${a}${env:HOME}"`, `3 "${a}"="c"`}},
	{name: "the last one counts", file: "a=1\nb=2\na=3", want: []string{`2 "b"="2"`, `3 "a"="3"`}},
	{name: "trust store", file: "ssl.truststore.location=x.jks", want: []string{`1 "ssl.truststore.location"="x.jks"`}},

	{name: "malformed: no digit", file: "a=1\n\nb=\\\n  secret\\uXYZW", err: "f:3: malformed"},
	{name: "malformed: too few digits", file: `a=secret\u00`, err: "f:1: malformed"},
	{name: "malformed: a sign", file: `a=secret\u+041`, err: "f:1: malformed"},
	{name: "malformed in a key", file: "\n\\u12=secret", err: "f:2: malformed"},
	{name: "malformed behind what is set twice", file: "a=1\na=2\na=\\u", err: "f:3: malformed"},
	{name: "half a pair", file: `a=secret\uD83D`, err: "f:1: half a surrogate pair"},
	{name: "the other half", file: `a=secret\uDE00\uD83D`, err: "f:1: half a surrogate pair"},
	{name: "a pair of key and value", file: `secret\uD83D=\uDE00`, err: "f:1: half a surrogate pair"},
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range parseTests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse("f", []byte(tt.file))
			if tt.err != "" {
				var e *Error
				if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
					t.Fatalf("got error %v, want an *Error %q... without the value", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range f.Entries() {
				got = append(got, fmt.Sprintf("%d %q=%q", e.Line, e.Key, e.Value()))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestParseLimit(t *testing.T) {
	t.Parallel()
	line := []byte("#\n")
	data := []byte(strings.Repeat(string(line), MaxFileBytes/len(line)))
	if _, err := Parse("f", data); err != nil {
		t.Errorf("%d bytes: %v", len(data), err)
	}
	_, err := Parse("f", append(data, '#'))
	if want := "f: has 1048577 bytes, and more than 1048576 are not read"; err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("acks=1\n", maxWarnings+6)
	tests := []struct {
		name, file string
		want       []string
	}{
		{name: "none", file: "a.b=1\n# é\na.c=\xe9"},
		{name: "set twice", file: "a.b=1\na.c=1\na.b=2\na.b=3", want: []string{
			"f:1: a.b: set again in line 4, which counts",
			"f:3: a.b: set again in line 4, which counts",
		}},
		{name: "a key that may be a secret", file: "hunter2=1\nhunter2=2", want: []string{
			"f:1: a key that is not shown, because it does not look like one: set again in line 2, which counts",
		}},
		{name: "byte order mark", file: "\xef\xbb\xbfa.b=1", want: []string{
			"f:1: begins with a byte order mark, which Java reads as a part of the key: save the file without",
		}},
		{name: "UTF-8", file: "a.b=1\na.c=\\\n  pässword", want: []string{
			`f:2: holds UTF-8, which Java reads as ISO-8859-1, as other characters: write them as \uXXXX`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, warningsOf(t, tt.file)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("many", func(t *testing.T) {
		t.Parallel()
		got := warningsOf(t, many)
		if want := "f:20: and 5 more lines like it"; len(got) != maxWarnings+1 || got[maxWarnings] != want {
			t.Errorf("got %d warnings with %q last, want %d with %q", len(got), got[len(got)-1], maxWarnings+1, want)
		}
	})
}

func warningsOf(t *testing.T, file string) []string {
	t.Helper()
	f, err := Parse("f", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, w := range f.Warnings() {
		texts = append(texts, w.String())
	}
	return texts
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	// Lines 5 and 6 have lost the backslash of the line before; 7 to 9 are parts
	// of a private key, a password and a token.
	const file = "client.id=x\nmy.custom.setting=hunter2\nretries=1\nclient.di=x\n" +
		"username=\"u\"\n  password=\"hunter2\";\nMIIEvQIBADANBg==\nhunter2\neyJhbGciOi.eyJzdWIi=x\n"
	const notShown = "a key that is not shown, because it does not look like one: unknown setting, ignored"
	f, err := Parse("f", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range f.Unknown(func(key string) bool { return key == "client.id" }) {
		got = append(got, w.String())
	}
	want := []string{
		"f:2: my.custom.setting: unknown setting, ignored",
		"f:3: retries: unknown setting, ignored",
		"f:4: client.di: unknown setting, ignored",
		"f:5: username: no setting but a login module's option: does the line before it lack a backslash at its end?",
		"f:6: password: no setting but a login module's option: does the line before it lack a backslash at its end?",
		"f:7: " + notShown, "f:8: " + notShown, "f:9: " + notShown,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
