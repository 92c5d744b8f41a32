// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeGo lists the packages in the file list, builds the shared program, and prints the events in the files whose name is a package. After the
// events of a package of which a file blocks.NAME exists, a process whose id is in the file pids waits until it is interrupted. It prints them when
// there is such a process for every file: an interrupt is lost on a process that a shell has forked and that does not run its program yet.
const fakeGo = `#!/bin/sh
echo "$@" >> "$FAKE/calls"
echo "GOGC=$GOGC PLACEMENT_BINARY=$PLACEMENT_BINARY" >> "$FAKE/environments"
if [ -n "$PLACEMENT_TEST_PLANES" ] && [ -S "$PLACEMENT_TEST_PLANES" ]; then echo "asked" >> "$FAKE/keeper"; fi
if [ "$1" = list ]; then
	shift 2
	for pattern in "$@"; do
		prefix=${pattern%/...}
		grep "^github.com/placement-hub/placement-hub/${prefix#./}" "$FAKE/list"
	done
	exit 0
fi
if [ "$1" = env ]; then printf '%s\n' /go /go/build /go/mod /go/env; exit 0; fi
if [ "$2" = -c ]; then exit 0; fi
if [ "$1" = tool ]; then set -- "./${5#github.com/placement-hub/placement-hub/}"; fi
code=0
for argument in "$@"; do
	case $argument in ./*) ;; *) continue ;; esac
	name=$(echo "${argument#./}" | tr / _)
	if grep -q '"Action":"fail"' "$FAKE/$name"; then code=1; fi
	if [ -e "$FAKE/blocks.$name" ]; then
		sh -c "trap 'exit 1' INT
			echo \$\$ >> $FAKE/pids
			until [ \$(wc -l < $FAKE/pids) -ge \$(ls $FAKE | grep -c '^blocks') ]; do sleep 0.01; done
			cat $FAKE/$name
			while :; do sleep 0.02; done"
	fi
	cat "$FAKE/$name"
done
exit $code
`

// fakeMake builds every target except those of which a file fails.TARGET exists, and fails every question.
const fakeMake = `#!/bin/sh
for target; do :; done
name=$(echo "$target" | tr / _)
echo "$target" >> "$FAKE/targets"
if [ -e "$FAKE/fails.$name" ]; then
	echo "compile: no such module"
	echo "hint: building needs the Go module proxy" >&2
	exit 2
fi
`

// fakeKeeper is the shared program in the process that lends control planes. It takes some CPU time and waits until it is interrupted.
const fakeKeeper = `#!/bin/sh
trap 'echo "stopped" >> "$FAKE/keeper"; exit 0' INT
echo "started $PLACEMENT_TEST_KEEPER" >> "$FAKE/keeper"
if [ ! -S /proc/self/fd/3 ]; then echo "no socket" >> "$FAKE/keeper"; fi
while :; do sleep 0.02; done
`

// fake is a driver with scripts in place of go and make, and with every program present.
type fake struct {
	t         *testing.T
	directory string
	driver    *driver
	out       bytes.Buffer
	errors    bytes.Buffer
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, directory: t.TempDir()}
	t.Setenv("GOGC", "")
	t.Setenv("PLACEMENT_BINARY", "")
	t.Setenv(browserVariable, "")
	f.write("go", fakeGo, 0o755)
	f.write("make", fakeMake, 0o755)
	f.write("list", "", 0o644)
	f.driver = &driver{
		root:        t.TempDir(),
		goCommand:   filepath.Join(f.directory, "go"),
		makeCommand: filepath.Join(f.directory, "make"),
		now:         func() time.Time { return time.Unix(1000, 0) }, // Durations are 0s.
		idle:        func() float64 { return 0 },
	}
	program := (&sharedTests{root: f.driver.root}).program()
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte(f.script(fakeKeeper)), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if p.present != nil {
			p.present = func(*driver) (bool, error) { return true, nil }
		}
		f.driver.programs = append(f.driver.programs, p)
	}
	f.driver.console = &console{out: &f.out, now: f.driver.now}
	return f
}

