// SPDX-License-Identifier: Apache-2.0

package workagent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// serving is a script that runs until it is stopped.
const serving = "tail -f /dev/null"

// scripted returns options with a script in place of the agent.
func scripted(t *testing.T, script string) Options {
	t.Helper()
	directory := t.TempDir()
	binary := filepath.Join(directory, binaries.WorkAgent)
	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return Options{
		Cluster: "eu1", Binary: binary, Dir: filepath.Join(directory, "agent"),
		Hub: &rest.Config{Host: "https://hub:1"}, Member: &rest.Config{Host: "https://member:2"},
		Resync: time.Second, StatusSync: 500 * time.Millisecond, Evict: time.Minute,
	}
}

func startAgent(t *testing.T, o Options) *Agent {
	t.Helper()
	agent, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := agent.Stop(); err != nil {
			t.Error(err)
		}
	})
	return agent
}

func TestStartTellsTheAgentItsClusterServersAndIntervals(t *testing.T) {
	o := scripted(t, `echo "$@"; exit 3`)
	err := startAgent(t, o).Wait(t.Context())
	if err == nil {
		t.Fatal("an agent that exits by itself must be reported")
	}
	for _, want := range []string{
		"exit status 3", logFile, "--spoke-cluster-name=eu1", "--workload-source-config=" + o.file(hubFile),
		"--spoke-kubeconfig=" + o.file(memberFile), "--resync-interval=1s", "--status-sync-interval=500ms",
		"--appliedmanifestwork-eviction-grace-period=1m0s",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not contain %q", err, want)
		}
	}
	for file, want := range map[string]string{hubFile: "https://hub:1", memberFile: "https://member:2"} {
		config, err := clientcmd.BuildConfigFromFlags("", o.file(file))
		if err != nil || config.Host != want {
			t.Errorf("%s: %v (%v), want the server %s", file, config, err, want)
		}
	}
}

func TestWaitEndsWithStopAndContext(t *testing.T) {
	agent := startAgent(t, scripted(t, serving))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := agent.Wait(ctx); err != nil {
		t.Errorf("the end of the context: %v", err)
	}
	if err := agent.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := agent.Wait(t.Context()); err != nil {
		t.Errorf("an agent that was stopped: %v", err)
	}
	if !agent.process.Exited() {
		t.Error("the agent runs after Stop")
	}
}

func TestStartKillsTheAgentOfAnEarlierRun(t *testing.T) {
	o := scripted(t, serving)
	// The interpreter of a script is the program of its process, so a link to tail is the earlier agent.
	tail, err := filepath.EvalSymlinks("/usr/bin/tail")
	if err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), binaries.WorkAgent)
	if err := os.Symlink(tail, linked); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	earlier, err := process.Start(process.Command{
		Name: binaries.WorkAgent, Path: linked, Args: []string{"-f", "/dev/null", o.file(memberFile)}, LogPath: filepath.Join(t.TempDir(), "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := earlier.Kill(); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(o.file(pidFile), []byte(strconv.Itoa(earlier.PID())), 0o600); err != nil {
		t.Fatal(err)
	}
	awaitCommandLine(t, earlier.PID())
	agent := startAgent(t, o)
	<-earlier.Done()
	recorded, err := os.ReadFile(o.file(pidFile))
	if want := strconv.Itoa(agent.process.PID()); err != nil || string(recorded) != want {
		t.Errorf("recorded process %q (%v), want %s", recorded, err, want)
	}
}

// awaitCommandLine waits until the kernel has set the command line of a new process, which it does a moment after its parent goes on.
func awaitCommandLine(t *testing.T, pid int) {
	t.Helper()
	for {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			t.Fatal(err)
		}
		if len(line) > 0 {
			return
		}
		runtime.Gosched()
	}
}

func TestStartFailsWithoutABinary(t *testing.T) {
	o := scripted(t, serving)
	o.Binary = ""
	t.Setenv(binaries.OCMVariable, t.TempDir())
	t.Chdir(t.TempDir())
	_, err := Start(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "cluster eu1") || !strings.Contains(err.Error(), "make assets-agent") {
		t.Errorf("got %v, want an error that names the cluster and what builds the agent", err)
	}
}
