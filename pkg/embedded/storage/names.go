package storage

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// Files of a partition and of a log directory.
const (
	logSuffix       = ".log"
	indexSuffix     = ".index"
	timeIndexSuffix = ".timeindex"
	snapshotSuffix  = ".snapshot"
	// corruptSuffix is what a recovery keeps of a damaged log. Kafka has no such
	// files, and passes over them.
	corruptSuffix = ".log.corrupt"
	// What compaction makes has these behind its names until it is complete, and
	// until it has taken its place.
	cleanedSuffix = ".cleaned"
	swapSuffix    = ".swap"

	epochCheckpoint = "leader-epoch-checkpoint"
	partitionMeta   = "partition.metadata"

	hwCheckpoint       = "replication-offset-checkpoint"
	recoveryCheckpoint = "recovery-point-offset-checkpoint"
	startCheckpoint    = "log-start-offset-checkpoint"
	cleanerCheckpoint  = "cleaner-offset-checkpoint"
	cleanShutdownFile  = ".kafka_cleanshutdown"
	metaProperties     = "meta.properties"
	lockFile           = ".lock"

	deleteSuffix = "-delete"
	straySuffix  = "-stray"
	// metadataTopic is the quorum's; its directory is not a Dir's to open
	// (LogManager.loadLogs passes over it).
	metadataTopic = "__cluster_metadata"
	// maxName is what file systems take, in bytes (LogFileUtils, UnifiedLog.logDirNameWithSuffixCappedLength).
	maxName = 255
)

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// String is the name as Kafka's directories and logs have it: topic-partition.
func (tp TopicPartition) String() string { return fmt.Sprintf("%s-%d", tp.Topic, tp.Partition) }

func (tp TopicPartition) compare(o TopicPartition) int {
	if c := strings.Compare(tp.Topic, o.Topic); c != 0 {
		return c
	}
	return int(tp.Partition) - int(o.Partition)
}

// parseDirName reads a partition's directory name; false for other names.
func parseDirName(name string) (TopicPartition, bool) {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return TopicPartition{}, false
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 32)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != name[i+1:] {
		return TopicPartition{}, false
	}
	return TopicPartition{Topic: name[:i], Partition: int32(n)}, true
}

// asideName is topic-partition.unique-delete or -stray; a long topic is cut so
// that the name fits.
func asideName(tp TopicPartition, unique, suffix string) string {
	tail := fmt.Sprintf("-%d.%s%s", tp.Partition, unique, suffix)
	return tp.Topic[:min(len(tp.Topic), maxName-len(tail))] + tail
}

// offsetName is the name of a file that begins at base, in 20 digits, so that
// names sort as offsets do.
func offsetName(dir string, base Offset, suffix string) string {
	return path.Join(dir, fmt.Sprintf("%020d%s", base, suffix))
}

// parseOffsetName reads such a name; false for other names.
func parseOffsetName(name, suffix string) (Offset, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	return Offset(n), true
}
