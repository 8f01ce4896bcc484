package kraft

// What a [Config] belongs to, in Kafka's numbers (ConfigResource.Type).
const (
	ResourceTopic         int8 = 2
	ResourceBroker        int8 = 4
	ResourceClientMetrics int8 = 16
	ResourceGroup         int8 = 32
)

// Config sets or removes one dynamic configuration.
type Config struct {
	ResourceType int8
	// ResourceName is a topic, a broker's id in decimal, or "" for the default of
	// all brokers.
	ResourceName string
	Name         string // the configuration's key
	// Value is nil for a config that is removed. It may be a password, such as
	// listener.name.x.ssl.keystore.password, which KRaft keeps in the clear: print
	// the values of names that are known to be harmless, and of no others.
	Value *string
}

// Type returns [TypeConfig].
func (*Config) Type() Type { return TypeConfig }

func (r *Config) fields() []field {
	return []field{
		plain("ResourceType", fixed(&r.ResourceType)),
		plain("ResourceName", text{&r.ResourceName}),
		plain("Name", text{&r.Name}),
		plain("Value", nullText{&r.Value}),
	}
}

// FeatureLevel finalizes the level at which the cluster uses a feature, among
// them metadata.version (KIP-584, KIP-778).
type FeatureLevel struct {
	Name         string
	FeatureLevel int16 // 0: the feature is off
}

// Type returns [TypeFeatureLevel].
func (*FeatureLevel) Type() Type { return TypeFeatureLevel }

func (r *FeatureLevel) fields() []field {
	return []field{plain("Name", text{&r.Name}), plain("FeatureLevel", fixed(&r.FeatureLevel))}
}

// ClientQuota sets or removes one quota (KIP-546).
type ClientQuota struct {
	Entity []QuotaEntity // all must match
	Key    string        // such as producer_byte_rate
	Value  float64       // without meaning if Remove
	Remove bool
}

// Type returns [TypeClientQuota].
func (*ClientQuota) Type() Type { return TypeClientQuota }

func (r *ClientQuota) fields() []field {
	return []field{
		plain("Entity", many(&r.Entity, (*QuotaEntity).fields)),
		plain("Key", text{&r.Key}),
		plain("Value", fixed(&r.Value)),
		plain("Remove", fixed(&r.Remove)),
	}
}

// QuotaEntity is one part of whom a quota is for.
type QuotaEntity struct {
	EntityType string  // user, client-id or ip
	EntityName *string // nil: the default of that type
}

func (e *QuotaEntity) fields() []field {
	return []field{plain("EntityType", text{&e.EntityType}), plain("EntityName", nullText{&e.EntityName})}
}
