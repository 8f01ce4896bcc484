package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestDraw: what a screen says is in the picture, where it was, in its colours.
func TestDraw(t *testing.T) {
	t.Parallel()
	c := dark()
	for _, tt := range []struct {
		name, screen string
		want         []string
	}{
		{"plain text", "a < b\n", []string{`<text x="14.0" y="27.5" textLength="42.0"`, `fill="` + c.foreground + `">a &lt; b</text>`}},
		{"the second line, later", "\n   x\n", []string{`<text x="39.2" y="45.5"`, `>x</text>`}},
		{"a basic colour ends", "\x1b[31mred\x1b[0m no", []string{`fill="` + c.basic[1] + `">red<`, `x="47.6" y="27.5" textLength="16.8"`, `fill="` + c.foreground + `">no<`}},
		{"one of 256", "\x1b[38;5;209mx\x1b[39my", []string{`fill="#ff875f">x<`, `fill="` + c.foreground + `">y<`}},
		{"a grey of 256", "\x1b[38;5;247mx", []string{`fill="#9e9e9e">x<`}},
		{"one of 16 million, bold", "\x1b[1;38;2;1;2;3mx", []string{`fill="#010203" font-weight="bold">x<`}},
		{"reverse", "\x1b[7m ab\x1b[27mc", []string{`width="25.2" height="18" fill="` + c.foreground + `"`, `<text x="22.4"`, `fill="` + c.background + `">ab<`, `>c<`}},
		{"half a block", "▌", []string{`<rect x="14.0" y="14.00" width="4.20" height="18.00"`}},
		{"blocks without seams", "██▏", []string{`<rect x="14.0" y="14.00" width="16.80" height="18.00"`, `<rect x="30.8" y="14.00" width="1.05"`}},
		{"a quarter from below", "▂", []string{`<rect x="14.0" y="27.50" width="8.40" height="4.50"`}},
		{"columns", "a b  c", []string{`>a b<`, `<text x="56.0" y="27.5" textLength="8.4"`, `>c<`}},
		{"wide characters", "日本x", []string{`textLength="42.0"`, `>日本x<`}},
		{"aside", "\x1b[2mx\x1b[22my", []string{`opacity="0.7">x<`, `>y<`}},
	} {
		got := draw(tt.screen, 20, 3, c)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: there is no %s in\n%s", tt.name, want, got)
			}
		}
		for d := xml.NewDecoder(strings.NewReader(got)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
		}
	}
}
