package connect

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ClientID is the client.id of every request, as quotas and request logs on the
// brokers show it.
const ClientID = "kafkaops"

// Config says how to reach a cluster.
type Config struct {
	// Bootstrap holds addresses as host:port, at least one.
	Bootstrap []string
	// Security is nil for PLAINTEXT.
	Security *Security
	// Pool, where there is one, keeps connections for the next pass.
	Pool *Pool
}

// ParseBootstrap splits a list as Kafka's own tools take it: host:port, commas
// between, IPv6 addresses in brackets.
func ParseBootstrap(list string) ([]string, error) {
	return parseAddresses(list, "bootstrap server", "kafka-1", "9092")
}

// ParseControllers is ParseBootstrap for a list of controllers.
func ParseControllers(list string) ([]string, error) {
	return parseAddresses(list, "controller", "controller-1", "9093")
}

func parseAddresses(list, noun, host, port string) ([]string, error) {
	var addrs []string
	for part := range strings.SplitSeq(list, ",") {
		addr := strings.TrimSpace(part)
		if addr == "" {
			continue
		}
		if at := strings.LastIndexByte(addr, '@'); at >= 0 { // not shown: a password stands before it
			return nil, fmt.Errorf("%s %q holds an @: user and password belong into the command config", noun, "…"+addr[at:])
		}
		name, number, err := net.SplitHostPort(addr)
		if err != nil || name == "" {
			return nil, fmt.Errorf("%s %q is not host:port (such as %s:%s, or [::1]:%s)", noun, addr, host, port, port)
		}
		if n, err := strconv.Atoi(number); err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("%s %q: port %q is not a number from 1 to 65535", noun, addr, number)
		}
		if !slices.Contains(addrs, addr) { // named twice is asked once
			addrs = append(addrs, addr)
		}
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("no %s in %q", noun, list)
	}
	return addrs, nil
}

// sarama returns a configuration whose defaults cannot surprise: no retries, no
// automatic ApiVersions (Open asks it, bounded), and a dialer that hands out
// the connection that is already open.
func (c *Config) sarama(conn net.Conn) *sarama.Config {
	conf := sarama.NewConfig()
	conf.ClientID = ClientID
	conf.Version = sarama.MaxVersion
	conf.ApiVersionsRequest = false
	conf.Metadata.AllowAutoTopicCreation = false
	// The limit on conn decides; these only have to be longer than any limit.
	conf.Net.ReadTimeout = time.Hour
	conf.Net.WriteTimeout = time.Hour
	conf.Net.Proxy.Enable = true
	conf.Net.Proxy.Dialer = handOver{conn}
	return conf
}

// handOver is a dialer that gives sarama the connection that Open has made, so
// that the phases of a failure can be told apart.
type handOver struct{ conn net.Conn }

// Dial implements golang.org/x/net/proxy.Dialer.
func (h handOver) Dial(string, string) (net.Conn, error) { return h.conn, nil }

// Kgo returns a franz-go client that knows addr alone: send raw requests to its
// only seed broker. The caller closes it. [Config.OpenRaw] gives one that a Pool
// keeps.
func (c *Config) Kgo(addr string) (*kgo.Client, error) {
	return c.kgo(addr, func(*sniffedConn) {})
}

// kgo calls opened with every connection that the client makes.
func (c *Config) kgo(addr string, opened func(*sniffedConn)) (*kgo.Client, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(addr),
		kgo.ClientID(ClientID),
		kgo.SoftwareNameAndVersion(softwareName, softwareVersion),
		kgo.Dialer(func(ctx context.Context, _, addr string) (net.Conn, error) {
			limited, conn, err := c.dial(ctx, addr)
			if err != nil {
				return nil, err
			}
			limited.limit(context.Background()) // from here on the client sets its own
			opened(conn)
			return conn, nil
		}),
		kgo.RequestRetries(0),
		kgo.MetadataMaxAge(time.Hour), // longer than any lives: it asks nothing by itself
		kgo.DisableClientMetrics(),
	}
	if c.Pool != nil {
		options = append(options, kgo.WithHooks(c.Pool)) // it counts
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", addr, err)
	}
	return client, nil
}

// dial connects and goes through TLS and SASL, all within ctx. It returns the
// socket, whose limit stays that of ctx, and the connection over it. Errors are
// of type *Error.
func (c *Config) dial(ctx context.Context, addr string) (*limitedConn, *sniffedConn, error) {
	began := time.Now()
	raw, err := dial(ctx, addr)
	if err != nil {
		return nil, nil, newError(addr, inspect.PhaseDial, "", err, time.Since(began))
	}
	limited := newLimitedConn(raw)
	limited.limit(ctx)
	stop := context.AfterFunc(ctx, limited.abort)
	defer stop()
	conn, err := c.Security.secure(ctx, limited, addr)
	if err != nil {
		_ = raw.Close()
		return nil, nil, err
	}
	return limited, conn, nil
}
