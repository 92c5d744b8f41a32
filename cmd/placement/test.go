// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/report"
)

const testLong = `test checks what a hub decides against cases: documents of kind PlacementTest, which say what has to hold for Placements, for
objects that are delivered to clusters, for workloads and for ClusterRequests (docs/testing.md). It evaluates them with the code of the
controller. It changes nothing: it only reads from a hub.

-f names files with cases. If they have the objects of a hub too, or --hub names files with these, the cases are evaluated there, and else on the
live hub, which the command finds as kubectl does. Files are read as placement simulate reads them.

A case says which objects it is about, what happens (spec.when: clusters are lost or deleted, or the hub is changed), and what has to hold then
(spec.expect). A failure names the first clause that does not hold, why, and by which change it would.

Failures are evaluated to their settled end: the taint unreachable is older than any toleration, and holds that end by themselves have ended. The
removal budget is that of the flags or of the status of the Placements, and else 50 %, as the manifests install it.

A user who may not read all that decides is answered by the hub, as by placement explain: one Placement, delivered object or ClusterRequest for each
case, as it is now. A case that needs more is an error.

The exit code is 0 if all cases hold, 1 if one does not, and 2 for an error: a mistake in a file, a name that no object has, or a case that
evaluates nothing.`

const testExample = `  # Cases and the objects of a hub in files
  placement test -f cases.yaml --hub world/

  # On the live hub, only the cases whose names match, with those that hold
  placement test -f cases/ --run '^gold-' --verbose

  # For a CI system, and for a comment on a merge request
  placement test -f cases/ --hub world/ -o junit > junit.xml
  placement test -f cases/ --hub world/ -o markdown > comment.md

  # The JSON schema of the cases, for an editor
  placement test --schema > placementtest.schema.json`

// testOptions are the flags of the command.
type testOptions struct {
	hubflags.Files
	hubflags.Settings
	hubflags.Ask

	files   []string
	hub     []string
	now     string
	output  string
	run     string
	verbose bool
	schema  bool
	record  string
	// coverage asks for what decides nothing.
	coverage bool
}

func newTestCommand() *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use:     "test -f FILE",
		Short:   "Check what a hub decides against cases, also if clusters are lost",
		Long:    testLong,
		Example: testExample,
		Args:    onlyFlags,
		RunE: func(cmd *cobra.Command, _ []string) error {
			holds, err := o.test(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			switch {
			case err != nil:
				return &exit.Error{Code: exit.NotCompared, Err: err}
			case !holds:
				return &exit.Error{Code: exit.Differs}
			default:
				return nil
			}
		},
	}
	flags := cmd.Flags()
	o.AddFiles(cmd)
	o.AddSettings(flags)
	o.AddAsk(flags)
	flags.StringArrayVarP(&o.files, "filename", "f", nil,
		"File or directory with cases, and maybe the objects of the hub, or - for standard input. May be repeated.")
	flags.StringArrayVar(&o.hub, "hub", nil, "File or directory with the objects of the hub, or - for standard input. May be repeated.")
	flags.StringVar(&o.now, "now", "", "Time of the evaluation, such as 2026-01-31T12:00:00Z. Default: the current time.")
	flags.StringVarP(&o.output, "output", "o", string(report.Text), "Output format: text, json, junit or markdown.")
	flags.StringVar(&o.run, "run", "", "Regular expression; only the cases whose names match it are evaluated.")
	flags.BoolVar(&o.verbose, "verbose", false, "List the cases that hold too.")
	flags.BoolVar(&o.coverage, "coverage", false,
		"With -o text or json: list what the Placements of the cases ask for that no cluster ever met or failed.")
	flags.StringVar(&o.record, "record", "",
		"File to write with a case for each Placement, which expects the clusters of today. Of a file that exists, other cases and comments stay.")
	flags.BoolVar(&o.schema, "schema", false, "Print the JSON schema of the cases, and nothing else.")
	formats := make([]string, 0, len(report.Formats()))
	for _, format := range report.Formats() {
		formats = append(formats, string(format))
	}
	hubflags.Complete(cmd, "output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// test evaluates and prints. It reports whether all cases hold.
func (o *testOptions) test(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) (holds bool, err error) {
	if o.schema {
		return true, printSchema(stdout)
	}
	if err := o.ParseKinds(); err != nil {
		return false, err
	}
	now, run, err := o.parse()
	if err != nil {
		return false, exit.Mistake(err)
	}
	read, state, refused := o.read(ctx, stdin)
	asks := o.record == "" && len(o.hub) == 0 && apierrors.IsForbidden(refused)
	if refused != nil && !asks {
		return false, refused
	}
	now = o.TimeOf(now, o.now)
	if o.record != "" {
		return true, o.writeRecord(ctx, state, now)
	}
	read = slices.DeleteFunc(read, func(c *cases.Case) bool { return !run.MatchString(c.Metadata.Name) })
	if len(read) == 0 {
		return false, exit.InFiles(fmt.Errorf("--run: no case has a name that matches %q, so that nothing would be evaluated; correct the expression",
			o.run))
	}
	if asks {
		results, err := o.ask(ctx, read, now, refused)
		if err != nil {
			return false, err
		}
		return o.print(ctx, stdout, &results)
	}
	settings := o.HubSettings()
	settings.Configure(state)
	state.Done = ctx.Done()
	progress := newTestProgress(stderr)
	results := evaluate.Run(evaluate.World{State: state, Now: now, Files: o.changeFiles, Progress: progress.show, Coverage: o.coverage}, read)
	progress.end()
	return o.print(ctx, stdout, &results)
}

// print prints results, and reports whether all cases hold.
func (o *testOptions) print(ctx context.Context, stdout io.Writer, results *evaluate.Results) (holds bool, err error) {
	if err := report.Print(stdout, report.Format(o.output), results, report.Options{Verbose: o.verbose}); err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, fmt.Errorf("the cases were not evaluated to their end, because the command was interrupted: %w", err)
	}
	if results.Summary.Errors > 0 {
		return false, errors.New(report.Summary(results))
	}
	return results.Summary.Failed == 0, nil
}

