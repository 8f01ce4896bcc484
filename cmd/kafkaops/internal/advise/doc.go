// Package advise makes the evidence that package tuning wants of what kafkaops saw of a
// cluster: looks at it, and the changes of its ISRs. Commands and screens that advise
// share it.
//
// It holds no look, and of each partition no more than its state and its changes, so that
// a day of looks takes as much memory as an hour.
package advise
