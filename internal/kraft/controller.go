package kraft

// RegisterController is the start of a controller's life (KIP-919), written by
// the active controller when a node asks for it, itself included.
type RegisterController struct {
	ControllerID  int32
	IncarnationID UUID // new each time the process starts
	// ZkMigrationReady is of Kafka 3.7 to 3.9; later always false.
	ZkMigrationReady bool
	EndPoints        []Endpoint
	Features         []FeatureRange
}

// Type returns [TypeRegisterController].
func (*RegisterController) Type() Type { return TypeRegisterController }

func (r *RegisterController) fields() []field {
	return []field{
		plain("ControllerId", fixed(&r.ControllerID)),
		plain("IncarnationId", fixed(&r.IncarnationID)),
		plain("ZkMigrationReady", fixed(&r.ZkMigrationReady)),
		plain("EndPoints", many(&r.EndPoints, (*Endpoint).fields)),
		plain("Features", many(&r.Features, (*FeatureRange).fields)),
	}
}

// UnregisterController removes a controller; since Kafka 4.4.
type UnregisterController struct {
	ControllerID int32
}

// Type returns [TypeUnregisterController].
func (*UnregisterController) Type() Type { return TypeUnregisterController }

func (r *UnregisterController) fields() []field {
	return []field{plain("ControllerId", fixed(&r.ControllerID))}
}

// ProducerIDs hands a broker a block of producer ids: it ends before
// NextProducerID and began where the block before it ended (KIP-730).
type ProducerIDs struct {
	BrokerID       int32
	BrokerEpoch    int64
	NextProducerID int64
}

// Type returns [TypeProducerIDs].
func (*ProducerIDs) Type() Type { return TypeProducerIDs }

func (r *ProducerIDs) fields() []field {
	return []field{
		plain("BrokerId", fixed(&r.BrokerID)),
		plain("BrokerEpoch", fixed(&r.BrokerEpoch)),
		plain("NextProducerId", fixed(&r.NextProducerID)),
	}
}

// NoOp changes nothing. The active controller writes it every
// metadata.max.idle.interval.ms, so that the offset shows time (KIP-835).
type NoOp struct{}

// Type returns [TypeNoOp].
func (*NoOp) Type() Type { return TypeNoOp }

func (*NoOp) fields() []field { return nil }

// ZkMigrationState is how far a migration from ZooKeeper is (KIP-866): 0 none, 1
// before, 2 during, 3 after it, 4 a cluster of ZooKeeper's. Kafka 3.4 to 3.9
// wrote it, and a cluster that never saw ZooKeeper holds a 0.
type ZkMigrationState struct {
	ZkMigrationState int8
}

// Type returns [TypeZkMigrationState].
func (*ZkMigrationState) Type() Type { return TypeZkMigrationState }

func (r *ZkMigrationState) fields() []field {
	return []field{plain("ZkMigrationState", fixed(&r.ZkMigrationState))}
}
