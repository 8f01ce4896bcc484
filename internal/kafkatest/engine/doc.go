// Package engine runs the clusters of package kafkatest on the embedded engine,
// in the test's own process, so that tests which were written for a real Kafka
// hold the engine to the same answers.
//
// A test starts from [New], for kafkatest.Options.Engine, or [FromEnv], where the
// same tests run on Kafka too.
//
// It is a package of its own because the engine's packages use kafkatest in their
// tests, and would import themselves.
package engine
