package kraft

import "strconv"

// Type is what a record is about: the apiKey in Kafka's schemas. Types 6, 13 and
// 16 were dropped by Kafka before they were ever written.
type Type int16

// The types of Kafka 3.3 to 4.4.
const (
	TypeRegisterBroker            Type = 0
	TypeUnregisterBroker          Type = 1
	TypeTopic                     Type = 2
	TypePartition                 Type = 3
	TypeConfig                    Type = 4
	TypePartitionChange           Type = 5
	TypeFenceBroker               Type = 7
	TypeUnfenceBroker             Type = 8
	TypeRemoveTopic               Type = 9
	TypeDelegationToken           Type = 10
	TypeUserScramCredential       Type = 11
	TypeFeatureLevel              Type = 12
	TypeClientQuota               Type = 14
	TypeProducerIDs               Type = 15
	TypeBrokerRegistrationChange  Type = 17
	TypeAccessControlEntry        Type = 18
	TypeRemoveAccessControlEntry  Type = 19
	TypeNoOp                      Type = 20
	TypeZkMigrationState          Type = 21
	TypeRemoveUserScramCredential Type = 22
	TypeBeginTransaction          Type = 23
	TypeEndTransaction            Type = 24
	TypeAbortTransaction          Type = 25
	TypeRemoveDelegationToken     Type = 26
	TypeRegisterController        Type = 27
	TypeClearELR                  Type = 28
	TypeUnregisterController      Type = 29
)

// String returns the name that Kafka's tools print, such as
// PARTITION_CHANGE_RECORD, or the number of a type that is not known.
func (t Type) String() string {
	if k, ok := kindOf(t); ok {
		return k.name
	}
	return "record type " + strconv.Itoa(int(t))
}

// kind is what there is to know of a type.
type kind struct {
	name   string
	latest int16  // the latest version; the first is always 0
	blank  Record // a new one
	secret bool   // only the beginning of its layout is listed
}

// kindOf returns what is known of t; ok is false if nothing is.
func kindOf(t Type) (k kind, ok bool) {
	switch t {
	case TypeRegisterBroker:
		k = kind{name: "REGISTER_BROKER_RECORD", latest: 4, blank: new(RegisterBroker)}
	case TypeUnregisterBroker:
		k = kind{name: "UNREGISTER_BROKER_RECORD", blank: new(UnregisterBroker)}
	case TypeTopic:
		k = kind{name: "TOPIC_RECORD", blank: new(Topic)}
	case TypePartition:
		k = kind{name: "PARTITION_RECORD", latest: 2, blank: new(Partition)}
	case TypeConfig:
		k = kind{name: "CONFIG_RECORD", blank: new(Config)}
	case TypePartitionChange:
		k = kind{name: "PARTITION_CHANGE_RECORD", latest: 2, blank: new(PartitionChange)}
	case TypeFenceBroker:
		k = kind{name: "FENCE_BROKER_RECORD", blank: new(FenceBroker)}
	case TypeUnfenceBroker:
		k = kind{name: "UNFENCE_BROKER_RECORD", blank: new(UnfenceBroker)}
	case TypeRemoveTopic:
		k = kind{name: "REMOVE_TOPIC_RECORD", blank: new(RemoveTopic)}
	case TypeDelegationToken:
		k = kind{name: "DELEGATION_TOKEN_RECORD", blank: new(DelegationToken), secret: true}
	case TypeUserScramCredential:
		k = kind{name: "USER_SCRAM_CREDENTIAL_RECORD", blank: new(UserScramCredential), secret: true}
	case TypeFeatureLevel:
		k = kind{name: "FEATURE_LEVEL_RECORD", blank: new(FeatureLevel)}
	case TypeClientQuota:
		k = kind{name: "CLIENT_QUOTA_RECORD", blank: new(ClientQuota)}
	case TypeProducerIDs:
		k = kind{name: "PRODUCER_IDS_RECORD", blank: new(ProducerIDs)}
	case TypeBrokerRegistrationChange:
		k = kind{name: "BROKER_REGISTRATION_CHANGE_RECORD", latest: 3, blank: new(BrokerRegistrationChange)}
	case TypeAccessControlEntry:
		k = kind{name: "ACCESS_CONTROL_ENTRY_RECORD", blank: new(AccessControlEntry)}
	case TypeRemoveAccessControlEntry:
		k = kind{name: "REMOVE_ACCESS_CONTROL_ENTRY_RECORD", blank: new(RemoveAccessControlEntry)}
	case TypeNoOp:
		k = kind{name: "NO_OP_RECORD", blank: new(NoOp)}
	case TypeZkMigrationState:
		k = kind{name: "ZK_MIGRATION_STATE_RECORD", blank: new(ZkMigrationState)}
	case TypeRemoveUserScramCredential:
		k = kind{name: "REMOVE_USER_SCRAM_CREDENTIAL_RECORD", blank: new(RemoveUserScramCredential)}
	case TypeBeginTransaction:
		k = kind{name: "BEGIN_TRANSACTION_RECORD", blank: new(BeginTransaction)}
	case TypeEndTransaction:
		k = kind{name: "END_TRANSACTION_RECORD", blank: new(EndTransaction)}
	case TypeAbortTransaction:
		k = kind{name: "ABORT_TRANSACTION_RECORD", blank: new(AbortTransaction)}
	case TypeRemoveDelegationToken:
		k = kind{name: "REMOVE_DELEGATION_TOKEN_RECORD", blank: new(RemoveDelegationToken)}
	case TypeRegisterController:
		k = kind{name: "REGISTER_CONTROLLER_RECORD", blank: new(RegisterController)}
	case TypeClearELR:
		k = kind{name: "CLEAR_ELR_RECORD", blank: new(ClearELR)}
	case TypeUnregisterController:
		k = kind{name: "UNREGISTER_CONTROLLER_RECORD", blank: new(UnregisterController)}
	}
	return k, k.blank != nil
}
