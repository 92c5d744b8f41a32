// SPDX-License-Identifier: Apache-2.0

package casetests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/report"
)

// Options are the flags of the command.
type Options struct {
	hubflags.Files
	hubflags.Settings
	hubflags.Ask

	Paths    []string
	HubPaths []string
	Now      string
	Output   string
	Run      string
	Verbose  bool
	Schema   bool
	Record   string
	// Coverage asks for what decides nothing.
	Coverage bool

	// writes say how changes of cases write the objects of files.
	writes statefile.Writes
}

// Test evaluates and prints. It reports whether all cases hold.
func (o *Options) Test(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) (holds bool, err error) {
	if o.Schema {
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
	asks := o.Record == "" && len(o.HubPaths) == 0 && apierrors.IsForbidden(refused)
	if refused != nil && !asks {
		return false, refused
	}
	now = o.TimeOf(now, o.Now)
	if o.Record != "" {
		return true, o.writeRecord(ctx, state, now)
	}
	read = slices.DeleteFunc(read, func(c *cases.Case) bool { return !run.MatchString(c.Metadata.Name) })
	if len(read) == 0 {
		return false, exit.InFiles(fmt.Errorf("--run: no case has a name that matches %q, so that nothing would be evaluated; correct the expression",
			o.Run))
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
	results := o.newApplying(ctx).run(evaluate.World{State: state, Now: now, Progress: progress.show, Coverage: o.Coverage}, read)
	progress.end()
	return o.print(ctx, stdout, &results)
}

// print prints results, and reports whether all cases hold.
func (o *Options) print(ctx context.Context, stdout io.Writer, results *evaluate.Results) (holds bool, err error) {
	if err := report.Print(stdout, report.Format(o.Output), results, report.Options{Verbose: o.Verbose}); err != nil {
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
func (o *Options) parse() (now time.Time, run *regexp.Regexp, err error) {
	if now, err = hubflags.ParseNow(o.Now); err != nil {
		return now, nil, err
	}
	if run, err = regexp.Compile(o.Run); err != nil {
		return now, nil, fmt.Errorf("--run: %q is no regular expression: %w", o.Run, err)
	}
	inputs := slices.Concat(o.Paths, o.HubPaths)
	first := slices.Index(inputs, hubflags.StdinName)
	switch {
	case len(o.Paths) == 0 && o.Record == "":
		return now, nil, errors.New("--filename: name the files with the cases with -f")
	case !slices.Contains(report.Formats(), report.Format(o.Output)):
		return now, nil, fmt.Errorf("--output: unknown format %q; use one of %v", o.Output, report.Formats())
	case first >= 0 && slices.Contains(inputs[first+1:], hubflags.StdinName):
		return now, nil, errors.New("--filename, --hub: standard input (-) can be read only once; name it once")
	case o.Coverage && report.Format(o.Output) != report.Text && report.Format(o.Output) != report.JSON:
		return now, nil, errors.New("--coverage: the formats text and json have it; leave it out, or choose one of these with -o")
	case len(o.HubPaths) > 0 && o.Connects() != "":
		return now, nil, fmt.Errorf("--hub: what the hub holds is read from files, so %s means nothing; leave out one or the other", o.Connects())
	default:
		return now, run, o.CheckSettings()
	}
}

// read reads the cases, and the objects of the hub.
func (o *Options) read(ctx context.Context, stdin io.Reader) ([]*cases.Case, *explain.State, error) {
	reader := cases.NewReader()
	world, err := o.Reader(statefile.Described, o.Delivered)
	if err != nil {
		return nil, nil, err
	}
	var described []func()
	take := func(name string, content []byte) {
		if rest, objects := reader.Read(name, content); objects {
			described = append(described, func() { world.Read(name, rest) })
		}
	}
	if err := hubflags.ReadPaths("--filename", o.Paths, stdin, take); err != nil {
		return nil, nil, err
	}
	if err := reader.Err(); err != nil {
		return nil, nil, exit.InFiles(err)
	}
	if len(reader.Cases) == 0 && o.Record == "" {
		return nil, nil, exit.InFiles(fmt.Errorf("--filename: there is no document of kind %s in the files, so that nothing would be evaluated",
			cases.Kind))
	}
	if len(described) == 0 && len(o.HubPaths) == 0 {
		state, err := o.readLive(ctx, reader.Cases)
		return reader.Cases, state, err
	}
	world.Compare(o.applied(reader.Cases))
	for _, readObjects := range described {
		readObjects()
	}
	if err := hubflags.ReadPaths("--hub", o.HubPaths, stdin, world.Read); err != nil {
		return nil, nil, err
	}
	state, err := world.State()
	if err := errors.Join(exit.InFiles(err), o.Note(world.Notes())); err != nil {
		return nil, nil, err
	}
	o.Taken, o.Live = world.Snapshot(), world.Live()
	o.HubControllers = o.ControllersTaken()
	return reader.Cases, state, o.Review(ctx, world)
}

// readLive reads the objects of the live hub that the cases are about.
func (o *Options) readLive(ctx context.Context, read []*cases.Case) (*explain.State, error) {
	hub, err := o.OpenHub(ctx, &o.Ask, o.Delivered)
	if err != nil {
		return nil, err
	}
	o.HubControllers = hub.Controllers
	state, err := hub.All(ctx, namespaceOf(read))
	if err != nil {
		return nil, err
	}
	if err := o.readLiveSystems(ctx, hub, state, read); err != nil {
		return nil, err
	}
	return state, o.readLiveObjects(ctx, hub.Hub.Client, read)
}
