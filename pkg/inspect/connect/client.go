package connect

import (
	"context"
	"net"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Client returns a franz-go client of the whole cluster, for those who write and
// read records: it finds brokers and leaders by itself, and retries as more says.
// Its connections are dialed as all others here. The caller closes it.
func (c *Config) Client(more ...kgo.Opt) (*kgo.Client, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(c.Bootstrap...),
		kgo.ClientID(ClientID),
		kgo.SoftwareNameAndVersion(softwareName, softwareVersion),
		kgo.Dialer(func(ctx context.Context, _, addr string) (net.Conn, error) {
			limited, conn, err := c.dial(ctx, addr)
			if err != nil {
				return nil, err
			}
			limited.limit(context.Background()) // from here on the client sets its own
			return conn, nil
		}),
		kgo.DisableClientMetrics(),
	}
	return kgo.NewClient(append(options, more...)...)
}
