// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func start(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(Command{
		Name:    "shell",
		Path:    "/bin/sh",
		Args:    []string{"-c", script},
		LogPath: filepath.Join(t.TempDir(), "shell.log"),
	})
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Errorf("kill: %v", err)
		}
	})
	return p
}

func TestExitErrorQuotesTheLog(t *testing.T) {
	p := start(t, "echo bind: address already in use >&2; exit 3")
	message := p.ExitError().Error()
	for _, want := range []string{"shell exited", "exit status 3", "shell.log", "bind: address already in use"} {
		if !strings.Contains(message, want) {
			t.Errorf("message %q does not contain %q", message, want)
		}
	}
}

func TestStartNamesAMissingProgram(t *testing.T) {
	_, err := Start(Command{Name: "etcd", Path: "/nonexistent/etcd", LogPath: filepath.Join(t.TempDir(), "etcd.log")})
	if err == nil || !strings.Contains(err.Error(), "starting etcd (/nonexistent/etcd)") {
		t.Errorf("got %v, want an error that names the program and its path", err)
	}
}

func TestTerminateKillsAfterGrace(t *testing.T) {
	p := start(t, "trap '' TERM; tail -f /dev/null")
	if err := p.Terminate(50 * time.Millisecond); err != nil {
		t.Fatalf("terminate: %v", err)
	}
	if !p.Exited() {
		t.Error("a process that ignores SIGTERM must be killed after the grace period")
	}
	if err := p.Terminate(time.Second); err != nil {
		t.Errorf("terminating an ended process: %v", err)
	}
}

func TestChildrenDoNotSeeEtcdVariables(t *testing.T) {
	t.Setenv("ETCD_NAME", "surprise")
	p := start(t, `echo "name=<$ETCD_NAME> home=<$HOME>"`)
	<-p.Done()
	tail, err := Tail(p.command.LogPath, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := "    name=<> home=<" + os.Getenv("HOME") + ">"; tail != want {
		t.Errorf("got %q, want %q", tail, want)
	}
}

func TestKillLeftoverVerifiesTheProgram(t *testing.T) {
	directory := t.TempDir()
	// The second command keeps the shell from replacing itself by the first; the directory is in its command line.
	p := start(t, "tail -f /dev/null; : '"+directory+"/data'")
	for !Running(t.Context(), p.PID(), "sh", directory) { // The kernel sets the command line a moment after the start.
		runtime.Gosched()
	}
	cases := []struct {
		reason, name, directory string
		want                    bool
	}{
		{"another program got the process id", "etcd", directory, false},
		{"the same program of another run", "sh", directory + "-other", false},
		{"our own child", "sh", directory, true},
		{"gone already", "sh", directory, false},
	}
	for _, c := range cases {
		got, err := KillLeftover(t.Context(), p.PID(), c.name, c.directory)
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		if got != c.want {
			t.Errorf("%s: killed = %v, want %v", c.reason, got, c.want)
		}
		if c.want {
			<-p.Done()
		}
	}
}

func TestGroupCommandInterruptsChildren(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	path := filepath.Join(t.TempDir(), "child")
	// The outer shell survives the interrupt, waits for the inner one, and exits when that was interrupted too.
	const inner = "trap 'echo interrupted > \"$CHILD\"; exit' INT; echo ready; while :; do :; done"
	cmd := GroupCommand(ctx, "/bin/sh", "-c", "trap : INT; /bin/sh -c \"$INNER\"; exit 0")
	cmd.Env = append(os.Environ(), "CHILD="+path, "INNER="+inner)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.Copy(io.Discard, output); err != nil { // to the end of the child
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("the interrupted shell: %v", err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the child was not interrupted: %v", err)
	}
}

func TestTail(t *testing.T) {
	long := strings.Repeat("x", tailBytes)
	cases := []struct{ reason, content, want string }{
		{"an empty file", "", "    "},
		{"fewer lines than asked for", "a\nb\n", "    a\n    b"},
		{"more lines than asked for", "a\nb\nc\nd\n", "    b\n    c\n    d"},
		{"a line cut by the limit is left out", long + "\nlast\n", "    last"},
	}
	for _, c := range cases {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Tail(path, 3)
		if err != nil {
			t.Fatalf("%s: %v", c.reason, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}
