// Package wire is the byte layer of Kafka's protocol: frames and headers. The
// bodies are kmsg's, generated from Kafka's own schemas. It is pure: callers
// read and write the bytes.
//
// A caller starts from
//
//   - [FrameSize]: how many bytes follow a size prefix, or why not to read them
//   - [ParseRequest]: those bytes as a [Request], header and body
//   - [AppendResponse]: a response as a frame, size prefix included
//   - [APIs]: which requests are served, in which versions; [Release] limits them
//   - [APIs.AnswerApiVersions]: the answer that tells clients so
//
// A server's loop, in short:
//
//	size, err := wire.FrameSize(prefix)         // err: close the connection
//	frame := read(size)                         // a fresh buffer: see below
//	req, err := wire.ParseRequest(frame)        // err: close the connection
//	out = wire.AppendResponse(out[:0], req.CorrelationID, answer(req.Body))
//
// with one exception: a [VersionError] for ApiVersions is answered with
// [APIs.AnswerUnknownVersion] (KIP-511).
//
// # Bytes
//
// All integers are big-endian. A request frame, the width in bytes above:
//
//	4      2     2         4                2    n           1+     …
//	+------+-----+---------+----------------+----+-----------+------+------+
//	| size | key | version | correlation id | n  | client id | tags | body |
//	+------+-----+---------+----------------+----+-----------+------+------+
//	       |<------------------------- size ------------------------------>|
//
// n is the client id's length, −1 for null. The client id is never compact, not
// even in flexible versions: a server has to read it before it knows which
// version it is talking to (KIP-482). The tags are there in flexible versions
// only: a count and that many (key, length, bytes), the numbers unsigned varints.
//
// A response frame:
//
//	4      4                1      …
//	+------+----------------+------+------+
//	| size | correlation id | tags | body |
//	+------+----------------+------+------+
//	       |<----------- size ----------->|
//
// The tags, always none and so one zero byte, are there in flexible versions,
// except for ApiVersions: its client does not know yet whether the server
// understands flexible headers, so that header stays at its first form (KIP-511).
//
// # What it does not do
//
// Parsing knows every key and version that kmsg knows, served or not. It copies
// nothing but strings: byte fields (records) of a parsed body point into the frame,
// so a frame's buffer must not be used again while its request lives.
package wire
