package exporter

import (
	"context"
	"errors"
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
//	log     from where the recording ends; a new one takes in all that the log has
//	looks   those of the loop, while the log cannot be had. The log, once it can be had
//	        again, tells what was meanwhile, and better: readers then leave looks out
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
	looks   chan *inspect.Snapshot

	mu sync.Mutex
	// wantsLooks: they are what is recorded.
	wantsLooks bool
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
		silent: silentFor, retry: retryFirst, retryMost: retryMost, looks: make(chan *inspect.Snapshot, 1),
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

// look leaves a look, where they are what is recorded. It waits for nothing: of two that
// were not fetched the later one counts.
func (k *isrKeep) look(s *inspect.Snapshot) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.wantsLooks {
		return
	}
	select {
	case <-k.looks:
	default:
	}
	k.looks <- s
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
	if n := w.Cut(); n > 0 {
		k.log.Warn("cut off what the file's last writer did not finish", "bytes", n)
	}
	for _, d := range w.Damages() {
		k.log.Warn("the file is damaged: what it held there is a gap", "at", d.At, "bytes", d.Bytes)
	}
	last, _ := w.Last()
	attrs := []any{}
	if to, ok := last.To.Get(); ok {
		attrs = append(attrs, "offset", int64(to))
	}
	if !last.Until.IsZero() {
		attrs = append(attrs, "until", last.Until.UTC().Format(time.RFC3339))
	}
	if len(attrs) == 0 {
		k.log.Info("ISR changes are kept from now on, and what the metadata log has of before")
		return
	}
	k.log.Info("ISR changes are kept, from where the file ends", attrs...)
}

// record records until the context ends, or the file cannot be written.
func (k *isrKeep) record(ctx context.Context, w *recording.Writer, clusterID string) error {
	span := isrlog.Span{Follow: true, ClusterID: clusterID}
	for wait := k.retry; ; wait = min(2*wait, k.retryMost) {
		if k.source != nil {
			heard, err := k.readLog(ctx, span, w)
			if err := afterwards(ctx, err, w); err != nil {
				return err
			}
			if heard {
				wait = k.retry
			}
		}
		if err := afterwards(ctx, k.readLooks(ctx, span, w, wait), w); err != nil {
			return err
		}
	}
}

// afterwards takes back what a reading that ended has not committed. What it returns
// ends the recording.
func afterwards(ctx context.Context, err error, w *recording.Writer) error {
	var unwritten *isrlog.RecordError
	switch {
	case errors.As(err, &unwritten):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	if err := w.Discard(); err != nil {
		return &isrlog.RecordError{Err: err}
	}
	return nil
}

// readLog records the log for as long as it can be had and is not silent. It reports
// whether anything was heard of it.
func (k *isrKeep) readLog(ctx context.Context, span isrlog.Span, w *recording.Writer) (bool, error) {
	s := newSilence(ctx, k.silent)
	defer s.end()
	err := isrlog.Record(s.ctx, k.source, span, w, k.listener(s.heard))
	return s.begun(), err
}

// readLooks records looks until the log can be had, and for a while at least.
func (k *isrKeep) readLooks(ctx context.Context, span isrlog.Span, w *recording.Writer, least time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k.wantLooks(true)
	defer k.wantLooks(false)
	if k.source != nil {
		k.ended.Go(func() {
			defer cancel()
			for wait := least; ; wait = k.retry {
				if (systemClock{}).Sleep(ctx, wait) != nil || k.readable() {
					return
				}
			}
		})
	}
	looks := &isrlog.Poll{Every: k.every(), Whole: true, Take: func(ctx context.Context) (*inspect.Snapshot, error) {
		select {
		case s := <-k.looks:
			return s, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}
	return isrlog.Record(ctx, looks, span, w, k.listener(func() {}))
}

func (k *isrKeep) wantLooks(want bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wantsLooks = want
	select { // of before
	case <-k.looks:
	default:
	}
}

// listener tells what is missing; of the rest the one who counts tells. heard is called
// with everything that was recorded.
func (k *isrKeep) listener(heard func()) isrlog.Listener {
	return isrlog.Listener{
		Event:    func(inspect.IsrEvent) {},
		Evidence: func(isrlog.Evidence) {},
		Progress: func(isrlog.Evidence) {
			k.progresses()
			heard()
		},
		Note: func(line string, lost bool) {
			if lost {
				k.log.Warn("something is missing in what is kept", "reason", line)
			}
		},
	}
}
