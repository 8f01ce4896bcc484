package source

import (
	"context"
	"slices"
	"sync"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// TopicNames are the names of all topics that the credentials may see, sorted:
// users' ones and, apart, Kafka's internal ones. It costs one Metadata. Errors are
// those of [Source.Snapshot].
func (s *Source) TopicNames(ctx context.Context) (names, internal []string, err error) {
	p, boot, err := s.glance(ctx)
	if err != nil {
		return nil, nil, err
	}
	boot.Close()
	for i := range p.snap.Topics {
		if t := &p.snap.Topics[i]; t.Internal {
			internal = append(internal, t.Name)
		} else {
			names = append(names, t.Name)
		}
	}
	return names, internal, nil
}

// GroupNames are the names of all groups that the credentials may see, sorted, as
// far as brokers list them while ctx lasts. It costs one Metadata and one
// ListGroups a broker. Errors are those of [Source.Snapshot].
func (s *Source) GroupNames(ctx context.Context) ([]string, error) {
	p, boot, err := s.glance(ctx)
	if err != nil {
		return nil, err
	}
	boot.Close()
	var names []string
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range p.snap.Brokers {
		b := &p.snap.Brokers[i]
		wg.Go(func() {
			listed := p.listNames(ctx, b.Address())
			mu.Lock()
			defer mu.Unlock()
			names = append(names, listed...)
		})
	}
	wg.Wait()
	slices.Sort(names)
	return slices.Compact(names), nil
}

// glance asks Metadata and nothing more. The caller closes the connection.
func (s *Source) glance(ctx context.Context) (*pass, *connect.Conn, error) {
	p := &pass{src: s, snap: &inspect.Snapshot{}}
	boot, err := p.start(ctx)
	return p, boot, err
}

// listNames are the groups that a broker coordinates; none where it does not say.
func (p *pass) listNames(ctx context.Context, addr string) []string {
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	conn, err := p.src.conf.Open(ctx, addr)
	if err != nil {
		return nil
	}
	defer conn.Close()
	version, ok := conn.Version(keyListGroups, newestListGroups)
	if !ok {
		return nil
	}
	resp, err := connect.Ask(ctx, conn, listGroups, func(b *sarama.Broker) (*sarama.ListGroupsResponse, error) {
		return b.ListGroups(&sarama.ListGroupsRequest{Version: version})
	})
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(resp.Groups))
	for name := range resp.Groups {
		names = append(names, name)
	}
	return names
}
