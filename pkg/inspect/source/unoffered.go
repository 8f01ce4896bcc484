package source

import (
	"fmt"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Kafka's API keys, for asking which versions a broker has.
const (
	keyListOffsets             = int16(kmsg.ListOffsets)
	keyMetadata                = int16(kmsg.Metadata)
	keyOffsetFetch             = int16(kmsg.OffsetFetch)
	keyDescribeGroups          = int16(kmsg.DescribeGroups)
	keyListGroups              = int16(kmsg.ListGroups)
	keyDescribeConfigs         = int16(kmsg.DescribeConfigs)
	keyDescribeLogDirs         = int16(kmsg.DescribeLogDirs)
	keyListReassignments       = int16(kmsg.ListPartitionReassignments)
	keyDescribeQuorum          = int16(kmsg.DescribeQuorum)
	keyDescribeCluster         = int16(kmsg.DescribeCluster)
	keyDescribeProducers       = int16(kmsg.DescribeProducers)
	keyDescribeTransactions    = int16(kmsg.DescribeTransactions)
	keyListTransactions        = int16(kmsg.ListTransactions)
	keyConsumerGroupDescribe   = int16(kmsg.ConsumerGroupDescribe)
	keyDescribeTopicPartitions = int16(kmsg.DescribeTopicPartitions)
)

// unoffered is an API that brokers do not have, with what is unknown by it.
type unoffered struct {
	key  int16
	lost string
}

// version returns the version of an API to ask a broker with, where newest is the
// newest that the caller can use. False means that the broker does not have the
// API. It must not be asked then; what it cannot tell is unknown, which is no
// failure, and lost says what that is. Id is unknown for the bootstrap broker.
func (p *pass) version(conn *connect.Conn, id inspect.Opt[inspect.BrokerID], key, newest int16, lost string) (int16, bool) {
	if version, ok := conn.Version(key, newest); ok {
		return version, true
	}
	f := inspect.Failure{Broker: id, Address: conn.Addr(), Request: kmsg.NameForKey(key), Phase: inspect.PhaseRequest, Lost: lost}
	if oldest, _, ok := conn.Offered(key); ok { // it could tell, if it were asked as it wants
		f.Error = fmt.Sprintf("the broker offers it from version %d on, which this kafkaops does not speak", oldest)
		p.fail(f)
		return 0, false
	}
	f.Error, f.Notice = "the broker does not offer it"+offeredFrom(key), true
	p.mu.Lock()
	defer p.mu.Unlock()
	what := unoffered{key, lost}
	if !slices.ContainsFunc(p.unoffered[what], func(other inspect.Failure) bool { return other.Address == f.Address }) {
		p.unoffered[what] = append(p.unoffered[what], f)
	}
	return 0, false
}

// offeredFrom names the release that has what older ones have not.
func offeredFrom(key int16) string {
	switch key {
	case keyListReassignments:
		return " (Kafka 2.4 and newer do)"
	case keyDescribeProducers:
		return " (Kafka 2.8 and newer do)"
	case keyListTransactions, keyDescribeTransactions:
		return " (Kafka 3.0 and newer do)"
	}
	return ""
}

// tellUnoffered makes notices of what brokers do not have, one line for an API.
func (p *pass) tellUnoffered() {
	for what, brokers := range p.unoffered {
		f := brokers[0]
		if len(brokers) > 1 {
			f.Broker, f.Address = inspect.Unknown[inspect.BrokerID](), ""
			f.Error = fmt.Sprintf("%d brokers do not offer it%s", len(brokers), offeredFrom(what.key))
		}
		p.fail(f)
	}
}
