package source

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kerr"
)

// asksQuorum reports whether the pass asks for the quorum.
func (p *pass) asksQuorum() bool {
	return p.query.Sample == SampleNone && p.query.Parts.Has(inspect.PartQuorum)
}

// begin finds the cluster: a broker to go on with or, for a pass that needs none
// and finds none, the controllers; then the pass is over.
func (p *pass) begin(ctx context.Context) (*connect.Conn, error) {
	if !p.query.QuorumAlone || p.src.controllers == nil {
		return p.start(ctx)
	}
	half, cancel := context.WithTimeout(ctx, p.src.timeout/2) // the other is the controllers'
	defer cancel()
	boot, err := p.start(half)
	var none *BootstrapError
	if !errors.As(err, &none) || ctx.Err() != nil {
		return boot, err
	}
	p.snap.ClusterID, p.failures = inspect.Unknown[string](), nil
	who := p.describeControllers(ctx)
	p.snap.ClusterID = who.clusterID
	if who.addr != "" {
		err := p.checkCluster(who.addr)
		var wrong *WrongClusterError
		if errors.As(err, &wrong) && !wrong.Got.IsKnown() {
			wrong.Hint = "without a broker the controllers have to tell, which takes ALTER on the cluster and Kafka 3.7"
		}
		if err != nil {
			return nil, err
		}
	}
	p.askControllers(ctx, who)
	if !p.snap.Quorum.IsKnown() {
		return nil, &BootstrapError{append(none.Failures, p.failures...)}
	}
	for _, f := range none.Failures {
		f.Notice, f.Lost = true, "went on with the controllers"
		p.fail(f)
	}
	return nil, nil
}

// quorumAtControllers asks for the quorum at the controllers' own listener.
func (p *pass) quorumAtControllers(ctx context.Context) {
	who := p.describeControllers(ctx)
	if p.ofAnother(who.clusterID) {
		p.fail(p.otherCluster(who.addr, who.clusterID))
		return
	}
	p.askControllers(ctx, who)
}

const (
	describeCluster      = "DescribeCluster"
	endpointControllers  = 2 // KIP-919
	versionWithEndpoints = 1
)

// controllers are what one of them tells of all.
type controllers struct {
	// addr is who answered; empty where nobody did.
	addr string
	// clusterID and all, their addresses, are unknown and empty where it may not
	// tell, or cannot (before Kafka 3.7).
	clusterID inspect.Opt[string]
	all       []string
	// told is what each that has answered says of its cluster.
	told map[string]inspect.Opt[string]
	// failures are of those that did not answer.
	failures []inspect.Failure
}

// describeControllers asks all controllers whose addresses are known which cluster
// theirs is and where the others are. The first that tells is enough, unless it is
// of another cluster than the one that is meant: a list may hold both. Other than
// brokers they want ALTER on the cluster for it, so that a refusal is no failure:
// the addresses that are known have to do.
func (p *pass) describeControllers(ctx context.Context) controllers {
	given := p.src.controllers.Bootstrap
	answers := make(chan controllers, len(given))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, addr := range given {
		go func() { answers <- p.describeController(ctx, addr) }()
	}
	who := controllers{told: map[string]inspect.Opt[string]{}}
	var stranger *controllers
	for range given {
		a := <-answers
		if a.addr != "" {
			who.told[a.addr] = a.clusterID
		}
		switch {
		case a.clusterID.IsKnown() && !p.ofAnother(a.clusterID):
			a.told = who.told
			return a
		case a.clusterID.IsKnown():
			stranger = &a
		case who.addr == "":
			who.addr = a.addr
		}
		who.failures = append(who.failures, a.failures...)
	}
	if who.addr == "" && stranger != nil {
		return *stranger
	}
	return who
}

// ofAnother reports whether a controller that told this id is of another cluster
// than the brokers or, where none is known, than the expected one.
func (p *pass) ofAnother(told inspect.Opt[string]) bool {
	id, known := told.Get()
	meant := p.snap.ClusterID.Or(p.src.expected)
	return known && meant != "" && id != meant
}

