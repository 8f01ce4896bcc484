package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func perSec(f float64) inspect.Opt[float64] { return inspect.Known(f) }

func TestRates(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		looks    []look
		windowMs int64
		want     Rates
	}{
		{"no sample", nil, 0, Rates{}},
		{"one sample", []look{{l: 10, hw: 10}}, 0, Rates{}},
		{"two", []look{{sec: 0, l: 10, hw: 5}, {sec: 2, l: 30, hw: 9}}, 0, Rates{perSec(10), perSec(2)}},
		{"idle", []look{{sec: 0, l: 10, hw: 10}, {sec: 2, l: 10, hw: 10}}, 0, Rates{perSec(0), perSec(0)}},
		{
			"within a window",
			[]look{
				{sec: 0, l: 0, hw: 0}, {sec: 1, l: 100, hw: 100}, {sec: 2, l: 110, hw: 104}, {sec: 3, l: 120, hw: 108},
			},
			2000,
			Rates{perSec(10), perSec(4)},
		},
		{
			"a window that begins while idle",
			[]look{
				{sec: 0, l: 100, hw: 100}, {sec: 8, l: 100, hw: 100}, {sec: 9, l: 120, hw: 120},
			},
			2000,
			Rates{perSec(10), perSec(10)},
		},
		{
			"a gap is bridged",
			[]look{
				{sec: 0, l: 10, hw: 10}, {sec: 1, l: no, hw: no}, {sec: 2, noPart: true}, {sec: 4, l: 50, hw: 50},
			},
			0,
			Rates{perSec(10), perSec(10)},
		},
		{"unknown now", []look{{sec: 0, l: 10, hw: 10}, {sec: 1, l: 20, hw: no}}, 0, Rates{AppendPerSec: perSec(10)}},
		{
			// The second in which the log became shorter is left out.
			"another leader with a shorter log",
			[]look{
				{sec: 0, l: 100, hw: 90},
				{sec: 1, l: 110, hw: 100},
				{sec: 2, leader: 2, epoch: 1, l: 105, hw: 100},
				{sec: 3, leader: 2, epoch: 1, l: 115, hw: 110},
			},
			0,
			Rates{perSec(10), perSec(20. / 3)},
		},
		{"went down only", []look{{sec: 0, l: 100, hw: 100}, {sec: 1, epoch: 1, l: 50, hw: 50}}, 0, Rates{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := historyOf(tt.looks...).Rates("t", 0, tt.windowMs)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCatchUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		looks    []look
		windowMs int64
		want     CatchUp
	}{
		{"no sample", nil, 0, CatchUp{Trend: TrendUnknown}},
		{"one sample", []look{{l: 10, f: offsets(5)}}, 0, CatchUp{Trend: TrendUnknown}},
		{
			"caught up",
			[]look{{sec: 0, l: 10, f: offsets(5)}, {sec: 1, l: 20, f: offsets(21)}},
			0,
			CatchUp{Trend: TrendCaughtUp, FetchPerSec: perSec(16)},
		},
		{
			"draining",
			[]look{{sec: 0, l: 100, f: offsets(0)}, {sec: 2, l: 120, f: offsets(60)}},
			0,
			CatchUp{TrendDraining, perSec(30), perSec(-20), inspect.Known[int64](3000)},
		},
		{
			"growing",
			[]look{{sec: 0, l: 100, f: offsets(90)}, {sec: 2, l: 120, f: offsets(100)}},
			0,
			CatchUp{Trend: TrendGrowing, FetchPerSec: perSec(5), LagPerSec: perSec(5)},
		},
		{
			"steady",
			[]look{{sec: 0, l: 100, f: offsets(90)}, {sec: 2, l: 120, f: offsets(110)}},
			0,
			CatchUp{Trend: TrendSteady, FetchPerSec: perSec(10), LagPerSec: perSec(0)},
		},
		{
			"stuck behind an idle leader",
			[]look{{sec: 0, l: 100, f: offsets(90)}, {sec: 2, l: 100, f: offsets(90)}},
			0,
			CatchUp{Trend: TrendSteady, FetchPerSec: perSec(0), LagPerSec: perSec(0)},
		},
		{
			"within a window",
			[]look{
				{sec: 0, l: 100, f: offsets(0)}, {sec: 1, l: 100, f: offsets(80)}, {sec: 2, l: 110, f: offsets(80)},
			},
			1000,
			CatchUp{Trend: TrendGrowing, FetchPerSec: perSec(0), LagPerSec: perSec(10)},
		},
		{
			"too slow to forecast",
			[]look{{sec: 0, l: 1 << 40, f: offsets(0)}, {sec: 1, l: 1 << 40, f: offsets(1)}},
			0,
			CatchUp{Trend: TrendDraining, FetchPerSec: perSec(1), LagPerSec: perSec(-1)},
		},
		{
			// It truncated: its lag grew, but it fetches at the rate of the rest.
			"truncated",
			[]look{
				{sec: 0, l: 100, f: offsets(90)}, {sec: 1, epoch: 1, l: 100, f: offsets(50)}, {sec: 2, epoch: 1, l: 100, f: offsets(60)},
			},
			0,
			CatchUp{Trend: TrendGrowing, FetchPerSec: perSec(10), LagPerSec: perSec(15)},
		},
		{"silent now", []look{{sec: 0, l: 10, f: offsets(5)}, {sec: 1, l: 10, f: offsets(no)}}, 0, CatchUp{Trend: TrendUnknown}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := historyOf(tt.looks...).CatchUp("t", 0, 2, tt.windowMs)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
