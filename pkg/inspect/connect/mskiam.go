package connect

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-msk-iam-sasl-signer-go/signer"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
)

// mskIAM signs a token for each connection with AWS credentials: those of a
// profile or of a role where IAMLoginModule's options say so, the profile first,
// as in Amazon's own module; else those of the environment. A profile that is
// named is used or fails: Amazon's module would go on and come as somebody else.
type mskIAM struct {
	profile string
	role    *assumedRole // nil without
}

// The options of IAMLoginModule; with Amazon's callback handler they are
// OAuthBearerLoginModule's too.
const (
	optionProfile      = "awsProfileName"
	optionRole         = "awsRoleArn"
	optionSession      = "awsRoleSessionName"
	optionExternalID   = "awsRoleExternalId"
	optionSTSRegion    = "awsStsRegion"
	optionKeyID        = "awsRoleAccessKeyId"
	optionSecretKey    = "awsRoleSecretAccessKey"
	optionSessionToken = "awsRoleSessionToken"
)

// iamOptions are those that are known, the last three of which are about Amazon's
// module itself.
func iamOptions() []string {
	return []string{
		optionProfile, optionRole, optionSession, optionExternalID, optionSTSRegion, optionKeyID, optionSecretKey, optionSessionToken,
		"awsDebugCreds", "awsMaxRetries", "awsMaxBackOffTimeMs",
	}
}

func newMSKIAM(f *javaprops.File) (sasl.Mechanism, error) {
	login, err := loginOf(f, "IAMLoginModule", "OAuthBearerLoginModule")
	if err != nil {
		return nil, err
	}
	for _, name := range login.Options() {
		// Without its name, which may be a piece of a value.
		if strings.HasPrefix(name, "aws") && !slices.Contains(iamOptions(), name) {
			return nil, f.Errorf(keyJAAS, "an option that begins with aws is not supported; supported are %s", strings.Join(iamOptions(), ", "))
		}
	}
	option := func(name string) string {
		value, _ := login.Option(name)
		return value.Reveal()
	}
	m := &mskIAM{profile: option(optionProfile)}
	if arn := option(optionRole); arn != "" {
		id, secret, token := option(optionKeyID), option(optionSecretKey), option(optionSessionToken)
		if (id == "") != (secret == "") {
			return nil, f.Errorf(keyJAAS, "%s and %s go together", optionKeyID, optionSecretKey)
		}
		m.role = newAssumedRole(arn, option(optionSession), option(optionExternalID), option(optionSTSRegion))
		if id != "" {
			m.role.by = func() aws.Credentials {
				return aws.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: token, Source: keyJAAS}
			}
		}
	}
	return m, nil
}

// Name implements sasl.Mechanism.
func (*mskIAM) Name() string { return mechanismOAuthBearer }

// Authenticate implements sasl.Mechanism.
func (m *mskIAM) Authenticate(ctx context.Context, addr string) (sasl.Session, []byte, error) {
	region, err := awsRegion(addr)
	if err != nil {
		return nil, nil, err
	}
	var token string
	switch {
	case m.profile != "":
		token, _, err = signer.GenerateAuthTokenFromProfile(ctx, region, m.profile)
	case m.role != nil:
		token, _, err = signer.GenerateAuthTokenFromCredentialsProvider(ctx, region, m.role.in(region))
	default:
		token, _, err = signer.GenerateAuthToken(ctx, region)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return nil, nil, err
	case err != nil:
		return nil, nil, &wordedError{text: "AWS credentials: " + m.awsError(err)}
	}
	return oauth.Auth{Token: token}.AsMechanism().Authenticate(ctx, addr)
}

// forget drops the role's credentials: they may have been revoked.
func (m *mskIAM) forget() {
	if m.role != nil {
		m.role.forget()
	}
}

// awsError is what AWS said, without the SDK's way to it.
func (m *mskIAM) awsError(err error) string {
	prefix := ""
	if m.profile == "" && m.role != nil {
		prefix = fmt.Sprintf("assume role %s: ", m.role.arn)
	}
	var said smithy.APIError
	var sent *url.Error
	switch {
	case errors.As(err, &said) && said.ErrorMessage() != "":
		return prefix + said.ErrorCode() + ": " + said.ErrorMessage()
	case isTimeout(err):
		return prefix + "no answer in time"
	case errors.As(err, &sent):
		return prefix + sent.Error()
	}
	return prefix + err.Error()
}

// mskHost is the name of an MSK broker: …c2.kafka.REGION.amazonaws.com, or
// kafka-serverless.
var mskHost = regexp.MustCompile(`\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?(?::\d+)?$`)

// awsRegion is in the broker's name, else in the environment.
func awsRegion(addr string) (string, error) {
	if m := mskHost.FindStringSubmatch(addr); m != nil {
		return m[1], nil
	}
	for _, key := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region := os.Getenv(key); region != "" {
			return region, nil
		}
	}
	return "", &wordedError{text: "no AWS region: the broker's name holds none, and AWS_REGION is not set"}
}