// script returns a script in which $FAKE is the directory of the fake: tests see no such variable.
func (f *fake) script(content string) string {
	return strings.Replace(content, "#!/bin/sh\n", "#!/bin/sh\nexport FAKE='"+f.directory+"'\n", 1)
}

func (f *fake) write(name, content string, mode os.FileMode) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.directory, name), []byte(f.script(content)), mode); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) read(name string) string {
	f.t.Helper()
	content, err := os.ReadFile(filepath.Join(f.directory, name))
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	return string(content)
}

// writeTest writes a file with tests into a package of the checkout.
func (f *fake) writeTest(directory string, tests ...string) {
	f.t.Helper()
	path := filepath.Join(f.driver.root, filepath.FromSlash(directory), "a_test.go")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	var content strings.Builder
	content.WriteString("package " + filepath.Base(directory) + "\n")
	for _, test := range tests {
		content.WriteString("func " + test + "(t *testing.T) {}\n")
	}
	if err := os.WriteFile(path, []byte(content.String()), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// ran returns the packages with servers that were run, sorted.
func (f *fake) ran() []string {
	f.t.Helper()
	var directories []string
	for call := range strings.Lines(f.read("calls")) {
		if fields := strings.Fields(call); fields[0] == "tool" {
			directories = append(directories, strings.TrimPrefix(fields[4], module))
		}
	}
	slices.Sort(directories)
	return directories
}

// add adds a package whose tests have these events.
func (f *fake) add(directory string, events ...event) {
	f.t.Helper()
	f.write("list", f.read("list")+module+directory+"\n", 0o644)
	f.writeTest(directory, "TestA")
	var stream strings.Builder
	for _, e := range events {
		if e.Action != "build-output" {
			e.Package = module + directory
		}
		line, err := json.Marshal(e)
		if err != nil {
			f.t.Fatal(err)
		}
		stream.Write(append(line, '\n'))
	}
	f.write(strings.ReplaceAll(directory, "/", "_"), stream.String(), 0o644)
}

// passing are the events of a package that passes.
func passing(directory, result string) []event {
	return []event{
		{Action: "start"},
		{Action: "output", Test: "TestA", Output: "=== RUN   TestA\n"},
		{Action: "output", Test: "TestA", Output: "quiet\n"},
		{Action: "pass", Test: "TestA"},
		{Action: "output", Output: "PASS\n"},
		{Action: "output", Output: "ok  \t" + module + directory + "\t" + result + "\n"},
		{Action: "pass", Elapsed: 1.5},
	}
}

// failing are the events of a package of which a subtest fails.
func failing(directory string) []event {
	return []event{
		{Action: "start"},
		{Action: "output", Test: "TestA", Output: "=== RUN   TestA\n"},
		{Action: "output", Test: "TestA/b", Output: "    a_test.go:7: got 1, want 2\n"},
		{Action: "output", Test: "TestA/b", Output: "    --- FAIL: TestA/b (0.00s)\n"},
		{Action: "fail", Test: "TestA/b"},
		{Action: "output", Test: "TestA", Output: "--- FAIL: TestA (0.00s)\n"},
		{Action: "fail", Test: "TestA"},
		{Action: "output", Output: "FAIL\n"},
		{Action: "output", Output: "FAIL\t" + module + directory + "\t0.5s\n"},
		{Action: "fail", Elapsed: 0.5},
	}
}

func (f *fake) run(ctx context.Context, arguments ...string) int {
	return f.driver.main(ctx, arguments, &f.errors)
}

// want expects fragments in a text, in this order.
func want(t *testing.T, text string, fragments ...string) {
	t.Helper()
	rest := text
	for _, fragment := range fragments {
		_, after, found := strings.Cut(rest, fragment)
		if !found {
			t.Errorf("no %q at its place in:\n%s", fragment, text)
			return
		}
		rest = after
	}
}

func TestAllPass(t *testing.T) {
	f := newFake(t)
	f.add("test/integration/a", passing("test/integration/a", "81.2s")...)
	f.add("test/integration/federationfaults", passing("test/integration/federationfaults", "90.1s")...)
	f.add("pkg/b", passing("pkg/b", "(cached)")...)
	f.add("pkg/c", event{Action: "start"}, event{Action: "output", Output: "?   \t" + module + "pkg/c\t[no test files]\n"}, event{Action: "skip"})
	if code := f.run(t.Context()); code != 0 {
		t.Fatalf("exit code %d; %s", code, f.errors.String())
	}
	want(t, f.out.String(),
		"==> test: packages: 4; about ",
		"\n[1/4  0s, about ",
		"\n[4/4  0s]\n",
		"==> test: all passed in 0s\n")
	want(t, f.out.String(), "ok  \t"+module+"pkg/b\t(cached)\n")
	want(t, f.out.String(), "?   \t"+module+"pkg/c\t[no test files]\n")
	want(t, f.out.String(), "ok  \t"+module+"test/integration/federationfaults\t90.1s\n")
	want(t, f.out.String(), "ok  \t"+module+"test/integration/a\t81.2s\n")
	if got := f.out.String(); strings.Contains(got, "quiet") || strings.Contains(got, "PASS") {
		t.Errorf("the output of tests that pass is printed:\n%s", got)
	}
	want(t, f.read("calls"), "test -json -vet=off -ldflags=-s ./pkg/b ./pkg/c\n")
	want(t, f.read("calls"), "tool test2json -t -p "+module+"test/integration/a "+filepath.Join(f.driver.root, "bin", "tests", "servers.test"),
		" -test.timeout=40m -test.run=^(TestA_test_integration_a)$\n")
	if diff := cmp.Diff([]string{"test/integration/a", "test/integration/federationfaults"}, f.ran()); diff != "" {
		t.Errorf("packages with servers (-want +got):\n%s", diff)
	}
	want(t, f.read("environments"), "GOGC=400 PLACEMENT_BINARY=\n")
	want(t, f.read("environments"), "GOGC=800 PLACEMENT_BINARY="+filepath.Join(f.driver.root, "bin", "placement")+"\n")
	if log, err := os.ReadFile(filepath.Join(f.driver.root, f.driver.logPath("pkg/b"))); err != nil || !strings.Contains(string(log), "quiet\n") {
		t.Errorf("the log of pkg/b is %q (%v), want the output of its tests", log, err)
	}

	last, err := readDurations(f.driver.durationsPath())
	if err != nil {
		t.Fatal(err)
	}
	wantDurations := map[string]float64{"test/integration/a": 1.5, "test/integration/federationfaults": 1.5}
	if diff := cmp.Diff(wantDurations, last.Packages); diff != "" {
		t.Errorf("durations without those of cached results (-want +got):\n%s", diff)
	}
}

func TestFirstFailureEndsTheRest(t *testing.T) {
	f := newFake(t)
	f.add("pkg/a", passing("pkg/a", "1.5s")...)
	f.add("pkg/b", failing("pkg/b")...)
	f.add("pkg/c", passing("pkg/c", "1.5s")...)
	f.add("test/integration/d", event{Action: "start"})
	f.add("test/integration/e", event{Action: "start"})
	f.write("blocks.pkg_b", "", 0o644)
	f.write("blocks.test_integration_d", "", 0o644)
	if code := f.run(t.Context()); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	want(t, f.out.String(),
		"ok  \t"+module+"pkg/a\t1.5s\n",
		"FAIL\t"+module+"pkg/b\t0.5s\n",
		"==> FAILED: pkg/b\n  TestA/b:\n        a_test.go:7: got 1, want 2\n",
		"  whole output: bin/test-logs/pkg/b.log\n",
		"  alone:        CGO_ENABLED=0 GOFLAGS=-trimpath go test ./pkg/b -count=1 -v -run '^(TestA)$'\n",
		"FAIL\n")
	want(t, f.errors.String(), "==> test: FAILED in pkg/b after 0s; the other packages were stopped\n")
	if got := f.out.String(); strings.Contains(got, "ok  \t"+module+"pkg/c") || slices.Contains(f.ran(), "test/integration/e") {
		t.Errorf("packages ran after the failure: %v\n%s", f.ran(), got)
	}
	f.wantNoChild()
}

// wantNoChild expects that the processes that the tests have started are gone.
func (f *fake) wantNoChild() {
	f.t.Helper()
	pids := strings.Fields(f.read("pids"))
	if len(pids) == 0 {
		f.t.Fatal("no process was started")
	}
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if err != nil {
			f.t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err == nil {
			f.t.Errorf("process %d is left running", pid)
		}
	}
}

// closingWriter ends a context when a text is written.
type closingWriter struct {
	bytes.Buffer

	text string
	stop func()
}

func (w *closingWriter) Write(content []byte) (int, error) {
	if strings.Contains(string(content), w.text) {
		w.stop()
	}
	return w.Buffer.Write(content)
}

func TestInterruptEndsAllChildren(t *testing.T) {
	f := newFake(t)
	f.add("test/integration/a", passing("test/integration/a", "1.5s")...)
	f.write("blocks.test_integration_a", "", 0o644)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	f.driver.console.out = &closingWriter{text: "ok  \t", stop: stop}
	if code := f.run(ctx); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	want(t, f.errors.String(), "==> test: interrupted after")
	f.wantNoChild()
}

func TestBuildFailureOfAPackageIsQuoted(t *testing.T) {
	f := newFake(t)
	f.add("pkg/a",
		event{Action: "build-output", ImportPath: module + "pkg/a [" + module + "pkg/a.test]", Output: "pkg/a/a_test.go:3:1: undefined: b\n"},
		event{Action: "start"},
		event{Action: "output", Output: "FAIL\t" + module + "pkg/a [build failed]\n"},
		event{Action: "fail", FailedBuild: module + "pkg/a [" + module + "pkg/a.test]"})
	if code := f.run(t.Context()); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	want(t, f.out.String(),
		"FAIL\t"+module+"pkg/a [build failed]\n", "    pkg/a/a_test.go:3:1: undefined: b\n",
		"alone:        CGO_ENABLED=0 GOFLAGS=-trimpath go test ./pkg/a -count=1 -v\n")
}

func TestOnlyOneSubject(t *testing.T) {
	f := newFake(t)
	for _, directory := range []string{
		"pkg/federation", "pkg/explain/federated", "pkg/limits", "test/e2e/federation", "test/integration/federationfaults",
	} {
		f.add(directory, passing(directory, "1.5s")...)
	}
	cases := []struct {
		reason  string
		flags   []string
		code    int
		want    string
		unit    string   // the packages without servers
		servers []string // those with servers
	}{
		{"packages with and without servers", []string{"-only", "federation"}, 0, "==> test: packages: 3", "./pkg/federation",
			[]string{"test/e2e/federation", "test/integration/federationfaults"}},
		{"one suite", []string{"-only", "federation", "-suites", "e2e"}, 0, "==> test: packages: 1", "", []string{"test/e2e/federation"}},
		{"an unknown subject", []string{"-only", "placement-hub"}, 2,
			"ONLY: no package has a directory that begins with \"placement-hub\"; subjects:\nfederated federation federationfaults limits\n",
			"", nil},
		{"an unknown suite", []string{"-suites", "fast"}, 2,
			`unknown suite "fast": supported values: unit, e2e, consumers, conformance, browser, integration`, "", nil},
		{"an argument", []string{"federation"}, 2, `unexpected argument "federation"`, "", nil},
		{"the list alone", []string{"-list", "-suites", "e2e,integration"}, 0,
			"./test/e2e/federation\n./test/integration/federationfaults\n", "", nil},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			f.out.Reset()
			f.errors.Reset()
			f.write("calls", "", 0o644)
			if code := f.run(t.Context(), c.flags...); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			want(t, f.out.String()+f.errors.String(), c.want)
			var unit string
			for call := range strings.Lines(f.read("calls")) {
				if _, packages, found := strings.Cut(call, "test -json -vet=off -ldflags=-s "); found {
					unit = strings.TrimSpace(packages)
				}
			}
			if unit != c.unit {
				t.Errorf("packages without servers %q, want %q", unit, c.unit)
			}
			if diff := cmp.Diff(c.servers, f.ran()); diff != "" {
				t.Errorf("packages with servers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEstimateAndSilence(t *testing.T) {
	last := durations{Packages: map[string]float64{"a": 300, "b": 60}, AtOnce: 2}
	for _, c := range []struct {
		reason   string
		packages []string
		want     string
	}{
		{"half of the sum, because two ran at once", []string{"a", "b"}, "3m"},
		{"a short one", []string{"b"}, "30s"},
		{"a share of half an hour for each unknown one", slices.Repeat([]string{"new"}, warmPackages), "30m"},
	} {
		if got := rounded(last.estimate(c.packages)); got != c.want {
			t.Errorf("%s: %s, want %s", c.reason, got, c.want)
		}
	}

	var out bytes.Buffer
	now := time.Unix(1000, 0)
	clock := func() time.Time { return now }
	p := &progress{
		console: &console{out: &out, now: clock, last: now}, now: clock, start: now, durations: last,
		left: map[string]bool{"a": true, "b": true}, total: 12, building: func() []string { return []string{workAgent} },
	}
	now = now.Add(59 * time.Second)
	p.breakSilence([]string{"a"})
	now = now.Add(time.Second)
	p.breakSilence([]string{"a", "b"})
	if got, want := out.String(), "[10/12  1m00s, about 3m left and the build of work-agent] running: a, b\n"; got != want {
		t.Errorf("after a minute of silence %q, want %q", got, want)
	}
	out.Reset()
	now = now.Add(140 * time.Second)
	p.end("a", "ok  \ta\t300.0s")
	if got, want := out.String(), "ok  \ta\t300.0s\n[11/12  3m20s, about 30s left and the build of work-agent]\n"; got != want {
		t.Errorf("at the end of a package %q, want %q", got, want)
	}
}

func TestCPUTimeIsDescribed(t *testing.T) {
	run := &testRun{cpu: map[string]time.Duration{"a": 1500 * time.Millisecond, "b": 40 * time.Second, "c": 2 * time.Second}}
	if got, want := run.describeCPU(), "44 s, of which b 40 s, c 2 s, a 2 s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for i := range 20 {
		run.cpu[fmt.Sprint("more", i)] = 10 * time.Second
	}
	if got := strings.Count(run.describeCPU(), "more"); got != costliest-1 {
		t.Errorf("%d of the packages beside b are named, want %d", got, costliest-1)
	}
}

// A run in which only quick packages ran says nothing of how many run at once.
func TestConcurrencyIsMeasuredByMostOfTheWork(t *testing.T) {
	for _, c := range []struct {
		reason   string
		measured map[string]float64
		want     float64
	}{
		{"the long one ran", map[string]float64{"long": 300}, 3},
		{"the long one was cached", map[string]float64{"short": 10}, 2},
	} {
		now := time.Unix(1000, 0)
		d := &driver{root: t.TempDir(), now: func() time.Time { return now.Add(100 * time.Second) }}
		run := &testRun{driver: d, measured: c.measured, progress: &progress{
			start: now, durations: durations{Packages: map[string]float64{"long": 300, "short": 10}, AtOnce: 2},
		}}
		if err := run.record(true); err != nil {
			t.Fatal(err)
		}
		if got, err := readDurations(d.durationsPath()); err != nil || got.AtOnce != c.want {
			t.Errorf("%s: %v at once (%v), want %v", c.reason, got.AtOnce, err, c.want)
		}
	}
}
