package kraft

// RegisterBroker is the start of a broker's life: it replaces everything that
// was known of that id.
type RegisterBroker struct {
	BrokerID int32
	// IsMigratingZkBroker is of Kafka 3.4 to 3.9 (version 2): the broker still
	// works with ZooKeeper.
	IsMigratingZkBroker bool
	// IncarnationID is new each time the process starts.
	IncarnationID UUID
	// BrokerEpoch is the offset at which the controller began the operation that
	// wrote this record, and grows with each registration of the id. Records that
	// clean up after the life before come first, so it can be a few less than this
	// record's own offset.
	BrokerEpoch int64
	EndPoints   []Endpoint
	// Features are the ranges that the broker's software supports.
	Features []FeatureRange
	Rack     *string // nil: none
	// Fenced brokers may not lead. A broker starts fenced.
	Fenced bool
	// InControlledShutdown (version 1) may no longer become leader or join an ISR.
	InControlledShutdown bool
	// LogDirs (version 3, KIP-858) are the directories that are online.
	LogDirs []UUID
	// CordonedLogDirs (version 4, KIP-1066) get no new replicas; nil until the
	// broker's first heartbeat tells.
	CordonedLogDirs []UUID
}

// Type returns [TypeRegisterBroker].
func (*RegisterBroker) Type() Type { return TypeRegisterBroker }

func (r *RegisterBroker) fields() []field {
	return []field{
		plain("BrokerId", fixed(&r.BrokerID)),
		since(2, "IsMigratingZkBroker", fixed(&r.IsMigratingZkBroker)),
		plain("IncarnationId", fixed(&r.IncarnationID)),
		plain("BrokerEpoch", fixed(&r.BrokerEpoch)),
		plain("EndPoints", many(&r.EndPoints, (*Endpoint).fields)),
		plain("Features", many(&r.Features, (*FeatureRange).fields)),
		plain("Rack", nullText{&r.Rack}),
		plain("Fenced", fixed(&r.Fenced)),
		since(1, "InControlledShutdown", fixed(&r.InControlledShutdown)),
		tagged(0, 3, "LogDirs", fixeds(&r.LogDirs)),
		tagged(1, 4, "CordonedLogDirs", nullFixeds(&r.CordonedLogDirs)),
	}
}

// Endpoint is a listener of a broker or controller.
type Endpoint struct {
	Name string
	Host string
	Port uint16
	// SecurityProtocol is Kafka's id: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL.
	SecurityProtocol int16
}

func (e *Endpoint) fields() []field {
	return []field{
		plain("Name", text{&e.Name}),
		plain("Host", text{&e.Host}),
		plain("Port", fixed(&e.Port)),
		plain("SecurityProtocol", fixed(&e.SecurityProtocol)),
	}
}

// FeatureRange is what a node supports of a feature, both ends included.
type FeatureRange struct {
	Name                string
	MinSupportedVersion int16
	MaxSupportedVersion int16
}

func (f *FeatureRange) fields() []field {
	return []field{
		plain("Name", text{&f.Name}),
		plain("MinSupportedVersion", fixed(&f.MinSupportedVersion)),
		plain("MaxSupportedVersion", fixed(&f.MaxSupportedVersion)),
	}
}

// UnregisterBroker removes a broker. Partitions keep it as replica.
type UnregisterBroker struct {
	BrokerID    int32
	BrokerEpoch int64
}

// Type returns [TypeUnregisterBroker].
func (*UnregisterBroker) Type() Type { return TypeUnregisterBroker }

func (r *UnregisterBroker) fields() []field {
	return []field{
		plain("BrokerId", fixed(&r.BrokerID)),
		plain("BrokerEpoch", fixed(&r.BrokerEpoch)),
	}
}

// What [BrokerRegistrationChange] says of fencing, in Kafka's numbers.
const (
	Unfenced        int8 = -1
	FencingNoChange int8 = 0
	Fenced          int8 = 1
)

// What [BrokerRegistrationChange] says of a controlled shutdown, from which only
// a new registration leads back.
const (
	ControlledShutdownNoChange int8 = 0
	InControlledShutdown       int8 = 1
)

// BrokerRegistrationChange changes a registration (KIP-841). Its zero value
// changes nothing.
type BrokerRegistrationChange struct {
	BrokerID    int32
	BrokerEpoch int64 // that of the registration it is about
	// Fenced is [Fenced], [Unfenced] or [FencingNoChange].
	Fenced int8
	// InControlledShutdown (version 1) is [InControlledShutdown] or
	// [ControlledShutdownNoChange].
	InControlledShutdown int8
	// LogDirs (version 2, KIP-858) are the directories now online; empty: no
	// change, as a broker without any stops.
	LogDirs []UUID
	// CordonedLogDirs (version 3, KIP-1066) are those now cordoned: nil is no
	// change, an empty list none.
	CordonedLogDirs []UUID
}

// Type returns [TypeBrokerRegistrationChange].
func (*BrokerRegistrationChange) Type() Type { return TypeBrokerRegistrationChange }

func (r *BrokerRegistrationChange) fields() []field {
	return []field{
		plain("BrokerId", fixed(&r.BrokerID)),
		plain("BrokerEpoch", fixed(&r.BrokerEpoch)),
		tagged(0, 0, "Fenced", fixed(&r.Fenced)),
		tagged(1, 1, "InControlledShutdown", fixed(&r.InControlledShutdown)),
		tagged(2, 2, "LogDirs", fixeds(&r.LogDirs)),
		tagged(3, 3, "CordonedLogDirs", nullFixeds(&r.CordonedLogDirs)),
	}
}

// FenceBroker is how Kafka before 3.3 wrote what [BrokerRegistrationChange] says now.
type FenceBroker struct {
	ID    int32
	Epoch int64
}

// Type returns [TypeFenceBroker].
func (*FenceBroker) Type() Type { return TypeFenceBroker }

func (r *FenceBroker) fields() []field {
	return []field{plain("Id", fixed(&r.ID)), plain("Epoch", fixed(&r.Epoch))}
}

// UnfenceBroker is how Kafka before 3.3 wrote what [BrokerRegistrationChange] says now.
type UnfenceBroker struct {
	ID    int32
	Epoch int64
}

// Type returns [TypeUnfenceBroker].
func (*UnfenceBroker) Type() Type { return TypeUnfenceBroker }

func (r *UnfenceBroker) fields() []field {
	return []field{plain("Id", fixed(&r.ID)), plain("Epoch", fixed(&r.Epoch))}
}
