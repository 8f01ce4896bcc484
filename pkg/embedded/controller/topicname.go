package controller

import (
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// validTopicName is Kafka's Topic.validate.
func validTopicName(name string) *Error {
	if err := metadata.CheckTopicName(name); err != nil {
		return errorf(InvalidTopic, "%v", err)
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
