package kafkatest

import (
	"sync"
	"testing"
)

// A Shared is one cluster for all tests of a package, started by the first
// that wants it.
type Shared struct {
	opts Options

	mu  sync.Mutex
	c   *Cluster
	err error
}

// Share declares a package's cluster. Nothing starts before Get.
func Share(opts Options) *Shared { return &Shared{opts: opts.withDefaults()} }

// Main runs the package's tests and ends the cluster. TestMain hands its
// answer to os.Exit.
func (s *Shared) Main(m interface{ Run() int }) int {
	code := m.Run()
	s.end(code != 0)
	return code
}

// End ends the cluster, if it runs, for who needs the machine. The next Get starts
// another one.
func (s *Shared) End() { s.end(false) }

func (s *Shared) end(keep bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c != nil {
		s.c.close(keep)
		s.c = nil
	}
}

// Get returns the cluster, whole, and heals it when tb ends if tb broke it.
// It skips tb where no cluster can start; see Need. Topics live on from test
// to test, so each test names its own. Tests that break the cluster must not
// be parallel with others.
func (s *Shared) Get(tb testing.TB) *Cluster {
	tb.Helper()
	c := s.get(tb)
	if !c.whole() { // a node died by itself between the tests
		c.reportDead(tb)
		c.Heal(tb)
	}
	tb.Cleanup(func() {
		c.reportDead(tb)
		if tb.Failed() {
			c.keepLogs(tb)
		}
		if !c.whole() {
			c.Heal(tb)
		}
	})
	return c
}

func (s *Shared) get(tb testing.TB) *Cluster {
	tb.Helper()
	in := needFor(tb, s.opts)
	ctx, cancel := bound(tb, turn)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c == nil && s.err == nil {
		s.c, s.err = launch(ctx, in, s.opts)
	}
	if s.err != nil { // and again for the next test, without another try
		tb.Fatal(s.err)
	}
	return s.c
}
