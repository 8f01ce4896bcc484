//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestCompleteInTime: whatever hangs, nothing comes, soon.
func TestCompleteInTime(t *testing.T) {
	t.Parallel()
	mute := fakekafka.Start(t, namedModel())
	mute.Break(1, fakekafka.Faults{Mute: true})
	hung := fakekafka.Start(t, namedModel())
	hung.Break(1, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.Metadata}})
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { // lets go of whoever waits for it
		if f, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil {
			f.Close()
		}
	})
	for name, flags := range map[string][]string{
		"mute": {"-b", mute.Addr(1)}, "hung": {"-b", hung.Addr(1)}, "silent": {"-b", fakekafka.SilentPort(t)}, "pipe": {"--command-config", pipe},
	} {
		for _, command := range slices.Concat(taking(t, "TOPIC", "NAME"), taking(t, "GROUP")) {
			began := time.Now()
			got, directive := completes(t, place{}, slices.Concat(strings.Fields(command), flags, []string{"o"})...)
			if took := time.Since(began); len(got) > 0 || directive != noFiles || took > patience {
				t.Errorf("%s: kafkaops %s: got %q %s after %s, want nothing", name, command, got, directive, took)
			}
		}
	}
	// One broker of three hangs: the others' groups are better than none.
	some := fakekafka.Start(t, namedModel())
	some.Break(3, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.ListGroups}})
	if got, _ := completes(t, place{}, "lag", "groups", "-b", some.Addr(1), "bill"); len(got) > 1 {
		t.Errorf("got %q", got)
	}
}
