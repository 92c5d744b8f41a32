// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/placement-hub/placement-hub/test/benchmark/deliveries"
	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
	"github.com/placement-hub/placement-hub/test/benchmark/requests"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := measure(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

// defaultPods are few enough to be created in half a minute, and enough to be seen in the memory of a hub that would cache them.
const defaultPods = 20000

// defaultObjects are few enough for a quick run; docs/benchmark.md has the figures of ten times as many.
const defaultObjects = 50

// defaultRequests are few enough for a quick run; docs/benchmark.md has the figures of 10,000.
const defaultRequests = requests.Least

// options are what can be asked for.
type options struct {
	sizes     []fleet.Size
	scenarios []scenario
	named     bool // the scenarios are measured at every size
	separate  []separateScenario
	pods      int // of the scenario admission
	objects   int // of the scenario federation
	requests  int // of the scenario requests
	binary    string
	json      string
	docs      string
	from      []string
}

func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("benchmark", flag.ContinueOnError)
	sizes := flags.String("sizes", "",
		"clusters x placements, such as 100x100,50000x10000; or all up to 10000x10000; the smaller ones by default")
	names := flags.String("scenarios", "", "which ones to measure after the cold start, such as label-change,restart; by default those of a size")
	flags.StringVar(&o.binary, "binary", "bin/placement", "the binary that is measured")
	flags.StringVar(&o.json, "json", "", "file to write the report to as JSON")
	flags.StringVar(&o.docs, "docs", "", "directory of benchmark.md, to write the table, the chart and the JSON to")
	flags.IntVar(&o.pods, "pods", defaultPods, "Pods of the scenario "+admissionScenario)
	flags.IntVar(&o.objects, "objects", defaultObjects, "objects that are delivered to each cluster in the scenario "+federationScenario)
	flags.IntVar(&o.requests, "requests", defaultRequests, "ClusterRequests of the scenario "+requestsScenario)
	from := flags.String("from", "", "reports as JSON, separated by commas, to write as one instead of measuring anything")
	if err := flags.Parse(args); err != nil {
		return nil, fmt.Errorf("reading the flags: %w", err)
	}
	if *from != "" {
		o.from = strings.Split(*from, ",")
	}
	var err error
	if o.sizes, err = fleet.ParseSizes(*sizes); err != nil {
		return nil, err
	}
	o.named = *names != ""
	if o.scenarios, o.separate, err = chosenScenarios(*names); err != nil {
		return nil, err
	}
	if len(o.scenarios) == 0 {
		o.sizes = nil
	}
	if !o.named && !slices.ContainsFunc(o.sizes, func(s fleet.Size) bool { return !s.Large() }) {
		o.separate = nil // A large fleet takes long enough.
	}
	if o.pods < 1 {
		return nil, fmt.Errorf("-pods is %d: want at least 1", o.pods)
	}
	if o.objects < deliveries.Least {
		return nil, fmt.Errorf("-objects is %d: want at least %d", o.objects, deliveries.Least)
	}
	if o.requests < requests.Least {
		return nil, fmt.Errorf("-requests is %d: want at least %d", o.requests, requests.Least)
	}
	return o, nil
}

// measure runs the benchmark and writes the report.
func measure(ctx context.Context, args []string, out, log io.Writer) (err error) {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	if len(o.from) > 0 {
		r, err := report.ReadJSON(o.from...)
		if err != nil {
			return err
		}
		return conclude(r, o, out)
	}
	ctrl.SetLogger(klog.NewKlogr())
	directory, err := os.MkdirTemp("", "placement-benchmark-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	tools, err := prepare(ctx, o.binary, directory, log)
	if err != nil {
		return err
	}

	r := &report.Report{Machine: report.Machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(),
	}, Missing: missing}
	var failures []error
	for _, size := range o.sizes {
		run, failed, err := measureSize(ctx, size, o, tools, directory, log)
		if err != nil {
			failures = append(failures, fmt.Errorf("size %s: %w", size, err))
		}
		if run != nil {
			r.Runs = append(r.Runs, *run)
		}
		failures = append(failures, failed...)
		if ctx.Err() != nil {
			break
		}
	}
	for _, scenario := range o.separate {
		if ctx.Err() != nil {
			break
		}
		run, err := scenario.measure(ctx, o, tools, directory, log)
		if err != nil {
			failures = append(failures, fmt.Errorf("scenario %s: %w", scenario.name, err))
		}
		*scenario.run(r) = run
	}
	return errors.Join(append(failures, conclude(r, o, out))...)
}

// prepare finds the binary of the hub, and builds the programs that it is compared with.
func prepare(ctx context.Context, binary, directory string, log io.Writer) (tools programs, err error) {
	tools = programs{ideal: filepath.Join(directory, "ideal"), allow: filepath.Join(directory, "allow")}
	if tools.hub, err = filepath.Abs(binary); err != nil {
		return tools, fmt.Errorf("finding the binary: %w", err)
	}
	if _, err := os.Stat(tools.hub); err != nil {
		return tools, fmt.Errorf("finding the binary: %w; build it with make build", err)
	}
	for _, path := range []string{tools.ideal, tools.allow} {
		if err := buildProgram(ctx, log, "./test/benchmark/"+filepath.Base(path), path); err != nil {
			return tools, err
		}
	}
	return tools, nil
}

