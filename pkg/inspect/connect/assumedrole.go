package connect

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// sessionName is what Amazon's module calls itself: a role's trust policy may ask
// for it.
const sessionName = "aws-msk-iam-auth"

// assumedRole has the credentials of a role, which STS gives for a quarter of an
// hour, and keeps them for all connections until shortly before they end.
type assumedRole struct {
	arn, session, external string
	// stsRegion is whose STS is asked, empty for the broker's region's.
	stsRegion string
	// by are the credentials that may assume it; nil for those of the environment,
	// which are looked up anew each time. Behind a function nothing prints them.
	by func() aws.Credentials

	mu     sync.Mutex
	region string // of kept
	kept   *aws.CredentialsCache
}

func newAssumedRole(arn, session, external, stsRegion string) *assumedRole {
	if session == "" {
		session = sessionName
	}
	return &assumedRole{arn: arn, session: session, external: external, stsRegion: stsRegion}
}

// in gives credentials for a broker in the region.
func (r *assumedRole) in(region string) aws.CredentialsProvider {
	if r.stsRegion != "" {
		region = r.stsRegion
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil || r.region != region {
		assume := func(ctx context.Context) (aws.Credentials, error) { return r.assume(ctx, region) }
		r.region = region
		r.kept = aws.NewCredentialsCache(aws.CredentialsProviderFunc(assume), func(o *aws.CredentialsCacheOptions) {
			o.ExpiryWindow = refreshBefore
		})
	}
	return r.kept
}

func (r *assumedRole) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = nil
}

// assume asks STS.
func (r *assumedRole) assume(ctx context.Context, region string) (aws.Credentials, error) {
	options := []func(*config.LoadOptions) error{config.WithRegion(region)}
	if r.by != nil {
		static := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return r.by(), nil })
		options = append(options, config.WithCredentialsProvider(static))
	}
	conf, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return aws.Credentials{}, fmt.Errorf("settings of AWS: %w", err)
	}
	once := func(o *sts.Options) { o.RetryMaxAttempts = 1 } // with its cause, before the time is up
	return stscreds.NewAssumeRoleProvider(sts.NewFromConfig(conf, once), r.arn, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = r.session
		if r.external != "" {
			o.ExternalID = &r.external
		}
	}).Retrieve(ctx)
}
