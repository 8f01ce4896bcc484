package node

// byteRate is how many bytes a second there were of late (SimpleRate over SampledStat):
// what was counted in the windows that are kept, over the time since the eldest of them began.
// A window ends with the first count after its time, so that it may be longer; one that had
// no count for as long as all windows take begins anew, empty.
type byteRate struct {
	// kept is how many whole windows count beside the one that is open, and a little less:
	// Kafka keeps replication.quota.window.num of them and one more.
	kept     int
	windowMs int64
	windows  []rateWindow
	open     int
}

type rateWindow struct {
	beganMs, lastMs int64
	bytes           float64
}

func newByteRate(kept int, windowMs int64) byteRate {
	return byteRate{kept: kept, windowMs: windowMs}
}

// count adds what was moved now.
func (r *byteRate) count(nowMs, bytes int64) {
	w := r.current(nowMs)
	if nowMs-w.beganMs >= r.windowMs {
		r.open = (r.open + 1) % (r.kept + 1)
		if r.open < len(r.windows) {
			r.windows[r.open] = rateWindow{beganMs: nowMs}
		} else {
			r.windows = append(r.windows, rateWindow{beganMs: nowMs})
		}
		w = &r.windows[r.open]
	}
	w.bytes += float64(bytes)
	w.lastMs = nowMs
}

func (r *byteRate) current(nowMs int64) *rateWindow {
	if len(r.windows) == 0 {
		r.windows = append(r.windows, rateWindow{beganMs: nowMs, lastMs: nowMs})
	}
	return &r.windows[r.open]
}

// perSecond is the rate. The time is never less than a window, so that the first bytes
// do not look like many.
func (r *byteRate) perSecond(nowMs int64) float64 {
	r.current(nowMs)
	began, bytes := nowMs, 0.0
	for i := range r.windows {
		w := &r.windows[i]
		if nowMs-w.lastMs >= int64(r.kept)*r.windowMs {
			*w = rateWindow{beganMs: nowMs, lastMs: nowMs}
		}
		bytes += w.bytes
		began = min(began, w.beganMs)
	}
	return bytes * 1000 / float64(max(nowMs-began, r.windowMs))
}