// measureSize runs every scenario at one size. What was measured is returned with an error, too.
func measureSize(
	ctx context.Context, size fleet.Size, o *options, tools programs, directory string, log io.Writer,
) (*report.Run, []error, error) {
	s, err := newStage(ctx, size, tools, directory, log)
	if err != nil {
		return nil, nil, err
	}
	for _, scenario := range o.scenarios {
		if !o.named && !scenario.belongsTo(size) {
			continue
		}
		if err = s.perform(ctx, scenario); err != nil {
			break
		}
	}
	if err == nil {
		err = s.retire()
	}
	var failures []error
	for _, failure := range s.failures {
		failures = append(failures, errors.New(failure))
	}
	return s.run, failures, errors.Join(err, s.close())
}

// perform runs a scenario in the time that it may take.
func (s *stage) perform(ctx context.Context, part scenario) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if err := part.run(s, ctx); err != nil {
		return fmt.Errorf("scenario %s: %w", part.name, err)
	}
	return nil
}

// scenario is a part of the benchmark that can be left out.
type scenario struct {
	name string
	run  func(*stage, context.Context) error
	// sizes are those at which it is measured unless scenarios are named.
	sizes sizes
}

// sizes are kinds of sizes.
type sizes int

const (
	never sizes = iota
	usual       // all that are not large
	large
	always
)

// belongsTo reports whether the scenario is measured at a size without being named.
func (s scenario) belongsTo(size fleet.Size) bool {
	return s.sizes == always || s.sizes == large && size.Large() || s.sizes == usual && !size.Large()
}

// scenarios are everything that is measured, in their order: each begins with the objects as the last one left them. The first one is always
// measured, because it creates them.
func scenarios() []scenario {
	beats := func(rate int) func(*stage, context.Context) error {
		return func(s *stage, ctx context.Context) error { return s.heartbeats(ctx, rate) }
	}
	return []scenario{
		{"cold-start", (*stage).coldStart, always}, {"label-change", (*stage).labelChange, always}, {"create", (*stage).create, usual},
		{"heartbeats-1", beats(1), usual}, {"heartbeats-10", beats(10), usual}, {"heartbeats-100", beats(100), always},
		{"heartbeats-500", beats(500), large}, {"create-in-churn", (*stage).createInChurn, usual}, {"set-gained", (*stage).gain, always},
		{"set-gained-floor", (*stage).gainFloor, large}, {"relabel-all", (*stage).relabelAll, usual}, {"restart", (*stage).restart, always},
		{standbyName, (*stage).standby, usual}, {historyName, (*stage).history, usual}, {dashboardName, (*stage).dashboard, usual},
		{"ideal", (*stage).ideal, always}, {floorName, (*stage).floor, usual}, {profilesName, (*stage).profiles, never},
		{upstreamName, (*stage).upstream, never},
	}
}

// separateScenario is a scenario with a control plane of its own and without clusters and placements of a size.
type separateScenario struct {
	name string
	// measure returns what was measured with an error, too.
	measure func(ctx context.Context, o *options, tools programs, directory string, log io.Writer) (*report.Run, error)
	// run returns the place in a report.
	run func(*report.Report) **report.Run
}

// separateScenarios are reported apart.
func separateScenarios() []separateScenario {
	return []separateScenario{
		{admissionScenario, measureAdmission, func(r *report.Report) **report.Run { return &r.Admission }},
		{federationScenario, measureFederation, func(r *report.Report) **report.Run { return &r.Federation }},
		{requestsScenario, measureRequests, func(r *report.Report) **report.Run { return &r.Requests }},
		{hostileScenario, measureHostile, func(r *report.Report) **report.Run { return &r.Hostile }},
		{accountsScenario, measureAccounts, func(r *report.Report) **report.Run { return &r.Hostile }},
	}
}

// chosenScenarios are those that are named, with the first one of scenarios before any other of them; all when none is named.
func chosenScenarios(names string) (chosen []scenario, separate []separateScenario, err error) {
	chosen, separate = scenarios(), separateScenarios()
	if names == "" {
		// The scenario hostile has it as a part.
		return chosen, slices.DeleteFunc(separate, func(s separateScenario) bool { return s.name == accountsScenario }), nil
	}
	var known []string
	for _, s := range chosen {
		known = append(known, s.name)
	}
	cold := known[0]
	for _, s := range separate {
		known = append(known, s.name)
	}
	wanted := strings.Split(names, ",")
	for _, name := range wanted {
		if !slices.Contains(known, name) {
			return nil, nil, fmt.Errorf("scenario %q is not known; known are %s", name, strings.Join(known, ", "))
		}
	}
	separate = slices.DeleteFunc(separate, func(s separateScenario) bool { return !slices.Contains(wanted, s.name) })
	if len(separate) == len(wanted) {
		return nil, separate, nil
	}
	chosen = slices.DeleteFunc(chosen, func(s scenario) bool { return s.name != cold && !slices.Contains(wanted, s.name) })
	return chosen, separate, nil
}

// conclude works out what follows from the figures, and writes the report.
func conclude(r *report.Report, o *options, out io.Writer) error {
	r.Exponents = report.Exponents(r.Runs, "label-change/cpu-per-event", "label-change/last-p50", "heartbeats-100/cpu-per-heartbeat", "restart/quiet",
		"memory/peak")
	list, err := report.Targets()
	if err != nil {
		return err
	}
	r.Targets = r.Judge(list)
	if err := r.WriteText(out); err != nil {
		return err
	}
	if o.json != "" {
		err = r.WriteJSON(o.json)
	}
	if o.docs != "" {
		err = errors.Join(err, r.WriteDocs(o.docs))
	}
	return err
}
