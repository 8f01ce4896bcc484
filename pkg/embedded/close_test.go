package embedded_test

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded"
)

// goroutines returns the stacks of those that serve nodes: no others are started.
func goroutines() []string {
	b := make([]byte, 1<<22)
	b = b[:runtime.Stack(b, true)]
	return slices.DeleteFunc(strings.Split(string(b), "\n\n"), func(s string) bool {
		return !strings.Contains(s, "kafkaops/pkg/embedded/broker.") // a function, not a file
	})
}

// openFiles are what this process has open, nil where the system does not tell.
func openFiles() []string {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !strings.HasPrefix(to, "anon_inode") {
			all = append(all, to)
		}
	}
	return all
}

// TestCloseLeavesNothing: whatever state the nodes are in, no goroutine and no open file
// is left when Close returns, and with memory no file at all was made.
func TestCloseLeavesNothing(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, c *embedded.Cluster)
	}{
		{"idle", func(*testing.T, *embedded.Cluster) {}},
		{"with a broker killed, one paused, one cut off", func(_ *testing.T, c *embedded.Cluster) {
			c.Broker(1).Kill()
			c.Broker(2).Pause()
			c.Link(3, embedded.ControllerID).Cut()
		}},
		{"with disks that fail and are slow", func(_ *testing.T, c *embedded.Cluster) {
			c.Broker(1).FailDisk()
			c.Broker(2).SlowDisk(time.Hour)
			c.Controller().SlowDisk(time.Hour)
			time.Sleep(50 * time.Millisecond)
		}},
		{"without its controller", func(_ *testing.T, c *embedded.Cluster) { c.Controller().Kill() }},
		{"with its controller paused", func(_ *testing.T, c *embedded.Cluster) { c.Controller().Pause() }},
	} {
		for _, dir := range []string{"", t.TempDir()} {
			t.Run(tt.name+map[bool]string{true: ", memory", false: ", directory"}[dir == ""], func(t *testing.T) {
				home := t.TempDir()
				t.Chdir(home) // whatever would be made by a relative name
				before := openFiles()
				c, err := embedded.Start(within(t), embedded.Options{Dir: dir})
				if err != nil {
					t.Fatal(err)
				}
				cl := client(t, c)
				create(t, cl, "orders", 3, 3)
				w := startWorkload(t, cl, "orders")
				w.goOn(20)
				w.stop()
				<-w.ended
				tt.do(t, c)
				cl.Close()
				began := time.Now()
				if err := c.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
				t.Logf("closed in %v", time.Since(began))
				// A goroutine that has said that it is done has yet to return, and the client's
				// sockets end in their own time.
				for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
					if len(goroutines()) == 0 && len(openFiles()) <= len(before) {
						break
					}
				}
				if left := goroutines(); len(left) > 0 {
					t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
				}
				if left := openFiles(); len(left) > len(before) {
					t.Errorf("files are open: %s\nbefore: %s", left, before)
				}
				if files, err := os.ReadDir(home); err != nil || len(files) > 0 {
					t.Errorf("files were made: %v, %v", files, err)
				}
			})
		}
	}
}
