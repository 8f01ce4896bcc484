package javaprops

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Flag is a login module's control flag. A client has one module, so that it
// makes no difference; Kafka wants one all the same.
type Flag string

// The control flags.
const (
	Required   Flag = "required"
	Requisite  Flag = "requisite"
	Sufficient Flag = "sufficient"
	Optional   Flag = "optional"
)

// Login is what a JAAS configuration says: a login module and its options. It
// does not change.
type Login struct {
	// Module is a Java class, such as
	// org.apache.kafka.common.security.plain.PlainLoginModule.
	Module string
	Flag   Flag

	options []option
}

type option struct {
	name  string
	value Secret
}

// Option returns the value of an option; of one that is there twice the last.
func (l Login) Option(name string) (Secret, bool) {
	for _, o := range slices.Backward(l.options) {
		if o.name == name {
			return o.value, true
		}
	}
	return Secret{}, false
}

// Options returns the names of the options, each once, sorted.
func (l Login) Options() []string {
	names := make([]string, 0, len(l.options))
	for _, o := range l.options {
		names = append(names, o.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// String names the module and those options whose names are known to be names.
func (l Login) String() string {
	var b strings.Builder
	b.WriteString(showModule(l.Module) + " " + string(l.Flag))
	others := 0
	for _, name := range l.Options() {
		if isLoginOption(name) {
			b.WriteString(" " + name + "=" + hidden)
		} else {
			others++
		}
	}
	if others > 0 {
		fmt.Fprintf(&b, " and %d more", others)
	}
	return b.String()
}

// Format writes what String returns, whatever the verb.
func (l Login) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, l.String()) }

// MarshalText returns what String does.
func (l Login) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// JAAS reads the login module that the setting key names. That the key is not
// there is an error too. The error is an [*Error].
func (f *File) JAAS(key string) (Login, error) {
	value, ok := f.Get(key)
	if !ok {
		return Login{}, f.Errorf(key, "is not set: it names the login module, with user name and password, in one line")
	}
	login, err := ParseJAAS(value)
	if err != nil {
		return Login{}, f.Errorf(key, "%v", err)
	}
	return login, nil
}

// The errors where Kafka would go on; see the package comment.
var (
	errCut    = errors.New("its value is not in quotes and has a character that ends it: " + quoteIt)
	errOpen   = errors.New(`a quote that is opened is not closed before the end of its line (write \\" for a quote in a value, \\\\ for a backslash)`)
	errNoName = errors.New("expected name=value or the semicolon that ends the entry; a value with blanks, = or the like has to stand in double quotes")
)

const quoteIt = `put it in double quotes, as in password="..."`

// ParseJAAS reads a JAAS configuration of exactly one login module, such as
//
//	org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";
//
// The value is what the properties reader has left of it: one \ where the file
// has two.
func ParseJAAS(value string) (Login, error) {
	switch {
	case len(value) > MaxFileBytes:
		return Login{}, fmt.Errorf("has %d bytes, and more than %d are not read", len(value), MaxFileBytes)
	case !utf8.ValidString(value):
		return Login{}, errors.New("is not valid UTF-8")
	}
	p := jaasParser{tokens: tokenizer{text: value}}
	var login Login
	modules := 0
	for p.advance(); p.token.kind != tokenEnd; p.advance() {
		l, err := p.login()
		if err != nil {
			return Login{}, err
		}
		login = l
		modules++
	}
	if modules != 1 {
		return Login{}, fmt.Errorf("has %d login modules, and must have exactly one", modules)
	}
	if name := strings.TrimFunc(login.Module, func(r rune) bool { return r <= ' ' }); slices.Contains(refusedModules, name) {
		return Login{}, fmt.Errorf("login module %s is refused, as Kafka refuses it: it lets a file run code from elsewhere", name)
	}
	return login, nil
}

// refusedModules are those that JaasContext refuses unless a system property
// says otherwise (CVE-2023-25194).
var refusedModules = []string{
	"com.sun.security.auth.module.JndiLoginModule",
	"com.sun.security.auth.module.LdapLoginModule",
}

type jaasParser struct {
	tokens tokenizer
	token  token
}

func (p *jaasParser) advance() { p.token = p.tokens.next() }

// login reads one entry, from its module, which is the token, to its semicolon.
func (p *jaasParser) login() (Login, error) {
	switch {
	case p.token.kind == tokenOpen:
		return Login{}, fmt.Errorf("login module: %w", errOpen)
	case p.token.kind != tokenText || p.token.text == "":
		return Login{}, errors.New("must begin with the class of a login module, such as org.apache.kafka.common.security.plain.PlainLoginModule")
	}
	login := Login{Module: p.token.text}
	if p.advance(); p.token.kind == tokenOpen {
		return Login{}, fmt.Errorf("control flag: %w", errOpen)
	}
	if login.Flag = parseFlag(p.token.text); login.Flag == "" {
		return Login{}, errors.New("the word behind the login module must be one of required, requisite, sufficient, optional")
	}
	for p.advance(); p.token.kind != ';'; p.advance() {
		if p.token.kind == tokenEnd {
			return Login{}, errors.New("the entry does not end with a semicolon (does a line before its last lack a backslash at its end?)")
		}
		o, err := p.option()
		if err != nil {
			return Login{}, fmt.Errorf("%s: %w", p.where(login, o.name), err)
		}
		login.options = append(login.options, o)
	}
	return login, nil
}

// option reads name=value. With an error it returns the name if there is one.
func (p *jaasParser) option() (option, error) {
	o := option{name: p.token.text}
	switch p.token.kind {
	case tokenText:
	case tokenOpen:
		return option{}, errOpen
	default:
		return option{}, errNoName
	}
	if p.advance(); p.token.kind != '=' {
		return option{}, errNoName
	}
	p.advance()
	switch {
	case p.token.kind == tokenOpen:
		return o, errOpen
	case p.token.kind != tokenText:
		return o, errors.New("no value, or one that is not in quotes and does not begin with a letter: " + quoteIt)
	case !p.token.quoted && !p.tokens.atBreak():
		return o, errCut
	}
	o.value = NewSecret(p.token.text)
	return o, nil
}

// where names an option for an error, if its name is surely one and not a part
// of a password that was cut, and else by the one before it.
func (p *jaasParser) where(login Login, name string) string {
	if isLoginOption(name) {
		return "option " + name
	}
	text := fmt.Sprintf("option %d", len(login.options)+1)
	if n := len(login.options); n > 0 && isLoginOption(login.options[n-1].name) {
		text += ", behind " + login.options[n-1].name
	}
	return text
}

// ligatures become several capital letters in Java, and none in Go.
var ligatures = strings.NewReplacer("\uFB00", "FF", "\uFB01", "FI", "\uFB03", "FFI")

// parseFlag returns the flag that word is in capital letters, as Java compares
// it, or none.
func parseFlag(word string) Flag {
	upper := strings.ToUpper(ligatures.Replace(word))
	for _, flag := range []Flag{Required, Requisite, Sufficient, Optional} {
		if strings.ToUpper(string(flag)) == upper {
			return flag
		}
	}
	return ""
}

// isLoginOption reports whether name is an option of a login module that
// clients use, and so nothing that a message has to hide.
func isLoginOption(name string) bool { return slices.Contains(loginOptions, name) }

var loginOptions = []string{
	// PlainLoginModule, ScramLoginModule, OAuthBearerLoginModule
	"username", "password", "tokenauth", "clientId", "clientSecret", "scope",
	// Krb5LoginModule
	"useKeyTab", "keyTab", "principal", "storeKey", "serviceName", "useTicketCache", "ticketCache", "renewTGT",
	"doNotPrompt", "refreshKrb5Config", "isInitiator", "useFirstPass", "tryFirstPass", "storePass", "clearPass", "debug",
	// Amazon's IAMLoginModule
	"awsProfileName", "awsRoleArn", "awsRoleSessionName", "awsStsRegion",
}

// showModule returns what looks like a Java class in a package.
func showModule(module string) string {
	isClass := func(r rune) bool { return isWordPart(r) && r < utf8.RuneSelf && r != '-' }
	if !strings.Contains(module, ".") || strings.ContainsFunc(module, func(r rune) bool { return !isClass(r) }) {
		return "a login module that is no Java class"
	}
	return module
}
