package tuning

import "math"

// z95 is the quantile of the normal distribution that leaves 5 % above it.
const z95 = 1.6449

// atMost is the greatest mean of a Poisson distribution that a count of n or fewer
// still speaks for at 95 %: 3 for none (the rule of three). Wilson and Hilferty's
// approximation is within 2 % of the exact one, and takes counts that are averages.
func atMost(n float64) float64 {
	a := n + 1
	return a * math.Pow(1-1/(9*a)+z95/(3*math.Sqrt(a)), 3)
}

// atLeast is the least one for a count of n or more.
func atLeast(n float64) float64 {
	if n < 1 {
		return 0
	}
	return max(0, n*math.Pow(1-1/(9*n)-z95/(3*math.Sqrt(n)), 3))
}
