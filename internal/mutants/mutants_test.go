package mutants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const list = `What this is for.

== the sign is lost
code.go
# a rule
 func sign(n int) int {
-	return -n
+	return n

== nothing is left
code.go
-	return -n
`

const code = "package code\n\nfunc sign(n int) int {\n\treturn -n\n}\n"

func TestApply(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"list.txt": list, "code.go": code} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := Read(t, "list.txt")
	if len(got) != 2 || got[0].Name != "the sign is lost" || got[1].Name != "nothing is left" {
		t.Fatalf("got %+v", got)
	}
	want := []string{strings.Replace(code, "-n", "n", 1), strings.Replace(code, "\treturn -n\n", "", 1)}
	for i, m := range got {
		if broken := m.Apply(t); broken != want[i] {
			t.Errorf("%s: got %q, want %q", m.Name, broken, want[i])
		}
	}
}

func TestNoteCaught(t *testing.T) {
	t.Parallel()
	noted := strings.Replace(list, "# a rule\n", "# a rule\n# caught by A, seed 7\n", 1)
	if got := noteCaught(list, map[string]string{"the sign is lost": "A, seed 7"}); got != noted {
		t.Errorf("got %s", got)
	}
	want := strings.Replace(list, "# a rule\n", "# a rule\n# caught by B, seed 8\n", 1)
	want = strings.Replace(want, "code.go\n-", "code.go\n# caught by C\n-", 1)
	if got := noteCaught(noted, map[string]string{"the sign is lost": "B, seed 8", "nothing is left": "C"}); got != want {
		t.Errorf("got %s", got)
	}
}

func TestTest(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"go.mod": "module code\n", "code.go": code, "list.txt": list,
		"code_test.go": "package code\n\nimport \"testing\"\n\nfunc TestSign(t *testing.T) {\n\tif sign(1) != -1 {\n\t\tt.Fatal(sign(1))\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.FromSlash(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ms := Read(t, "list.txt")
	ms[0].MustFail(t, ".")
	if out, err := ms[1].Test(t, "."); err == nil || strings.Contains(string(out), "--- FAIL") {
		t.Errorf("a function without its return: got %v, %s; want that it does not compile", err, out)
	}
}

func TestBadLists(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"== name", "== name\ncode.go", "== name\ncode.go\nreturn -n", "== name\ncode.go\n func f() {"} {
		if got, err := parse(bad); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, got)
		}
	}
}
