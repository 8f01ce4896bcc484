// Package admin changes a cluster by Kafka's own requests.
//
// A caller starts from [Open]; [Client.CreateTopic] and [Client.DeleteTopic] return
// when the controller has done it, and the former when every broker that is up knows
// the topic and all partitions have leaders.
//
// Errors name the topic and say what Kafka said. Nothing is retried that may have
// been done.
package admin
