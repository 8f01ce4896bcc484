package admin

import (
	"context"
	"errors"
	"io"

	"github.com/twmb/franz-go/pkg/kgo"
)

// NoAnswerError says that a request was not answered, so that nobody knows whether it was
// carried out: the broker has closed the connection, or time was over.
type NoAnswerError struct {
	how string
	err error
}

func (e *NoAnswerError) Error() string { return e.how }

// Unwrap is what the client said.
func (e *NoAnswerError) Unwrap() error { return e.err }

// unanswered puts into words of ours what the client guesses of: that a login is missing,
// where a connection closes.
func unanswered(err error) error {
	var eof *kgo.ErrFirstReadEOF
	switch {
	case errors.As(err, &eof), errors.Is(err, io.EOF):
		return &NoAnswerError{"the broker closed the connection instead of answering", err}
	case errors.Is(err, context.DeadlineExceeded):
		return &NoAnswerError{"no answer in time", err}
	}
	return err
}
