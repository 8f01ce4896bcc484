package connect

import (
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// What sasl.mechanism may be. AWS_MSK_IAM is the name that Amazon's Java login
// module has; on the wire kafkaops sends its token by OAUTHBEARER, which MSK
// takes on the same listener.
const (
	mechanismPlain       = "PLAIN"
	mechanismScram256    = "SCRAM-SHA-256"
	mechanismScram512    = "SCRAM-SHA-512"
	mechanismOAuthBearer = "OAUTHBEARER"
	mechanismMSKIAM      = "AWS_MSK_IAM"
	mechanismKerberos    = "GSSAPI"
)

const (
	keyMechanism = "sasl.mechanism"
	keyJAAS      = "sasl.jaas.config"

	keyClientHandler = "sasl.client.callback.handler.class"
	keyLoginHandler  = "sasl.login.callback.handler.class"
	// mskLoginHandler is how Amazon's module does it by OAUTHBEARER.
	mskLoginHandler = "IAMOAuthBearerLoginCallbackHandler"
)

// newMechanism reads the sasl.* settings. Kafka's default is GSSAPI.
func newMechanism(f *javaprops.File) (sasl.Mechanism, error) {
	name, ok := f.Get(keyMechanism)
	if !ok {
		name = mechanismKerberos
	}
	if err := checkHandlers(f, name); err != nil {
		return nil, err
	}
	switch name {
	case mechanismPlain:
		user, password, err := userAndPassword(f, "PlainLoginModule")
		if err != nil {
			return nil, err
		}
		return plain.Auth{User: user, Pass: password.Reveal()}.AsMechanism(), nil
	case mechanismScram256, mechanismScram512:
		user, password, err := userAndPassword(f, "ScramLoginModule")
		if err != nil {
			return nil, err
		}
		auth := scram.Auth{User: user, Pass: password.Reveal(), IsToken: isDelegationToken(f)}
		if name == mechanismScram256 {
			return auth.AsSha256Mechanism(), nil
		}
		return auth.AsSha512Mechanism(), nil
	case mechanismOAuthBearer:
		if class, _ := f.Get(keyLoginHandler); strings.HasSuffix(class, mskLoginHandler) {
			return newMSKIAM(f)
		}
		return newOAuth(f)
	case mechanismMSKIAM:
		return newMSKIAM(f)
	case mechanismKerberos:
		return newKerberos(f)
	}
	return nil, f.Errorf(keyMechanism, "this mechanism is not supported; supported are %s", strings.Join(mechanisms(), ", "))
}

// checkHandlers refuses Java classes that get credentials from where this program
// does not look. Those that are known do nothing that it does not do too.
func checkHandlers(f *javaprops.File, mechanism string) error {
	var client, login []string
	switch mechanism {
	case mechanismMSKIAM:
		client = []string{"IAMClientCallbackHandler"}
	case mechanismOAuthBearer:
		login = []string{"OAuthBearerLoginCallbackHandler", mskLoginHandler}
	}
	for _, err := range []error{
		checkClass(f, keyClientHandler, client...),
		checkClass(f, keyLoginHandler, login...),
		checkClass(f, "sasl.login.class"),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func mechanisms() []string {
	return []string{
		mechanismPlain, mechanismScram256, mechanismScram512,
		mechanismOAuthBearer, mechanismMSKIAM, mechanismKerberos,
	}
}

// userAndPassword are username and password of the JAAS login module, whose class
// name must end in module.
func userAndPassword(f *javaprops.File, module string) (string, javaprops.Secret, error) {
	login, err := loginOf(f, module)
	if err != nil {
		return "", javaprops.Secret{}, err
	}
	user, okUser := login.Option("username")
	password, okPassword := login.Option("password")
	if !okUser || !okPassword {
		return "", javaprops.Secret{}, f.Errorf(keyJAAS, "it needs username=\"…\" and password=\"…\"")
	}
	return user.Reveal(), password, nil
}

// loginOf is the JAAS login module of the file, which must be one of modules.
func loginOf(f *javaprops.File, modules ...string) (javaprops.Login, error) {
	login, err := f.JAAS(keyJAAS)
	if err != nil {
		return login, err
	}
	class := login.Module[strings.LastIndexByte(login.Module, '.')+1:]
	if !slices.Contains(modules, class) {
		return login, f.Errorf(keyJAAS, "the login module does not belong to this %s, which takes %s", keyMechanism, strings.Join(modules, " or "))
	}
	return login, nil
}

// isDelegationToken: ScramLoginModule's option tokenauth (KIP-48).
func isDelegationToken(f *javaprops.File) bool {
	login, err := f.JAAS(keyJAAS)
	if err != nil {
		return false
	}
	value, _ := login.Option("tokenauth")
	return strings.EqualFold(value.Reveal(), "true")
}
