package group

import (
	"math"
	"unicode/utf16"
)

// PartitionOf is the partition of __consumer_offsets that a group's records are in,
// of partitions many: Utils.abs(groupId.hashCode()) % partitions. Java hashes UTF-16.
func PartitionOf(groupID string, partitions int32) int32 {
	var hash int32
	for _, unit := range utf16.Encode([]rune(groupID)) {
		hash = hash*31 + int32(unit)
	}
	if hash == math.MinInt32 {
		return 0 // which has no positive counterpart
	}
	return max(hash, -hash) % partitions
}
