package house

// room is one package: where it lies, what it may import and how pure it is.
type room struct {
	dir string
	// ours are the rooms that it may import; "x/..." is x and all below it.
	ours []string
	// pure rooms decide and do not act: see pureForbidden.
	pure bool
}

// rooms lists every package that there is or is planned, in the order in which
// they build on each other: a room's ours are found above it. Tests may import
// what they like.
var rooms = []room{
	// Tools of the house and of tests.
	{dir: "internal/house"},
	{dir: "internal/kafkatest/certs"},
	{dir: "internal/kafkatest", ours: []string{"internal/kafkatest/certs"}},
	{dir: "internal/kafkatest/fetch", ours: []string{"internal/kafkatest"}},
	{dir: "internal/testreport", ours: []string{"internal/kafkatest"}},
	{dir: "internal/mutants"},
	{dir: "internal/tmux"},
	{dir: "internal/screenshots", ours: []string{"internal/tmux"}},

	// Rules and formats that several rooms share.
	{dir: "internal/isrrule", pure: true},
	{dir: "internal/kraft", pure: true},
	{dir: "internal/numbered", pure: true},
	{dir: "internal/polish", pure: true},

	// The read model, what fills it and what is asked of it.
	{dir: "pkg/inspect", pure: true},
	{dir: "pkg/inspect/access", ours: []string{"pkg/inspect"}, pure: true},
	{dir: "pkg/inspect/connect/javaprops", pure: true},
	{dir: "pkg/inspect/connect/keystore"},
	{dir: "pkg/inspect/connect", ours: []string{
		"pkg/inspect", "pkg/inspect/connect/javaprops", "pkg/inspect/connect/keystore",
	}},
	{dir: "pkg/inspect/connect/contexts", ours: []string{"pkg/inspect/connect"}},
	{dir: "pkg/inspect/source", ours: []string{"pkg/inspect", "pkg/inspect/access", "pkg/inspect/connect"}},
	{dir: "pkg/inspect/history", ours: []string{"internal/isrrule", "internal/numbered", "pkg/inspect"}, pure: true},
	{dir: "pkg/inspect/history/fields", pure: true},
	{dir: "pkg/inspect/history/looks", ours: []string{"pkg/inspect", "pkg/inspect/history/fields"}, pure: true},
	{dir: "pkg/inspect/history/recording", ours: []string{"pkg/inspect", "pkg/inspect/history/fields", "pkg/inspect/history/looks"}},
	{dir: "pkg/inspect/history/recording/recordingtest", ours: []string{"pkg/inspect", "pkg/inspect/history/recording"}},
	{dir: "pkg/inspect/isrlog", ours: []string{
		"internal/kraft", "pkg/inspect", "pkg/inspect/connect", "pkg/inspect/history/recording",
	}},
	{dir: "pkg/inspect/jmx", ours: []string{"pkg/inspect"}},
	{dir: "pkg/inspect/host", ours: []string{"pkg/inspect"}},
	{dir: "pkg/inspect/diagnose", ours: []string{"internal/numbered", "internal/polish", "pkg/inspect", "pkg/inspect/history"}, pure: true},
	{dir: "pkg/tuning", ours: []string{"internal/isrrule", "internal/polish"}, pure: true},
	{dir: "pkg/exporter/status", ours: []string{"pkg/inspect"}, pure: true},
	{dir: "pkg/exporter", ours: []string{"pkg/exporter/status", "pkg/inspect/...", "pkg/tuning"}},

	// What changes a cluster or puts load on it.
	{dir: "internal/admin", ours: []string{"pkg/inspect", "pkg/inspect/connect"}},
	{dir: "internal/load", ours: []string{"pkg/inspect", "pkg/inspect/connect"}},

	// The engine: pure rules, a node that joins them, a shell around it.
	{dir: "pkg/embedded/wire", pure: true},
	{dir: "internal/fakekafka", ours: []string{"pkg/embedded/wire"}},
	{dir: "pkg/embedded/record", pure: true},
	{dir: "pkg/embedded/logstate", pure: true},
	{dir: "pkg/embedded/vfs"},
	{dir: "pkg/embedded/storage", ours: []string{
		"pkg/embedded/logstate", "pkg/embedded/record", "pkg/embedded/vfs",
	}, pure: true},
	{dir: "pkg/embedded/metadata", ours: []string{"internal/kraft"}, pure: true},
	{dir: "pkg/embedded/configs", ours: []string{"internal/kraft", "pkg/embedded/metadata"}, pure: true},
	{dir: "pkg/embedded/replica", ours: []string{"internal/isrrule", "pkg/embedded/logstate", "pkg/embedded/record"}, pure: true},
	{dir: "pkg/embedded/controller", ours: []string{"internal/kraft", "pkg/embedded/metadata"}, pure: true},
	{dir: "pkg/embedded/timers", pure: true},
	{dir: "pkg/embedded/group", ours: []string{"pkg/embedded/record", "pkg/embedded/timers"}, pure: true},
	{dir: "pkg/embedded/txn", ours: []string{"pkg/embedded/record"}, pure: true},
	{dir: "pkg/embedded/machine", pure: true},
	{dir: "pkg/embedded/node", ours: []string{
		"internal/kraft", "pkg/embedded/configs", "pkg/embedded/group", "pkg/embedded/logstate", "pkg/embedded/machine", "pkg/embedded/metadata",
		"pkg/embedded/record", "pkg/embedded/replica", "pkg/embedded/storage", "pkg/embedded/timers", "pkg/embedded/txn",
		"pkg/embedded/vfs", "pkg/embedded/wire",
	}, pure: true},
	{dir: "pkg/embedded/quorum", ours: []string{
		"internal/kraft", "pkg/embedded/configs", "pkg/embedded/controller", "pkg/embedded/logstate", "pkg/embedded/machine", "pkg/embedded/metadata",
		"pkg/embedded/record", "pkg/embedded/storage", "pkg/embedded/vfs", "pkg/embedded/wire",
	}, pure: true},
	{dir: "pkg/embedded/broker", ours: []string{"pkg/embedded/machine", "pkg/embedded/vfs", "pkg/embedded/wire"}},
	{dir: "pkg/embedded/sim", ours: []string{
		"internal/kraft", "pkg/embedded/controller", "pkg/embedded/logstate", "pkg/embedded/machine", "pkg/embedded/metadata",
		"pkg/embedded/node", "pkg/embedded/quorum", "pkg/embedded/record", "pkg/embedded/replica", "pkg/embedded/storage",
		"pkg/embedded/vfs",
	}, pure: true},
	{dir: "pkg/embedded", ours: []string{
		"internal/kraft", "pkg/embedded/broker", "pkg/embedded/controller", "pkg/embedded/machine", "pkg/embedded/metadata",
		"pkg/embedded/node", "pkg/embedded/quorum", "pkg/embedded/vfs", "pkg/embedded/wire",
	}},
	{dir: "pkg/embedded/embeddedtest", ours: []string{"pkg/embedded"}},
	{dir: "internal/kafkatest/engine", ours: []string{"internal/kafkatest", "pkg/embedded"}},

	// The command.
	{dir: "cmd/kafkaops/internal/term"},
	{dir: "cmd/kafkaops/internal/local", ours: []string{"pkg/embedded"}},
	{dir: "cmd/kafkaops/internal/advise", ours: []string{"pkg/inspect", "pkg/inspect/diagnose", "pkg/inspect/history", "pkg/tuning"}, pure: true},
	{dir: "cmd/kafkaops/internal/render", ours: []string{"pkg/inspect/...", "pkg/tuning"}, pure: true},
	{dir: "cmd/kafkaops/internal/tui", ours: []string{
		"cmd/kafkaops/internal/advise", "cmd/kafkaops/internal/render", "cmd/kafkaops/internal/term", "pkg/inspect/...", "pkg/tuning",
	}},
	// Dashboards, rules and their runbook, as files that a command prints.
	{dir: "dashboards"},
	{dir: "dashboards/generate"},
	{dir: "cmd/kafkaops/internal/cli", ours: []string{
		"cmd/kafkaops/internal/advise", "cmd/kafkaops/internal/local", "cmd/kafkaops/internal/render", "cmd/kafkaops/internal/term", "cmd/kafkaops/internal/tui",
		"dashboards", "internal/admin", "internal/load", "pkg/embedded", "pkg/exporter", "pkg/inspect/...", "pkg/tuning",
	}},
	{dir: "cmd/kafkaops", ours: []string{"cmd/kafkaops/internal/cli"}},

	// Tests and measurements of whole commands; no code of their own.
	{dir: "cmd/kafkaops/internal/acceptance"},
	{dir: "cmd/kafkaops/internal/bench"},
}

