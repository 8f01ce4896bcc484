package local

import "strings"

// Command is a command of kafkaops as it would be typed, quoted for a shell.
func Command(command string, args ...string) string {
	words := []string{"kafkaops", command}
	for _, a := range args {
		words = append(words, ShellWord(a))
	}
	return strings.Join(words, " ")
}

// ShellWord quotes what a shell would not take as one word.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("-_=+.,:/@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
