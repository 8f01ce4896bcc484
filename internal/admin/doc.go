// Package admin changes a cluster by Kafka's own requests.
//
// A caller starts from [Open]. [Client.Carry] changes settings as a person wants that
// done: a plan, the cluster's own opinion of it (validate-only), a confirmation, the change,
// a look at what is in force, and a file that leads back ([ReadUndo]); a [Guard] says
// which clusters may be changed at all. Beneath it are [Client.PlanConfigs],
// [Client.Validate], [Client.Apply] and [Client.Verify].
//
// [Client.CreateTopic] and [Client.DeleteTopic] return when the controller has done it,
// and the former when every broker that is up knows the topic and all partitions have
// leaders.
//
// Errors name the topic and say what Kafka said. Nothing is retried that may have
// been done.
package admin
