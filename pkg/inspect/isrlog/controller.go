package isrlog

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const metadataTopic = "__cluster_metadata"

// metadataTopicID is fixed (KIP-516).
var metadataTopicID = [16]byte{15: 1}

// controllers finds the active controller and asks it.
type controllers struct {
	// conf is how controllers are reached; brokers, where the quorum's members are
	// asked for, or nil where conf names them.
	conf, brokers *connect.Config
	// limit bounds one request, without what it is told to wait.
	limit time.Duration
	// cluster is the id of the cluster that is meant, empty for any.
	cluster string
	// known are the addresses of controllers, the one that led last in front.
	known []string
	// raw is the connection to the active one, nil for none.
	raw   *connect.Raw
	addr  string
	id    inspect.BrokerID
	epoch int32
}

// fetchQuery is one Fetch of the metadata log.
type fetchQuery struct {
	offset    inspect.Offset
	lastEpoch int32
	hw        inspect.Offset // the one that is known; a newer one is news (KIP-1166)
	wait      time.Duration
	maxBytes  int32
}

// fetched is the answer.
type fetched struct {
	code      int16
	hw, start inspect.Offset
	data      []byte
	// snapshot is what to read instead; its offset is −1 for none.
	snapshot snapshotID
	diverged bool
	// leader leads in leaderEpoch as far as who answered knows, at endpoint, which
	// is empty where it is not told.
	leader, leaderEpoch int32
	endpoint            string
}

type snapshotID struct {
	offset inspect.Offset
	epoch  int32
}

// RefusedError says that the credentials may not read the metadata log.
type RefusedError struct {
	Address, Request string
	// Missing is the ACL that is needed.
	Missing inspect.ACL
}

// Error also says what the ACL permits beyond what it is needed for.
func (e *RefusedError) Error() string {
	if e.Missing.Operation == inspect.OpClusterAction {
		return fmt.Sprintf("controller %s refuses %s: the metadata log needs %s, which also lets its holder act as a broker"+
			" (fetch as a follower, change ISRs) and read every record of the log, SCRAM secrets included", e.Address, e.Request, e.Missing)
	}
	return fmt.Sprintf("%s refuses %s, which tells where the controllers are: it needs %s", e.Address, e.Request, e.Missing)
}

// codeError is a Kafka error code in an answer.
type codeError struct {
	addr, request string
	code          int16
}

func (e *codeError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.addr, e.request, kerr.TypedErrorForCode(e.code).Message)
}

// errNoController: every controller that answers knows of none that is active.
var errNoController = errors.New("no active controller")

// errNoQuorum: brokers that do not know the request have no controllers of their own.
var errNoQuorum = errors.New("the cluster has no metadata log that can be asked for: it is in ZooKeeper mode, or a service hides it")

// errOtherCluster: what is read there is of no use.
var errOtherCluster = errors.New("name this cluster's own by --controller")

// Lasts reports an error of [Log] that stays until somebody changes something: what was
// asked for is refused, or is not there.
func Lasts(err error) bool {
	var refused *RefusedError
	return errors.As(err, &refused) || errors.Is(err, errNoQuorum) || errors.Is(err, errOtherCluster)
}

// clusterID is what the controllers compare with their own.
func (c *controllers) clusterID() *string {
	if c.cluster == "" {
		return nil
	}
	return &c.cluster
}

func (c *controllers) close() {
	if c.raw != nil {
		c.raw.Close()
		c.raw = nil
	}
}

// find connects to the active controller. It asks one after the other who that is:
// any of them knows, at once, also where brokers that ask for it would hang.
func (c *controllers) find(ctx context.Context) error {
	c.close()
	if len(c.known) == 0 {
		if err := c.ask(ctx); err != nil {
			return err
		}
	}
	var first error
	for _, addr := range slices.Clone(c.known) {
		err := c.follow(ctx, addr)
		if err == nil {
			c.known = slices.DeleteFunc(c.known, func(a string) bool { return a == c.addr })
			c.known = slices.Insert(c.known, 0, c.addr)
			return nil
		}
		c.close()
		var refused *RefusedError
		if errors.As(err, &refused) {
			return err
		}
		if first == nil || errors.Is(first, errNoController) {
			first = err
		}
		if ctx.Err() != nil {
			break // who was silent first says more than how little time was left for the last
		}
	}
	return first
}

