package sim

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/node"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// watched is what was seen since it was told last: the same again is counted.
type watched struct {
	w     *World
	lines []string
	times map[string]int
}

// drawn is what is drawn at random in the name of a directory.
var drawn = regexp.MustCompile(`[0-9a-f]{32}`)

func (x *watched) seen(format string, args ...any) {
	line := drawn.ReplaceAllString(fmt.Sprintf(format, args...), "*")
	if x.times == nil {
		x.times = map[string]int{}
	}
	if x.times[line]++; x.times[line] == 1 {
		x.lines = append(x.lines, line)
	}
}

func (x *watched) take() string {
	var b strings.Builder
	for _, line := range x.lines {
		b.WriteString("  " + line)
		if x.times[line] > 1 {
			b.WriteString(" (more than once)")
		}
		b.WriteString("\n")
	}
	x.lines, x.times = nil, nil
	return b.String()
}

func (x *watched) watch() *Watch {
	return &Watch{
		Stepped: x.stepped,
		Decided: x.decided,
		Noted:   func(process, text string) { x.seen("%s notes: %s", process, text) },
		Stopped: func(process string, err error) {
			if err != nil {
				x.seen("%s stops: %v", process, err)
				return
			}
			x.seen("%s has stopped cleanly", process)
		},
	}
}

func (x *watched) decided(b controller.Batch, after metadata.Image) {
	for _, r := range b.Records {
		switch r := r.(type) {
		case *kraft.RegisterBroker:
			x.seen("controller: broker %d is registered", r.BrokerID)
		case *kraft.BrokerRegistrationChange:
			switch {
			case r.InControlledShutdown == kraft.InControlledShutdown:
				x.seen("controller: broker %d is about to stop", r.BrokerID)
			case r.Fenced == kraft.Fenced:
				x.seen("controller: broker %d is fenced", r.BrokerID)
			case r.Fenced == kraft.Unfenced:
				x.seen("controller: broker %d is unfenced", r.BrokerID)
			}
		case *kraft.PartitionChange:
			if t, ok := after.TopicByID(r.TopicID); ok {
				if p, ok := t.Partition(r.PartitionID); ok && (r.ISR != nil || r.Leader != kraft.NoLeaderChange || r.EligibleLeaderReplicas != nil || r.Replicas != nil) {
					x.seen("controller: %s-%d %s", t.Name, r.PartitionID, tellPartition(p))
				}
			}
		}
	}
}

// tellPartition tells what the controller says of a partition.
func tellPartition(p *kraft.Partition) string {
	var b strings.Builder
	fmt.Fprintf(&b, "leader %s, epoch %d, ISR %s", leaderName(p.Leader), p.LeaderEpoch, list(p.ISR))
	if len(p.EligibleLeaderReplicas) > 0 {
		fmt.Fprintf(&b, ", ELR %s", list(p.EligibleLeaderReplicas))
	}
	if len(p.LastKnownELR) > 0 {
		fmt.Fprintf(&b, ", last known %s", list(p.LastKnownELR))
	}
	if p.LeaderRecoveryState == kraft.Recovering {
		b.WriteString(", recovering")
	}
	if len(p.AddingReplicas)+len(p.RemovingReplicas) > 0 {
		fmt.Fprintf(&b, ", replicas %s, adding %s, removing %s", list(p.Replicas), list(p.AddingReplicas), list(p.RemovingReplicas))
	}
	return b.String()
}

func list[T ~int32](ids []T) string {
	if len(ids) == 0 {
		return "-"
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(int(id))
	}
	return strings.Join(words, ",")
}

