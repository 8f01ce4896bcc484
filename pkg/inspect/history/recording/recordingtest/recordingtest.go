// Package recordingtest makes recordings of clusters that never were, for tests and
// measurements: what record would have seen in a day, in seconds.
//
//	err := recordingtest.Write(file, recordingtest.Options{Partitions: 1000, Lasts: 24 * time.Hour, Rate: 100})
package recordingtest

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// Options say what the cluster was like: three brokers, with partitions of three replicas.
type Options struct {
	// Partitions are how many, 20 to a topic.
	Partitions int
	// Every is the time between two looks, 0: 2 s. Lasts is the whole.
	Every, Lasts time.Duration
	// Rate is how many records a second each partition takes, give or take a third; 0: nobody
	// writes.
	Rate float64
	// StallsPerHour is how often a follower falls behind its leaders, and comes back; StallFor
	// is the median of how long that lasts, with a long tail. Nothing ever leaves an ISR, for
	// the lag time is two minutes.
	StallsPerHour float64
	StallFor      time.Duration
	Seed          uint64
}

// ClusterID is that of every such cluster.
const ClusterID = "simulated"

// Begin is when the first look is taken.
var Begin = time.UnixMilli(1_780_000_000_000).UTC()

// wholeEvery is how often record asks for configs.
const wholeEvery = 30 * time.Second

