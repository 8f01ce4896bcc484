package exporter

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
)

// isrWatch follows the metadata log in a goroutine of its own, and leaves what it told
// for the loop to fetch.
//
// A log that cannot be had is tried again later. One that is silent for too long is given
// up: during an election of the active controller nothing can change and nothing is lost,
// but a controller that only this exporter cannot reach goes on changing ISRs.
type isrWatch struct {
	source isrlog.Source
	log    *slog.Logger
	keep   func(topic string) bool
	// silent is how long the log may be. retry and retryMost are the first and the
	// longest time to the next try, retryLasting that where the reason lasts.
	silent, retry, retryMost, retryLasting time.Duration

	started bool
	ended   sync.WaitGroup

	mu   sync.Mutex
	told []func(*isrChanges) // in order
	// offered: a beginning is among them, which is one look at everything.
	offered bool
	// begun: the log is what counts, as far as the loop has fetched.
	begun bool
	// begins is how often it has become that.
	begins int
	// canRead: the log is being followed.
	canRead bool
}

func newISRWatch(o *Options) *isrWatch {
	return &isrWatch{
		source: o.ISR, log: o.Log, keep: func(topic string) bool { return o.Filter.topic(topic, false) },
		silent: isrlog.SilentFor, retry: isrlog.RetryFirst, retryMost: isrlog.RetryMost, retryLasting: isrlog.RetryLasting,
	}
}

// start begins once. The context's end ends it.
func (w *isrWatch) start(ctx context.Context, clusterID string) {
	if w.started || w.source == nil {
		return
	}
	w.started = true
	w.ended.Go(func() { w.run(ctx, clusterID) })
}

func (w *isrWatch) begunTimes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begins
}

func (w *isrWatch) wait() { w.ended.Wait() }

// deliver hands over what was told since.
func (w *isrWatch) deliver(to *isrChanges) {
	w.mu.Lock()
	told, offered := w.told, w.offered
	w.told = nil
	w.mu.Unlock()
	for _, tell := range told {
		tell(to)
	}
	if len(told) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if offered {
		w.offered = false
	}
	if begun := to.source == inspect.SourceMetadataLog; begun != w.begun {
		w.begun = begun
		if begun {
			w.begins++
			w.log.Info("ISR changes are counted from the metadata log", "from", to.where)
		}
	}
}

func (w *isrWatch) tell(what func(*isrChanges)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, what)
}

// event leaves one that counts, or may.
func (w *isrWatch) event(e inspect.IsrEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if (w.begun || w.offered) && w.keep(e.Topic) {
		w.told = append(w.told, func(c *isrChanges) { c.event(&e) })
	}
}

// offer offers a beginning, where the log is not what counts yet and there is none. It
// reports whether it is to be asked again.
func (w *isrWatch) offer(r isrlog.Reached, where string) (again bool) {
	w.mu.Lock()
	wanted, again := !w.begun && !w.offered, !w.begun
	w.mu.Unlock()
	if !wanted {
		return again
	}
	state := r.Look(time.Now(), w.keep)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.offered = true
	w.told = append(w.told, func(c *isrChanges) { c.begin(state, r.Next, r.Asked, where) })
	return true
}

// run reads until the context ends.
func (w *isrWatch) run(ctx context.Context, clusterID string) {
	said, begins := false, 0
	for wait := w.retry; ; wait = min(2*wait, w.retryMost) {
		err := w.read(ctx, clusterID)
		if ctx.Err() != nil {
			return
		}
		if n := w.begunTimes(); n > begins {
			said, begins, wait = false, n, w.retry
		}
		if !said {
			w.log.LogAttrs(ctx, slog.LevelWarn, "the metadata log cannot be read: ISR changes are counted by comparing looks, which is a lower bound",
				attributes(isrlog.FailureOf(err))...)
			said = true
		}
		if isrlog.Lasts(err) {
			wait = w.retryLasting
		}
		if (systemClock{}).Sleep(ctx, wait) != nil {
			return
		}
	}
}

// read reads for as long as the log can be had and is not silent.
func (w *isrWatch) read(ctx context.Context, clusterID string) error {
	quiet := isrlog.NewSilence(ctx, w.silent) // from when the log has been read to its end once
	defer quiet.End()
	var where string
	var last isrlog.Reached
	err := w.source.Read(quiet.Ctx, isrlog.Span{Follow: true, FromEnd: true, ClusterID: clusterID}, isrlog.Listener{
		Event: func(e inspect.IsrEvent) {
			if quiet.Begun() {
				quiet.Heard()
			}
			w.event(e)
		},
		Evidence: func(e isrlog.Evidence) { where = e.Where },
		Note: func(line string, lost bool) {
			w.log.Info("metadata log: " + line)
			if lost {
				w.tell(func(c *isrChanges) { c.trimmed() })
			}
		},
		Reached: func(r isrlog.Reached) bool {
			quiet.Heard()
			w.setReadable(true)
			last = r
			return w.offer(r, where)
		},
	})
	if !quiet.Begun() {
		return err
	}
	w.setReadable(false)
	state := last.Look(time.Now(), w.keep)
	w.tell(func(c *isrChanges) { c.end(state) })
	if quiet.WasTooLong() {
		return isrlog.ErrSilent
	}
	return err
}

func (w *isrWatch) setReadable(can bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.canRead = can
}

// readable reports whether the log has been read to its end and is being followed.
func (w *isrWatch) readable() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.canRead
}
