package source

import (
	"context"
	"slices"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

const offsetFetch = "OffsetFetch"

// fetchGroups is how many groups one OffsetFetch names: few enough that the
// answer, every partition of each, stays far below socket.request.max.bytes and
// its like, and does not keep the coordinator from others for long.
const fetchGroups = 100

// fetchCommits reads all commits of the groups. It does not ask for stable ones
// only (KIP-447): like kafka-consumer-groups.sh, it takes what is committed now.
func (c *coordinator) fetchCommits(ctx context.Context) error {
	var groups []*inspect.Group
	for _, g := range c.groups {
		// What describing has ruled out is not asked; what it could not tell is.
		if kind, known := g.Type.Get(); (!known || !kind.StateOnly()) && c.pass.query.Groups.wants(g) {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return nil
	}
	const newest, versionWithGroups = 8, 8
	version, ok := c.pass.version(c.conn, inspect.Known(c.broker.ID), keyOffsetFetch, newest, "groups' commits are unknown")
	if !ok {
		c.cannotTell(groups, offsetFetch)
		return nil
	}
	atOnce := fetchGroups
	if version < versionWithGroups {
		atOnce = 1 // before Kafka 3.0
	}
	for some := range slices.Chunk(groups, atOnce) {
		if err := c.fetchSome(ctx, version, some); err != nil {
			return err
		}
	}
	return nil
}

// cannotTell notes why groups lack what the broker has no API for.
func (c *coordinator) cannotTell(groups []*inspect.Group, request string) {
	for _, g := range groups {
		if g.Error == "" {
			g.Error = "the broker does not offer " + request
		}
	}
}

func (c *coordinator) fetchSome(ctx context.Context, version int16, groups []*inspect.Group) error {
	req := &sarama.OffsetFetchRequest{Version: version}
	for _, g := range groups {
		req.Groups = append(req.Groups, sarama.OffsetFetchRequestGroup{GroupId: g.Name})
	}
	resp, err := askGroups(ctx, c, offsetFetch, func(b *sarama.Broker) (*sarama.OffsetFetchResponse, error) {
		return b.FetchOffset(req)
	})
	if err != nil {
		return err
	}
	answers := make(map[string]*sarama.OffsetFetchResponseGroup, len(resp.Groups))
	for i := range resp.Groups {
		answers[resp.Groups[i].GroupId] = &resp.Groups[i]
	}
	if len(resp.Groups) == 0 { // of a version that has one group
		answers[groups[0].Name] = &sarama.OffsetFetchResponseGroup{Blocks: resp.Blocks, Err: resp.Err}
	}
	for _, g := range groups {
		a := answers[g.Name]
		switch {
		case a == nil:
			c.refuse(g, offsetFetch, int16(sarama.ErrUnknown))
		case a.Err != sarama.ErrNoError:
			c.refuse(g, offsetFetch, int16(a.Err))
		default:
			g.Commits = inspect.Known(c.commitsOf(g, a))
		}
	}
	return nil
}

func (c *coordinator) commitsOf(g *inspect.Group, a *sarama.OffsetFetchResponseGroup) []inspect.Commit {
	commits := []inspect.Commit{}
	for topic, partitions := range a.Blocks {
		for index, block := range partitions {
			commit := inspect.Commit{TopicPartition: inspect.TopicPartition{Topic: topic, Partition: index}}
			switch {
			case block.Err != sarama.ErrNoError:
				commit.Error = codeName(int16(block.Err))
				c.refuse(g, offsetFetch, int16(block.Err))
			case block.Offset >= 0: // −1 is Kafka's word for no commit
				commit.Offset = inspect.Known(inspect.Offset(block.Offset))
			}
			commits = append(commits, commit)
		}
	}
	slices.SortFunc(commits, compareCommits)
	return commits
}
