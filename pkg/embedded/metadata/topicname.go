package metadata

import (
	"errors"
	"fmt"
	"strings"
)

// maxTopicName keeps "name-partition.delete-id" within what file systems allow
// (Kafka's Topic.MAX_NAME_LENGTH).
const maxTopicName = 249

// CheckTopicName says why a topic cannot have that name, nil if it can
// (Topic.validate).
func CheckTopicName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of a topic cannot be empty")
	case name == "." || name == "..":
		return fmt.Errorf("a topic cannot be named %q", name)
	case len(name) > maxTopicName:
		return fmt.Errorf("topic %q: %d characters, at most %d are allowed", name, len(name), maxTopicName)
	}
	for _, r := range name {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r)) {
			return fmt.Errorf("topic %q: %q is not allowed, only ASCII letters and digits, '.', '_' and '-' are", name, r)
		}
	}
	return nil
}

// InternalTopic reports whether clients are told that a topic is Kafka's own
// (Topic.isInternal).
func InternalTopic(name string) bool {
	return name == "__consumer_offsets" || name == "__transaction_state" || name == "__share_group_state"
}
