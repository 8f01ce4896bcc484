package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// Request is a request as it came over the wire.
type Request struct {
	Header
	// Body has its version set. Its byte fields point into the parsed frame.
	Body kmsg.Request
}

// Header is what every request begins with.
type Header struct {
	Key           int16
	Version       int16
	CorrelationID int32
	// ClientID is nil where the client sent null.
	ClientID *string
}

// ParseRequest reads a frame, its size prefix already taken off.
//
// With an error, Body is nil and Header holds what could be read of it: nothing
// with [ErrTruncated], all of it with a [*KeyError], [*VersionError] or
// [*BodyError]. What the frame holds beyond the body is ignored, as Kafka does.
func ParseRequest(frame []byte) (Request, error) {
	r := reader{src: frame}
	h := Header{
		Key:           r.int16(),
		Version:       r.int16(),
		CorrelationID: r.int32(),
		ClientID:      r.nullableString(),
	}
	if r.failed {
		return Request{}, ErrTruncated
	}
	body, err := newBody(h.Key, h.Version)
	if err != nil {
		return Request{Header: h}, err
	}
	if body.IsFlexible() {
		// Kafka has defined no tag of the request header so far.
		kmsg.SkipTags(&r)
		if r.failed {
			return Request{}, ErrTruncated
		}
	}
	if err := body.ReadFrom(r.src); err != nil {
		return Request{Header: h}, &BodyError{Key: h.Key, Version: h.Version, Err: err}
	}
	return Request{Header: h, Body: body}, nil
}

// newBody returns an empty body of that kind and version.
func newBody(key, version int16) (kmsg.Request, error) {
	body := kmsg.RequestForKey(key)
	if body == nil {
		// kmsg answers an unknown key with nil: two bytes from anyone would
		// otherwise take the process down.
		return nil, &KeyError{Key: key}
	}
	if version < 0 || version > body.MaxVersion() || headerWithoutClientID(key, version) {
		return nil, &VersionError{Key: key, Version: version}
	}
	body.SetVersion(version)
	return body, nil
}

// headerWithoutClientID says whether that version has the oldest request header,
// which ends at the correlation id. Only ControlledShutdown v0 ever had it, and
// Kafka 4.0 dropped that API.
func headerWithoutClientID(key, version int16) bool {
	return key == int16(kmsg.ControlledShutdown) && version == 0
}
