package isrlog

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

type ids = []inspect.BrokerID

// seen is one look at a partition t-0; its replicas are 1, 2, 3 unless said otherwise.
type seen struct {
	leader                inspect.BrokerID // 0: none
	isr, elr, replicas    ids              // elr nil: not told
	adding, removing      ids
	fenced                inspect.BrokerID // 0: none
	min                   int32
	id, by                string
	missing, still, noELR bool // still: the leader epoch is that of the look before
	untold                bool // nothing of reassignments
	unclean               inspect.Opt[bool]
}

var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// look makes the i-th Snapshot, i seconds after the first.
func (l seen) look(i, epoch int) *inspect.Snapshot {
	s := &inspect.Snapshot{TakenAt: day.Add(time.Duration(i) * time.Second), KeepsELR: inspect.Known(!l.noELR), ToldBy: l.by}
	for id := inspect.BrokerID(1); id <= 4; id++ {
		s.Brokers = append(s.Brokers, inspect.Broker{ID: id, Fenced: inspect.Known(id == l.fenced)})
	}
	if l.missing {
		return s
	}
	p := inspect.Partition{
		Topic: "t", Leader: l.leader, LeaderEpoch: inspect.Known(inspect.Epoch(epoch)), ISR: l.isr, Replicas: l.replicas,
		TopicID: inspect.Known(l.id), Adding: inspect.Known(l.adding), Removing: inspect.Known(l.removing),
	}
	if l.untold {
		p.Adding, p.Removing = inspect.Unknown[ids](), inspect.Unknown[ids]()
	}
	if l.leader == 0 {
		p.Leader = inspect.NoBroker
	}
	if l.elr != nil {
		p.ELR = inspect.Known(l.elr)
	}
	if p.Replicas == nil {
		p.Replicas = ids{1, 2, 3}
	}
	if l.min > 0 {
		p.MinInsyncReplicas = inspect.Known(l.min)
	}
	s.Topics = []inspect.Topic{{
		Name: "t", ID: p.TopicID, UncleanElection: l.unclean, MinInsyncReplicas: p.MinInsyncReplicas, Partitions: []inspect.Partition{p},
	}}
	return s
}