// library is an import that only some rooms may have.
type library struct {
	what string
	// prefixes of import paths. The longest one that matches decides, so that kmsg
	// is not what its neighbour kgo is.
	prefixes []string
	rooms    []string
}

// clientRooms may import a Kafka client. kafkatest is here because it makes sure
// of a real Kafka before the tests do.
var clientRooms = []string{
	"internal/admin", "internal/kafkatest", "internal/load",
	"pkg/inspect/connect", "pkg/inspect/isrlog", "pkg/inspect/source",
}

// libraries are those that are kept to their rooms.
var libraries = []library{
	{
		what:     "a Kafka client",
		prefixes: []string{"github.com/IBM/sarama", "github.com/twmb/franz-go", "github.com/segmentio/kafka-go"},
		rooms:    clientRooms,
	},
	{
		what:     "the codec kmsg",
		prefixes: []string{"github.com/twmb/franz-go/pkg/kmsg"},
		rooms: append([]string{
			"internal/fakekafka", "pkg/embedded", "pkg/embedded/broker", "pkg/embedded/configs", "pkg/embedded/group", "pkg/embedded/machine",
			"pkg/embedded/node", "pkg/embedded/quorum", "pkg/embedded/sim",
			"pkg/embedded/wire",
		}, clientRooms...),
	},
	{
		what:     "the versions of Kafka's releases",
		prefixes: []string{"github.com/twmb/franz-go/pkg/kversion"},
		rooms:    append([]string{"pkg/embedded/wire"}, clientRooms...),
	},
	{
		what:     "Kafka's error codes",
		prefixes: []string{"github.com/twmb/franz-go/pkg/kerr"},
		rooms:    append([]string{"pkg/embedded/wire"}, clientRooms...),
	},
	{
		what: "bubbletea",
		prefixes: []string{
			"charm.land/bubbles", "charm.land/bubbletea", "charm.land/lipgloss", "github.com/charmbracelet/bubbles",
			"github.com/charmbracelet/bubbletea", "github.com/charmbracelet/colorprofile", "github.com/charmbracelet/lipgloss",
		},
		rooms: []string{"cmd/kafkaops/internal/tui"},
	},
	{
		what:     "prometheus",
		prefixes: []string{"github.com/prometheus/"},
		rooms:    []string{"pkg/exporter"},
	},
	{
		what:     "the text format of Prometheus",
		prefixes: []string{"github.com/prometheus/common/expfmt", "github.com/prometheus/common/model", "github.com/prometheus/client_model"},
		rooms:    []string{"pkg/exporter", "pkg/inspect/jmx"},
	},
	{
		what:     "Grafana's schema",
		prefixes: []string{"github.com/grafana/"},
		rooms:    []string{"dashboards", "dashboards/generate"},
	},
	{
		what:     "a flag parser",
		prefixes: []string{"flag", "github.com/spf13/"},
		rooms:    []string{"cmd/kafkaops/internal/cli", "internal/kafkatest/fetch", "internal/testreport"},
	},
}

// pureForbidden are the imports, with all below them, that no pure room may
// have. What they would bring comes in as an argument.
var pureForbidden = []string{"context", "crypto/rand", "log", "net", "os", "sync", "syscall"}

// pureForbiddenNames are names of packages that a pure room may import otherwise.
var pureForbiddenNames = map[string][]string{
	"time": {"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"},
}

// pureAllowedNames are all that a pure room may use of these packages: the rest
// of math/rand draws from a global source.
var pureAllowedNames = map[string][]string{
	"math/rand":    {"New", "NewSource", "NewZipf", "Rand", "Source", "Source64", "Zipf"},
	"math/rand/v2": {"ChaCha8", "New", "NewChaCha8", "NewPCG", "NewZipf", "PCG", "Rand", "Source", "Zipf"},
}

// catchAllNames say nothing of what a package holds.
var catchAllNames = []string{"base", "common", "helper", "helpers", "lib", "misc", "model1", "shared", "types", "util", "utils"}
