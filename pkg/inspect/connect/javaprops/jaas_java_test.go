package javaprops

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const plainModule = "org.apache.kafka.common.security.plain.PlainLoginModule"

// What JAAS configurations are made of.
var (
	jaasModules = []string{
		plainModule, plainModule, plainModule, "a.b.$C_d-e1", `"quoted.Module"`, `''`, "Modul\u00e9", "\U0001F600", "1.B", "-a", "=",
		"com.sun.security.auth.module.JndiLoginModule", `" com.sun.security.auth.module.LdapLoginModule\t"`, "com.sun.security.auth.module.Krb5LoginModule",
	}
	jaasFlags = []string{
		"required", "required", "required", "REQUISITE", "Sufficient", "optional", `"optional"`, "'required'", "must", "requ\u0131red", "\u017fufficient",
		"su\ufb03cient", "requ\u0130red", "", ";", "required-",
	}
	jaasNames  = []string{"username", "password", "password", "a.b-c_$", `"quoted name"`, `""`, "n\u00e4me", "1", "", "-x", "/", "user/**/name"}
	jaasEquals = []string{"=", "=", "=", "=", " = ", "\n=\t", "==", "", ":", "/* = */="}
	jaasValues = []string{
		`"p"`, `"a\"b"`, `'a"b'`, `"a'b"`, `"Endpoint=sb://x/;SharedAccessKey=k="`, "Endpoint=sb://x/;SharedAccessKey=k=", "word", "word-1.2_$", `""`,
		`"\a\b\f\n\r\t\v\q\\"`, `"\0\7\12\128\377\400\477\08"`, "\"line\nend\"", "\"line\\\nend\"", "\"line\rend\"", "\"open", `"back\`, "\"\u00e9\u20ac\U0001F600\u0080\"",
		"\u00e9\u20ac\U0001F600", "a\u0080b", "12", "1a", "-1", ".5", "-", "a,b", "a#b", "a/b", "a//b\n", "a/*b*/c", "a/b\n", "a=b", "a==b", `a"b"=c`, `"a"b=c`, `"a""b"`, "",
		"a\u00a0b", "a\u2028b",
	}
	jaasBlanks = []string{
		" ", " ", " ", "\n", "\t", "\r\n", "", "\x00\x1f", "// comment ;\n", "/* ; */", "/ also\n", "/\nnext line too\n", "/*/ */", "/* *\n/ */", "/***/",
		"/*\r\n*/", "# ",
	}
	jaasEnds = []string{";", ";", ";", ";", " ; ", "", ";;", "; x", "; // end", "; /* open", ";/", ",", "; b.Module required;"}
)

// generateJAAS returns one configuration of the corpus: an entry with parts that
// may be wrong, or parts in any order.
func generateJAAS(r *rand.Rand) string {
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	var all []string
	for _, from := range [][]string{jaasModules, jaasFlags, jaasNames, jaasEquals, jaasValues, jaasBlanks, jaasEnds} {
		all = append(all, from...)
	}
	// Most parts are right: one wrong one makes an error of the whole.
	odd := func(usual string, from []string) string {
		if r.IntN(9) > 0 {
			return usual
		}
		return pick(from)
	}
	if r.IntN(10) == 0 {
		return soup(r, 12, all)
	}
	var b strings.Builder
	b.WriteString(odd(plainModule, jaasModules) + odd(" ", jaasBlanks) + odd("required", jaasFlags))
	for i := range r.IntN(4) {
		b.WriteString(odd(" ", jaasBlanks) + odd(fmt.Sprintf("name%d", i), jaasNames) + odd("=", jaasEquals))
		b.WriteString([]string{`"value"`, pick(jaasValues)}[r.IntN(2)])
	}
	return b.String() + odd(";", jaasBlanks) + odd("", jaasEnds)
}

func jaasCorpus() ([]question, checker) {
	r := rand.New(rand.NewPCG(14, 3))
	var questions []question
	for _, tt := range jaasTests {
		questions = append(questions, question{"jaas", tt.text})
	}
	for range corpusSize {
		questions = append(questions, question{"jaas", generateJAAS(r)})
	}
	return questions, checkJAAS
}

func checkJAAS(t *testing.T, questions []question, answers []answer) {
	seen := map[string]int{}
	for i, a := range answers {
		text := questions[i].text
		login, err := ParseJAAS(text)
		switch {
		case a.throws != "":
			seen["throws"]++
			if err == nil {
				t.Errorf("%q: Java throws %s, got\n%s", text, a.throws, showLogin(login))
			}
		case a.hasNull():
			seen["no name"]++
			if err == nil {
				t.Errorf("%q: got %s, want an error for the option without a name", text, showLogin(login))
			}
		case errors.Is(err, errCut):
			seen["cut"]++
		case errors.Is(err, errOpen):
			seen["open quote"]++
		case err != nil:
			t.Errorf("%q: got error %v, Java reads\n%s", text, err, a.pairs())
		default:
			seen["read"]++
			if got, want := showLogin(login), a.pairs(); got != want {
				t.Errorf("%q: got\n%s\nJava reads\n%s", text, got, want)
			}
		}
	}
	t.Logf("%v", seen)
	// The three where we are stricter are rare, so that they hide nothing.
	if seen["throws"] < 100 || seen["read"] < 100 || seen["no name"] == 0 || seen["cut"] == 0 || seen["open quote"] == 0 {
		t.Errorf("the corpus has too few of a kind: %v", seen)
	}
	if strict := seen["no name"] + seen["cut"] + seen["open quote"]; strict > 50 {
		t.Errorf("stricter than Java in %d cases: %v", strict, seen)
	}
}

// showLogin returns what login holds as answer.pairs does.
func showLogin(login Login) string {
	lines := []string{fmt.Sprintf("%q=%q", login.Module, login.Flag)}
	for _, name := range login.Options() {
		value, _ := login.Option(name)
		lines = append(lines, fmt.Sprintf("%q=%q", name, value.Reveal()))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
