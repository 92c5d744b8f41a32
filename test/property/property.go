// SPDX-License-Identifier: Apache-2.0

package property

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"pgregory.net/rapid"
)

const (
	// defaultChecks is how often Check checks a property.
	defaultChecks = 100
	// fixedSeed is the seed of the inputs that all runs have in common.
	fixedSeed = 1
	// factorVariable of the environment multiplies the checks from the fresh seed.
	factorVariable = "PROPERTY_FACTOR"

	seedFlag   = "rapid.seed"
	checksFlag = "rapid.checks"
)

// flags guards the flags of rapid, which belong to the process.
var flags sync.Mutex

// run is a number of checks whose inputs come from one seed.
type run struct {
	seed   uint64
	checks int
}

// Check fails the test if an input falsifies the property.
func Check(t rapid.TB, property func(*rapid.T)) {
	t.Helper()
	CheckTimes(t, defaultChecks, property)
}

// CheckTimes does as Check with another number of checks, which is at least 2. A property must not check another one.
func CheckTimes(t rapid.TB, checks int, property func(*rapid.T)) {
	t.Helper()
	settings, err := readSettings(flag.CommandLine, os.LookupEnv)
	if err != nil {
		t.Fatalf("property: %v", err)
	}
	settings.check(t, checks, property)
}

// settings are what the caller of the test has set.
type settings struct {
	// seed and checks are nil if the caller has given none.
	seed, checks *uint64
	factor       int
}

// check checks the property that many times, unless the settings say otherwise.
func (s settings) check(t rapid.TB, checks int, property func(*rapid.T)) {
	t.Helper()
	for _, r := range s.runs(checks) {
		if r.seed != fixedSeed {
			t.Logf("property: %d checks from seed %d; again: %s", r.checks, r.seed, r.command(t.Name()))
		}
		r.check(t, property)
	}
}

// readSettings reads the flags of rapid, and the variables of the environment.
func readSettings(flags *flag.FlagSet, lookup func(string) (string, bool)) (settings, error) {
	s := settings{factor: 1}
	var err error
	if s.seed, err = given(flags, seedFlag, lookup, "RAPID_SEED"); err != nil {
		return s, err
	}
	if s.checks, err = given(flags, checksFlag, lookup, "RAPID_CHECKS"); err != nil {
		return s, err
	}
	if text, _ := lookup(factorVariable); text != "" {
		if s.factor, err = strconv.Atoi(text); err != nil || s.factor < 1 {
			return s, fmt.Errorf("%s=%q: must be a whole number of at least 1", factorVariable, text)
		}
	}
	return s, nil
}

// given returns the value of a flag, which rapid has read from the variable of the environment, and nil if the caller has set neither.
func given(flags *flag.FlagSet, name string, lookup func(string) (string, bool), variable string) (*uint64, error) {
	_, isGiven := lookup(variable)
	flags.Visit(func(f *flag.Flag) { isGiven = isGiven || f.Name == name })
	if !isGiven {
		return nil, nil
	}
	value, err := strconv.ParseUint(flags.Lookup(name).Value.String(), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("-%s: %w", name, err)
	}
	return &value, nil
}

// runs returns the runs for a number of checks.
func (s settings) runs(checks int) []run {
	seed := fresh()
	if s.seed != nil && *s.seed != 0 { // Zero asks rapid for any seed.
		seed = *s.seed
	}
	switch {
	case s.checks != nil:
		return []run{{seed, int(*s.checks)}}
	case s.seed != nil:
		return []run{{seed, checks}}
	default:
		return []run{{fixedSeed, (checks + 1) / 2}, {seed, checks / 2 * s.factor}}
	}
}

// fresh returns a seed that is unlikely to have been used before.
func fresh() uint64 { return rand.Uint64()>>16 + fixedSeed + 1 }

// check checks the property with the flags of the run.
func (r run) check(t rapid.TB, property func(*rapid.T)) {
	t.Helper()
	flags.Lock()
	defer flags.Unlock()
	// A failed check ends the goroutine.
	defer setFlag(t, seedFlag, strconv.FormatUint(r.seed, 10))()
	defer setFlag(t, checksFlag, strconv.Itoa(r.checks))()
	rapid.Check(t, property)
}

// setFlag sets a flag and returns a function that sets it to the value that it had.
func setFlag(t rapid.TB, name, value string) (restore func()) {
	t.Helper()
	set := flag.Lookup(name).Value
	before := set.String()
	if err := set.Set(value); err != nil {
		t.Fatalf("property: -%s: %v", name, err)
	}
	return func() {
		if err := set.Set(before); err != nil {
			t.Errorf("property: -%s: %v", name, err)
		}
	}
}

// command returns the command that draws the inputs of the run again.
func (r run) command(test string) string {
	name := strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^")
	return fmt.Sprintf("go test %s -run '^%s$' -%s=%d -%s=%d", testedPackage(), name, seedFlag, r.seed, checksFlag, r.checks)
}

// testedPackage returns the import path of the package whose tests run, or the working directory, which is that of the package.
func testedPackage() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasSuffix(info.Path, ".test") {
		return strings.TrimSuffix(info.Path, ".test")
	}
	return "."
}