func (x *watched) stepped(broker End, p node.Partition, in replica.Input, out []replica.Effect) {
	name := fmt.Sprintf("%s-%d", p.Topic, p.Index)
	switch in := in.(type) {
	case replica.FetchResponse:
		if in.Err != replica.None {
			x.seen("%d fetches %s at %d, epoch %d: %s", broker, name, in.Position.Offset, in.Position.LeaderEpoch, code(int16(in.Err)))
		} else if in.Diverging.Epoch >= 0 {
			x.seen("%d fetches %s at %d, last epoch %d: HW %d, diverging, epoch %d ends at %d",
				broker, name, in.Position.Offset, in.Position.LastFetchedEpoch, in.HW, in.Diverging.Epoch, in.Diverging.End)
		}
	case replica.AlterPartitionResponse:
		if in.Err != replica.None {
			x.seen("%d: the ISR of %s is refused: %s", broker, name, code(int16(in.Err)))
		}
	case replica.DiskFailed:
		x.seen("%d: %s is offline", broker, name)
	}
	for _, e := range out {
		switch e := e.(type) {
		case replica.RoleChanged:
			x.roleChanged(broker, p, name, e.Role)
		case replica.Truncate:
			what := ""
			if e.BelowHW {
				what = ", below its HW"
			}
			if e.Restart {
				what += ", and all before"
			}
			x.seen("%d cuts %s to %d%s", broker, name, e.To, what)
		case replica.AlterPartition:
			var ids []int32
			for _, m := range e.ISR {
				ids = append(ids, int32(m.ID))
			}
			x.seen("%d proposes ISR %s for %s", broker, list(ids), name)
		case replica.FetchFailed:
			x.seen("%d stops fetching %s: %s", broker, name, code(int16(e.Err)))
		}
	}
}

func (x *watched) roleChanged(broker End, p node.Partition, name string, role replica.Role) {
	epoch := "?"
	if st, _, ok := x.w.Replica(broker, p.Topic, p.Index); ok {
		epoch = strconv.Itoa(int(st.LeaderEpoch))
	}
	switch role {
	case replica.Leader:
		x.seen("%d leads %s in epoch %s", broker, name, epoch)
	case replica.Follower:
		x.seen("%d follows %s in epoch %s", broker, name, epoch)
	}
}

// code is an error's name.
func code(c int16) string {
	if c == 0 {
		return "ok"
	}
	if replica.Code(c) == replica.NotLeaderOrFollower {
		return "NOT_LEADER_OR_FOLLOWER" // Its name since 2.6; kerr has the old one.
	}
	if err, ok := kerr.ErrorForCode(c).(*kerr.Error); ok { //nolint:errorlint // It is one, and not wrapped.
		return err.Message
	}
	return strconv.Itoa(int(c))
}

// status tells what the controller and each replica say of a partition.
func (s *scenario) status() {
	topic, index := s.partition(0)
	p := s.w.Partition(topic, index)
	if p == nil {
		s.printf("there is no %s-%d\n", topic, index)
		return
	}
	s.printf("controller: %s\n", tellPartition(p))
	for _, id := range s.brokers() {
		st, _, ok := s.w.Replica(id, topic, index)
		switch {
		case !s.w.Up(id):
			if slices.Contains(p.Replicas, int32(id)) {
				s.printf("%d: dead\n", id)
			}
		case !ok:
			if slices.Contains(p.Replicas, int32(id)) {
				s.printf("%d: no replica\n", id)
			}
		default:
			s.printf("%d: %-8s epoch %d, start %d, HW %d, LEO %d", id, st.Role, st.LeaderEpoch, st.LogStart, st.HW, st.LEO)
			if st.Role == replica.Leader {
				s.printf(", ISR %s", list(st.ISR))
				if st.Proposing {
					s.printf(", proposing %s", list(st.MaximalISR))
				}
				if st.UnderMinISR {
					s.printf(", under min ISR")
				}
				if st.Waiting > 0 {
					s.printf(", %d produces wait", st.Waiting)
				}
			}
			if st.Busy {
				s.printf(", its disk works")
			}
			s.printf("\n")
		}
	}
}

// logs tells the records of each live replica.
func (s *scenario) logs() {
	topic, index := s.partition(0)
	for _, id := range s.brokers() {
		if buf, _, ok := s.bytes(id, topic, index); ok {
			s.printf("%d: %s\n", id, tellBatches(buf))
		}
	}
}

// bytes reads the whole log of a replica.
func (s *scenario) bytes(id End, topic string, index int32) (all []byte, start Offset, ok bool) {
	st, _, ok := s.w.Replica(id, topic, index)
	if !ok {
		return nil, 0, false
	}
	all, err := s.w.LogBytes(id, topic, index)
	if err != nil {
		s.d.Fatalf(s.t, "reading the log of %d: %v", id, err)
	}
	return all, st.LogStart, true
}

