package javaprops

// lineReader cuts a file into logical lines: comments and blank lines skipped,
// a line that ends with a backslash joined with the next, without the backslash,
// the line end and the blanks that the next begins with.
//
// It takes the steps of java.util.Properties.LineReader, so that odd files come
// out the same: a backslash alone in a line may be followed by a comment, and
// alone in a file it is an empty key.
type lineReader struct {
	data []byte
	off  int
	line int // of the byte at off, from 1

	buf   []byte // the logical line
	start int    // the line of its first byte
}

// next reads a logical line into buf. It returns false at the end of the file.
func (r *lineReader) next() bool {
	r.buf, r.start = r.buf[:0], r.line
	leading, continued, backslash := true, false, false
	for r.off < len(r.data) {
		c := r.read()
		if leading {
			if isBlank(c) || isLineEnd(c) && !continued {
				continue
			}
			// The line end of a blank line that continues another one counts.
			leading, continued = false, false
		}
		switch {
		case len(r.buf) == 0 && (c == '#' || c == '!'):
			r.skipLine()
			leading = true
		case !isLineEnd(c):
			r.add(c)
			backslash = c == '\\' && !backslash
		case len(r.buf) == 0:
			leading = true
		case !backslash:
			return true
		default:
			r.buf = r.buf[:len(r.buf)-1]
			if r.off == len(r.data) {
				return true // an empty line too
			}
			leading, continued, backslash = true, true, false
			if c == '\r' && r.data[r.off] == '\n' {
				r.read()
			}
		}
	}
	if len(r.buf) == 0 {
		return false
	}
	if backslash {
		r.buf = r.buf[:len(r.buf)-1]
	}
	return true
}

func (r *lineReader) add(c byte) {
	if len(r.buf) == 0 {
		r.start = r.line
	}
	r.buf = append(r.buf, c)
}

// skipLine goes to the next line, continued or not: comments are not.
func (r *lineReader) skipLine() {
	for r.off < len(r.data) && !isLineEnd(r.read()) {
	}
}

// read returns the next byte and counts lines. CR LF ends one line, not two.
func (r *lineReader) read() byte {
	c := r.data[r.off]
	r.off++
	if c == '\r' || c == '\n' && (r.off == 1 || r.data[r.off-2] != '\r') {
		r.line++
	}
	return c
}
