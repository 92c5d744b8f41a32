// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// scripted returns a server that runs one script per attempt and is ready when the last one runs.
func scripted(t *testing.T, scripts ...string) (server, *int) {
	t.Helper()
	attempts := new(int)
	log := filepath.Join(t.TempDir(), "log")
	return server{
		name: "server",
		launch: func(int) (*process.Process, error) {
			script := scripts[min(*attempts, len(scripts)-1)]
			*attempts++
			return process.Start(process.Command{Name: "server", Path: "/bin/sh", Args: []string{"-c", script}, LogPath: log})
		},
		ready: func(context.Context, int) error {
			if *attempts < len(scripts) {
				return fmt.Errorf("attempt %d", *attempts)
			}
			return nil
		},
	}, attempts
}

func emptyControlPlane(t *testing.T) *ControlPlane {
	t.Helper()
	directory, err := openDataDirectory(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := directory.close(); err != nil {
			t.Error(err)
		}
	})
	return &ControlPlane{directory: directory}
}

const (
	portTaken = "echo listen tcp 127.0.0.1:1: bind: address already in use; exit 1"
	serving   = "tail -f /dev/null"
)

func TestStartTriesAnotherPort(t *testing.T) {
	c := emptyControlPlane(t)
	s, attempts := scripted(t, portTaken, portTaken, serving)
	p, _, err := c.start(t.Context(), s)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	if *attempts != 3 {
		t.Errorf("%d attempts, want 3", *attempts)
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
}

func TestStartGivesUp(t *testing.T) {
	cases := []struct {
		reason   string
		scripts  []string
		attempts int
		message  string
	}{
		{"each port is taken", []string{portTaken, portTaken, portTaken, portTaken, portTaken, serving}, portAttempts, "address already in use"},
		{"another cause does not mend by another port", []string{"echo broken; exit 2", serving}, 1, "broken"},
	}
	for _, tc := range cases {
		c := emptyControlPlane(t)
		s, attempts := scripted(t, tc.scripts...)
		_, _, err := c.start(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), tc.message) {
			t.Errorf("%s: %v, want an error with %q", tc.reason, err, tc.message)
		}
		if *attempts != tc.attempts {
			t.Errorf("%s: %d attempts, want %d", tc.reason, *attempts, tc.attempts)
		}
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	c := emptyControlPlane(t)
	ctx, cancel := context.WithCancel(t.Context())
	s, _ := scripted(t, serving)
	s.ready = func(context.Context, int) error {
		cancel()
		return errors.New("still loading")
	}
	_, _, err := c.start(ctx, s)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "still loading") {
		t.Errorf("got %v, want the end of the context and the last answer", err)
	}
}

func TestPreferredPort(t *testing.T) {
	port, err := freePort(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	again, err := freePort(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	if again != port {
		t.Errorf("port %d, want the preferred one, %d, which is free", again, port)
	}
}