// tellBatches tells batches: the offset of the first record, the leader epoch, the
// producer's sequence, and what the records say.
func tellBatches(buf []byte) string {
	var words []string
	for scan := record.Scan(buf); scan.Next(); {
		b := scan.Batch()
		var w strings.Builder
		fmt.Fprintf(&w, "[%d e%d", b.BaseOffset(), b.LeaderEpoch())
		if b.ProducerID() >= 0 {
			fmt.Fprintf(&w, " seq %d", b.BaseSequence())
		}
		records, err := b.Records(nil)
		if err != nil {
			return fmt.Sprintf("at %d: %v", b.BaseOffset(), err)
		}
		for records.Next() {
			r := records.Record()
			w.WriteString(" ")
			if r.Key != nil {
				w.Write(r.Key)
				w.WriteString("=")
			}
			if len(r.Value) > 40 {
				fmt.Fprintf(&w, "%d bytes", len(r.Value))
			} else {
				w.Write(r.Value)
			}
		}
		words = append(words, w.String()+"]")
	}
	if len(words) == 0 {
		return "nothing"
	}
	if len(words) > 12 {
		words = append(append(words[:5:5], fmt.Sprintf("... %d batches ...", len(words)-10)), words[len(words)-5:]...)
	}
	return strings.Join(words, " ")
}

// ackedWords is a produce with acks=all.
type ackedWords struct {
	call   *Call
	topic  string
	index  int32
	values []string
}

// checkAcked looks for each record that was acknowledged, in the leader's log.
func (s *scenario) checkAcked() {
	topic, index := s.partition(0)
	p := s.w.Partition(topic, index)
	if p == nil || p.Leader < 0 {
		s.printf("no leader\n")
		return
	}
	buf, start, _ := s.bytes(End(p.Leader), topic, index)
	there := map[int64]string{}
	for scan := record.Scan(buf); scan.Next(); {
		records, err := scan.Batch().Records(nil)
		if err != nil {
			s.d.Fatalf(s.t, "%v", err)
		}
		for records.Next() {
			r := records.Record()
			there[r.Offset] = string(r.Value)
		}
	}
	n, total := 0, 0
	for _, a := range s.acked {
		resp, ok := a.call.Response().(*kmsg.ProduceResponse)
		if !ok || a.topic != topic || a.index != index || resp.Topics[0].Partitions[0].ErrorCode != 0 {
			continue
		}
		for i, value := range a.values {
			o := resp.Topics[0].Partitions[0].BaseOffset + int64(i)
			if o < int64(start) {
				continue
			}
			total++
			if there[o] == value {
				n++
			} else {
				s.printf("%.10q was acknowledged at %d, and there is %.10q\n", value, o, there[o])
			}
		}
	}
	s.printf("%d of %d acknowledged records are there\n", n, total)
}

// configs tells a topic's configs.
func (s *scenario) configs() {
	configs := maps.Collect(s.w.Image().Configs(metadata.Resource{Type: kraft.ResourceTopic, Name: s.str("", "")}))
	for _, key := range slices.Sorted(maps.Keys(configs)) {
		s.printf("%s=%s\n", key, configs[key])
	}
	if len(configs) == 0 {
		s.printf("none\n")
	}
}

// same compares the logs of all live replicas byte for byte.
func (s *scenario) same() {
	topic, index := s.partition(0)
	var first []byte
	var ids []End
	for _, id := range s.brokers() {
		buf, _, ok := s.bytes(id, topic, index)
		if !ok {
			continue
		}
		if len(ids) > 0 && !bytes.Equal(buf, first) {
			s.printf("the logs of %d and %d differ\n", ids[0], id)
			return
		}
		first, ids = buf, append(ids, id)
	}
	s.printf("the logs of %s are the same %d bytes\n", list(ids), len(first))
}

// files lists the directories of a broker's disk, with what is in them if asked.
func (s *scenario) files() {
	disk := s.w.Disk(s.broker(0))
	infos, err := disk.ReadDir(".")
	if err != nil {
		s.d.Fatalf(s.t, "%v", err)
	}
	for _, in := range infos {
		if !in.Dir {
			continue
		}
		name := in.Name
		for _, what := range []string{"-delete", "-stray"} {
			if i := strings.LastIndex(name, "."); i > 0 && strings.HasSuffix(name, what) {
				name = name[:i] + ".*" + what
			}
		}
		s.printf("%s\n", name)
		if s.has("segments") {
			inside, err := disk.ReadDir(in.Name)
			if err != nil {
				s.d.Fatalf(s.t, "%v", err)
			}
			for _, f := range inside {
				s.printf("  %s\n", f.Name)
			}
		}
	}
}
