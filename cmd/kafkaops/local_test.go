//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
		Deadline:            time.Now().Add(15 * time.Minute), // then whatever hangs is killed
		RequireUniqueNames:  true,
		RequireExplicitExec: false,
		Setup:               localSetup,
		Condition: func(cond string) (bool, error) {
			if cond == "long" {
				return os.Getenv("KAFKAOPS_LONG") != "", nil
			}
			return false, fmt.Errorf("no condition %q", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"awaitup": awaitUp, "awaittold": awaitTold, "portof": portOf, "sameid": sameID, "emptydir": emptyDir,
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
	env.Setenv(raceOptions, soonGone)
	vars := env.Vars
	env.Defer(func() {
		for _, name := range []string{"default", "mem", "one", "two", "demo"} {
			_, _ = bounded(vars, "cluster", "down", "--name", name) // where the script has failed, one may be up
		}
		_, _ = bounded(vars, "cluster", "down", "--data", env.WorkDir+"/elsewhere")
	})
	return nil
}

// asScript runs kafkaops in a script's environment.
func asScript(ts *testscript.TestScript, args ...string) ([]byte, error) {
	var vars []string
	for _, key := range []string{"XDG_RUNTIME_DIR", "XDG_STATE_HOME", asKafkaops, raceOptions} {
		vars = append(vars, key+"="+ts.Getenv(key))
	}
	return bounded(vars, args...)
}

// bounded runs kafkaops, and kills it where it hangs.
func bounded(vars []string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = vars
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

// statusOf is what a cluster says of itself, where it is up.
func statusOf(ts *testscript.TestScript, name string) (s localStatus, ok bool) {
	out, err := asScript(ts, "cluster", "status", "-o", "json", "--name", name)
	return s, err == nil && json.Unmarshal(out, &s) == nil && len(s.Items) > 0
}

// awaitUp NAME waits until the cluster says that it is ready.
func awaitUp(ts *testscript.TestScript, _ bool, args []string) {
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(20 * time.Millisecond) {
		if s, ok := statusOf(ts, args[0]); ok && s.Items[0].Ready {
			return
		}
	}
	ts.Fatalf("cluster %s is not up after %s", args[0], patience)
}

// awaitTold NAME TOPIC RECORDS waits until the topic holds that many records and no fault
// is in force: both stay so, however seldom one looks, where the faults come before the
// records and end after them.
func awaitTold(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.ParseInt(args[2], 10, 64)
	ts.Check(err)
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(20 * time.Millisecond) {
		before, ok := statusOf(ts, args[0])
		if !ok || !before.Items[0].Ready || logEnd(ts, before.Items[0].Bootstrap[0], args[1]) != want {
			continue
		}
		if after, ok := statusOf(ts, args[0]); ok && len(after.Items[0].Faults) == 0 {
			return
		}
	}
	ts.Fatalf("cluster %s was not healed with %d records of %s within %s", args[0], want, args[1], patience)
}

// logEnd is the log end offset of a topic's first partition, -1 where it is not told.
func logEnd(ts *testscript.TestScript, broker, topic string) int64 {
	out, err := asScript(ts, "lag", topic, "-o", "json", "-b", broker)
	var lag struct {
		Items []struct {
			LogEndOffset int64 `json:"logEndOffset"`
		} `json:"items"`
	}
	if err != nil || json.Unmarshal(out, &lag) != nil || len(lag.Items) == 0 {
		return -1
	}
	return lag.Items[0].LogEndOffset
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
