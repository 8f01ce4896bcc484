package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHouseRules checks every package of the module.
func TestHouseRules(t *testing.T) {
	t.Parallel()
	sources, err := load(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(sources) < 3 {
		t.Fatalf("only %d packages found", len(sources))
	}
	for _, src := range sources {
		for _, wrong := range checkRoom(src) {
			t.Error(strings.ReplaceAll(wrong, filepath.Join("..", "..")+string(filepath.Separator), ""))
		}
	}
}

// TestTable checks that the table names every room once, and after all that it
// may import, so that no circle can be allowed.
func TestTable(t *testing.T) {
	t.Parallel()
	var above []string
	for _, r := range rooms {
		if slices.Contains(above, r.dir) {
			t.Errorf("%s is listed twice", r.dir)
		}
		if !slices.IsSorted(r.ours) {
			t.Errorf("%s: ours is not sorted", r.dir)
		}
		for _, allowed := range r.ours {
			if !slices.ContainsFunc(above, func(dir string) bool { return covers(allowed, dir) }) {
				t.Errorf("%s may import %s, which is not listed above it", r.dir, allowed)
			}
		}
		above = append(above, r.dir)
	}
	for _, lib := range libraries {
		for _, dir := range lib.rooms {
			if !slices.Contains(above, dir) {
				t.Errorf("%s is for %s, which is not listed", lib.what, dir)
			}
		}
	}
}

// load parses the files that are no tests of every package below root.
func load(root string) ([]source, error) {
	byDir := map[string]*source{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			hidden := name != ".." && strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
			if hidden || name == "testdata" || name == "bin" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(p))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		if byDir[dir] == nil {
			byDir[dir] = &source{dir: dir, fset: token.NewFileSet()}
		}
		src := byDir[dir]
		f, err := parser.ParseFile(src.fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		src.files = append(src.files, f)
		return nil
	})
	var sources []source
	for _, src := range byDir {
		sources = append(sources, *src)
	}
	slices.SortFunc(sources, func(a, b source) int { return strings.Compare(a.dir, b.dir) })
	return sources, err
}

