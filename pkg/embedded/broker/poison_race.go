//go:build race

package broker

const poison = true
