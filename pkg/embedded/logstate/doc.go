// Package logstate is what a log remembers beside its bytes: which leader epoch
// began where, and what each idempotent producer appended last. It is pure.
//
// A caller starts from
//
//   - [Epochs]: Kafka's LeaderEpochFileCache, by which replicas find where their
//     logs part (KIP-101, KIP-279)
//   - [Producers]: Kafka's ProducerStateManager, by which a leader takes each
//     batch once and in order (KIP-98)
//   - [Batch]: the few facts of a record batch from which both follow
//
// Both are functions of the log: applied to its batches in order they come out
// the same on every replica, after every restart and truncation. So storage
// rebuilds them from bytes, and package replica decides by them; neither may
// import the other, which is why they live here.
//
//	for each batch of the log, b Batch:
//		epochs.Assign(b.LeaderEpoch, b.BaseOffset)
//		producers.Apply(b)
//
// One thing an Epochs may hold that its log does not show: a leader stores its
// epoch before it has appended anything, so the last entry may start at the log
// end offset.
//
// Files (leader-epoch-checkpoint, .snapshot) and the age at which an idle
// producer is forgotten (producer.id.expiration.ms) belong to storage.
package logstate
