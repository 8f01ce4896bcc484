package kraft

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// UUID names a topic, a log directory or one life of a process.
type UUID [16]byte

// What stands for a replica's log directory that is not known (KIP-858).
var (
	// MigratingDirectory: the replica is older than directory assignment.
	MigratingDirectory = UUID{}
	// UnassignedDirectory: its broker has not said yet where it put it.
	UnassignedDirectory = UUID{15: 1}
	// LostDirectory: its broker has said that the directory failed.
	LostDirectory = UUID{15: 2}
)

// uuidText is Kafka's spelling: 22 characters of URL-safe base64.
var uuidText = base64.RawURLEncoding.Strict()

// String spells it as Kafka does.
func (u UUID) String() string { return uuidText.EncodeToString(u[:]) }

// DrawUUID draws a new one as Kafka does (Uuid.randomUuid): of version 4, so that it is
// none of those that are reserved, and one whose spelling does not begin with a dash,
// for Kafka's tools take that for an option.
func DrawUUID(rng *rand.Rand) UUID {
	for {
		var u UUID
		binary.BigEndian.PutUint64(u[:8], rng.Uint64())
		binary.BigEndian.PutUint64(u[8:], rng.Uint64())
		u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80 // RFC 9562, version 4
		if u.String()[0] != '-' {
			return u
		}
	}
}

// ParseUUID is the way back from [UUID.String].
func ParseUUID(s string) (UUID, error) {
	b, err := uuidText.DecodeString(s)
	// Its own length too: line ends within are not an error of base64.
	if err != nil || len(b) != len(UUID{}) || len(s) != uuidText.EncodedLen(len(b)) {
		return UUID{}, fmt.Errorf("kraft: UUID %q: want 22 characters of URL-safe base64", s)
	}
	return UUID(b), nil
}
