package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// ParseResponse reads a response frame, its size prefix already taken off, into
// resp, whose version is that of the request. Errors: [ErrTruncated], a [*BodyError].
// Byte fields of resp point into the frame.
func ParseResponse(frame []byte, resp kmsg.Response) (correlationID int32, err error) {
	r := reader{src: frame}
	correlationID = r.int32()
	if resp.IsFlexible() && resp.Key() != int16(kmsg.ApiVersions) {
		kmsg.SkipTags(&r)
	}
	if r.failed {
		return 0, ErrTruncated
	}
	if err := resp.ReadFrom(r.src); err != nil {
		return correlationID, &BodyError{Key: resp.Key(), Version: resp.GetVersion(), Err: err}
	}
	return correlationID, nil
}
