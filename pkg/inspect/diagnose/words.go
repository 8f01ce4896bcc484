package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func partitions(n int) string { return count(n, "partition", "partitions") }

func replicas(n int) string { return count(n, "replica", "replicas") }

// lasting is a duration as a person reads it.
func lasting(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Seconds(), 'g', 2, 64) + " s"
	case d < 2*time.Minute:
		return strconv.FormatInt(int64(d.Seconds()), 10) + " s"
	}
	return d.Round(time.Minute).String()[:len(d.Round(time.Minute).String())-2]
}

func millis(ms int64) string { return lasting(time.Duration(ms) * time.Millisecond) }

// perSecond is a rate.
func perSecond(f float64) string {
	if f < 10 {
		return strconv.FormatFloat(f, 'g', 2, 64) + " records/s"
	}
	return strconv.FormatInt(int64(f), 10) + " records/s"
}

// brokers is "broker 3" or "brokers 2, 3 and 4".
func brokers(ids []inspect.BrokerID) string {
	if len(ids) == 1 {
		return fmt.Sprintf("broker %d", ids[0])
	}
	return "brokers " + list(ids)
}

func list(ids []inspect.BrokerID) string {
	var words []string
	for _, id := range slices.Sorted(slices.Values(ids)) {
		words = append(words, strconv.Itoa(int(id)))
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// capital begins a sentence.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
