// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// The packages with servers share a process that lends control planes, which ends after the last of them.
func TestControlPlanesAreLent(t *testing.T) {
	f := newFake(t)
	for _, directory := range []string{"pkg/a", "test/integration/a", "test/integration/b"} {
		f.add(directory, passing(directory, "1.5s")...)
	}
	if code := f.run(t.Context()); code != 0 {
		t.Errorf("exit code %d, want 0; %s", code, f.errors.String())
	}
	lines := strings.Fields(strings.ReplaceAll(f.read("keeper"), "started yes", "started"))
	if len(lines) != 4 || lines[3] != "stopped" {
		t.Errorf("the process that lends control planes wrote %q, want that it started, was asked twice and stopped", lines)
	}
	want(t, f.out.String(), lentPlanes+" 0 s")
}