// follow asks the controller at addr, and then whom it names, until one answers that
// it is the active one.
func (c *controllers) follow(ctx context.Context, addr string) error {
	const hops = 4 // a stale hint, the true one, and the epoch of each
	epoch := c.epoch
	for range hops {
		c.close()
		raw, err := c.conf.OpenRaw(addr)
		if err != nil {
			return err
		}
		c.raw, c.addr, c.epoch = raw, addr, epoch
		got, err := c.fetch(ctx, fetchQuery{maxBytes: 1})
		if err != nil {
			return err
		}
		switch {
		case got.code == 0:
			c.id = inspect.BrokerID(got.leader)
			return nil
		case got.leader < 0:
			return fmt.Errorf("%w: asked controller %s", errNoController, addr)
		case got.endpoint == addr && got.leaderEpoch == epoch:
			return fmt.Errorf("%w: controller %s takes itself for it and answers otherwise", errNoController, addr)
		}
		epoch = got.leaderEpoch
		if got.endpoint != "" {
			addr = got.endpoint
		} else if got.code == kerr.NotLeaderForPartition.Code { // before Fetch v16 nobody says where
			return fmt.Errorf("%w: controller %s is not it", errNoController, addr)
		}
	}
	return fmt.Errorf("%w: controllers name each other", errNoController)
}

// fetch asks the active controller. It is a consumer's Fetch, with replica id −1: any
// other would count as a follower.
func (c *controllers) fetch(ctx context.Context, q fetchQuery) (*fetched, error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = int32(q.wait.Milliseconds()), 1, q.maxBytes
	req.ReplicaID, req.ReplicaState.ID = -1, -1
	req.SessionID, req.SessionEpoch, req.ClusterID = 0, -1, c.clusterID()
	p := kmsg.NewFetchRequestTopicPartition()
	p.CurrentLeaderEpoch, p.FetchOffset, p.LastFetchedEpoch = c.epoch, int64(q.offset), q.lastEpoch
	p.PartitionMaxBytes = q.maxBytes
	p.HighWatermark = int64(q.hw)
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID, t.Partitions = metadataTopic, metadataTopicID, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	ctx, cancel := context.WithTimeout(ctx, q.wait+c.limit)
	defer cancel()
	resp, err := connect.AskRaw[*kmsg.FetchResponse](ctx, c.raw, req)
	if err != nil {
		return nil, err
	}
	switch {
	case resp.ErrorCode == kerr.ClusterAuthorizationFailed.Code:
		return nil, &RefusedError{Address: c.addr, Request: "Fetch", Missing: clusterAction}
	case resp.ErrorCode == kerr.InconsistentClusterID.Code:
		return nil, fmt.Errorf("controller %s is of another cluster than %s: %w", c.addr, c.cluster, errOtherCluster)
	case resp.ErrorCode != 0:
		return nil, &codeError{c.addr, "Fetch", resp.ErrorCode}
	case len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1:
		return nil, &codeError{c.addr, "Fetch", kerr.UnknownTopicOrPartition.Code}
	}
	a := &resp.Topics[0].Partitions[0]
	got := &fetched{
		code: a.ErrorCode, hw: inspect.Offset(a.HighWatermark), start: inspect.Offset(a.LogStartOffset), data: a.RecordBatches,
		snapshot: snapshotID{inspect.Offset(a.SnapshotID.EndOffset), a.SnapshotID.Epoch},
		diverged: a.DivergingEpoch.EndOffset >= 0,
		leader:   a.CurrentLeader.LeaderID, leaderEpoch: a.CurrentLeader.LeaderEpoch,
	}
	switch a.ErrorCode {
	case 0, kerr.NotLeaderForPartition.Code, kerr.FencedLeaderEpoch.Code, kerr.UnknownLeaderEpoch.Code:
	default:
		return nil, &codeError{c.addr, "Fetch", a.ErrorCode}
	}
	for i := range resp.Brokers {
		if b := &resp.Brokers[i]; b.NodeID == got.leader && b.Host != "" {
			got.endpoint = net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
		}
	}
	return got, nil
}

