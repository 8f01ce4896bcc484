package connect

import (
	"context"
	"fmt"
	"os"
	"regexp"

	"github.com/aws/aws-msk-iam-sasl-signer-go/signer"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
)

// mskIAM signs a token for each connection with the AWS credentials of the
// environment, or those of IAMLoginModule's options.
type mskIAM struct {
	profile, role, session string
}

func newMSKIAM(f *javaprops.File) (sasl.Mechanism, error) {
	login, err := loginOf(f, "IAMLoginModule", "OAuthBearerLoginModule")
	if err != nil {
		return nil, err
	}
	option := func(name string) string {
		value, _ := login.Option(name)
		return value.Reveal()
	}
	return &mskIAM{option("awsProfileName"), option("awsRoleArn"), option("awsRoleSessionName")}, nil
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
	case m.role != "":
		token, _, err = signer.GenerateAuthTokenFromRole(ctx, region, m.role, m.session)
	case m.profile != "":
		token, _, err = signer.GenerateAuthTokenFromProfile(ctx, region, m.profile)
	default:
		token, _, err = signer.GenerateAuthToken(ctx, region)
	}
	if err != nil {
		return nil, nil, &wordedError{text: fmt.Sprintf("AWS credentials: %v", err)}
	}
	return oauth.Auth{Token: token}.AsMechanism().Authenticate(ctx, addr)
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
