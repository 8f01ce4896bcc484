package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// askTimeout bounds one request to one broker. It is short, because a broker
// that was just paused or resumed may hold a request for ever, and longer than
// any that is well takes on a busy machine.
const askTimeout = 5 * time.Second

// Ask sends one request to one broker, at the newest version both know. Any
// broker passes on what only the controller can answer, unless ZooKeeper keeps
// the metadata: see AskController.
func (c *Cluster) Ask(ctx context.Context, id int32, req kmsg.Request) (kmsg.Response, error) {
	cl, err := c.client(id)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	resp, err := cl.SeedBrokers()[0].Request(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("ask broker %d for %s: %w", id, kmsg.NameForKey(req.Key()), err)
	}
	return resp, nil
}

// client returns the client whose only seed is broker id: requests to its seed
// go there and nowhere else.
func (c *Cluster) client(id int32) (*kgo.Client, error) {
	addr := c.BrokerAddr(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if cl, ok := c.clients[id]; ok {
		return cl, nil
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ClientID("kafkatest"), kgo.DialTimeout(askTimeout))
	if err != nil {
		return nil, fmt.Errorf("client for broker %d: %w", id, err)
	}
	c.clients[id] = cl
	return cl, nil
}

// ask is Ask with the type of the answer.
func ask[R kmsg.Response](ctx context.Context, c *Cluster, id int32, req kmsg.Request) (resp R, err error) {
	answer, err := c.Ask(ctx, id, req)
	if err != nil {
		return resp, err
	}
	resp, ok := answer.(R)
	if !ok {
		return resp, fmt.Errorf("ask broker %d: the answer is a %T", id, answer)
	}
	return resp, nil
}

// askAny asks the brokers that run, one after the other, until one answers.
func askAny[R kmsg.Response](ctx context.Context, c *Cluster, req kmsg.Request) (R, error) {
	return askOneOf[R](ctx, c, c.runningBrokers(), req)
}

func askOneOf[R kmsg.Response](ctx context.Context, c *Cluster, ids []int32, req kmsg.Request) (resp R, err error) {
	err = errors.New("no broker runs")
	for _, id := range ids {
		if resp, err = ask[R](ctx, c, id, req); err == nil {
			return resp, nil
		}
	}
	return resp, err
}

// kafkaError returns the error of a response, nil for none.
func kafkaError(what string, code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	if err == nil {
		return nil
	}
	if message != nil && *message != "" {
		return fmt.Errorf("%s: %w (%s)", what, err, *message)
	}
	return fmt.Errorf("%s: %w", what, err)
}