func TestDiff(t *testing.T) {
	t.Parallel()
	whole := seen{leader: 1, isr: ids{1, 2, 3}}
	for _, tt := range []struct {
		name  string
		looks []seen
		want  []string
	}{
		{name: "the first look tells nothing", looks: []seen{{leader: 1, isr: ids{1}}}},
		{name: "another order is no change", looks: []seen{whole, {leader: 1, isr: ids{3, 1, 2}, still: true}}},
		{
			name: "two leave at once and come back one by one", looks: []seen{
				whole, {leader: 1, isr: ids{1}}, {leader: 1, isr: ids{1}, still: true}, {leader: 1, isr: ids{1, 2}}, whole,
			},
			want: []string{
				"t-0 shrink unknown [2 3] isr [1] leader 1", "t-0 expand caught-up [2] isr [1 2] leader 1 out 2s",
				"t-0 expand caught-up [3] isr [1 2 3] leader 1 out 3s",
			},
		},
		{
			name: "one is fenced and one is not", looks: []seen{whole, {leader: 1, isr: ids{1}, fenced: 3}},
			want: []string{"t-0 shrink broker-fenced [3] isr [1] leader 1", "t-0 shrink unknown [2] isr [1] leader 1"},
		},
		{
			name: "the leader is fenced", looks: []seen{whole, {leader: 2, isr: ids{2, 3}, fenced: 1}},
			want: []string{"t-0 shrink broker-fenced [1] isr [2 3] leader 2", "t-0 leader broker-fenced [1 2] isr [2 3] leader 2"},
		},
		{
			name: "another leader, and nothing tells why", looks: []seen{whole, {leader: 2, isr: ids{1, 2, 3}}},
			want: []string{"t-0 leader unknown [1 2] isr [1 2 3] leader 2"},
		},
		{
			name: "the only one goes and returns", looks: []seen{{leader: 1, isr: ids{1}, noELR: true}, {isr: ids{1}, fenced: 1, noELR: true}, {leader: 1, isr: ids{1}, noELR: true}},
			want: []string{"t-0 leader broker-fenced [1] isr [1] leader -1", "t-0 leader broker-returned [1] isr [1] leader 1"},
		},
		{
			name: "from the ELR", looks: []seen{{leader: 1, isr: ids{1}, min: 2}, {elr: ids{1, 2}, fenced: 1}, {leader: 2, isr: ids{2}, elr: ids{1}}},
			want: []string{
				"t-0 shrink broker-fenced [1] isr [] leader -1", "t-0 leader broker-fenced [1] isr [] leader -1",
				"t-0 expand elr-election [2] isr [2] leader 2", "t-0 leader elr-election [2] isr [2] leader 2",
			},
		},
		{
			name: "from the ELR, or as the last known leader", looks: []seen{{leader: 1, isr: ids{1}, min: 2}, {elr: ids{1}, fenced: 1}, {leader: 1, isr: ids{1}}},
			want: []string{
				"t-0 shrink broker-fenced [1] isr [] leader -1", "t-0 leader broker-fenced [1] isr [] leader -1",
				"t-0 expand unknown [1] isr [1] leader 1 out 1s", "t-0 leader unknown [1] isr [1] leader 1",
			},
		},
		{
			name: "unclean where there is an ELR", looks: []seen{{leader: 1, isr: ids{1}, min: 1}, {elr: ids{1}}, {leader: 2, isr: ids{2}}},
			want: []string{
				"t-0 shrink unknown [1] isr [] leader -1", "t-0 leader unknown [1] isr [] leader -1",
				"t-0 expand unclean-election [2] isr [2] leader 2", "t-0 leader unclean-election [2] isr [2] leader 2",
			},
		},
		{
			name: "the ELR was not told", looks: []seen{{leader: 1, isr: ids{1}, min: 1}, {}, {leader: 2, isr: ids{2}}},
			want: []string{
				"t-0 shrink unknown [1] isr [] leader -1", "t-0 leader unknown [1] isr [] leader -1",
				"t-0 expand unknown [2] isr [2] leader 2", "t-0 leader unknown [2] isr [2] leader 2",
			},
		},
		{
			name: "straight, and the ELR may have had it", looks: []seen{{leader: 1, isr: ids{1}, min: 2}, {leader: 2, isr: ids{2}}},
			want: []string{
				"t-0 shrink unknown [1] isr [2] leader 2", "t-0 expand unknown [2] isr [2] leader 2", "t-0 leader unknown [1 2] isr [2] leader 2",
			},
		},
		{
			name: "straight, and the topic allows none", looks: []seen{
				{leader: 1, isr: ids{1}, noELR: true, unclean: inspect.Known(false)}, {leader: 2, isr: ids{2}, noELR: true},
			},
			want: []string{
				"t-0 shrink unknown [1] isr [2] leader 2", "t-0 expand unknown [2] isr [2] leader 2", "t-0 leader unknown [1 2] isr [2] leader 2",
			},
		},
		{
			name: "straight and unclean", looks: []seen{{leader: 1, isr: ids{1}, noELR: true}, {leader: 2, isr: ids{2}, noELR: true}},
			want: []string{
				"t-0 shrink unknown [1] isr [2] leader 2", "t-0 expand unclean-election [2] isr [2] leader 2",
				"t-0 leader unclean-election [1 2] isr [2] leader 2",
			},
		},
		{
			name: "a reassignment", looks: []seen{
				whole,
				{leader: 1, isr: ids{1, 2, 3}, replicas: ids{2, 3, 4, 1}, adding: ids{4}, removing: ids{1}},
				{leader: 2, isr: ids{2, 3, 4}, replicas: ids{2, 3, 4}},
			},
			want: []string{
				"t-0 reassign reassignment [1 4] isr [1 2 3] leader 1",
				"t-0 shrink reassignment [1] isr [2 3 4] leader 2", "t-0 expand reassignment [4] isr [2 3 4] leader 2",
				"t-0 leader reassignment [1 2] isr [2 3 4] leader 2", "t-0 reassign reassignment [1 4] isr [2 3 4] leader 2",
			},
		},
		{
			name: "a reassignment that the looks do not tell of", looks: []seen{
				whole,
				{leader: 1, isr: ids{1, 2, 3}, replicas: ids{1, 2, 3, 4}, untold: true},
				{leader: 1, isr: ids{1, 2, 3, 4}, replicas: ids{1, 2, 3, 4}, untold: true},
				{leader: 1, isr: ids{1, 2, 3}, replicas: ids{1, 2, 3, 4}, untold: true},
				{leader: 1, isr: ids{1, 2, 3, 4}, replicas: ids{1, 2, 3, 4}, untold: true},
				{leader: 1, isr: ids{1, 2, 4}, replicas: ids{1, 2, 4}, untold: true},
			},
			want: []string{
				"t-0 reassign reassignment [4] isr [1 2 3] leader 1",
				"t-0 expand reassignment [4] isr [1 2 3 4] leader 1",
				"t-0 shrink unknown [4] isr [1 2 3] leader 1",
				"t-0 expand caught-up [4] isr [1 2 3 4] leader 1 out 1s",
				"t-0 shrink reassignment [3] isr [1 2 4] leader 1", "t-0 reassign reassignment [3] isr [1 2 4] leader 1",
			},
		},
		{
			name: "moved to other brokers altogether", looks: []seen{whole, {leader: 4, isr: ids{4, 5}, replicas: ids{4, 5}}},
			want: []string{
				"t-0 shrink reassignment [1 2 3] isr [4 5] leader 4", "t-0 expand reassignment [4 5] isr [4 5] leader 4",
				"t-0 leader reassignment [1 4] isr [4 5] leader 4", "t-0 reassign reassignment [1 2 3 4 5] isr [4 5] leader 4",
			},
		},
		{
			name: "one leaves while another comes", looks: []seen{{leader: 1, isr: ids{1, 2}}, {leader: 1, isr: ids{1, 3}}},
			want: []string{"t-0 shrink unknown [2] isr [1 3] leader 1", "t-0 expand caught-up [3] isr [1 3] leader 1"},
		},
		{
			name: "it had joined the ISR before it led", looks: []seen{{leader: 1, isr: ids{1}, noELR: true}, {leader: 2, isr: ids{1, 2}, noELR: true}},
			want: []string{"t-0 expand unknown [2] isr [1 2] leader 2", "t-0 leader unknown [1 2] isr [1 2] leader 2"},
		},
		{
			name: "unclean without an ELR", looks: []seen{{leader: 1, isr: ids{1}, noELR: true}, {isr: ids{1}, noELR: true}, {leader: 2, isr: ids{2}, noELR: true}},
			want: []string{
				"t-0 leader unknown [1] isr [1] leader -1", "t-0 shrink unknown [1] isr [2] leader 2",
				"t-0 expand unclean-election [2] isr [2] leader 2", "t-0 leader unclean-election [2] isr [2] leader 2",
			},
		},
		{
			name: "straight and unclean where there is an ELR", looks: []seen{{leader: 1, isr: ids{1}, min: 1}, {leader: 2, isr: ids{2}}},
			want: []string{
				"t-0 shrink unknown [1] isr [2] leader 2", "t-0 expand unclean-election [2] isr [2] leader 2",
				"t-0 leader unclean-election [1 2] isr [2] leader 2",
			},
		},
		{
			name: "another order of replicas", looks: []seen{whole, {leader: 1, isr: ids{1, 2, 3}, replicas: ids{2, 1, 3}}},
			want: []string{"t-0 reassign reassignment [2 1 3] isr [1 2 3] leader 1"},
		},
		{
			name: "min.insync.replicas", looks: []seen{{leader: 1, isr: ids{1}, elr: ids{2}, min: 2}, {leader: 1, isr: ids{1}, elr: ids{}, min: 1}},
			want: []string{"t-0 elr config-change [2] isr [1] leader 1"},
		},
		{
			name: "an ELR", looks: []seen{{elr: ids{1, 2}, min: 2}, {elr: ids{1}, min: 2, still: true}},
			want: []string{"t-0 elr unknown [2] isr [] leader -1"},
		},
		{
			name: "created and deleted", looks: []seen{{missing: true}, whole, {missing: true}, {missing: true}},
			want: []string{"t-0 create topic-created [1 2 3] isr [1 2 3] leader 1", "t-0 delete topic-deleted [1 2 3] isr [] leader -1"},
		},
		{
			name: "one look missed it", looks: []seen{whole, {missing: true}, {leader: 1, isr: ids{1, 2}}},
			want: []string{"t-0 shrink unknown [3] isr [1 2] leader 1"},
		},
		{
			name: "created anew", looks: []seen{whole, {leader: 1, isr: ids{1, 2}, id: "second"}},
			want: []string{"t-0 delete topic-deleted [1 2 3] isr [] leader -1", "t-0 create topic-created [1 2 3] isr [1 2] leader 1"},
		},
		{
			name: "another broker, once", looks: []seen{whole, {leader: 1, isr: ids{1, 2}, by: "b", still: true}, {leader: 1, isr: ids{1, 2, 3}, still: true}},
		},
		{
			name: "another broker, twice", looks: []seen{
				whole, {leader: 1, isr: ids{1, 2}, by: "b", still: true}, {leader: 1, isr: ids{1, 2}, by: "b", still: true},
			},
			want: []string{"t-0 shrink unknown [3] isr [1 2] leader 1"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := NewDiff()
			var got []string
			epoch := 0
			for i, l := range tt.looks {
				if !l.still {
					epoch = i
				}
				for _, e := range d.Look(l.look(i, epoch), true) {
					text := brief(&e)
					if e.Out.IsKnown() {
						text += " out " + e.Out.String()
					}
					got = append(got, text)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPoll(t *testing.T) {
	t.Parallel()
	looks := []seen{{leader: 1, isr: ids{1, 2, 3}}, {}, {leader: 1, isr: ids{1, 2}}}
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	poll := &Poll{Every: time.Millisecond, Whole: true, Take: func(context.Context) (*inspect.Snapshot, error) {
		if n++; n == 2 {
			return nil, errors.New("no broker answers")
		}
		return looks[n-1].look(n, n), nil
	}}
	var got []string
	var evidence []Evidence
	var notes []string
	err := poll.Read(ctx, Span{Follow: true}, Listener{
		Event:    func(e inspect.IsrEvent) { got = append(got, brief(&e)); cancel() },
		Evidence: func(e Evidence) { evidence = append(evidence, e) }, Note: func(s string, _ bool) { notes = append(notes, s) },
	})
	if !errors.Is(err, context.Canceled) || !slices.Equal(got, []string{"t-0 shrink unknown [3] isr [1 2] leader 1"}) {
		t.Errorf("events %q, ended with %v", got, err)
	}
	if !slices.Equal(notes, []string{"no broker answers; what happens meanwhile may be missing"}) {
		t.Errorf("notes %q", notes)
	}
	if len(evidence) != 2 || evidence[1].Every != inspect.Known(time.Millisecond) || evidence[1].Since != inspect.Known(day.Add(time.Second)) {
		t.Errorf("evidence %+v", evidence)
	}
}

// TestPollEnds with its span, also where it follows.
func TestPollEnds(t *testing.T) {
	t.Parallel()
	for _, span := range []Span{{}, {Until: time.Now()}, {Follow: true, Until: time.Now()}} {
		n := 0
		poll := &Poll{Every: time.Hour, Whole: true, Take: func(context.Context) (*inspect.Snapshot, error) {
			n++
			s := seen{leader: 1, isr: ids{1, 2, 3}}
			return s.look(n, n), nil
		}}
		to := Listener{Event: func(inspect.IsrEvent) {}, Evidence: func(Evidence) {}, Note: func(string, bool) {}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // it must not hang
		if err := poll.Read(ctx, span, to); err != nil || n != 1 {
			t.Errorf("%+v: ended with %v after %d looks", span, err, n)
		}
		cancel()
	}
}