// Write writes a recording.
func Write(file string, o Options) error {
	o.Every = cmp.Or(o.Every, 2*time.Second)
	w, err := recording.Open(file, ClusterID)
	if err != nil {
		return err
	}
	c := newCluster(o)
	for at := time.Duration(0); at <= o.Lasts; at += o.Every {
		if err := w.AppendLook(c.look(at)); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	err = w.Commit(recording.Coverage{
		Source: inspect.SourceMetadataLog, Where: "controller 1", From: inspect.Known[inspect.Offset](0), To: inspect.Known[inspect.Offset](1000),
		Epoch: inspect.Known[inspect.Epoch](1), Since: Begin, Until: Begin.Add(o.Lasts),
	})
	return errors.Join(err, w.Close())
}

// cluster is one, as the last look saw it.
type cluster struct {
	o   Options
	rng *rand.Rand
	s   inspect.Snapshot
	// stalls are when each broker stands still as a follower, next.
	stalls map[inspect.BrokerID]*stall
}

type stall struct{ from, to time.Duration }

func newCluster(o Options) *cluster {
	c := &cluster{o: o, rng: rand.New(rand.NewPCG(o.Seed, 1)), stalls: map[inspect.BrokerID]*stall{}}
	c.s.ClusterID = inspect.Known(ClusterID)
	for id := inspect.BrokerID(1); id <= 3; id++ {
		c.s.Brokers = append(c.s.Brokers, inspect.Broker{
			ID: id, Host: fmt.Sprintf("kafka-%d", id), Port: 9092, Reachable: inspect.Known(true), Fenced: inspect.Known(false),
			Configs: inspect.Known([]inspect.Config{
				{Name: "broker.session.timeout.ms", Value: inspect.Known("9000")},
				{Name: "broker.heartbeat.interval.ms", Value: inspect.Known("2000")},
				{Name: "num.replica.fetchers", Value: inspect.Known("1")},
				{Name: "replica.lag.time.max.ms", Value: inspect.Known("120000")},
			}),
		})
		if o.StallsPerHour > 0 {
			c.stalls[id] = c.nextStall(0)
		}
	}
	for i := range o.Partitions {
		if i%20 == 0 {
			c.s.Topics = append(c.s.Topics, inspect.Topic{
				Name: fmt.Sprintf("topic-%04d", i/20), ID: inspect.Known(fmt.Sprintf("%016x", c.rng.Uint64())), MinInsyncReplicas: inspect.Known(int32(2)),
			})
		}
		t := &c.s.Topics[len(c.s.Topics)-1]
		p := inspect.Partition{
			Topic: t.Name, TopicID: t.ID, Index: int32(i % 20), Leader: inspect.BrokerID(i%3 + 1), LeaderEpoch: inspect.Known(inspect.Epoch(4)),
			MinInsyncReplicas: t.MinInsyncReplicas, Offsets: &inspect.Offsets{LogStart: inspect.Known(inspect.Offset(0))},
		}
		leo := inspect.Known(inspect.Offset(c.rng.IntN(1e9)))
		p.Offsets.LEOBefore, p.Offsets.LEOAfter, p.Offsets.HW, p.Offsets.LSO = leo, leo, leo, leo
		for j := range 3 {
			id := inspect.BrokerID((i+j)%3 + 1)
			p.Replicas, p.ISR = append(p.Replicas, id), append(p.ISR, id)
			if j > 0 {
				p.Offsets.Followers = append(p.Offsets.Followers, inspect.FollowerOffset{Broker: id, LEO: leo})
			}
		}
		t.Partitions = append(t.Partitions, p)
	}
	return c
}

// nextStall begins after from, as a Poisson process has it, and lasts log-normally long.
func (c *cluster) nextStall(from time.Duration) *stall {
	from += time.Duration(c.rng.ExpFloat64() / c.o.StallsPerHour * float64(time.Hour))
	return &stall{from, from + time.Duration(float64(c.o.StallFor)*math.Exp(c.rng.NormFloat64()*0.6))}
}

// look is the one at a time.
func (c *cluster) look(at time.Duration) *inspect.Snapshot {
	s := &c.s
	s.TakenAt = Begin.Add(at)
	s.Asked = inspect.PartOffsets | inspect.PartReachable | inspect.PartFenced
	if at%wholeEvery == 0 {
		s.Asked |= inspect.PartConfigs
	}
	for i := range s.Brokers {
		b := &s.Brokers[i]
		b.RoundTrip = inspect.Known(time.Duration(300+c.rng.IntN(200)) * time.Microsecond)
		told := s.TakenAt.Add(time.Duration(2+c.rng.IntN(3)) * time.Millisecond)
		b.LeaderLEOsAt, b.FollowerLEOsAt = inspect.Known(told), inspect.Known(told.Add(time.Duration(1+c.rng.IntN(3))*time.Millisecond))
		if st := c.stalls[s.Brokers[i].ID]; st != nil && at > st.to {
			*st = *c.nextStall(at)
		}
	}
	if c.o.Rate == 0 || at == 0 {
		return s
	}
	for i := range s.Topics {
		for j := range s.Topics[i].Partitions {
			c.write(s.Topics[i].Partitions[j].Offsets, at)
		}
	}
	return s
}

// write moves a partition on. What was written in the last moments may be under way to
// followers, that are asked a moment after the leader was.
func (c *cluster) write(o *inspect.Offsets, at time.Duration) {
	underWay := int64(c.o.Rate/50) + 1
	n := c.o.Rate * c.o.Every.Seconds() * (1 + c.rng.NormFloat64()/3)
	leo := int64(o.LEOBefore.Or(0)) + max(0, int64(n))
	o.LEOBefore, o.LEOAfter = offset(leo), offset(leo+c.rng.Int64N(underWay))
	least := leo
	for i := range o.Followers {
		f := &o.Followers[i]
		switch st := c.stalls[f.Broker]; {
		case st != nil && at >= st.from && at < st.to:
		case c.rng.IntN(20) == 0: // it is asked between two of its fetches
			f.LEO = offset(max(int64(f.LEO.Or(0)), leo-c.rng.Int64N(underWay)))
		default:
			f.LEO = offset(leo + c.rng.Int64N(underWay))
		}
		least = min(least, int64(f.LEO.Or(0)))
	}
	o.HW = offset(max(int64(o.HW.Or(0)), least))
	o.LSO = o.HW
}

func offset(n int64) inspect.Opt[inspect.Offset] { return inspect.Known(inspect.Offset(n)) }
