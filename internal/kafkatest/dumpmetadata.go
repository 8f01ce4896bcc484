package kafkatest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// MetadataRecord is a record of the metadata log as kafka-dump-log shows it.
type MetadataRecord struct {
	Offset int64
	// Type is the record's, such as PARTITION_CHANGE_RECORD, Payload all of it, in JSON.
	Type, Payload string
}

// ChangesPartition reports whether it makes or removes a partition, or changes who leads
// it or who is in its ISR, ELR or assignment.
func (r *MetadataRecord) ChangesPartition() bool {
	switch r.Type {
	case "PARTITION_RECORD", "REMOVE_TOPIC_RECORD":
		return true
	case "PARTITION_CHANGE_RECORD":
		return slices.ContainsFunc([]string{`"isr"`, `"leader"`, `"replicas"`, `"eligibleLeaderReplicas"`}, func(field string) bool {
			return strings.Contains(r.Payload, field)
		})
	}
	return false
}

// olderDumpLogSegments is where the tool was before it moved.
const olderDumpLogSegments = "kafka.tools.DumpLogSegments"

var dumpedRecord = regexp.MustCompile(`offset: (\d+) .*payload: (\{"type":"([A-Z_]+)".*)`)

// DumpMetadata reads the metadata log of a node with kafka-dump-log.
func (c *Cluster) DumpMetadata(tb testing.TB, id int32) (all []MetadataRecord) {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(c.LogDirs(id)[0], "__cluster_metadata-0", "*.log"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("kafkatest: node %d has no metadata log: %v", id, err)
	}
	dump := func(class string) (string, string, int, error) {
		return c.Tool(tb.Context(), class, "--cluster-metadata-decoder", "--files", strings.Join(files, ","))
	}
	out, stderr, exit, err := dump(DumpLogSegments)
	if err == nil && exit != 0 && strings.Contains(stderr, DumpLogSegments) { // it has no class of that name
		out, stderr, exit, err = dump(olderDumpLogSegments)
	}
	if err != nil || exit != 0 {
		tb.Fatalf("kafkatest: dump: %v, exit %d: %s", err, exit, stderr)
	}
	for text := range strings.Lines(out) {
		m := dumpedRecord.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		offset, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			tb.Fatalf("kafkatest: %q: %v", text, err)
		}
		all = append(all, MetadataRecord{Offset: offset, Type: m[3], Payload: m[2]})
	}
	return all
}
