package kafkatest

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ClusterResource is the name of the one resource of type cluster.
const ClusterResource = "kafka-cluster"

// An ACL allows or denies a principal operations on one resource, from any host.
type ACL struct {
	// Principal is like User:alice, or User:CN=alice for a certificate.
	Principal string
	Type      kmsg.ACLResourceType
	// Name is exact, or * for all; ClusterResource for the cluster.
	Name       string
	Operations []kmsg.ACLOperation
	// Deny denies the operations instead, whatever else allows them.
	Deny bool
}

// Allow makes ACLs, and waits until every broker that runs obeys them. It needs
// Options.Authorizer.
func (c *Cluster) Allow(tb testing.TB, acls ...ACL) {
	tb.Helper()
	ctx, cancel := bound(tb, adminTimeout)
	defer cancel()
	req := kmsg.NewPtrCreateACLsRequest()
	for _, acl := range acls {
		for _, operation := range acl.Operations {
			creation := kmsg.NewCreateACLsRequestCreation()
			creation.Principal, creation.Host = acl.Principal, "*"
			creation.ResourceType, creation.ResourceName = acl.Type, acl.Name
			creation.ResourcePatternType = kmsg.ACLResourcePatternTypeLiteral
			creation.Operation, creation.PermissionType = operation, kmsg.ACLPermissionTypeAllow
			if acl.Deny {
				creation.PermissionType = kmsg.ACLPermissionTypeDeny
			}
			req.Creations = append(req.Creations, creation)
		}
	}
	resp, err := askController[*kmsg.CreateACLsResponse](ctx, c, req)
	if err != nil {
		tb.Fatalf("kafkatest: create ACLs: %v", err)
	}
	for _, r := range resp.Results {
		if err := kafkaError("kafkatest: create ACL", r.ErrorCode, r.ErrorMessage); err != nil {
			tb.Fatal(err)
		}
	}
	Eventually(tb, adminTimeout, func() error {
		for _, id := range c.runningBrokers() {
			for _, creation := range req.Creations {
				if err := c.knowsACL(tb, id, &creation); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (c *Cluster) knowsACL(tb testing.TB, id int32, want *kmsg.CreateACLsRequestCreation) error {
	req := kmsg.NewPtrDescribeACLsRequest()
	req.ResourceType, req.ResourceName = want.ResourceType, &want.ResourceName
	req.ResourcePatternType = want.ResourcePatternType
	req.Principal, req.Host = &want.Principal, &want.Host
	req.Operation, req.PermissionType = want.Operation, want.PermissionType
	resp, err := ask[*kmsg.DescribeACLsResponse](tb.Context(), c, id, req)
	if err != nil {
		return err
	}
	if err := kafkaError("describe ACLs", resp.ErrorCode, resp.ErrorMessage); err != nil {
		return err
	}
	if len(resp.Resources) == 0 {
		return fmt.Errorf("broker %d does not know that %s may %s %s", id, want.Principal, want.Operation, want.ResourceName)
	}
	return nil
}
