package javaprops

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"testing"
)

// holder has the types where package fmt cannot ask them for methods.
type holder struct {
	pw    Secret
	login Login
	entry Entry
	file  *File
	err   error
}

// Whatever prints a value of this package shows no secret, even where it looks
// into fields that are not exported.
func TestNothingPrintsSecrets(t *testing.T) {
	t.Parallel()
	const values = "ssl.key.password=hunter2\nretries=1secret\n"
	file, err := Parse("f", []byte("sasl.jaas.config="+plain(`username="u" password="hunter2" my="secret" tail="hunter2";`)+"\n"+values))
	if err != nil {
		t.Fatal(err)
	}
	// One where a secret has become a key.
	broken, err := Parse("f", []byte("hunter2=1\n"+values))
	if err != nil {
		t.Fatal(err)
	}
	login, err := file.JAAS("sasl.jaas.config")
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := file.Entry("ssl.key.password")
	keyOnly, _ := broken.Entry("hunter2")
	secret, _ := login.Option("password")
	_, badNumber := file.Int("retries", 0, Bounds{0, 1})
	if secret.Reveal() != "hunter2" || badNumber == nil {
		t.Fatalf("got %q, %v", secret.Reveal(), badNumber)
	}
	all := map[string]any{
		"secret": secret, "pointer to secret": &secret, "login": login, "pointer to login": &login, "entry": entry, "key": keyOnly,
		"pointer to entry": &entry, "entries": broken.Entries(), "file": file, "broken file": broken, "error": badNumber, "map": map[string]Secret{"a": secret},
		"unexported": holder{secret, login, entry, file, badNumber}, "pointer to unexported": &holder{secret, login, entry, file, badNumber},
		"exported": struct {
			S Secret
			L Login
			E Entry
			F *File
		}{secret, login, entry, file},
	}
	for name, value := range all {
		for how, text := range printed(t, value) {
			if leaks(text) {
				t.Errorf("%s by %s: %s", name, how, text)
			}
		}
	}
}

// printed returns a value in every form that it may get into a log or an answer.
func printed(t *testing.T, value any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T"} {
		out[verb] = fmt.Sprintf(verb, value)
	}
	if s, ok := value.(fmt.Stringer); ok {
		out["String"] = s.String()
	}
	data, err := json.Marshal(value)
	if err != nil {
		t.Error(err)
	}
	out["JSON"] = string(data)
	if data, err := xml.Marshal(value); err == nil {
		out["XML"] = string(data)
	}
	var text, lines bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("m", "k", value)
	slog.New(slog.NewJSONHandler(&lines, nil)).Info("m", "k", value)
	out["slog text"], out["slog JSON"] = text.String(), lines.String()
	return out
}

// What is shown instead is enough to see what is there.
func TestShown(t *testing.T) {
	t.Parallel()
	f, err := Parse("f", []byte("a.b=x\nsasl.jaas.config="+plain(`username="u" password="hunter2" hunter2="x";`)))
	if err != nil {
		t.Fatal(err)
	}
	login, err := f.JAAS("sasl.jaas.config")
	if err != nil {
		t.Fatal(err)
	}
	entry, _ := f.Entry("a.b")
	odd, err := ParseJAAS("hunter2 required;")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		value fmt.Stringer
		want  string
	}{
		{NewSecret("x"), "[hidden]"},
		{Secret{}, "[hidden]"},
		{entry, "a.b=[hidden] (line 1)"},
		{f, "f (2 keys)"},
		{login, plainModule + " required password=[hidden] username=[hidden] and 1 more"},
		{odd, "a login module that is no Java class required"},
	} {
		if got := tt.value.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
		if got := fmt.Sprintf("%#v", tt.value); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestSecretEqual(t *testing.T) {
	t.Parallel()
	if !NewSecret("a").Equal(NewSecret("a")) || NewSecret("a").Equal(NewSecret("b")) || !(Secret{}).Equal(NewSecret("")) {
		t.Error("secrets are equal where their strings are")
	}
}

// An error of a setting can be told from others, and its parts taken out.
func TestErrorParts(t *testing.T) {
	t.Parallel()
	f, err := Parse("f", []byte("\nretries=x"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Int("retries", 0, Bounds{0, 9})
	var e *Error
	if !errors.As(err, &e) || e.File != "f" || e.Line != 2 || e.Key != "retries" || e.Problem != "must be a whole number from 0 to 9" {
		t.Errorf("got %+v", e)
	}
}
