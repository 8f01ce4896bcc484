package keystore

import (
	"bytes"
	"encoding/hex"
	"testing"
)

// TestRC2 has the vectors of RFC 2268 §5.
func TestRC2(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key           string
		effectiveBits int
		plain, cipher string
	}{
		{"0000000000000000", 63, "0000000000000000", "ebb773f993278eff"},
		{"ffffffffffffffff", 64, "ffffffffffffffff", "278b27e42e2f0d49"},
		{"3000000000000000", 64, "1000000000000001", "30649edf9be7d2c2"},
		{"88", 64, "0000000000000000", "61a8a244adacccf0"},
		{"88bca90e90875a", 64, "0000000000000000", "6ccf4308974c267f"},
		{"88bca90e90875a7f0f79c384627bafb2", 64, "0000000000000000", "1a807d272bbe5db1"},
		{"88bca90e90875a7f0f79c384627bafb2", 128, "0000000000000000", "2269552ab0f85ca6"},
		{"88bca90e90875a7f0f79c384627bafb216f80a6f85920584c42fceb0be255daf1e", 129, "0000000000000000", "5b78d3a43dfff1f1"},
	} {
		key, _ := hex.DecodeString(tt.key)
		plain, _ := hex.DecodeString(tt.plain)
		sealed, _ := hex.DecodeString(tt.cipher)
		got := make([]byte, rc2BlockBytes)
		newRC2Effective(key, tt.effectiveBits).Decrypt(got, sealed)
		if !bytes.Equal(got, plain) {
			t.Errorf("key %s of %d bits: got %x, want %x", tt.key, tt.effectiveBits, got, plain)
		}
	}
}
