package fakekafka

import "crypto/tls"

// Model is the state of the cluster that the brokers answer from. Once it is
// handed to [Start] it belongs to the Cluster: read it in [Cluster.View], change
// it in [Cluster.Change].
type Model struct {
	// ClusterID is as Kafka makes them: 22 characters of base64.
	ClusterID string
	Brokers   []*Broker
	Topics    []*Topic
	Groups    []*Group

	// APIs are the advertised version ranges; nil is all of [APIs].
	APIs map[Key]VersionRange
	// Features are the finalized feature levels; nil is [Features].
	Features map[string]int16

	// Controllers says that Brokers are controllers, see [NewControllers].
	Controllers bool

	// Transactions are what coordinators have, by no order.
	Transactions []Transaction

	// Quorum is the controllers' state; nil is three voters who are well.
	Quorum *Quorum

	// MinInsyncReplicas is the cluster's default for topics that set none; 0 is
	// Kafka's own default of 1.
	MinInsyncReplicas int
	// AutoCreateDisabled is auto.create.topics.enable=false; Kafka's default is true.
	AutoCreateDisabled bool

	// Deny lists the requests that the client has no permission for. Each is
	// refused the way Kafka refuses it: with CLUSTER_AUTHORIZATION_FAILED as a
	// whole, or topic by topic with TOPIC_AUTHORIZATION_FAILED, or group by group
	// with GROUP_AUTHORIZATION_FAILED; ListGroups lists nothing then. ApiVersions
	// cannot be denied. For single topics see Topic.DenyDescribe.
	Deny []Key

	// TLS makes every broker speak TLS; see [SelfSigned]. Read once, by Start.
	TLS *tls.Config
}

// Broker is a registered broker. Every broker that the model has at Start gets a
// listener; one that is added later is known to the others and answers nothing.
type Broker struct {
	ID     int32
	Rack   string
	Fenced bool

	// AdvertisedHost and AdvertisedPort replace the listener's own address in
	// what the cluster tells clients.
	AdvertisedHost string
	AdvertisedPort int32

	// LogDirs of none gets one healthy directory.
	LogDirs []LogDir
	// Configs are what DescribeConfigs answers for this broker.
	Configs map[string]string
	// APIs replaces the cluster's advertised ranges, to play a broker of another
	// release.
	APIs map[Key]VersionRange
	// Supported replaces the supported levels of features, likewise.
	Supported map[string]VersionRange

	// host and port are where the listener is.
	host string
	port int32
}

// LogDir is a broker's log directory.
type LogDir struct {
	Path                    string
	TotalBytes, UsableBytes int64
	Cordoned                bool
	// Offline says that the directory failed: its replicas are offline and answer
	// KAFKA_STORAGE_ERROR.
	Offline bool
}

// address is what the cluster tells clients to connect to.
func (b *Broker) address() (host string, port int32) {
	host, port = b.host, b.port
	if b.AdvertisedHost != "" {
		host = b.AdvertisedHost
	}
	if b.AdvertisedPort != 0 {
		port = b.AdvertisedPort
	}
	return host, port
}

// rack is nil for a broker without one, as in Kafka.
func (b *Broker) rack() *string {
	if b.Rack == "" {
		return nil
	}
	return &b.Rack
}

// Broker returns the broker with that id, nil if there is none.
func (m *Model) Broker(id int32) *Broker {
	for _, b := range m.Brokers {
		if b.ID == id {
			return b
		}
	}
	return nil
}

// Topic returns the topic of that name, nil if there is none.
func (m *Model) Topic(name string) *Topic {
	for _, t := range m.Topics {
		if t.Name == name {
			return t
		}
	}
	return nil
}
