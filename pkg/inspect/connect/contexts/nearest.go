package contexts

import "strings"

// nearest is the known name that somebody who wrote this one may have meant, or
// empty.
func nearest(name string, known []string) string {
	const far = 3 // letters that differ in what is another word
	best, least := "", far
	for _, k := range known {
		if d := distance(plain(name), plain(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// plain leaves out what people spell in several ways.
func plain(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "", " ", "").Replace(strings.ToLower(name))
}

// distance is how many letters have to be changed, added or left out to make b of
// a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
