package bench

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
)

// BenchmarkTop runs kafkaops top on a terminal of 200 by 60 for a minute and a half, on a
// scripted cluster of 20,000 partitions of RF 3 that are all written to, and presses keys:
//
//	key-p50-ms   from the key to the first byte of the answer: at most 50 ms; the screen
//	key-max-ms   is drawn up to 60 times a second
//	MiB          resident at the end, at most 350; peak-MiB, ever
//	core-%       of what was computed, collecting included
func BenchmarkTop(b *testing.B) {
	const brokers, perTopic, size = 6, 50, 20_000
	kafkaops := binary(b)
	for b.Loop() {
		m := fakekafka.NewModel(brokers)
		m.AddTopics("scale", size/perTopic, perTopic, 3)
		for _, t := range m.Topics {
			for _, p := range t.Partitions {
				p.AppendPerRead = 1
			}
		}
		c, err := fakekafka.Listen(m)
		if err != nil {
			b.Fatal(err)
		}
		runTop(b, exec.Command(kafkaops, "top", "-b", c.Bootstrap(), "--timeout", "1m"))
		c.Close()
	}
}

func runTop(b *testing.B, cmd *exec.Cmd) {
	b.Helper()
	screen := topScreen(b, cmd)
	pid := []int{cmd.Process.Pid}
	screen.await(b, "20,000 partitions")
	began, cpu := time.Now(), cpuMs(b, pid)
	time.Sleep(time.Minute)
	var took []time.Duration
	// Down, another order, brokers, and back to the partitions.
	for range 10 {
		for _, key := range []string{"j", "N", "W", "3", "2"} {
			time.Sleep(500 * time.Millisecond)
			took = append(took, screen.press(b, key))
		}
	}
	slices.Sort(took)
	b.ReportMetric(ms(took[len(took)/2]), "key-p50-ms")
	b.ReportMetric(ms(took[len(took)-1]), "key-max-ms")
	b.ReportMetric(100*(cpuMs(b, pid)-cpu)/ms(time.Since(began)), "core-%")
	b.ReportMetric(residentMiB(b, pid), "MiB")
	b.ReportMetric(status(b, pid[0], "VmHWM:")/1024, "peak-MiB")
	screen.press(b, "q")
	if err := cmd.Wait(); err != nil {
		b.Error(err)
	}
}

// onScreen is what a process draws on, and where it reads keys from.
type onScreen struct {
	pty *os.File
	// drew gets each piece that is drawn, while somebody waits for it.
	drew chan string
}

// topScreen starts a command on a terminal.
func topScreen(b *testing.B, cmd *exec.Cmd) *onScreen {
	b.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		b.Skipf("no pseudo-terminals here: %v", err)
	}
	b.Cleanup(func() { _ = pty.Close() })
	fd := int(pty.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		b.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		b.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 60, Col: 200}); err != nil {
		b.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.Env = append(cmd.Environ(), "TERM=xterm-256color")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill() })
	_ = tty.Close()
	s := &onScreen{pty: pty, drew: make(chan string, 1)}
	go func() {
		defer close(s.drew)
		buf := make([]byte, 64<<10)
		for {
			n, err := pty.Read(buf)
			if err != nil {
				return
			}
			select {
			case s.drew <- string(buf[:n]):
			default:
			}
		}
	}()
	return s
}

// await waits until a text was drawn.
func (s *onScreen) await(b *testing.B, text string) {
	b.Helper()
	var all strings.Builder
	late := time.After(2 * time.Minute)
	for !strings.Contains(ansi.Strip(all.String()), text) {
		select {
		case piece, ok := <-s.drew:
			if !ok {
				b.Fatalf("it has ended: %s", ansi.Strip(all.String()))
			}
			all.WriteString(piece)
		case <-late:
			b.Fatalf("%q is not drawn: %s", text, ansi.Strip(all.String()))
		}
	}
}

// press presses a key, and returns after how long something was drawn.
func (s *onScreen) press(b *testing.B, key string) time.Duration {
	b.Helper()
	select { // what was drawn before
	case <-s.drew:
	default:
	}
	began := time.Now()
	if _, err := s.pty.WriteString(key); err != nil {
		b.Fatal(err)
	}
	select {
	case <-s.drew:
	case <-time.After(time.Minute):
		b.Fatalf("nothing is drawn after %s", key)
	}
	return time.Since(began)
}
