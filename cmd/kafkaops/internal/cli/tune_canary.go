package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// What a canary writes with each of acks=1 and acks=all. The first records find the
// leaders and open connections, and do not count.
const (
	canaryWarm    = 20
	canaryRecords = 200
	canaryRate    = 50 // a second
	canaryBytes   = 100
)

// measure writes to the topic of --canary, and says how long that took.
func (r *tuneRun) measure(ctx context.Context) (*tuning.Canary, error) {
	o := r.opts
	if err := r.checkCanary(ctx); err != nil {
		return nil, fmt.Errorf("--canary %s: %w", o.canary, err)
	}
	fmt.Fprintf(r.env.Terminal.Err, "kafkaops: --canary writes %d records of %d bytes to topic %s, half of them with acks=1 and half with acks=all, %d a second, which stay there\n",
		2*(canaryWarm+canaryRecords), canaryBytes, render.Clean(o.canary), 2*canaryRate)
	var producers []*load.Producer
	stop := func() (all []load.Stats) {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.timeout)
		defer cancel()
		for _, p := range producers {
			all = append(all, p.Stop(bounded))
		}
		return all
	}
	for _, acks := range []load.Acks{load.AcksLeader, load.AcksAll} {
		p, err := load.StartProducer(r.target.brokers, load.Options{
			Topic: o.canary, Partition: load.AnyPartition, Acks: acks, RecordBytes: canaryBytes, Rate: canaryRate,
			Records: canaryWarm + canaryRecords, Timeout: o.timeout, NoRetries: true,
		})
		if err != nil {
			stop()
			return nil, err
		}
		producers = append(producers, p)
	}
	const warmFor = time.Second * canaryWarm / canaryRate
	if err := sleep(ctx, warmFor); err != nil {
		stop()
		return nil, err
	}
	for _, p := range producers {
		p.Reset()
	}
	for _, p := range producers {
		select {
		case <-p.Sent():
		case <-ctx.Done():
			stop()
			return nil, ctx.Err()
		}
	}
	all := stop()
	c := &tuning.Canary{Topic: o.canary, One: latencyOf(&all[0]), All: latencyOf(&all[1])}
	if err := all[1].FirstError; c.One.Records+c.All.Records == 0 {
		return nil, fmt.Errorf("--canary %s: no record was acknowledged: %w", o.canary, err)
	}
	return c, nil
}

func latencyOf(s *load.Stats) tuning.Latency {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return tuning.Latency{Records: int(s.Acknowledged), Failed: int(s.Failed), P50Ms: ms(s.P50), P99Ms: ms(s.P99)}
}

// checkCanary wants the topic to be there, on the cluster that is advised on, and not one
// of Kafka's own.
func (r *tuneRun) checkCanary(ctx context.Context) error {
	f, err := newTopicFilter([]string{r.opts.canary}, false)
	if err != nil {
		return err
	}
	snap, err := source.New(r.target.brokers, r.opts.timeout, r.target.options()...).Snapshot(ctx, f.query())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return r.target.explain(err)
	}
	if of, ok := r.snap.ClusterID.Get(); ok && snap.ClusterID.Or(of) != of {
		return fmt.Errorf("this is cluster %s, and the recording is of %s: nothing was written", snap.ClusterID, of)
	}
	for i := range snap.Topics {
		switch t := &snap.Topics[i]; {
		case t.Name != r.opts.canary || len(t.Partitions) == 0:
		case t.Internal:
			return fmt.Errorf("it is one of Kafka's own: nothing was written")
		default:
			return nil
		}
	}
	return fmt.Errorf("there is no such topic: create one for it, as what is written stays there")
}
