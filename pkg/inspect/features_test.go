package inspect

import (
	"fmt"
	"testing"
)

// featured is brokers 1 to n that support a feature up to these levels and tell
// these finalized ones.
func featured(maxes, levels []int16) *Snapshot {
	s := &Snapshot{}
	for i, m := range maxes {
		s.Brokers = append(s.Brokers, Broker{ID: BrokerID(i + 1), Features: Known(BrokerFeatures{
			Epoch: Known(int64(levels[i])), Levels: map[string]int16{"f": levels[i]},
			Supported: map[string]FeatureRange{"f": {1, m}},
		})})
	}
	return s
}

func TestFeatures(t *testing.T) {
	t.Parallel()
	silent := featured([]int16{2, 2}, []int16{2, 2})
	silent.Brokers = append(silent.Brokers, Broker{ID: 3})
	fenced := featured([]int16{2}, []int16{2})
	fenced.Brokers = append(fenced.Brokers, Broker{ID: 2, Fenced: Known(true)})
	couldFenced := featured([]int16{3}, []int16{2})
	couldFenced.Brokers = append(couldFenced.Brokers, Broker{ID: 2, Fenced: Known(true)})
	gone := featured([]int16{3}, []int16{2})
	gone.Gone = []BrokerID{2}
	old := featured([]int16{2, 2}, []int16{2, 2})
	old.Brokers[1].Features = Known(BrokerFeatures{Epoch: Known[int64](2), Levels: map[string]int16{"f": 2}})
	for _, tt := range []struct {
		name, want, level, most string
		s                       *Snapshot
	}{
		{"all the same", "[ok]", "2", "2", featured([]int16{2, 2}, []int16{2, 2})},
		{"off", "[upgradable]", "0", "2", featured([]int16{2, 2}, []int16{0, 0})},
		{"new binaries, not finalized", "[upgradable]", "2", "3", featured([]int16{3, 3}, []int16{2, 2})},
		{"half upgraded", "[disagree]", "2", "2", featured([]int16{2, 3}, []int16{2, 2})},
		{"one has not heard of it", "[disagree]", "3", "3", featured([]int16{3, 3}, []int16{3, 2})},
		{"one cannot", "[unsupported disagree]", "3", "2", featured([]int16{3, 2}, []int16{3, 3})},
		{"one does not know the feature", "[unsupported disagree]", "2", "-", old},
		{"one silent", "[unknown]", "2", "2", silent},
		{"one fenced", "[unknown]", "2", "2", fenced},
		{"one fenced, the other could", "[unknown]", "2", "3", couldFenced},
		{"one not listed", "[unknown]", "2", "3", gone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := tt.s.Features()[0]
			if got := fmt.Sprint(f.Status); got != tt.want || f.Level.String() != tt.level || f.Max.String() != tt.most {
				t.Errorf("status %s, level %s, max %s; want %s, %s, %s", got, f.Level, f.Max, tt.want, tt.level, tt.most)
			}
		})
	}
	if got := (&Snapshot{Brokers: []Broker{{ID: 1}}}).Features(); len(got) != 0 {
		t.Errorf("features that nobody told: %+v", got)
	}
}

func TestLevelName(t *testing.T) {
	t.Parallel()
	f := Feature{Name: MetadataVersion}
	for level, want := range map[int16]string{0: "0", 1: "3.0-IV1", 7: "3.3-IV3", 25: "4.0-IV3", 33: "4.4-IV2", 99: "99"} {
		if got := f.LevelName(level); got != want {
			t.Errorf("level %d = %s, want %s", level, got, want)
		}
	}
}
