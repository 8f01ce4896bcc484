package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// foreign are flags of danielqsj/kafka_exporter, and what stands for them here.
var foreign = map[string]string{
	"kafka.server":             "use -b",
	"kafka.version":            "leave it out: versions are agreed on with each broker",
	"kafka.labels":             "use --cluster-label for a label cluster, and external_labels or labels of the scrape for others",
	"topic.filter":             "use --topics, which has to match the whole name",
	"topic.exclude":            "use --topics-exclude, which has to match the whole name",
	"group.filter":             "use --groups, which has to match the whole name",
	"group.exclude":            "use --groups-exclude, which has to match the whole name",
	"refresh.metadata":         "use --collect-interval",
	"offset.show-all":          "leave it out: groups without members are always shown",
	"no-offset.show-all":       "leave it out, or leave groups out with --groups-exclude; --group-metrics bounds series",
	"web.telemetry-path":       "leave it out: the path is /metrics",
	"concurrent.enable":        "leave it out: a scrape asks no broker",
	"topic.workers":            "leave it out: each broker gets one request for all of its partitions",
	"verbosity":                "use --log.level",
	"log.enable-sarama":        "use --log.level",
	"use.consumelag.zookeeper": "leave it out: offsets in ZooKeeper are not read",
	"zookeeper.server":         "leave it out: ZooKeeper is not asked",
}

// foreignFlag is flagError, and knows what those look for who come from another
// exporter.
func foreignFlag(cmd *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !unknown {
		return flagError(cmd, err)
	}
	hint := foreign[name]
	switch bare := strings.TrimPrefix(name, "no-"); {
	case strings.HasPrefix(bare, "server.tls."):
		hint = "use --web.config.file"
	case strings.HasPrefix(bare, "sasl."), strings.HasPrefix(bare, "tls."):
		hint = "use --command-config with a Java client.properties"
	}
	if hint == "" {
		return flagError(cmd, err)
	}
	return usagef("unknown flag: --%s: %s", name, hint)
}
