package tui

import (
	"image/color"
	"math"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// TestContrast: by what WCAG and its tools say.
func TestContrast(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b uint32
		want float64
	}{
		{0x000000, 0xffffff, 21}, {0xffffff, 0x000000, 21}, {0x123456, 0x123456, 1}, {0x777777, 0xffffff, 4.48}, {0x767676, 0xffffff, 4.54}, {0xff0000, 0xffffff, 4.0},
	} {
		if got := contrast(rgb(tt.a), rgb(tt.b)); math.Abs(got-tt.want) > 0.005 {
			t.Errorf("%06x on %06x: %.3f, want %.2f", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestShadesOnBackgrounds: on what terminals begin with and what people choose, text has
// contrast enough; a background for which there is none keeps the terminal's colours.
func TestShadesOnBackgrounds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		background uint32
		want       *shades
	}{
		"black": {0x000000, darkShades()}, "VS Code": {0x1e1e1e, darkShades()}, "Ubuntu": {0x300a24, darkShades()}, "Solarized dark": {0x002b36, darkShades()},
		"Dracula": {0x282a36, darkShades()}, "Nord": {0x2e3440, darkShades()}, "Gruvbox dark": {0x282828, darkShades()},
		"white": {0xffffff, lightShades()}, "Solarized light": {0xfdf6e3, lightShades()}, "Gruvbox light": {0xfbf1c7, lightShades()}, "Latte": {0xeff1f5, lightShades()},
		"grey": {0x808080, nil},
	} {
		got := shadesOn(rgb(tt.background))
		if (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
		if got != nil && got.contrast(rgb(tt.background)) < leastContrast {
			t.Errorf("%s: a contrast of %.2f", name, got.contrast(rgb(tt.background)))
		}
	}
	if got := shadesOn(nil); got != nil {
		t.Errorf("a terminal that does not say: got %v, want its own", got)
	}
}

// sights are how eyes see, as matrices over linear light: Machado, Oliveira and Fernandes
// (2009), A Physiologically-based Model for Simulation of Color Vision Deficiency, at
// full severity.
var sights = map[string][3][3]float64{
	"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// seen is a colour as eyes see it, in CIE L*a*b* (D65).
func seen(c color.Color, sight [3][3]float64) [3]float64 {
	r, g, b := linear(c)
	var light [3]float64
	for i, row := range sight {
		light[i] = min(1, max(0, row[0]*r+row[1]*g+row[2]*b))
	}
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124564*light[0] + 0.3575761*light[1] + 0.1804375*light[2]) / 0.95047)
	y := f(0.2126729*light[0] + 0.7151522*light[1] + 0.0721750*light[2])
	z := f((0.0193339*light[0] + 0.1191920*light[1] + 0.9503041*light[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestShadesForAllEyes: good, warning and bad are told apart whatever one sees. A
// difference (CIE76) of 2.3 is just noticed side by side; words in a table are not.
func TestShadesForAllEyes(t *testing.T) {
	t.Parallel()
	const least = 18
	for name, s := range map[string]*shades{"dark": darkShades(), "light": lightShades()} {
		for sight, matrix := range sights {
			meanings := map[string]color.RGBA{"good": s.good, "warn": s.warn, "bad": s.bad}
			for a, one := range meanings {
				for b, other := range meanings {
					if a >= b {
						continue
					}
					p, q := seen(one, matrix), seen(other, matrix)
					if d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]); d < least {
						t.Errorf("%s, %s: %s and %s differ by %.0f, want %d", name, sight, a, b, d, least)
					}
				}
			}
		}
	}
}

// TestShadesAreOf256: with 256 colours they are what they are with 16 million.
func TestShadesAreOf256(t *testing.T) {
	t.Parallel()
	for _, s := range []*shades{darkShades(), lightShades()} {
		for _, c := range []color.RGBA{s.good, s.warn, s.bad, s.dim} {
			if got := colorprofile.ANSI256.Convert(c); contrast(got, c) > 1.001 {
				t.Errorf("%v is %v with 256 colours", c, got)
			}
		}
	}
}

// TestProfile: how many colours a terminal gets, and whether it is asked for its background.
func TestProfile(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		wanted    bool
		has, want colorprofile.Profile
		asked     bool
	}{
		{true, colorprofile.TrueColor, colorprofile.TrueColor, true},
		{true, colorprofile.ANSI256, colorprofile.ANSI256, true},
		{true, colorprofile.ANSI, colorprofile.ANSI, false},
		{true, colorprofile.ASCII, colorprofile.ANSI, false}, // NO_COLOR and --color always
		{false, colorprofile.TrueColor, colorprofile.ASCII, false},
	} {
		got := profileOf(tt.wanted, tt.has)
		if asked := askBackground(got) != nil; got != tt.want || asked != tt.asked {
			t.Errorf("wanted %v of %s: %s, asked %v; want %s, %v", tt.wanted, tt.has, got, asked, tt.want, tt.asked)
		}
	}
}

// TestShadesOnTheScreen: once the terminal has told its background the screen is drawn anew
// in shades, every meaning in its own, and says the same.
func TestShadesOnTheScreen(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.next = fakeLook(t, s.now, "broker 1\nbroker 2 down\norders 0 leader=1 replicas=1,2 isr=1 leo=500 f2=9\n")
	s.take()
	s.m.color = true
	s.m.clean = false
	own := s.m.View().Content
	s.m.Update(tea.BackgroundColorMsg{Color: rgb(0xffffff)})
	shaded := s.m.View().Content
	if ansi.Strip(own) != ansi.Strip(shaded) {
		t.Error("the screen says something else in shades")
	}
	for own, shade := range map[string]string{"31": "215;0;95", "32": "0;95;135", "2": "98;98;98"} {
		if n := strings.Count(shaded, "\x1b["+own+"m"); n > 0 {
			t.Errorf("the terminal's own %s is there %d times", own, n)
		}
		if !strings.Contains(shaded, "\x1b[38;2;"+shade+"m") {
			t.Errorf("there is no %s", shade)
		}
	}
}
