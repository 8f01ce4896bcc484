package controller

import "strings"

// maxTopicName keeps "name-partition.delete-id" within what file systems allow
// (Kafka's Topic.MAX_NAME_LENGTH).
const maxTopicName = 249

// validTopicName is Kafka's Topic.validate.
func validTopicName(name string) *Error {
	switch {
	case name == "":
		return errorf(InvalidTopic, "the name of a topic cannot be empty")
	case name == "." || name == "..":
		return errorf(InvalidTopic, "a topic cannot be named %q", name)
	case len(name) > maxTopicName:
		return errorf(InvalidTopic, "topic %q: %d characters, at most %d are allowed", name, len(name), maxTopicName)
	}
	for _, r := range name {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r)) {
			return errorf(InvalidTopic, "topic %q: %q is not allowed, only ASCII letters and digits, '.', '_' and '-' are", name, r)
		}
	}
	return nil
}

// collidesWith returns a topic whose metrics would have the same name, in which
// '.' becomes '_' (Topic.hasCollision).
func (op *operation) collidesWith(name string) (other string, ok bool) {
	if !strings.ContainsAny(name, "._") {
		return "", false
	}
	unified := unify(name)
	for other := range op.image.Topics() {
		if other != name && unify(other) == unified {
			return other, true
		}
	}
	return "", false
}

func unify(name string) string { return strings.ReplaceAll(name, ".", "_") }