// TestRulesGoRed shows that each rule refuses what it is there to refuse.
func TestRulesGoRed(t *testing.T) {
	t.Parallel()
	const doc = "// Package x is a test's.\n"
	for _, tt := range []struct {
		name, dir, code string
		want            []string // parts of the complaints; none: fine
	}{
		{"fine", "pkg/inspect", doc + `package x; import "time"; var _ time.Time`, nil},
		{"a direction that is drawn", "pkg/inspect/history", doc + `package x; import _ "` + module + `/pkg/inspect"`, nil},
		{"a tree", "pkg/exporter", doc + `package x; import _ "` + module + `/pkg/inspect/jmx"`, nil},
		{
			"against the direction", "pkg/inspect", doc + `package x; import _ "` + module + `/pkg/inspect/source"`,
			[]string{"pkg/inspect may not import pkg/inspect/source"},
		},
		{
			"a sibling that only looks alike", "pkg/exporter", doc + `package x; import _ "` + module + `/pkg/inspector"`,
			[]string{"pkg/exporter may not import pkg/inspector"},
		},
		{
			"test support", "cmd/kafkaops/internal/cli", doc + `package x; import _ "` + module + `/internal/fakekafka"`,
			[]string{"cli may not import internal/fakekafka"},
		},
		{
			"sarama", "cmd/kafkaops/internal/cli", doc + `package x; import _ "github.com/IBM/sarama"`,
			[]string{"may not import github.com/IBM/sarama (a Kafka client): only internal/admin, "},
		},
		{
			"kgo where only kmsg may be", "pkg/embedded/wire",
			doc + `package x; import (_ "github.com/twmb/franz-go/pkg/kmsg"; _ "github.com/twmb/franz-go/pkg/kgo")`,
			[]string{"pkg/embedded/wire may not import github.com/twmb/franz-go/pkg/kgo (a Kafka client)"},
		},
		{
			"kmsg", "pkg/inspect/diagnose", doc + `package x; import _ "github.com/twmb/franz-go/pkg/kmsg"`,
			[]string{"(the codec kmsg)"},
		},
		{
			"kerr", "pkg/embedded/node", doc + `package x; import _ "github.com/twmb/franz-go/pkg/kerr"`,
			[]string{"(Kafka's error codes)"},
		},
		{
			"bubbletea", "cmd/kafkaops/internal/cli", doc + `package x; import _ "charm.land/bubbletea/v2"`,
			[]string{"(bubbletea): only cmd/kafkaops/internal/tui may"},
		},
		{
			"prometheus", "pkg/inspect/jmx", doc + `package x; import _ "github.com/prometheus/client_golang/prometheus"`,
			[]string{"(prometheus): only pkg/exporter may"},
		},
		{"flags", "pkg/exporter", doc + `package x; import _ "flag"`, []string{"(a flag parser)"}},
		{
			"imports of the shell", "internal/isrrule",
			doc + `package x; import (_ "context"; _ "log/slog"; _ "net/http"; _ "os"; _ "sync/atomic"; _ "crypto/rand")`,
			[]string{
				"pure and may not import context", "import log/slog", "import net/http", "import os", "import sync/atomic",
				"import crypto/rand",
			},
		},
		{"the same in a shell", "pkg/inspect/source", doc + `package x; import (_ "context"; _ "net"; _ "os")`, nil},
		{
			"the clock", "pkg/inspect/history",
			doc + `package x; import "time"; var a, b = time.Now(), time.Since; func f(t time.Time) { time.Sleep(time.Until(t)) }`,
			[]string{"time.Now in a pure package", "time.Since", "time.Sleep", "time.Until"},
		},
		{
			"the clock by another name", "pkg/tuning", doc + `package x; import clock "time"; var a = clock.After(1)`,
			[]string{"clock.After in a pure package"},
		},
		{
			"the global source", "pkg/embedded/replica",
			doc + `package x; import "math/rand/v2"; func f(r *rand.Rand) int { return rand.N(7) + r.IntN(7) }`,
			[]string{"rand.N in a pure package"},
		},
		{
			"goroutines and channels", "pkg/embedded/controller",
			doc + `package x; func f() { c := make(chan int); go f(); c <- 1; select {} }`,
			[]string{"a channel", "a goroutine", "a channel", "a channel"},
		},
		{"a name that says nothing", "pkg/inspect", "// Package util is.\npackage util", []string{"name a package for what it holds"}},
		{"no comment", "pkg/inspect", "package x", []string{"no package comment"}},
		{"a comment that does not name it", "pkg/inspect", "// It is.\npackage x", []string{`has to begin with "Package x"`}},
		{"a command's comment", "cmd/kafkaops", "// Kafkaops looks.\npackage main", nil},
		{"not listed", "pkg/inspect/somewhere", doc + "package x", []string{"add it to rooms in internal/house/rooms_test.go"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, "x.go", tt.code, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			got := checkRoom(source{dir: tt.dir, fset: fset, files: []*ast.File{f}})
			if len(got) != len(tt.want) {
				t.Fatalf("got %d complaints, want %d:\n%s", len(got), len(tt.want), strings.Join(got, "\n"))
			}
			for i, part := range tt.want {
				if !strings.Contains(got[i], part) {
					t.Errorf("got %q, want it to hold %q", got[i], part)
				}
			}
		})
	}
}

func TestTwoPackageComments(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	src := source{dir: "pkg/inspect", fset: fset}
	for range 2 {
		f, err := parser.ParseFile(fset, "x.go", "// Package x is.\npackage x", parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		src.files = append(src.files, f)
	}
	want := []string{"pkg/inspect: 2 package comments: keep one, in doc.go if it is long"}
	if diff := cmp.Diff(want, checkRoom(src)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestLoad checks what is a package and what is not.
func TestLoad(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{
		"a/a.go", "a/a_test.go", "a/testdata/t.go", ".tools/x.go", "_old/x.go", "bin/x.go", "a/b/c.go", "tests/only_test.go",
	} {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("package x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sources, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, src := range sources {
		got = append(got, src.dir)
		if len(src.files) != 1 {
			t.Errorf("%s: %d files, want 1", src.dir, len(src.files))
		}
	}
	if diff := cmp.Diff([]string{"a", "a/b"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
