//go:build !race

package group

const raced = false
