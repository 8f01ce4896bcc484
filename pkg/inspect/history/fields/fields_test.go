package fields

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// told is a message's fields, each in a line.
func told(in []byte) (lines []string, err error) {
	err = Each(in, func(f Field) error {
		lines = append(lines, fmt.Sprintf("%d %d %q", f.Number, f.N, f.Bytes))
		if f.Number == 9 {
			return errors.New("that will do")
		}
		return nil
	})
	return lines, err
}

// TestEach: what was appended comes back, shapes that are not used are passed over, and a
// message that is cut off is none.
func TestEach(t *testing.T) {
	t.Parallel()
	all := AppendSigned(AppendUint(nil, 1, 300), 2, -3)
	all = AppendText(AppendText(AppendBytes(all, 3, nil), 4, ""), 5, "orders")
	ends := map[int]bool{0: true, 3: true, 5: true, 7: true, len(all): true}
	for size := range len(all) + 1 {
		if _, err := told(all[:size]); (err == nil) != ends[size] || err != nil && !errors.Is(err, ErrNotOurs) {
			t.Errorf("%d bytes of %d: %v", size, len(all), err)
		}
	}
	all = protowire.AppendFixed64(protowire.AppendTag(all, 6, protowire.Fixed64Type), 7)
	all = AppendUint(AppendUint(all, 9, 1), 10, 1)
	lines, err := told(all)
	want := []string{`1 300 ""`, `2 5 ""`, `3 0 ""`, `5 0 "orders"`, `9 1 ""`}
	if diff := cmp.Diff(want, lines); diff != "" || err == nil || err.Error() != "that will do" {
		t.Errorf("%v, fields (-want +got):\n%s", err, diff)
	}
	if f := (Field{N: 5}); f.Signed() != -3 {
		t.Errorf("signed %d", f.Signed())
	}
}