// clusterAction is what the metadata log needs; describeCluster, where it is.
var (
	clusterAction   = inspect.ACL{Operation: inspect.OpClusterAction, Resource: inspect.ResourceCluster}
	describeCluster = inspect.ACL{Operation: inspect.OpDescribe, Resource: inspect.ResourceCluster}
)

// ask asks brokers for the controllers' addresses.
func (c *controllers) ask(ctx context.Context) error {
	if c.brokers == nil {
		c.known = slices.Clone(c.conf.Bootstrap)
		return nil
	}
	var first error
	for i, addr := range c.brokers.Bootstrap {
		known, err := c.askBroker(ctx, addr)
		var ce *connect.Error
		switch {
		case err == nil:
			c.known = known
			return nil
		case first == nil:
			first = err
		}
		if errors.As(err, &ce) && ce.Timeout() {
			// A broker that knows of no active controller holds the request. Whether the
			// others know of one has to be found out before the time is over.
			if c.known = c.askAtOnce(ctx, c.brokers.Bootstrap[i+1:]); len(c.known) > 0 {
				return nil
			}
			return err
		}
	}
	return first
}

// askAtOnce asks all of these brokers, and returns what the first one that answers tells.
func (c *controllers) askAtOnce(ctx context.Context, addrs []string) []string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan []string)
	for _, addr := range addrs {
		go func() {
			known, err := c.askBroker(ctx, addr)
			if err != nil {
				known = nil
			}
			answers <- known
		}()
	}
	var found []string
	for range addrs {
		if known := <-answers; found == nil && known != nil {
			found = known
			cancel()
		}
	}
	return found
}

// askBroker returns the addresses of the voters, the leader's first (DescribeQuorum
// v2, Kafka 3.9).
func (c *controllers) askBroker(ctx context.Context, addr string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	conn, err := c.brokers.Open(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	req := kmsg.NewPtrDescribeQuorumRequest()
	if _, _, ok := conn.Offered(req.Key()); !ok {
		return nil, errNoQuorum
	}
	raw, err := c.brokers.OpenRaw(addr)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	t := kmsg.NewDescribeQuorumRequestTopic()
	t.Topic, t.Partitions = metadataTopic, append(t.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	req.Topics = append(req.Topics, t)
	resp, err := connect.AskRaw[*kmsg.DescribeQuorumResponse](ctx, raw, req)
	switch {
	case err != nil:
		return nil, err
	case resp.ErrorCode == kerr.ClusterAuthorizationFailed.Code:
		return nil, &RefusedError{Address: addr, Request: describeQuorum, Missing: describeCluster}
	case resp.ErrorCode == kerr.UnsupportedVersion.Code:
		return nil, errNoQuorum
	case resp.ErrorCode != 0:
		return nil, &codeError{addr, describeQuorum, resp.ErrorCode}
	case len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1:
		return nil, errNoQuorum
	case resp.Topics[0].Partitions[0].ErrorCode != 0:
		return nil, &codeError{addr, describeQuorum, resp.Topics[0].Partitions[0].ErrorCode}
	}
	return addressesOf(resp)
}

func addressesOf(resp *kmsg.DescribeQuorumResponse) (known []string, err error) {
	leader := resp.Topics[0].Partitions[0].LeaderID
	for i := range resp.Nodes {
		n := &resp.Nodes[i]
		for j := range n.Listeners {
			l := &n.Listeners[j]
			addr := net.JoinHostPort(l.Host, strconv.Itoa(int(l.Port)))
			if n.NodeID == leader {
				known = slices.Insert(known, 0, addr)
			} else {
				known = append(known, addr)
			}
		}
	}
	if len(known) == 0 {
		return nil, errors.New("DescribeQuorum of brokers before Kafka 3.9 does not tell where the controllers are: name them by --controller")
	}
	return known, nil
}
