package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Unknown is how an unknown value looks in a table.
const Unknown = "-"

// Thousands is n with separators, such as 918,250: for terminals only.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Millis is a duration for people: 0, 350ms, 12.4s, 42s, 1m31s, 2h05m, 3d04h.
func Millis(ms int64) string {
	const second, minute, hour, day = 1000, 60_000, 3_600_000, 86_400_000
	switch {
	case ms < 0:
		return "-" + Millis(-max(ms, -math.MaxInt64))
	case ms == 0:
		return "0"
	case ms < second:
		return fmt.Sprintf("%dms", ms)
	case ms < minute:
		if tenths := ms % second / 100; tenths > 0 {
			return fmt.Sprintf("%d.%ds", ms/second, tenths)
		}
		return fmt.Sprintf("%ds", ms/second)
	case ms < hour:
		return fmt.Sprintf("%dm%02ds", ms/minute, ms%minute/second)
	case ms < 2*day:
		return fmt.Sprintf("%dh%02dm", ms/hour, ms%hour/minute)
	}
	return fmt.Sprintf("%dd%02dh", ms/day, ms%day/hour)
}

// Bytes is a size for people in binary units, such as 1.8 TiB.
func Bytes(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/1024, 0
	for size >= 1023.95 && unit < len(units)-1 {
		size /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", size, units[unit])
}

// PerSecond is a rate for people, such as 4,100/s or 0.3/s.
func PerSecond(rate float64) string {
	if rate != 0 && rate > -10 && rate < 10 {
		return strconv.FormatFloat(rate, 'f', 1, 64) + "/s"
	}
	return Thousands(int64(math.Round(rate))) + "/s"
}

func joinIDs(ids []inspect.BrokerID) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(id)))
	}
	return b.String()
}

// count is "1 topic" or "41 topics", with separators on a terminal.
func (v *View) count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return v.number(int64(n)) + " " + many
}

func (v *View) number(n int64) string {
	if v.Terminal {
		return Thousands(n)
	}
	return strconv.FormatInt(n, 10)
}

// hostPort joins as net.JoinHostPort does: IPv6 addresses get brackets.
func hostPort(host string, port int32) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return Clean(host) + ":" + strconv.Itoa(int(port))
}
