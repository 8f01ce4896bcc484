package source

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

const (
	listGroups       = "ListGroups"
	newestListGroups = 5
)

// coordinator asks one broker for the groups that it coordinates, over one
// connection as long as that is answered: at most ListGroups, ConsumerGroupDescribe and DescribeGroups once
// each, and one OffsetFetch for every fetchGroups groups.
type coordinator struct {
	pass   *pass
	broker *inspect.Broker
	conn   *connect.Conn

	// listed: the broker answered ListGroups; names are all that it listed.
	listed bool
	names  []string
	// groups are those of them that are wanted, sorted by name.
	groups []*inspect.Group
	// refused are groups that it did not tell of, by name.
	refused map[string]groupRefusal
	// failed is what the broker as a whole did not answer.
	failed *inspect.Failure
	// isDown: it cannot be connected.
	isDown bool
	// errs are requests that got no answer, each on a connection of its own.
	errs []error
}

// groupRefusal is the first error code that a group was refused with.
type groupRefusal struct {
	request string
	code    int16
}

// ask leaves the connection with the pass for reading offsets, unless it broke.
func (c *coordinator) ask(ctx context.Context) {
	ctx, cancel := c.pass.src.groupsBounded(ctx)
	defer cancel()
	if c.conn == nil || c.conn.Broken() {
		conn, err := c.pass.open(ctx, c.broker)
		if err != nil {
			c.unreachable(err)
			return
		}
		c.conn = conn
	}
	c.broker.Reachable = inspect.Known(true)
	c.step(ctx, c.list)
	if len(c.errs) > 0 && !c.conn.Answered() { // a kept connection to a broker that is gone by now
		c.conn.Close()
		c.unreachable(c.errs[0])
		return
	}
	if c.listed {
		c.describe(ctx)
		c.step(ctx, c.fetchCommits)
	}
	c.tellUnanswered()
	if c.conn.Broken() {
		c.conn.Close()
		return
	}
	c.pass.keep(c.broker.ID, c.conn)
}

// step makes one kind of request, over a new connection where the one before was
// not answered: it must not cost the answers to the others.
func (c *coordinator) step(ctx context.Context, ask func(context.Context) error) {
	if c.conn.Broken() && !c.isDown {
		conn, err := c.pass.open(ctx, c.broker)
		if err != nil {
			c.isDown = true // nobody need try again
		} else {
			c.conn.Close()
			c.conn = conn
		}
	}
	if c.isDown {
		return
	}
	if err := ask(ctx); err != nil {
		c.errs = append(c.errs, err)
	}
}

func (c *coordinator) unreachable(err error) {
	c.broker.Reachable = inspect.Known(false)
	f := failureOf(inspect.Known(c.broker.ID), err)
	f.Hint = c.pass.advertisedHint(f)
	c.failed, c.isDown = &f, true
}

// tellFailure makes a failure of what the broker did not answer, or a notice where
// none of the groups that it may coordinate was asked for.
func (c *coordinator) tellFailure(othersListedAll bool) {
	f := c.failed
	switch {
	case f == nil:
		return
	case !c.listed && othersListedAll:
		f.Notice = true
	case !c.listed:
		f.Lost = "the groups that it coordinates are not shown"
	}
	if c.isDown {
		// What else is lost by it turns out when its partitions are asked.
		c.pass.downs[c.broker.ID] = f
		return
	}
	c.pass.fail(*f)
}

// tellUnanswered makes failures of the requests that got no answer; the first of
// them tells what is lost.
func (c *coordinator) tellUnanswered() {
	if len(c.errs) == 0 {
		return
	}
	for _, err := range c.errs[1:] {
		c.pass.fail(failureOf(inspect.Known(c.broker.ID), err))
	}
	f := failureOf(inspect.Known(c.broker.ID), c.errs[0])
	c.failed = &f
	if c.listed {
		n := 0
		for _, g := range c.groups {
			if c.complete(g) {
				continue
			}
			n++
			if g.Error == "" {
				g.Error = f.Error
			}
		}
		f.Lost = fmt.Sprintf("members or commits of its %d groups are unknown", n)
		if n == 1 {
			f.Lost = "members or commits of its one group are unknown"
		}
	}
}

// complete reports whether all that is ever asked of the group was told.
func (c *coordinator) complete(g *inspect.Group) bool {
	kind, known := g.Type.Get()
	return known && kind.StateOnly() || g.Members.IsKnown() && g.Commits.IsKnown()
}

// list learns names, and from Kafka 2.6 on states, from 3.8 on types.
func (c *coordinator) list(ctx context.Context) error {
	const versionWithState, versionWithType = 4, 5
	version, ok := c.pass.version(c.conn, inspect.Known(c.broker.ID), keyListGroups, newestListGroups, "groups are not shown")
	if !ok {
		return nil
	}
	req := &sarama.ListGroupsRequest{Version: version}
	resp, err := askGroups(ctx, c, listGroups, func(b *sarama.Broker) (*sarama.ListGroupsResponse, error) {
		return b.ListGroups(req)
	})
	if err != nil {
		return err
	}
	if code := int16(resp.Err); code != 0 {
		f := refusal(inspect.Known(c.broker.ID), c.conn.Addr(), listGroups, code)
		c.failed = &f
		return nil
	}
	c.listed = true
	for name, protocol := range resp.Groups {
		g := &inspect.Group{Name: name, Protocol: protocol, Coordinator: c.broker.ID}
		data := resp.GroupsData[name]
		if version >= versionWithState && data.GroupState != "" {
			g.State = inspect.Known(data.GroupState)
		}
		if version >= versionWithType && data.GroupType != "" {
			g.Type = inspect.Known(inspect.GroupType(strings.ToLower(data.GroupType)))
		}
		c.names = append(c.names, name)
		if c.pass.query.Groups.wants(g) {
			c.groups = append(c.groups, g)
		}
	}
	slices.SortFunc(c.groups, func(a, b *inspect.Group) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// refuse notes why a group is not told of; the first reason stands.
func (c *coordinator) refuse(g *inspect.Group, request string, code int16) {
	if _, again := c.refused[g.Name]; !again {
		c.refused[g.Name] = groupRefusal{request, code}
		g.Error = codeName(code)
	}
}

// tellRefused makes failures of the refusals, one line for a request and a code,
// of those groups that no other broker told of.
func (c *coordinator) tellRefused(mine func(name string) bool) {
	byRequest := map[string]*refusals{}
	for name, r := range c.refused {
		if !mine(name) {
			continue
		}
		if byRequest[r.request] == nil {
			byRequest[r.request] = newRefusals()
		}
		byRequest[r.request].add(r.code, name)
	}
	for request, codes := range byRequest {
		for _, r := range codes.sorted() {
			f := refusal(inspect.Known(c.broker.ID), c.conn.Addr(), request, r.code)
			f.Lost = "members or commits are unknown for " + r.what("group")
			c.pass.fail(f)
		}
	}
}

// askGroups is one request with its share of the broker's time.
func askGroups[T any](ctx context.Context, c *coordinator, request string, call func(*sarama.Broker) (T, error)) (T, error) {
	ctx, cancel := c.pass.src.bounded(ctx)
	defer cancel()
	return connect.Ask(ctx, c.conn, request, call)
}
