//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestLocal tells with the real binary what clusters of this machine do.
func TestLocal(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/local",
		RequireUniqueNames:  true,
		RequireExplicitExec: false,
		Setup:               localSetup,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"awaitup": awaitUp, "awaitheal": awaitHeal, "portof": portOf, "sameid": sameID, "emptydir": emptyDir,
		},
	})
}

// localSetup gives a script directories of its own, and ends what it leaves behind.
func localSetup(env *testscript.Env) error {
	run, err := os.MkdirTemp("", "k") // a socket's path has to be short
	if err != nil {
		return err
	}
	env.Defer(func() { os.RemoveAll(run) })
	env.Setenv("XDG_RUNTIME_DIR", run)
	env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
	// The program starts itself again, and must not be a test then.
	env.Setenv(asKafkaops, "1")
	vars := env.Vars
	env.Defer(func() {
		for _, name := range []string{"default", "mem", "one", "two", "demo"} {
			cmd := exec.Command(os.Args[0], "cluster", "down", "--name", name)
			cmd.Env = vars
			_ = cmd.Run() // where the script has failed, one may be up
		}
		cmd := exec.Command(os.Args[0], "cluster", "down", "--data", env.WorkDir+"/elsewhere")
		cmd.Env = vars
		_ = cmd.Run()
	})
	return nil
}

// asScript runs kafkaops in a script's environment.
func asScript(ts *testscript.TestScript, args ...string) ([]byte, error) {
	cmd := exec.Command(os.Args[0], args...)
	for _, key := range []string{"XDG_RUNTIME_DIR", "XDG_STATE_HOME", asKafkaops} {
		cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
	}
	return cmd.Output()
}

type localStatus struct {
	Cluster struct {
		ID string `json:"id"`
	} `json:"cluster"`
	Items []struct {
		Ready     bool     `json:"ready"`
		Bootstrap []string `json:"bootstrapServers"`
		Faults    []any    `json:"faults"`
	} `json:"items"`
}

// awaitUp NAME waits until the cluster says that it is ready.
func awaitUp(ts *testscript.TestScript, _ bool, args []string) {
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(20 * time.Millisecond) {
		out, err := asScript(ts, "cluster", "status", "-o", "json", "--name", args[0])
		var s localStatus
		if err == nil && json.Unmarshal(out, &s) == nil && s.Items[0].Ready {
			return
		}
	}
	ts.Fatalf("cluster %s is not up after %s", args[0], patience)
}

// awaitHeal NAME waits until faults were in force, and are no more.
func awaitHeal(ts *testscript.TestScript, _ bool, args []string) {
	broken := false
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(20 * time.Millisecond) {
		out, err := asScript(ts, "cluster", "status", "-o", "json", "--name", args[0])
		var s localStatus
		if err != nil || json.Unmarshal(out, &s) != nil {
			continue
		}
		n := len(s.Items[0].Faults)
		if broken && n == 0 {
			return
		}
		broken = broken || n > 0
	}
	ts.Fatalf("cluster %s was not broken and healed within %s", args[0], patience)
}

// portOf NAME sets PORT to that of its broker 1.
func portOf(ts *testscript.TestScript, _ bool, args []string) {
	out, err := asScript(ts, "cluster", "status", "-o", "json", "--name", args[0])
	ts.Check(err)
	var s localStatus
	ts.Check(json.Unmarshal(out, &s))
	_, port, _ := strings.Cut(s.Items[0].Bootstrap[0], ":")
	if _, err := strconv.Atoi(port); err != nil {
		ts.Fatalf("no port in %s", out)
	}
	ts.Setenv("PORT", port)
}

// sameID A B compares the clusters of two documents.
func sameID(ts *testscript.TestScript, _ bool, args []string) {
	var ids []string
	for _, file := range args {
		var s localStatus
		ts.Check(json.NewDecoder(bytes.NewBufferString(ts.ReadFile(file))).Decode(&s))
		ids = append(ids, s.Cluster.ID)
	}
	if ids[0] == "" || ids[0] != ids[1] {
		ts.Fatalf("cluster ids %q and %q, want one", ids[0], ids[1])
	}
}

// emptyDir DIR fails where anything is left in it.
func emptyDir(ts *testscript.TestScript, _ bool, args []string) {
	left, err := os.ReadDir(args[0])
	ts.Check(err)
	if len(left) > 0 {
		ts.Fatalf("%s holds %v, want nothing", args[0], left)
	}
}
