// Package bench measures whole runs of the kafkaops binary, as a user waits for
// them: process start to exit, wall time and peak memory, medians of several
// runs. make bench runs it.
//
// Against a real Kafka each run of kafkaops is paired with one of Kafka's own
// TopicCommand, so that the ratio holds on any machine. Against a scripted
// cluster of up to 50,000 partitions, which is served by the measuring process
// on the same cores, the cost of one partition is compared at three sizes.
package bench
