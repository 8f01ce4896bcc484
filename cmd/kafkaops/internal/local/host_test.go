package local_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/local"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
)

// do carries out one request and fails the test where it is refused.
func do(t *testing.T, h *local.Host, req local.Request) local.Status {
	t.Helper()
	a := h.Handle(bounded(t), req)
	if a.Error != "" {
		t.Fatalf("%+v: %s", req, a.Error)
	}
	return a.Status
}

func fault(f local.Fault) local.Request { return local.Request{Do: local.VerbFault, Fault: &f} }

func states(s local.Status) []string {
	var out []string
	for _, n := range s.Nodes {
		out = append(out, n.State)
	}
	return out
}

// inForce are the faults without their times.
func inForce(s local.Status) []local.Fault {
	out := slices.Clone(s.Faults)
	for i := range out {
		out[i].Since = time.Time{}
	}
	return out
}

// TestFaults: each does what it says to the one that it names, is told while it is in
// force, and over after heal.
func TestFaults(t *testing.T) {
	t.Parallel()
	c := embeddedtest.New(t, embedded.Options{})
	h := local.NewHost(local.Place{Name: local.DefaultName}, "", func() {})
	h.Up(c)
	for _, tt := range []struct {
		fault local.Fault
		// state is the node's afterwards; empty where it goes on.
		state embedded.State
	}{
		{local.Fault{Kind: local.SlowDisk, Broker: 3, By: time.Millisecond}, ""},
		{local.Fault{Kind: local.Fence, Broker: 2}, ""},
		{local.Fault{Kind: local.Pause, Broker: 1}, embedded.Paused},
		{local.Fault{Kind: local.Cut, From: 1, To: 2}, ""},
		{local.Fault{Kind: local.SlowLink, From: 2, To: embedded.ControllerID, By: time.Millisecond}, ""},
		{local.Fault{Kind: local.Pause, Broker: embedded.ControllerID}, embedded.Paused},
		{local.Fault{Kind: local.Kill, Broker: 2}, embedded.Killed},
		{local.Fault{Kind: local.PowerLoss, Broker: 3}, embedded.Killed},
	} {
		s := do(t, h, fault(tt.fault))
		if got := inForce(s); len(got) != 1 || got[0] != tt.fault || s.Faults[0].Since.IsZero() {
			t.Errorf("got %+v in force, want %+v", got, tt.fault)
		}
		for _, n := range s.Nodes {
			want := embedded.Running
			if n.ID == tt.fault.Broker && tt.state != "" {
				want = tt.state
			}
			if n.State != string(want) {
				t.Errorf("%+v: node %d is %s, want %s", tt.fault, n.ID, n.State, want)
			}
		}
		s = do(t, h, local.Request{Do: local.VerbHeal})
		if got := states(s); len(s.Faults) > 0 || slices.ContainsFunc(got, func(s string) bool { return s != string(embedded.Running) }) {
			t.Fatalf("after heal: %+v in force, states %v", s.Faults, got)
		}
	}
}

// TestFaultsAddUp: the same again replaces what was, clocks add up and stay.
func TestFaultsAddUp(t *testing.T) {
	t.Parallel()
	h := local.NewHost(local.Place{Name: local.DefaultName}, "", func() {})
	h.Up(embeddedtest.New(t, embedded.Options{Brokers: 1}))
	slow := local.Fault{Kind: local.SlowDisk, Broker: 1, By: time.Microsecond}
	do(t, h, fault(slow))
	slow.By = 2 * time.Microsecond
	do(t, h, fault(slow))
	jump := local.Fault{Kind: local.JumpClock, Broker: 1, By: time.Hour}
	do(t, h, fault(jump))
	both := local.Fault{Kind: local.JumpClock, Broker: 1, By: 2 * time.Hour}
	if got, want := inForce(do(t, h, fault(jump))), []local.Fault{slow, both}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := inForce(do(t, h, local.Request{Do: local.VerbHeal})); !slices.Equal(got, []local.Fault{both}) {
		t.Errorf("after heal: got %+v, want the clock alone", got)
	}
	both.By = -both.By
	if got := inForce(do(t, h, fault(both))); len(got) > 0 {
		t.Errorf("got %+v, want a clock that is right again", got)
	}
}

