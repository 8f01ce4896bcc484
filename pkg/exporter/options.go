package exporter

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// Snapshotter takes Snapshots; *[source.Source] does.
type Snapshotter interface {
	Snapshot(context.Context, source.Query) (*inspect.Snapshot, error)
}

// Options are what an Exporter is made of. Only the sources are needed.
type Options struct {
	// Collect takes whole Snapshots and Sample the small ones between. Two, for a
	// sample has less time; give them one connect.Pool.
	Collect, Sample Snapshotter
	// ISR tells every change of an ISR, which is then counted with its cause;
	// *[isrlog.Log] does. It is followed from when the cluster has answered first, and
	// tried again and again where it cannot be had: then, and where it is nil, changes are
	// counted as far as they stand in what Collect and Sample take.
	ISR isrlog.Source
	// ISRStore, where it is not nil, is where what ISR tells is kept beyond the log's
	// retention, whatever Filter lets through: events of before the Exporter too, which
	// nothing counts. While ISR cannot be had it keeps what Collect and Sample tell. It is
	// opened when the cluster has answered first, and given free at the end of Run, which has to be called.
	ISRStore *recording.Prepared

	// CollectInterval is 10 s where it is 0. SampleInterval is 1 s where it is 0; on
	// a large cluster it is stretched by one for each 10,000 partitions.
	CollectInterval, SampleInterval time.Duration
	// MaxAge is how old what is served may be; where it is 0, three CollectIntervals,
	// and 30 s at least. Less than a CollectInterval and the time that Collect takes,
	// and what is served comes and goes.
	MaxAge time.Duration

	// Filter picks topics and groups, for every series.
	Filter Filter
	// Partitions, Replicas and Groups say which of them have series of their own;
	// all where they are empty. Counts over topics, brokers and the cluster hold
	// those that have none too.
	Partitions, Replicas, Groups Detail

	// ClusterLabel, where it is not empty, is the value of a label cluster on every
	// series.
	ClusterLabel string
	// Version is the program's, for kafkaops_build_info.
	Version string

	// Requests tells how many requests of each API were sent; may be nil.
	Requests func() map[string]int64
	// Log is slog's default where it is nil.
	Log *slog.Logger
	// Clock is the system's where it is nil.
	Clock Clock
}

// Detail says which partitions, replicas or groups have series of their own.
type Detail string

// The details.
const (
	DetailAll Detail = "all"
	// DetailUnhealthy are partitions that are offline, under or at min ISR,
	// under-replicated or unknown; replicas of those, and of partitions of which a
	// replica did not answer; groups whose lag grows, or that have one and have not
	// committed for a minute, with an unknown partition, without members, or with
	// commits that a log does not have.
	DetailUnhealthy Detail = "unhealthy"
	DetailNone      Detail = "none"
)

// ParseDetail knows the words of the flags.
func ParseDetail(s string) (Detail, error) {
	switch d := Detail(s); d {
	case DetailAll, DetailUnhealthy, DetailNone:
		return d, nil
	}
	return "", fmt.Errorf("%q is none of all, unhealthy, none", s)
}

// Filter picks topics and groups by expressions that match the whole name; nil
// includes all and excludes none.
type Filter struct {
	Topics, TopicsExclude *regexp.Regexp
	Groups, GroupsExclude *regexp.Regexp
}

// ParseNames makes an expression (RE2) that has to match the whole name; nil for an
// empty one.
func ParseNames(expr string) (*regexp.Regexp, error) {
	if expr == "" {
		return nil, nil
	}
	if _, err := regexp.Compile(expr); err != nil { // by itself: its message shows what was written
		return nil, err
	}
	return regexp.Compile("^(?:" + expr + ")$")
}

func (f *Filter) topic(name string, _ bool) bool { return keeps(f.Topics, f.TopicsExclude, name) }
func (f *Filter) group(name string) bool         { return keeps(f.Groups, f.GroupsExclude, name) }

func keeps(include, exclude *regexp.Regexp, name string) bool {
	return (include == nil || include.MatchString(name)) && (exclude == nil || !exclude.MatchString(name))
}

// The defaults.
const (
	DefaultCollectInterval = 10 * time.Second
	DefaultSampleInterval  = time.Second
	DefaultMaxAge          = 30 * time.Second
)

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	o.CollectInterval = cmp.Or(o.CollectInterval, DefaultCollectInterval)
	o.SampleInterval = cmp.Or(o.SampleInterval, DefaultSampleInterval)
	o.MaxAge = cmp.Or(o.MaxAge, max(DefaultMaxAge, 3*o.CollectInterval))
	o.Partitions = cmp.Or(o.Partitions, DetailAll)
	o.Replicas = cmp.Or(o.Replicas, DetailAll)
	o.Groups = cmp.Or(o.Groups, DetailAll)
	o.ClusterLabel = labelValue(o.ClusterLabel)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	if o.Requests == nil {
		o.Requests = func() map[string]int64 { return nil }
	}
	return o
}

// Clock is the time, so that a day can pass in a test.
type Clock interface {
	Now() time.Time
	// Sleep returns early, with the context's error, when it ends.
	Sleep(ctx context.Context, d time.Duration) error
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