// printSchema prints the JSON schema of the cases.
func printSchema(stdout io.Writer) error {
	encoder := json.NewEncoder(stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(cases.NewSchema()); err != nil {
		return fmt.Errorf("printing the schema: %w", err)
	}
	return nil
}

// parse parses the flags. Its errors are usage errors.
func (o *testOptions) parse() (now time.Time, run *regexp.Regexp, err error) {
	if now, err = hubflags.ParseNow(o.now); err != nil {
		return now, nil, err
	}
	if run, err = regexp.Compile(o.run); err != nil {
		return now, nil, fmt.Errorf("--run: %q is no regular expression: %w", o.run, err)
	}
	inputs := slices.Concat(o.files, o.hub)
	first := slices.Index(inputs, hubflags.StdinName)
	switch {
	case len(o.files) == 0 && o.record == "":
		return now, nil, errors.New("--filename: name the files with the cases with -f")
	case !slices.Contains(report.Formats(), report.Format(o.output)):
		return now, nil, fmt.Errorf("--output: unknown format %q; use one of %v", o.output, report.Formats())
	case first >= 0 && slices.Contains(inputs[first+1:], hubflags.StdinName):
		return now, nil, errors.New("--filename, --hub: standard input (-) can be read only once; name it once")
	case o.coverage && report.Format(o.output) != report.Text && report.Format(o.output) != report.JSON:
		return now, nil, errors.New("--coverage: the formats text and json have it; leave it out, or choose one of these with -o")
	case len(o.hub) > 0 && o.Connects() != "":
		return now, nil, fmt.Errorf("--hub: what the hub holds is read from files, so %s means nothing; leave out one or the other", o.Connects())
	default:
		return now, run, o.CheckSettings()
	}
}

// read reads the cases, and the objects of the hub.
func (o *testOptions) read(ctx context.Context, stdin io.Reader) ([]*cases.Case, *explain.State, error) {
	reader := cases.NewReader()
	world, err := o.Reader(statefile.Described, o.Delivered)
	if err != nil {
		return nil, nil, err
	}
	described := false
	take := func(name string, content []byte) {
		rest, objects := reader.Read(name, content)
		if objects {
			described = true
			world.Read(name, rest)
		}
	}
	if err := hubflags.ReadPaths("--filename", o.files, stdin, take); err != nil {
		return nil, nil, err
	}
	if err := reader.Err(); err != nil {
		return nil, nil, exit.InFiles(err)
	}
	if len(reader.Cases) == 0 && o.record == "" {
		return nil, nil, exit.InFiles(fmt.Errorf("--filename: there is no document of kind %s in the files, so that nothing would be evaluated",
			cases.Kind))
	}
	if len(o.hub) > 0 {
		if err := hubflags.ReadPaths("--hub", o.hub, stdin, world.Read); err != nil {
			return nil, nil, err
		}
	}
	if !described && len(o.hub) == 0 {
		state, err := o.readLive(ctx, reader.Cases)
		return reader.Cases, state, err
	}
	state, err := world.State()
	if err := errors.Join(exit.InFiles(err), o.Note(world.Notes())); err != nil {
		return nil, nil, err
	}
	o.Taken = world.Snapshot()
	o.HubControllers = o.ControllersTaken()
	return reader.Cases, state, o.Review(ctx, world)
}

// readLive reads the objects of the live hub that the cases are about.
func (o *testOptions) readLive(ctx context.Context, read []*cases.Case) (*explain.State, error) {
	hub, err := o.OpenHub(ctx, &o.Ask, o.Delivered)
	if err != nil {
		return nil, err
	}
	o.HubControllers = hub.Controllers
	state, err := hub.All(ctx, namespaceOf(read))
	if err != nil {
		return nil, err
	}
	return state, o.readLiveSystems(ctx, hub, state, read)
}
