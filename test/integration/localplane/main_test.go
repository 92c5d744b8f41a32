// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// childVariable makes the test binary start a control plane, print its childReport, and wait to be killed.
const childVariable = "PLACEMENT_ENV_TEST_CHILD"

// childReport describes the control plane of the child process.
type childReport struct {
	Directory string  `json:"directory"`
	Children  []child `json:"children"`
}

// child is an entry of the file of process ids in a data directory.
type child struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
}

// childrenOf returns the processes that a running control plane has recorded in its data directory.
func childrenOf(directory string) (children []child, err error) {
	content, err := os.ReadFile(filepath.Join(directory, "children.json"))
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(content, &children)
	return children, err
}

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		if err := beChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if started {
		e, err := shared()
		if err == nil {
			err = e.Stop()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "stopping the shared control plane:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func beChild() error {
	e, err := localplane.Start(context.Background(), localplane.Options{})
	if err != nil {
		return err
	}
	children, err := childrenOf(e.DataDir())
	if err != nil {
		return err
	}
	report := childReport{Directory: e.DataDir(), Children: children}
	if err := json.NewEncoder(os.Stdout).Encode(report); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return errors.New("the parent went away without a kill")
}

// started reports whether shared was called.
var started bool

// shared returns the control plane of the tests that do not stop it.
var shared = sync.OnceValues(func() (*localplane.ControlPlane, error) {
	started = true
	return localplane.Start(context.Background(), localplane.Options{ControllerManager: true, Quota: true, AuditLog: true, Log: os.Stderr})
})

func sharedControlPlane(t *testing.T) *localplane.ControlPlane {
	t.Helper()
	e, err := shared()
	if err != nil {
		t.Fatalf("starting the shared control plane: %v", err)
	}
	return e
}

// startControlPlane starts a control plane that is stopped at the end of the test.
func startControlPlane(t *testing.T, o localplane.Options) *localplane.ControlPlane {
	t.Helper()
	e, err := localplane.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return e
}

// eventually waits until check succeeds.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		case <-tick.C:
		}
	}
}
