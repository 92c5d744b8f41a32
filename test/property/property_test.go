// SPDX-License-Identifier: Apache-2.0

package property

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// recorder is a test whose failure ends its own goroutine alone.
type recorder struct {
	*testing.T

	name   string
	failed bool
	output []string
}

func (r *recorder) Name() string { return r.name }
func (r *recorder) Failed() bool { return r.failed }

func (r *recorder) Logf(format string, arguments ...any) {
	r.output = append(r.output, fmt.Sprintf(format, arguments...))
}

func (r *recorder) Errorf(format string, arguments ...any) {
	r.Logf(format, arguments...)
	r.failed = true
}

func (r *recorder) Fatalf(format string, arguments ...any) {
	r.Errorf(format, arguments...)
	runtime.Goexit()
}

func (r *recorder) FailNow() {
	r.failed = true
	runtime.Goexit()
}

// during runs a function with a recorder and returns it.
func during(t *testing.T, name string, run func(*recorder)) *recorder {
	t.Helper()
	r, ended := &recorder{T: t, name: name}, make(chan struct{})
	go func() {
		defer close(ended)
		run(r)
	}()
	<-ended
	return r
}

// draws checks a property that holds, and returns what it drew.
func draws(t *testing.T, checks int) []uint64 {
	t.Helper()
	var drawn []uint64
	r := during(t, "TestDraws", func(r *recorder) {
		settings{factor: 1}.check(r, checks, func(t *rapid.T) { drawn = append(drawn, rapid.Uint64().Draw(t, "number")) })
	})
	if r.failed {
		t.Fatal(r.output)
	}
	return drawn
}

func TestHalfOfTheChecksHaveAFixedSeed(t *testing.T) {
	first, second := draws(t, 11), draws(t, 11)
	if len(first) != 11 || len(second) != 11 {
		t.Fatalf("got %d and %d checks, want 11", len(first), len(second))
	}
	if diff := cmp.Diff(first[:6], second[:6]); diff != "" {
		t.Errorf("inputs from the fixed seed differ (-first +second):\n%s", diff)
	}
	if cmp.Equal(first[6:], second[6:]) {
		t.Errorf("inputs from fresh seeds are equal: %v", first[6:])
	}
}

