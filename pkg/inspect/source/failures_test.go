package source_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestBootstrap goes through the ways in which a bootstrap address does not work:
// each ends in time and names address, phase and cause.
func TestBootstrap(t *testing.T) {
	t.Parallel()
	const timeout = 3 * time.Second
	for name, tt := range map[string]struct {
		addr  func(testing.TB) string
		phase inspect.Phase
		cause string
	}{
		"closed":       {fakekafka.ClosedPort, inspect.PhaseDial, "connection refused"},
		"mute":         {fakekafka.SilentPort, inspect.PhaseRequest, "no reply to ApiVersions within "},
		"TLS":          {fakekafka.TLSPort, inspect.PhaseRequest, "TLS"},
		"HTTP":         {fakekafka.HTTPPort, inspect.PhaseRequest, "not Kafka's protocol"},
		"closing":      {fakekafka.ClosingPort, inspect.PhaseRequest, "closed the connection"},
		"half closed":  {fakekafka.HalfClosedPort, inspect.PhaseRequest, "closed the connection"},
		"no such host": {func(testing.TB) string { return "no-such-host.invalid:9092" }, inspect.PhaseDial, "no-such-host.invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := tt.addr(t)
			began := time.Now()
			_, err := pass(t, addr, inspect.PartOffsets, timeout)
			if took := time.Since(began); took > timeout+timeout/2 {
				t.Errorf("took %s with a timeout of %s", took, timeout)
			}
			var be *source.BootstrapError
			if !errors.As(err, &be) || len(be.Failures) != 1 {
				t.Fatalf("error = %v, want a BootstrapError with one address", err)
			}
			f := be.Failures[0]
			if f.Address != addr || f.Phase != tt.phase || !strings.Contains(f.Error, tt.cause) {
				t.Errorf("failure = %+v, want %s, %s, %q", f, addr, tt.phase, tt.cause)
			}
		})
	}
}

// TestBootstrapOneGoodOfThree works, warns of those that did not answer before,
// and is complete.
func TestBootstrapOneGoodOfThree(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(2)
	m.AddTopic("t", 1, 2)
	c := fakekafka.Start(t, m)
	closed, silent := fakekafka.ClosedPort(t), fakekafka.SilentPort(t)
	began := time.Now()
	s := snapshot(t, closed+","+silent+","+c.Addr(1), inspect.PartOffsets, ample)
	if took := time.Since(began); took > ample/3 {
		t.Errorf("took %s: the silent address was waited for", took)
	}
	all := texts(s.Failures)
	if !s.Complete() || !strings.Contains(all, closed) || !strings.Contains(all, silent) {
		t.Errorf("failures = %s, want notices about %s and %s", all, closed, silent)
	}
}

// TestBootstrapThatHangsLater answers ApiVersions and then nothing: another
// address is tried.
func TestBootstrapThatHangsLater(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(2)
	m.AddTopic("t", 1, 2)
	c := fakekafka.Start(t, m)
	c.Break(1, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.Metadata}})
	s := snapshot(t, c.Addr(1)+","+c.Addr(2), inspect.PartOffsets, 3*time.Second)
	if !s.Complete() || !strings.Contains(texts(s.Failures), "no reply to Metadata") {
		t.Errorf("failures = %s, want a notice about Metadata", texts(s.Failures))
	}
}

// TestUnreachableAdvertisedAddress is the commonest mistake with listeners.
func TestUnreachableAdvertisedAddress(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(1)
	m.AddTopic("t", 1, 1)
	c := fakekafka.Start(t, m)
	host, port, _ := strings.Cut(fakekafka.ClosedPort(t), ":")
	c.Change(func(m *fakekafka.Model) {
		m.Broker(1).AdvertisedHost = host
		for _, d := range port {
			m.Broker(1).AdvertisedPort = m.Broker(1).AdvertisedPort*10 + d - '0'
		}
	})
	s := snapshot(t, c.Addr(1), inspect.PartOffsets, ample)
	all := texts(s.Failures)
	for _, want := range []string{host + ":" + port, "dial", "advertised.listeners", "bootstrap server answered"} {
		if !strings.Contains(all, want) {
			t.Errorf("failures = %s, want %q", all, want)
		}
	}
}

// TestRefused: what a missing permission costs, and that the ACL is named
// (https://github.com/apache/kafka/pull/8947).
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key  kmsg.Key
		acl  string
		lost func(*inspect.Snapshot) bool
	}{
		{kmsg.ListPartitionReassignments, "DESCRIBE on the cluster", func(s *inspect.Snapshot) bool { return !partition(t, s, 0).Adding.IsKnown() }},
		{kmsg.DescribeConfigs, "DESCRIBE_CONFIGS on the topic", func(s *inspect.Snapshot) bool { return !partition(t, s, 0).MinInsyncReplicas.IsKnown() }},
		{kmsg.DescribeLogDirs, "DESCRIBE on the cluster", func(s *inspect.Snapshot) bool { return !s.Broker(1).LogDirs.IsKnown() }},
		{kmsg.ListOffsets, "DESCRIBE on the topic", func(s *inspect.Snapshot) bool { return !partition(t, s, 0).Offsets.HW.IsKnown() }},
	} {
		t.Run(tt.key.Name(), func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewModel(1)
			m.AddTopic("t", 1, 1)
			m.Deny = []kmsg.Key{tt.key}
			s := snapshot(t, fakekafka.Start(t, m).Bootstrap(), inspect.PartLogDirs|inspect.PartOffsets, ample)
			if s.Complete() || !strings.Contains(texts(s.Failures), tt.acl) || !tt.lost(s) {
				t.Errorf("failures = %s, want the ACL %q and the value unknown", texts(s.Failures), tt.acl)
			}
			if p := partition(t, s, 0); p.Leader != 1 || len(p.ISR) != 1 {
				t.Errorf("partition = %+v, want leader and ISR all the same", p)
			}
			if v := s.Verdict(); v.Level == inspect.LevelOK && tt.key != kmsg.DescribeLogDirs && tt.key != kmsg.ListOffsets {
				t.Error("verdict is ok with an answer missing that it needs")
			}
		})
	}
}