func (p *pass) describeController(ctx context.Context, addr string) controllers {
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	failed := func(err error) controllers {
		return controllers{failures: []inspect.Failure{failureOf(inspect.Unknown[inspect.BrokerID](), err)}}
	}
	conn, err := p.src.controllers.Open(ctx, addr)
	if err != nil {
		return failed(err)
	}
	defer conn.Close()
	version, ok := conn.Version(keyDescribeCluster, versionWithEndpoints)
	if !ok || version < versionWithEndpoints {
		return controllers{addr: addr}
	}
	req := &sarama.DescribeClusterRequest{Version: version, EndpointType: endpointControllers}
	resp, err := connect.Ask(ctx, conn, describeCluster, func(b *sarama.Broker) (*sarama.DescribeClusterResponse, error) {
		return b.DescribeCluster(req)
	})
	if err != nil {
		return failed(err)
	}
	who := controllers{addr: addr}
	if resp.Err != sarama.ErrNoError || resp.ClusterID == "" {
		return who
	}
	who.clusterID = inspect.Known(resp.ClusterID)
	for _, c := range resp.Brokers {
		who.all = append(who.all, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))))
	}
	return who
}

// askControllers asks DescribeQuorum of every controller, for only the active one
// tells: the others answer NOT_LEADER_OR_FOLLOWER and do not pass the request on.
// Whom they take for the active one may have died since.
func (p *pass) askControllers(ctx context.Context, who controllers) {
	if who.addr == "" {
		for _, f := range who.failures {
			f.Lost = lostQuorum
			p.fail(f)
		}
		return
	}
	asked := slices.Clone(p.src.controllers.Bootstrap)
	for _, addr := range who.all {
		if !slices.Contains(asked, addr) {
			asked = append(asked, addr)
		}
	}
	type answer struct {
		addr string
		q    *inspect.Quorum
		err  error
		// other is of another cluster, or did not say when it was asked which.
		other *inspect.Failure
	}
	answers := make(chan answer, len(asked))
	each, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, addr := range asked {
		go func() {
			if f := p.stranger(each, who, addr); f != nil {
				answers <- answer{addr: addr, other: f}
				return
			}
			q, err := p.askQuorum(each, p.src.controllers, addr)
			answers <- answer{addr: addr, q: q, err: err}
		}()
	}
	standby := 0
	var failures []inspect.Failure
	for range asked {
		a := <-answers
		var refused *codeError
		switch {
		case a.other != nil:
			failures = append(failures, *a.other)
		case a.err == nil:
			p.setQuorum(ctx, a.q, p.src.controllers, a.addr)
			return
		case errors.As(a.err, &refused) && notActive(refused.code):
			standby++
		case errors.As(a.err, &refused):
			failures = append(failures, refusal(inspect.Unknown[inspect.BrokerID](), a.addr, describeQuorum, refused.code))
		default:
			failures = append(failures, failureOf(inspect.Unknown[inspect.BrokerID](), a.err))
		}
	}
	for _, f := range failures {
		f.Lost = lostQuorum
		p.fail(f)
	}
	if standby == 0 {
		return
	}
	f := inspect.Failure{Request: describeQuorum, Phase: inspect.PhaseRequest, Lost: lostQuorum}
	f.Error = fmt.Sprintf("%d of %d controllers that were asked answered, and none of them is the active one", standby, len(asked))
	if standby == len(asked) && len(who.all) > 0 {
		p.snap.Quorum = inspect.Known(inspect.Quorum{Leader: inspect.NoBroker})
		f.Error = fmt.Sprintf("all of %d controllers answer, and none of them is the active one", len(asked))
		f.Lost = "the controllers' state is unknown"
	}
	p.fail(f)
}

// stranger is why a controller that was named must not be asked for the quorum:
// it is of another cluster than who, or did not answer when it was asked which;
// nil where nothing is wrong with it. Those that who tells of are of its cluster.
func (p *pass) stranger(ctx context.Context, who controllers, addr string) *inspect.Failure {
	if addr == who.addr || slices.Contains(who.all, addr) {
		return nil
	}
	told, answered := who.told[addr]
	if !answered {
		a := p.describeController(ctx, addr)
		if len(a.failures) > 0 {
			return &a.failures[0]
		}
		told = a.clusterID
	}
	if !p.ofAnother(told) {
		return nil
	}
	f := p.otherCluster(addr, told)
	return &f
}

// otherCluster is the failure of a controller that is not of the brokers' cluster.
func (p *pass) otherCluster(addr string, told inspect.Opt[string]) inspect.Failure {
	return inspect.Failure{
		Address: addr, Request: describeCluster, Phase: inspect.PhaseRequest, Lost: lostQuorum,
		Error: fmt.Sprintf("these controllers are of cluster %s, the brokers of %s", told, p.snap.ClusterID),
	}
}

// notActive reports whether a controller says that another one is active, or none.
func notActive(code int16) bool {
	return code == kerr.NotLeaderForPartition.Code || code == kerr.NotController.Code
}
