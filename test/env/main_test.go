package env

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"
)

// childVariable makes the test binary start an environment, print its childReport, and wait to be killed.
const childVariable = "PLACEMENT_ENV_TEST_CHILD"

// childReport describes the environment of the child process.
type childReport struct {
	Directory string  `json:"directory"`
	Children  []child `json:"children"`
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
			fmt.Fprintln(os.Stderr, "stopping the shared environment:", err)
			code = 1
		}
	}
	os.Exit(code)
}

func beChild() error {
	e, err := Start(context.Background(), Options{})
	if err != nil {
		return err
	}
	report := childReport{Directory: e.directory.path, Children: e.directory.children}
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

// shared returns the environment of the tests that do not stop it.
var shared = sync.OnceValues(func() (*Environment, error) {
	started = true
	return Start(context.Background(), Options{ControllerManager: true, AuditLog: true, Log: os.Stderr})
})

func sharedEnvironment(t *testing.T) *Environment {
	t.Helper()
	e, err := shared()
	if err != nil {
		t.Fatalf("starting the shared environment: %v", err)
	}
	return e
}

// startEnvironment starts an environment that is stopped at the end of the test.
func startEnvironment(t *testing.T, o Options) *Environment {
	t.Helper()
	e, err := Start(t.Context(), o)
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
