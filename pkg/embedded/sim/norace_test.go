//go:build !race

package sim

// ordinarySeeds is how many seeds an ordinary test runs.
const ordinarySeeds = 2000
