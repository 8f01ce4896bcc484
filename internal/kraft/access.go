package kraft

// AccessControlEntry adds an ACL (KIP-801). The numbers are those of Kafka's
// enums ResourceType, PatternType, AclOperation and AclPermissionType.
type AccessControlEntry struct {
	ID             UUID
	ResourceType   int8
	ResourceName   string
	PatternType    int8
	Principal      string // such as User:alice
	Host           string // or *
	Operation      int8
	PermissionType int8
}

// Type returns [TypeAccessControlEntry].
func (*AccessControlEntry) Type() Type { return TypeAccessControlEntry }

func (r *AccessControlEntry) fields() []field {
	return []field{
		plain("Id", fixed(&r.ID)),
		plain("ResourceType", fixed(&r.ResourceType)),
		plain("ResourceName", text{&r.ResourceName}),
		plain("PatternType", fixed(&r.PatternType)),
		plain("Principal", text{&r.Principal}),
		plain("Host", text{&r.Host}),
		plain("Operation", fixed(&r.Operation)),
		plain("PermissionType", fixed(&r.PermissionType)),
	}
}

// RemoveAccessControlEntry removes an ACL.
type RemoveAccessControlEntry struct {
	ID UUID
}

// Type returns [TypeRemoveAccessControlEntry].
func (*RemoveAccessControlEntry) Type() Type { return TypeRemoveAccessControlEntry }

func (r *RemoveAccessControlEntry) fields() []field {
	return []field{plain("Id", fixed(&r.ID))}
}

// UserScramCredential sets a user's SCRAM credential (KIP-900). The record holds
// salt and keys in the clear; this is all that is read of it, so it cannot be
// written, printed or stored by accident.
type UserScramCredential struct {
	Name string // the user
}

// Type returns [TypeUserScramCredential].
func (*UserScramCredential) Type() Type { return TypeUserScramCredential }

// fields end where the secrets begin.
func (r *UserScramCredential) fields() []field {
	return []field{plain("Name", text{&r.Name})}
}

// RemoveUserScramCredential removes a user's SCRAM credential.
type RemoveUserScramCredential struct {
	Name      string // the user
	Mechanism int8   // 1 SCRAM-SHA-256, 2 SCRAM-SHA-512
}

// Type returns [TypeRemoveUserScramCredential].
func (*RemoveUserScramCredential) Type() Type { return TypeRemoveUserScramCredential }

func (r *RemoveUserScramCredential) fields() []field {
	return []field{plain("Name", text{&r.Name}), plain("Mechanism", fixed(&r.Mechanism))}
}

// DelegationToken creates or renews a delegation token (KIP-900). This is all
// that is read of it, as of [UserScramCredential].
type DelegationToken struct {
	Owner string // the principal, such as User:alice
}

// Type returns [TypeDelegationToken].
func (*DelegationToken) Type() Type { return TypeDelegationToken }

// fields end where the token's data begin.
func (r *DelegationToken) fields() []field {
	return []field{plain("Owner", text{&r.Owner})}
}

// RemoveDelegationToken removes a delegation token.
type RemoveDelegationToken struct {
	TokenID string
}

// Type returns [TypeRemoveDelegationToken].
func (*RemoveDelegationToken) Type() Type { return TypeRemoveDelegationToken }

func (r *RemoveDelegationToken) fields() []field {
	return []field{plain("TokenId", text{&r.TokenID})}
}
