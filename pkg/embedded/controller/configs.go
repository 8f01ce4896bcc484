package controller

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// maxConfigValue is Kafka's bound, in bytes (Short.MAX_VALUE).
const maxConfigValue = 1<<15 - 1

// ConfigOp is what to do with a config, in Kafka's numbers (AlterConfigOp.OpType).
type ConfigOp int8

// The operations. The last two are for lists.
const (
	SetConfig      ConfigOp = 0
	DeleteConfig   ConfigOp = 1 // back to what it inherits
	AppendConfig   ConfigOp = 2
	SubtractConfig ConfigOp = 3
)

// AlterConfigs changes dynamic configs, each resource by itself and all or
// nothing of it (KIP-339). It is answered with an [AlterConfigsReply].
type AlterConfigs struct {
	Resources    []ResourceChange
	ValidateOnly bool
}

// ResourceChange is what to do with the configs of one topic, of one broker, or
// of all brokers.
type ResourceChange struct {
	metadata.Resource
	Changes []ConfigChange
	// Replace removes all that the changes do not name, as the older AlterConfigs
	// request does.
	Replace bool
}

// ConfigChange is one of them.
type ConfigChange struct {
	Key   string
	Op    ConfigOp
	Value *string // nil with DeleteConfig only
}

// AlterConfigsReply has an answer for each resource, in order.
type AlterConfigsReply struct{ Resources []ResourceResult }

// ResourceResult answers for one resource.
type ResourceResult struct {
	metadata.Resource
	Err *Error
}

// decide is Kafka's ConfigurationControlManager.incrementalAlterConfigs.
func (r AlterConfigs) decide(op *operation) (reply AlterConfigsReply) {
	var all []*kraft.Config
	count := map[metadata.Resource]int{}
	for _, res := range r.Resources {
		count[res.Resource]++
	}
	for _, res := range r.Resources {
		records, err := op.alterResource(res)
		if count[res.Resource] > 1 {
			records, err = nil, errorf(InvalidRequest, "the resource is in the request %d times", count[res.Resource])
		}
		for _, rec := range records {
			op.write(rec)
		}
		all = append(all, records...)
		reply.Resources = append(reply.Resources, ResourceResult{res.Resource, err})
	}
	op.clearELRs(all)
	if r.ValidateOnly {
		op.rollback()
	}
	return reply
}

// clearELRs forgets eligible replicas where min.insync.replicas was set or
// removed: they were eligible by the old number (KIP-966,
// createClearElrRecordsAsNeeded).
func (op *operation) clearELRs(configs []*kraft.Config) {
	for _, rec := range configs {
		switch {
		case !op.elrEnabled() || rec.Name != minISRKey:
		case rec.ResourceType == kraft.ResourceTopic:
			op.write(&kraft.ClearELR{TopicName: rec.ResourceName})
		default:
			op.write(&kraft.ClearELR{})
		}
	}
}

func (op *operation) alterResource(res ResourceChange) (records []*kraft.Config, err *Error) {
	if err := op.validResource(res.Resource); err != nil {
		return nil, err
	}
	for i, change := range res.Changes {
		if slices.ContainsFunc(res.Changes[:i], func(other ConfigChange) bool { return other.Key == change.Key }) {
			return nil, errorf(InvalidRequest, "config %s is in the request twice", change.Key)
		}
		old, known := op.image.Config(res.Resource, change.Key)
		value, err := newValue(res.Type, change, old, known)
		if err == nil {
			err = op.validConfig(res.Resource, change.Key, value)
		}
		if err != nil {
			return nil, err
		}
		// A broker is told of what did not change too: it may have failed to take it
		// the first time, such as a key store that was replaced in its file (KAFKA-14136).
		same := known == (value != nil) && (value == nil || *value == old)
		if !same || res.Type == kraft.ResourceBroker {
			records = append(records, &kraft.Config{ResourceType: res.Type, ResourceName: res.Name, Name: change.Key, Value: value})
		}
	}
	if !res.Replace {
		return records, nil
	}
	for key := range op.image.Configs(res.Resource) {
		if slices.ContainsFunc(res.Changes, func(change ConfigChange) bool { return change.Key == key }) {
			continue
		}
		if err := op.validConfig(res.Resource, key, nil); err != nil {
			return nil, err
		}
		records = append(records, &kraft.Config{ResourceType: res.Type, ResourceName: res.Name, Name: key})
	}
	return records, nil
}

// newValue works out the value, nil for none.
func newValue(resource int8, change ConfigChange, old string, known bool) (*string, *Error) {
	if change.Value == nil && change.Op != DeleteConfig {
		return nil, errorf(InvalidRequest, "config %s: no value", change.Key)
	}
	switch change.Op {
	case SetConfig:
		return change.Value, nil
	case DeleteConfig:
		return nil, nil
	case AppendConfig, SubtractConfig:
	default:
		return nil, errorf(InvalidRequest, "config %s: unknown operation %d", change.Key, change.Op)
	}
	key, ok := topicKey(change.Key)
	if resource == kraft.ResourceBroker {
		key, ok = brokerKey(change.Key)
	}
	if !ok || key.Type != ConfigList {
		return nil, errorf(InvalidConfig, "config %s is not a list: nothing can be appended to it or subtracted", change.Key)
	}
	if !known {
		old = key.Default
	}
	list := parts(old)
	for _, part := range parts(*change.Value) {
		switch {
		case change.Op == SubtractConfig:
			list = slices.DeleteFunc(list, func(have string) bool { return have == part })
		case !slices.Contains(list, part):
			list = append(list, part)
		}
	}
	value := strings.Join(list, ",")
	return &value, nil
}