// TestRefusals say what there is.
func TestRefusals(t *testing.T) {
	t.Parallel()
	h := local.NewHost(local.Place{Name: "other"}, "", func() {})
	status := local.Request{Do: local.VerbStatus}
	if s := do(t, h, status); s.Ready || s.PID == 0 || s.Nodes == nil || s.Faults == nil {
		t.Errorf("before it is up: got %+v, want a process that is not ready", s)
	}
	heal := local.Request{Do: local.VerbHeal}
	if a := h.Handle(t.Context(), heal); !strings.Contains(a.Error, "still starting") {
		t.Errorf("got %q, want that it is still starting", a.Error)
	}
	h.Up(embeddedtest.New(t, embedded.Options{Brokers: 2}))
	for want, req := range map[string]local.Request{
		"there is no broker 3: use 1 to 2, or controller": fault(local.Fault{Kind: local.Kill, Broker: 3}),
		"there is no broker 9":                            fault(local.Fault{Kind: local.Cut, From: 1, To: 9}),
		"not from broker 1 to itself":                     fault(local.Fault{Kind: local.Cut, From: 1, To: 1}),
		"the controller is not fenced":                    fault(local.Fault{Kind: local.Fence, Broker: embedded.ControllerID}),
		`"flood" is no fault`:                             fault(local.Fault{Kind: "flood", Broker: 1}),
		"without saying which":                            {Do: local.VerbFault},
		`"dance" is nothing that`:                         {Do: "dance"},
		"there is no broker 0":                            {Do: local.VerbRestart},
	} {
		if a := h.Handle(t.Context(), req); !strings.Contains(a.Error, want) || len(a.Status.Faults) > 0 {
			t.Errorf("%+v: got %q, %+v in force; want %q and nothing", req, a.Error, a.Status.Faults, want)
		}
	}
	do(t, h, fault(local.Fault{Kind: local.Pause, Broker: 1}))
	if a := h.Handle(t.Context(), local.Request{Do: local.VerbRestart, Broker: 1}); !strings.Contains(a.Error, "broker 1 is paused") ||
		!strings.Contains(a.Error, "kafkaops cluster heal --name other resumes it") {
		t.Errorf("got %q, want that a paused one cannot shut down, and what to try in this cluster", a.Error)
	}
	do(t, h, fault(local.Fault{Kind: local.Kill, Broker: 2}))
	const down = "kafkaops cluster restart --name other --broker 2 starts it, kafkaops cluster heal --name other all"
	if a := h.Handle(t.Context(), fault(local.Fault{Kind: local.Kill, Broker: 2})); !strings.Contains(a.Error, down) {
		t.Errorf("got %q, want %q", a.Error, down)
	}
	h.Down()
	if a := h.Handle(t.Context(), heal); !strings.Contains(a.Error, "being stopped") {
		t.Errorf("got %q, want that it is being stopped", a.Error)
	}
}

// TestRestart brings back who was down, and no more.
func TestRestart(t *testing.T) {
	t.Parallel()
	h := local.NewHost(local.Place{Name: local.DefaultName}, "", func() {})
	h.Up(embeddedtest.New(t, embedded.Options{}))
	cut := local.Fault{Kind: local.SlowLink, From: 2, To: 3, By: time.Microsecond}
	do(t, h, fault(cut))
	if s := do(t, h, fault(local.Fault{Kind: local.Stop, Broker: 2})); s.Nodes[1].State != string(embedded.Stopped) {
		t.Errorf("got %+v, want broker 2 stopped", s.Nodes)
	}
	for _, id := range []int{2, 3, embedded.ControllerID} { // down, running, the controller
		s := do(t, h, local.Request{Do: local.VerbRestart, Broker: id})
		if got := inForce(s); !slices.Equal(got, []local.Fault{cut}) {
			t.Errorf("got %+v, want the link alone", got)
		}
		for _, n := range s.Nodes {
			if n.State != string(embedded.Running) {
				t.Errorf("after the restart of %d node %d is %s", id, n.ID, n.State)
			}
		}
	}
}

// TestDataBytes is what the files hold.
func TestDataBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := local.NewHost(local.Place{Name: local.DefaultName}, dir, func() {})
	h.Up(embeddedtest.New(t, embedded.Options{Brokers: 1, Dir: dir}))
	if s := do(t, h, local.Request{Do: local.VerbStatus}); s.Data != dir || s.DataBytes <= 0 {
		t.Errorf("got %q with %d bytes, want %q with what is in it", s.Data, s.DataBytes, dir)
	}
}
