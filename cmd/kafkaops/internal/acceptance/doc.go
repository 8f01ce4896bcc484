// Package acceptance drives a real Apache Kafka into the states that operators
// ask about and holds kafkaops' answers against what Kafka itself says: its own
// command-line tools, and raw requests to each broker.
//
// There is nothing to import: everything is in tests. Each breaks the one
// cluster that they share, runs whole commands in this process, and takes its
// topics away when it ends. A state is waited for, never slept for; a time is
// asserted only where a command must not hang.
//
// kafka-topics.sh is compared by the values in its lines, so a new column in it
// breaks nothing here.
package acceptance
