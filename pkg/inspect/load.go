package inspect

// Load is how busy a broker is, by its own meters (JMX). Each figure is unknown where the
// broker's agent does not tell it.
type Load struct {
	// HandlerIdle is the share of the time, 0 to 1, for which request handlers
	// (num.io.threads) had nothing to do in the last minute: RequestHandlerAvgIdlePercent
	// of kafka.server:type=KafkaRequestHandlerPool, its OneMinuteRate. NetworkIdle is that
	// of the network threads (num.network.threads): NetworkProcessorAvgIdlePercent of
	// kafka.network:type=SocketServer.
	HandlerIdle, NetworkIdle Opt[float64]
	// RequestQueue is how many requests waited for a handler: RequestQueueSize of
	// kafka.network:type=RequestChannel.
	RequestQueue Opt[int64]
	// Flushes counts since the process began how often a log was flushed to disk, and the
	// others are how long that took lately, in ms: LogFlushRateAndTimeMs of
	// kafka.log:type=LogFlushStats. Where nothing is flushed they stay what they were.
	Flushes                 Opt[int64]
	FlushP99Ms, FlushP999Ms Opt[float64]
}