// validResource checks that there is such a resource (ConfigResourceExistenceChecker).
func (op *operation) validResource(r metadata.Resource) *Error {
	switch r.Type {
	case kraft.ResourceTopic:
		if _, ok := op.image.Topic(r.Name); !ok {
			return errorf(UnknownTopicOrPartition, "there is no topic %q", r.Name)
		}
	case kraft.ResourceBroker:
		if r.Name == "" {
			return nil
		}
		id, err := strconv.ParseInt(r.Name, 10, 32)
		if err != nil {
			return errorf(InvalidRequest, "broker %q: want an id, or nothing for the default of all", r.Name)
		}
		if _, ok := op.image.Broker(int32(id)); !ok && id != int64(op.c.opts.NodeID) {
			return errorf(BrokerIDNotRegistered, "broker %d is not registered", id)
		}
	default:
		return errorf(InvalidRequest, "resource type %d: only those of topics (%d) and brokers (%d) have configs here", r.Type, kraft.ResourceTopic, kraft.ResourceBroker)
	}
	return nil
}

// validConfig checks a config and its value at a resource. nil is its removal.
func (op *operation) validConfig(r metadata.Resource, name string, value *string) *Error {
	key, known := topicKey(name)
	badValue := InvalidConfig
	if r.Type == kraft.ResourceBroker {
		key, known = brokerKey(name)
		badValue = InvalidRequest // so it is in Kafka, where brokers check their own (ConfigAdminManager)
		switch {
		case slices.Contains(needRestart, name):
			return errorf(InvalidRequest, "config %s cannot be changed while brokers run: it needs a restart", name)
		case name != minISRKey || !op.elrEnabled():
		case r != clusterDefault:
			return errorf(InvalidConfig, "%s of single brokers cannot be changed while eligible leader replicas are on", name)
		case value == nil:
			return errorf(InvalidConfig, "the cluster's %s cannot be removed while eligible leader replicas are on: set another value", name)
		}
	} else if !known && value != nil {
		return errorf(InvalidConfig, "there is no topic config %s", name)
	}
	switch {
	case value == nil:
	case len(*value) > maxConfigValue:
		return errorf(InvalidConfig, "config %s: a value of %d bytes, at most %d are allowed", name, len(*value), maxConfigValue)
	case known && !key.Valid(*value):
		return errorf(badValue, "config %s: %q is not a value that it can have", name, *value)
	}
	return nil
}

// newTopicConfigs are the records of a topic's first configs.
func (op *operation) newTopicConfigs(t NewTopic) (records []*kraft.Config, err *Error) {
	r := metadata.Resource{Type: kraft.ResourceTopic, Name: t.Name}
	for i, c := range t.Configs {
		if c.Value == nil {
			return nil, errorf(InvalidConfig, "config %s of topic %q: no value", c.Key, t.Name)
		}
		if slices.ContainsFunc(t.Configs[:i], func(other ConfigValue) bool { return other.Key == c.Key }) {
			return nil, errorf(InvalidConfig, "config %s of topic %q is given twice", c.Key, t.Name)
		}
		if err := op.validConfig(r, c.Key, c.Value); err != nil {
			return nil, err
		}
		records = append(records, &kraft.Config{ResourceType: r.Type, ResourceName: r.Name, Name: c.Key, Value: c.Value})
	}
	return records, nil
}

var clusterDefault = brokerResource("")

func brokerResource(name string) metadata.Resource {
	return metadata.Resource{Type: kraft.ResourceBroker, Name: name}
}

// topicConfig is the value in force for a topic: its own, else that of the
// controller's node, of the cluster, of the node's file, Kafka's default
// (KafkaConfigSchema.resolveEffectiveTopicConfig).
func (op *operation) topicConfig(topic, name string) string {
	for _, r := range []metadata.Resource{
		{Type: kraft.ResourceTopic, Name: topic}, brokerResource(strconv.Itoa(int(op.c.opts.NodeID))), clusterDefault,
	} {
		if value, ok := op.image.Config(r, name); ok {
			return value
		}
	}
	return op.static(name)
}

// static is the value of the node's file, or Kafka's default, of a config that
// topics and brokers call the same.
func (op *operation) static(name string) string {
	if value, ok := op.c.opts.Static[name]; ok {
		return value
	}
	return defaultOf(name)
}

func (op *operation) topicInt(topic, name string) int {
	n, err := strconv.Atoi(strings.TrimSpace(op.topicConfig(topic, name)))
	if err != nil { // none that this controller has let in
		n, _ = strconv.Atoi(defaultOf(name))
	}
	return n
}

// uncleanAllowed reports whether a topic's partitions may get leaders that are not
// in sync, without being asked for.
func (op *operation) uncleanAllowed(topic string) bool {
	return strings.EqualFold(strings.TrimSpace(op.topicConfig(topic, uncleanElectionKey)), "true")
}