func TestCheckChecksAHundredTimes(t *testing.T) {
	s, err := readSettings(flag.CommandLine, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	checks, want := 0, 0
	for _, r := range s.runs(100) {
		want += r.checks
	}
	Check(t, func(*rapid.T) { checks++ })

	if checks != want {
		t.Errorf("got %d checks, want %d", checks, want)
	}
}

// The variables RAPID_SEED and RAPID_CHECKS are the defaults of the flags.
func TestRuns(t *testing.T) {
	anySeed := uint64(0)
	cases := []struct {
		reason      string
		arguments   []string
		environment map[string]string
		want        []run
		wantError   string
	}{
		{reason: "half and half", want: []run{{fixedSeed, 5}, {anySeed, 4}}},
		{
			reason: "the factor multiplies the fresh checks", environment: map[string]string{factorVariable: "20"},
			want: []run{{fixedSeed, 5}, {anySeed, 80}},
		},
		{
			reason: "a seed wins", arguments: []string{"-rapid.seed=7"}, environment: map[string]string{factorVariable: "20"},
			want: []run{{7, 9}},
		},
		{
			reason: "a number of checks wins", arguments: []string{"-rapid.checks=1000"}, environment: map[string]string{factorVariable: "20"},
			want: []run{{anySeed, 1000}},
		},
		{reason: "both win", arguments: []string{"-rapid.seed=7", "-rapid.checks=3"}, want: []run{{7, 3}}},
		{reason: "a seed of zero asks for any", arguments: []string{"-rapid.seed=0"}, want: []run{{anySeed, 9}}},
		{reason: "a variable counts as given", environment: map[string]string{"RAPID_CHECKS": "100"}, want: []run{{anySeed, 100}}},
		{
			reason: "no factor", environment: map[string]string{factorVariable: "0"},
			wantError: `PROPERTY_FACTOR="0": must be a whole number of at least 1`,
		},
		{
			reason: "no number", environment: map[string]string{factorVariable: "many"},
			wantError: `PROPERTY_FACTOR="many": must be a whole number of at least 1`,
		},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			flags := flag.NewFlagSet("test", flag.ContinueOnError)
			flags.Uint64(seedFlag, 0, "")
			flags.Int(checksFlag, 100, "")
			if err := flags.Parse(c.arguments); err != nil {
				t.Fatal(err)
			}

			s, err := readSettings(flags, func(variable string) (string, bool) {
				value, found := c.environment[variable]
				return value, found
			})
			if err != nil || c.wantError != "" {
				if fmt.Sprint(err) != c.wantError {
					t.Errorf("got error %v, want %s", err, c.wantError)
				}
				return
			}

			got := s.runs(9)
			for i := range got {
				if i < len(c.want) && c.want[i].seed == anySeed {
					if got[i].seed <= fixedSeed {
						t.Errorf("the fresh seed is %d", got[i].seed)
					}
					got[i].seed = anySeed
				}
			}

			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(run{})); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWrongFactorFailsTheTest(t *testing.T) {
	t.Setenv(factorVariable, "0")
	r := during(t, "TestA", func(r *recorder) { Check(r, func(*rapid.T) {}) })
	if want := []string{`property: PROPERTY_FACTOR="0": must be a whole number of at least 1`}; !r.failed || !cmp.Equal(r.output, want) {
		t.Errorf("failed: %t, output: %q, want: %q", r.failed, r.output, want)
	}
}

// A failure shows the seed and the command, which draws the same inputs, and leaves the flags as they were.
func TestAFailureCanBeRepeated(t *testing.T) {
	setUntilTheEnd(t, "rapid.nofailfile", "true")
	var drawn []uint64
	before := flagValues()
	property := func(t *rapid.T) {
		drawn = append(drawn, rapid.Uint64().Draw(t, "number"))
		if len(drawn) > 7 {
			t.Fatal("wrong")
		}
	}

	r := during(t, "TestA/a case (1)", func(r *recorder) { settings{factor: 1}.check(r, 10, property) })
	if !r.failed {
		t.Fatal("a false property passed")
	}
	fresh := run{checks: 5}

	prefix := "property: 5 checks from seed "
	if _, err := fmt.Sscanf(r.output[1], prefix+"%d;", &fresh.seed); err != nil {
		t.Fatalf("no seed in %q: %v", r.output[1], err)
	}
	want := fmt.Sprintf("%s%d; again: go test github.com/placement-hub/placement-hub/test/property -run '^TestA$/^a case \\(1\\)$' "+
		"-rapid.seed=%d -rapid.checks=5", prefix, fresh.seed, fresh.seed)
	if diff := cmp.Diff(want, r.output[1]); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}

	if after := flagValues(); after != before {
		t.Errorf("the flags are left at %q, they were at %q", after, before)
	}
	first := drawn[5:8]
	drawn = nil
	during(t, "TestA", func(r *recorder) {
		fresh.check(r, func(t *rapid.T) { drawn = append(drawn, rapid.Uint64().Draw(t, "number")) })
	})

	if !cmp.Equal(first, drawn[:3]) {
		t.Errorf("got %v again, want %v", drawn[:3], first)
	}
}

func flagValues() [2]string {
	return [2]string{flag.Lookup(seedFlag).Value.String(), flag.Lookup(checksFlag).Value.String()}
}

// setUntilTheEnd sets a flag until the end of the test.
func setUntilTheEnd(t *testing.T, name, value string) {
	t.Helper()
	set := flag.Lookup(name).Value
	before := set.String()
	if err := set.Set(value); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := set.Set(before); err != nil {
			t.Error(err)
		}
	})
}

func TestRandomIsRepeated(t *testing.T) {
	var first, second uint64
	r := during(t, "TestA", func(r *recorder) { first = Random(r).Uint64() })

	_, seed, found := strings.Cut(r.output[0], "PLACEMENT_SEED=")
	if !found {
		t.Fatalf("no seed in %q", r.output)
	}
	t.Setenv(seedVariable, seed)
	during(t, "TestA", func(r *recorder) { second = Random(r).Uint64() })
	if first != second {
		t.Errorf("got %d again, want %d", second, first)
	}
	t.Setenv(seedVariable, "one")

	if r := during(t, "TestA", func(r *recorder) { Random(r) }); !r.failed || !strings.HasPrefix(r.output[0], "PLACEMENT_SEED: ") {
		t.Errorf("a wrong seed: failed: %t, output: %q", r.failed, r.output)
	}
}
