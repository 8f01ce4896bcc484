//go:build race

package sim

// ordinarySeeds is how many seeds an ordinary test runs: few under the race
// detector, to which a world in one goroutine shows little.
const ordinarySeeds = 40
