package load_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// TestWrongOptions are refused before anybody is dialed.
func TestWrongOptions(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]load.Options{
		"no topic":                      {Acks: load.AcksAll},
		`acks "2": use 0, 1 or all`:     {Topic: "t", Acks: "2"},
		`compression "zip": use one of`: {Topic: "t", Acks: load.AcksAll, Compression: "zip"},
		"records of 15 bytes":           {Topic: "t", Acks: load.AcksAll, RecordBytes: 15},
		"a number in flight or":         {Topic: "t", Acks: load.AcksAll, InFlight: -1},
	} {
		p, err := load.StartProducer(connect.Config{Bootstrap: []string{"127.0.0.1:1"}}, o)
		if err == nil {
			p.Stop(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q", o, err, want)
		}
	}
}

// TestStopWithoutAnswer: what was never answered is failed, and said to be.
func TestStopWithoutAnswer(t *testing.T) {
	t.Parallel()
	p, err := load.StartProducer(connect.Config{Bootstrap: []string{"127.0.0.1:1"}}, load.Options{Topic: "t", Acks: load.AcksAll, InFlight: 5})
	if err != nil {
		t.Fatal(err)
	}
	for p.Stats().Sent < 5 {
		if t.Context().Err() != nil {
			t.Fatal("nothing was sent")
		}
	}
	ctx, cancel := canceled(t)
	cancel()
	s := p.Stop(ctx)
	if s.Failed != s.Sent || s.Sent < 5 || s.FirstError == nil || !strings.Contains(s.FirstError.Error(), "no answer before the producer was stopped") {
		t.Errorf("got %+v, want all failed for want of an answer", s)
	}
}

func canceled(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}
