package exporter

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
)

// isrKeep records the history of the ISR in a goroutine of its own, by a reading of its
// own: a disk that is slow or full holds up no counter.
//
// The looks that [isrlog.Follow] falls back to are those of the loop.
//
// Where the file cannot be written it is opened again later, and the log told again from
// its last commit on.
type isrKeep struct {
	store  *recording.Prepared
	source isrlog.Source
	log    *slog.Logger
	// readable reports whether the log can be had now, and every how often there is a look.
	readable func() bool
	every    func() time.Duration
	// silent is how long nothing may be heard of the log. retry and retryMost are the first
	// and the longest time to the next try, of the log and of the file.
	silent, retry, retryMost time.Duration

	started bool
	ended   sync.WaitGroup
	looks   isrlog.Handed

	mu sync.Mutex
	// wrote is when something was recorded last.
	wrote time.Time
	// failed: it has been said that the file cannot be written, and was not since.
	failed bool
}

func newISRKeep(o *Options, readable func() bool, every func() time.Duration) *isrKeep {
	if o.ISRStore == nil {
		return nil
	}
	return &isrKeep{
		store: o.ISRStore, source: o.ISR, log: o.Log.With("file", o.ISRStore.Name()), readable: readable, every: every,
		silent: isrlog.SilentFor, retry: isrlog.RetryFirst, retryMost: isrlog.RetryMost,
	}
}

// start begins once. The context's end ends it.
func (k *isrKeep) start(ctx context.Context, clusterID string) {
	if k == nil || k.started {
		return
	}
	k.started = true
	k.ended.Go(func() { k.run(ctx, clusterID) })
}

// wait waits until the file is free.
func (k *isrKeep) wait() {
	if k == nil {
		return
	}
	if !k.started {
		_ = k.store.Close() // nothing was written to it
	}
	k.ended.Wait()
}

// keeps reports whether what happens is recorded; unknown where nobody asked for it.
func (k *isrKeep) keeps() inspect.Opt[bool] {
	if k == nil {
		return inspect.Unknown[bool]()
	}
	most := max(k.silent, 3*k.every())
	k.mu.Lock()
	defer k.mu.Unlock()
	return inspect.Known(!k.failed && time.Since(k.wrote) < most)
}

// look leaves a look, where they are what is recorded. It waits for nothing.
func (k *isrKeep) look(s *inspect.Snapshot) {
	if k != nil {
		k.looks.Leave(s)
	}
}

// run records until the context ends.
func (k *isrKeep) run(ctx context.Context, clusterID string) {
	w, err := k.store.Open(clusterID)
	for wait := k.retry; ; wait = min(2*wait, k.retryMost) {
		if err == nil {
			k.tell(w)
			err = k.record(ctx, w, clusterID)
			closed := w.Close()
			if ctx.Err() != nil {
				if closed != nil {
					k.log.Error("the end of what was kept could not be written", "error", closed)
				}
				return
			}
		}
		if k.fails() {
			wait = k.retry
			k.log.Error("ISR changes are not kept, and go on being counted: the file is tried again", "error", err)
		}
		if (systemClock{}).Sleep(ctx, wait) != nil {
			return
		}
		w, err = recording.Open(k.store.Name(), clusterID)
	}
}

// fails notes that the file cannot be written, and reports whether that is news.
func (k *isrKeep) fails() (news bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	news = !k.failed
	k.failed = true
	return news
}

// progresses notes that something was written.
func (k *isrKeep) progresses() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed {
		k.log.Info("ISR changes are kept again")
	}
	k.wrote, k.failed = time.Now(), false
}

// tell says where the recording goes on.
func (k *isrKeep) tell(w *recording.Writer) {
	k.mu.Lock()
	again := k.failed
	k.mu.Unlock()
	if again {
		return // what is said then is that something was written
	}
	found := w.Found()
	if found.Cut > 0 {
		k.log.Warn("cut off what the file's last writer did not finish", "bytes", found.Cut)
	}
	for _, d := range found.Damages {
		k.log.Warn("the file is damaged: what it held there is a gap", "at", d.At, "bytes", d.Bytes)
	}
	attrs := []any{}
	if to, ok := found.To.Get(); ok {
		attrs = append(attrs, "offset", int64(to))
	}
	if until, ok := found.Until.Get(); ok {
		attrs = append(attrs, "until", until.Format(time.RFC3339))
	}
	if len(attrs) == 0 {
		k.log.Info("ISR changes are kept from now on, and what the metadata log has of before")
		return
	}
	k.log.Info("ISR changes are kept, from where the file ends", attrs...)
}

// record records until the context ends, or the file cannot be written.
func (k *isrKeep) record(ctx context.Context, w *recording.Writer, clusterID string) error {
	f := isrlog.Follow{
		Log: k.source, Await: k.awaitReadable, Into: w, Silent: k.silent, Retry: k.retry, RetryMost: k.retryMost,
		Looks: func() *isrlog.Poll { return k.looks.Poll(k.every(), true) },
	}
	return f.Run(ctx, isrlog.Span{ClusterID: clusterID}, k.listener())
}

// awaitReadable waits for the one who counts: it tries the log for both.
func (k *isrKeep) awaitReadable(ctx context.Context) error {
	for !k.readable() {
		if err := (systemClock{}).Sleep(ctx, k.retry); err != nil {
			return err
		}
	}
	return nil
}

// listener tells what is missing; of the rest the one who counts tells.
func (k *isrKeep) listener() isrlog.Listener {
	return isrlog.Listener{
		Event:    func(inspect.IsrEvent) {},
		Evidence: func(isrlog.Evidence) {},
		Progress: func(isrlog.Evidence) { k.progresses() },
		Note: func(line string, lost bool) {
			if lost {
				k.log.Warn("something is missing in what is kept", "reason", line)
			}
		},
	}
}
