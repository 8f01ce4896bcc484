package storage

// SyncDue says whether a sync is due, by the policy: call Flush(upTo) at dueMs
// or later. A time that has passed, 0 among them, is now.
func (l *Log) SyncDue() (upTo Offset, dueMs int64, ok bool) {
	if l.flushed >= l.end {
		return 0, 0, false
	}
	switch l.cfg.Flush.mode {
	case always:
		return l.end, l.unsyncedSinceMs, true
	case every:
		return l.end, l.unsyncedSinceMs + l.cfg.Flush.intervalMs, true
	}
	if base := l.active().base; l.flushed < base {
		return base, l.unsyncedSinceMs, true
	}
	return 0, 0, false
}

// Flush makes everything before upTo durable, and perhaps more. Once it has
// returned nil that survives a power loss. After an [Error] the log refuses to
// write: another sync would say nothing about what the failed one lost.
func (l *Log) Flush(upTo Offset, nowMs int64) error {
	if l.failed != nil {
		return l.failed
	}
	return l.fail(l.flush(upTo, nowMs))
}

func (l *Log) flush(upTo Offset, nowMs int64) error {
	upTo = min(upTo, l.end)
	if upTo <= l.flushed {
		return nil
	}
	done, made := l.flushed, false
	for i, s := range l.segs {
		if s.base >= upTo {
			break
		}
		if err := s.sync(); err != nil {
			return err
		}
		made = made || s.offsets.made || s.times.made
		done = l.end
		if i+1 < len(l.segs) {
			done = l.segs[i+1].base
		}
	}
	if made {
		if err := l.fs.SyncDir(l.name); err != nil {
			return failed("sync directory", l.name, upTo, err)
		}
		for _, s := range l.segs {
			s.offsets.made, s.times.made = false, false
		}
	}
	l.flushed = max(l.flushed, done)
	l.unsyncedSinceMs = nowMs
	return nil
}
