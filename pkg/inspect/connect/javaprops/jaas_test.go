package javaprops

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An entry of the plain module with these options.
func plain(options string) string { return plainModule + " required " + options }

// jaasTests are also asked of Kafka. What must not be in a message is "secret"
// or "hunter2".
var jaasTests = []struct {
	name, text string
	want       string // module flag, then options by name, quoted
	err        string // a part of it
}{
	{name: "plain", text: plain(`username="u" password="p";`), want: plainModule + ` required password="p" username="u"`},
	{name: "escaped quote", text: plain(`username="u" password="a\"b";`), want: plainModule + ` required password="a\"b" username="u"`},
	{
		name: "blanks, equals signs, slashes and semicolons in quotes", text: plain(`password="Endpoint=sb://x/;SharedAccessKey=k= /*";`),
		want: plainModule + ` required password="Endpoint=sb://x/;SharedAccessKey=k= /*"`,
	},
	{name: "no options", text: "a.B required;", want: "a.B required"},
	{name: "unquoted", text: "a.B required user-name_$1.2=v-1._$ b=c;", want: `a.B required b="c" user-name_$1.2="v-1._$"`},
	{name: "everything quoted", text: `"a B" 'optional' 'the key'='v"';`, want: `a B optional the key="v\""`},
	{name: "no blanks where none are needed", text: `a.B required a="1"b="2"c=d;`, want: `a.B required a="1" b="2" c="d"`},
	{name: "blanks everywhere", text: "\n a.B\trequired\r\n a = \n \"1\" ;\n", want: `a.B required a="1"`},
	{name: "flags in any case", text: "a.B ReQuISite;", want: "a.B requisite"},
	{name: "sufficient", text: "a.B sufficient;", want: "a.B sufficient"},
	{name: "escapes", text: `a.B required a="\a\b\f\n\r\t\v\\\q\'";`, want: `a.B required a="\a\b\f\n\r\t\v\\q'"`},
	{name: "octal", text: `a.B required a="\0\7\101\1011\377\4019\8";`, want: `a.B required a="\x00\aAA1ÿ 198"`},
	{name: "escaped line end", text: "a.B required a=\"x\\\ny\";", want: `a.B required a="x\ny"`},
	{name: "other alphabets are letters", text: "a.B required ключ=é€😀\u00a0;", want: `a.B required ключ="é€😀\u00a0"`},
	{name: "comments", text: "// c ;\na.B /* ; */required/**/ a=b /x ;\n;// end", want: `a.B required a="b"`},
	{name: "a slash at the end of a line", text: "a.B required /\na=b\n;", want: "a.B required"},
	{name: "stars", text: "a.B /*/ */ required /***/ a=b /*\n*/;", want: `a.B required a="b"`},
	{name: "set twice", text: `a.B required a="1" a="2";`, want: `a.B required a="2"`},
	{name: "open comment at the end", text: "a.B required; /*", want: "a.B required"},
	{name: "empty name and value", text: `a.B required ""="";`, want: `a.B required =""`},

	{name: "unquoted and cut at an equals sign", text: plain(`username=u password=Endpoint=secret;`), err: "option password: its value is not in quotes"},
	{name: "unquoted and cut at a colon", text: plain(`password=Endpoint=sb://secret/;SharedAccessKey=k=;`), err: "option password: its value is not in quotes"},
	{name: "cut where Kafka would go on", text: plain("password=hunter2==hunter2;"), err: "option password: its value is not in quotes"},
	{name: "cut by a comment", text: plain("password=hunter2//hunter2\n;"), err: "option password: its value is not in quotes"},
	{name: "cut by another comment", text: plain("password=hunter2/hunter2\n;"), err: "option password: its value is not in quotes"},
	{name: "cut by a quote", text: plain(`password=hunter2"hunter2"=x;`), err: "option password: its value is not in quotes"},
	{name: "cut by a character that is no letter", text: plain("password=secret\u0080;"), err: "option password: its value is not in quotes"},
	{name: "cut at a blank", text: plain("password=my hunter2;"), err: "option 2, behind password: expected name=value"},
	{name: "cut by the end of a line", text: plain("password=\"hunter2\n;"), err: "option password: a quote that is opened"},
	{name: "the same behind it", text: plain("password=\"hunter2\" \"secret\n;"), err: "option 2, behind password: a quote that is opened"},
	{name: "the same as a name", text: plain("\"hunter2\r=a;"), err: "option 1: a quote that is opened"},
	{name: "the same as a flag", text: "a.B \"required\n;", err: "control flag: a quote that is opened"},
	{name: "the same as a module", text: "\"a.B\n required;", err: "login module: a quote that is opened"},
	{name: "quote not closed", text: plain(`password="hunter2;`), err: "option password: a quote that is opened"},
	{name: "backslash at the end", text: plain(`password="hunter2\`), err: "option password: a quote that is opened"},
	{name: "option without a name", text: plain(`a="secret" =hunter2;`), err: "option 2: expected name=value"},
	{name: "a number as a name", text: plain(`password="secret" 5=hunter2;`), err: "option 2, behind password: expected name=value"},
	{name: "starts with a digit", text: plain("password=1hunter2;"), err: "option password: no value, or one that"},
	{name: "starts with a minus sign", text: plain("password=-hunter2;"), err: "option password: no value, or one that"},
	{name: "starts with a dot", text: plain("password=.hunter2;"), err: "option password: no value, or one that"},
	{name: "no value", text: plain("password=;"), err: "option password: no value, or one that"},
	{name: "no value and no end", text: plain("password="), err: "option password: no value, or one that"},
	{name: "no equals sign", text: plain(`password "secret";`), err: "option 1: expected name=value"},
	{name: "a colon", text: plain(`password:"secret";`), err: "option 1: expected name=value"},
	{name: "no semicolon", text: plain(`password="secret"`), err: "does not end with a semicolon"},
	{name: "a semicolon in an open comment", text: plain(`password="secret" /* ;`), err: "does not end with a semicolon"},
	{name: "nothing", text: "", err: "has 0 login modules"},
	{name: "only a comment", text: "// a.B required;", err: "has 0 login modules"},
	{name: "two modules", text: `a.B required password="secret"; a.B required;`, err: "has 2 login modules"},
	{name: "two semicolons", text: "a.B required;;", err: "must begin with the class"},
	{name: "no module", text: "; a.B required;", err: "must begin with the class"},
	{name: "empty module", text: `"" required;`, err: "must begin with the class"},
	{name: "a number as a module", text: "1 required;", err: "must begin with the class"},
	{name: "only a module", text: "hunter2", err: "must be one of required, requisite, sufficient, optional"},
	{name: "unknown flag", text: "a.B secret;", err: "must be one of required, requisite, sufficient, optional"},
	{name: "no flag", text: `a.B password="secret";`, err: "must be one of required, requisite, sufficient, optional"},
	{name: "a capital letter of another alphabet", text: "a.B requ\u0130red;", err: "must be one of required, requisite, sufficient, optional"},
	{name: "refused module", text: `" com.sun.security.auth.module.JndiLoginModule" required;`, err: "JndiLoginModule is refused"},
	{name: "another refused module", text: "com.sun.security.auth.module.LdapLoginModule required;", err: "LdapLoginModule is refused"},
}

func TestParseJAAS(t *testing.T) {
	t.Parallel()
	for _, tt := range jaasTests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			login, err := ParseJAAS(tt.text)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || leaks(err.Error()) {
					t.Fatalf("got error %v, want one with %q and without the value", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, describeLogin(login)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func leaks(text string) bool {
	return strings.Contains(text, "secret") || strings.Contains(text, "hunter2")
}

func describeLogin(login Login) string {
	text := login.Module + " " + string(login.Flag)
	for _, name := range login.Options() {
		value, _ := login.Option(name)
		text += " " + name + "=" + quoteGo(value.Reveal())
	}
	return text
}

// A file of one setting after another: what a user has, and what comes out.
func TestJAASOfFile(t *testing.T) {
	t.Parallel()
	const key = "sasl.jaas.config"
	tests := []struct{ name, file, want, err string }{
		{
			name: "escapes doubled", file: key + "=" + plainModule + ` required username="u" password="a\\"b";`,
			want: plainModule + ` required password="a\"b" username="u"`,
		},
		{
			name: "escapes not doubled", file: key + "=" + plainModule + ` required username="u" password="a\"hunter2";`,
			err: "client.properties:1: sasl.jaas.config: option 3, behind password: expected name=value",
		},
		{
			name: "connection string", file: "a.b=c\n" + key + "=" + plain(`username="$ConnectionString" password="Endpoint=sb://x/;SharedAccessKey=k=";`),
			want: plainModule + ` required password="Endpoint=sb://x/;SharedAccessKey=k=" username="$ConnectionString"`,
		},
		{
			name: "connection string without quotes", file: "a.b=c\n" + key + "=" + plain(`username=u password=Endpoint=sb://x/;SharedAccessKey=hunter2=;`),
			err: `client.properties:2: sasl.jaas.config: option password: its value is not in quotes and has a character that ends it: put it in double quotes, as in password="..."`,
		},
		{
			name: "three lines", file: key + " = " + plainModule + " required \\\n    username=\"u\" \\\r\n    password=\"p\";\nnext.key=1\n",
			want: plainModule + ` required password="p" username="u"`,
		},
		{
			name: "lost backslash", file: key + " = " + plainModule + " required \\\n    username=\"u\"\n    password=\"hunter2\";\n",
			err: "client.properties:1: sasl.jaas.config: the entry does not end with a semicolon (does a line before its last lack a backslash at its end?)",
		},
		{name: "missing", file: "a.b=c", err: "client.properties: sasl.jaas.config: is not set: it names the login module"},
		{name: "empty", file: key, err: "client.properties:1: sasl.jaas.config: has 0 login modules, and must have exactly one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse("client.properties", []byte(tt.file))
			if err != nil {
				t.Fatal(err)
			}
			login, err := f.JAAS(key)
			if tt.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.err) || leaks(err.Error()) {
					t.Fatalf("got error %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, describeLogin(login)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestParseJAASLimits(t *testing.T) {
	t.Parallel()
	if _, err := ParseJAAS(plain(`password="` + strings.Repeat("x", MaxFileBytes) + `";`)); err == nil || !strings.Contains(err.Error(), "are not read") {
		t.Errorf("too long: got error %v", err)
	}
	// It would come out as a replacement character.
	if _, err := ParseJAAS(plain("password=\"hunter2\xff\";")); err == nil || err.Error() != "is not valid UTF-8" {
		t.Errorf("not UTF-8: got error %v", err)
	}
}
