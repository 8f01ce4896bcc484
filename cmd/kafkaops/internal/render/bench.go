package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// KindBench is cluster bench, with an item for each row, in the order in which they
// were measured. cluster.id is that of the cluster that was made for it.
const KindBench Kind = "Bench"

// BenchItem is what one level of safety costs.
type BenchItem struct {
	// Acks is 0, 1 or all.
	Acks        string  `json:"acks"`
	Replicas    int     `json:"replicas"`
	LinkDelayMs float64 `json:"linkDelayMs"`
	Compression string  `json:"compression"`
	// Latencies of single records, one at a time, of all rounds; null where there were
	// too few for the percentile to be more than the slowest one.
	P50Ms  inspect.Opt[float64] `json:"p50Ms"`
	P99Ms  inspect.Opt[float64] `json:"p99Ms"`
	P999Ms inspect.Opt[float64] `json:"p999Ms"`
	// Records and bytes of values, before compression, acknowledged per second with as
	// many in flight as fit: the median of the rounds, above 0.
	RecordsPerSecond float64 `json:"recordsPerSecond"`
	BytesPerSecond   float64 `json:"bytesPerSecond"`
}

// Bench is the screen of cluster bench. where is the directory of the logs, or memory.
func Bench(w io.Writer, v View, at time.Time, id, where string, recordBytes int, rows []BenchItem) error {
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindBench, &inspect.Snapshot{TakenAt: at, ClusterID: inspect.Known(id)}, rows))
	}
	t := &Table{Columns: []Column{
		{Name: "ACKS"},
		{Name: "REPLICAS", Right: true},
		{Name: "LINK", Right: true, PipeName: "LINK-MS"},
		{Name: "COMPRESSION"},
		{Name: "P50", Right: true, PipeName: "P50-MS"},
		{Name: "P99", Right: true, PipeName: "P99-MS"},
		{Name: "P99.9", Right: true, PipeName: "P99.9-MS"},
		{Name: "RECORDS/S", Right: true},
		{Name: "MIB/S", Right: true, PipeName: "BYTES/S"},
	}}
	for i := range rows {
		r := &rows[i]
		delay := Cell{Pipe: number(r.LinkDelayMs)}
		if r.LinkDelayMs > 0 {
			delay.Text = number(r.LinkDelayMs) + "ms"
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			Text(r.Acks), Count(r.Replicas), delay, Text(r.Compression), latencyCell(r.P50Ms), latencyCell(r.P99Ms), latencyCell(r.P999Ms),
			{Text: Thousands(int64(r.RecordsPerSecond)), Pipe: number(r.RecordsPerSecond)},
			{Text: strconv.FormatFloat(r.BytesPerSecond/(1<<20), 'f', 1, 64), Pipe: number(r.BytesPerSecond)},
		}})
	}
	var b strings.Builder
	b.WriteString(t.Text(v))
	if v.Terminal {
		fmt.Fprintf(&b, "\nthree brokers and their clients on this machine, logs in %s; records of %d bytes\n", Clean(where), recordBytes)
		b.WriteString("latencies of one record at a time, throughput of as many as fit, the median of three rounds;\n")
		b.WriteString("LINK is one way between brokers\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func latencyCell(ms inspect.Opt[float64]) Cell {
	n, ok := ms.Get()
	if !ok {
		return Text(Unknown)
	}
	return Cell{Text: strconv.FormatFloat(n, 'f', 2, 64) + "ms", Pipe: number(n)}
}

// number is one in full precision, as programs read it.
func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
