// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"
	"testing"
)

func TestKeepGoing(t *testing.T) {
	f := newFake(t)
	f.add("pkg/a", failing("pkg/a")...)
	f.add("pkg/b", passing("pkg/b", "1.5s")...)
	f.add("test/integration/c", failing("test/integration/c")...)
	f.add("test/integration/d", passing("test/integration/d", "1.5s")...)
	f.add("test/integration/e", failing("test/integration/e")...)
	if code := f.run(t.Context(), "-keep-going"); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	for _, directory := range []string{"pkg/a", "test/integration/c", "test/integration/e"} {
		want(t, f.out.String(), "FAIL\t"+module+directory+"\t0.5s\n", "==> FAILED: "+directory+"\n  TestA/b:\n        a_test.go:7: got 1, want 2\n")
		want(t, f.errors.String(), "==> test: FAILED after 0s; packages that failed: 3\n",
			"  "+directory+"\n    whole output: bin/test-logs/"+directory+".log\n",
			"    alone:        CGO_ENABLED=0 GOFLAGS=-trimpath go test ./"+directory+" ")
	}
	for _, directory := range []string{"pkg/b", "test/integration/d"} {
		want(t, f.out.String(), "ok  \t"+module+directory+"\t1.5s\n")
	}
	want(t, f.out.String(), "[5/5  0s]\n", "FAIL\n")
	if strings.Contains(f.out.String(), "all passed") {
		t.Errorf("says that all passed:\n%s", f.out.String())
	}
}

// A run that keeps going ends all the same when it is interrupted, or when a command fails for another reason than the tests of a package. What it
// lists are the packages that failed before.
func TestKeepGoingEnds(t *testing.T) {
	t.Run("an interrupt", func(t *testing.T) {
		f := newFake(t)
		f.add("pkg/a", failing("pkg/a")...)
		f.add("test/integration/b", passing("test/integration/b", "1.5s")...)
		f.write("blocks.test_integration_b", "", 0o644)
		f.write("go", "#!/bin/sh\nif [ \"$1 $2\" = 'test -json' ]; then until [ -s \"$FAKE/pids\" ]; do sleep 0.01; done; fi\n"+
			strings.TrimPrefix(fakeGo, "#!/bin/sh\n"), 0o755)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		f.driver.console.out = &closingWriter{text: "==> FAILED: pkg/a", stop: stop}
		if code := f.run(ctx, "-keep-going"); code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
		want(t, f.errors.String(), "packages that failed: 1\n  pkg/a\n", "==> test: interrupted after 0s\n")
		f.wantNoChild()
	})
	t.Run("a command without a failed package", func(t *testing.T) {
		f := newFake(t)
		f.add("pkg/a", event{Action: "start"})
		f.write("go", strings.Replace(fakeGo, "code=0", "code=3", 1), 0o755)
		if code := f.run(t.Context(), "-keep-going"); code != 1 {
			t.Errorf("exit code %d, want 1", code)
		}
		want(t, f.errors.String(), "==> test: FAILED after 0s: ", "exit status 3; the messages are above\n")
	})
}
