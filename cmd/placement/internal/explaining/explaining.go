// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/terminal"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

// Options are the flags of the command.
type Options struct {
	hubflags.Files
	hubflags.Settings
	hubflags.Ask
	hubflags.Labels

	Paths         []string
	Clusters      []string
	API           string
	Now           string
	Output        string
	All           bool
	AllNamespaces bool
	Watch         bool
	// AllClusters lists all clusters where the table would group the rejected ones by their causes.
	AllClusters bool
	// color adds terminal colours to tables, and width is the number of columns of the terminal; 0 if the output is none.
	color bool
	width int

	// opened is the source once it was read, and unread the error about that.
	opened *hubflags.Source
	unread error
}

// Run prints the output once, or with --watch until ctx ends.
func (o *Options) Run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if err := o.ParseKinds(); err != nil {
		return err
	}
	o.color, o.width = terminal.Colored(stdout), terminal.Width(stdout)
	if o.Text != "" && len(args) > 0 {
		return exit.Mistake(fmt.Errorf("--selector lists placements, so naming %q means nothing; leave out one or the other", args[0]))
	}
	groups := o.groupArgs(args)
	if len(groups) == 1 {
		return o.explainerOf(args).explain(ctx, o, args, stdin, stdout)
	}
	if err := o.checkGroups(); err != nil {
		return exit.Mistake(err)
	}
	var errs []error
	for i, group := range groups {
		var out bytes.Buffer
		err := o.explainerOf(group).explain(ctx, o, group, stdin, &out)
		if o.unread != nil {
			return o.unread
		}
		errs = append(errs, err)
		if err := o.writePart(stdout, out.String(), i > 0); err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// runPlacements prints the output about Placements that arguments name, or lists Placements.
func runPlacements(ctx context.Context, o *Options, args []string, stdin io.Reader, stdout io.Writer) error {
	now, targets, err := o.parse(args)
	if err != nil {
		return exit.Mistake(err)
	}
	source, err := o.source(ctx, stdin)
	if err != nil {
		return err
	}
	for i := range targets {
		if targets[i].Namespace == "" {
			targets[i].Namespace = source.Namespace
		}
	}
	if o.Watch {
		return o.printChanges(ctx, source, targets, stdout)
	}
	found, err := o.evaluate(ctx, source, targets, o.TimeOf(now, o.Now))
	if found != nil {
		err = errors.Join(found.write(stdout, o), err)
	}
	return err
}

// parse parses the command line. Its errors are usage errors.
func (o *Options) parse(args []string) (now time.Time, targets []objectnames.Placement, err error) {
	if now, err = hubflags.ParseNow(o.Now); err != nil {
		return now, nil, err
	}
	o.All = o.All || o.AllNamespaces || o.Text != ""
	if err := errors.Join(o.ParseLabels(), o.checkArgs(args), o.checkHub()); err != nil {
		return now, nil, err
	}
	targets, err = objectnames.ParsePlacements(args, o.Namespace, o.API)
	return now, targets, err
}

// checkArgs reports a missing or contradictory selection of Placements.
func (o *Options) checkArgs(args []string) error {
	if err := o.checkFormat(); err != nil {
		return err
	}
	switch {
	case o.All && len(args) > 0:
		return fmt.Errorf("--all lists placements, so naming %q means nothing; leave out one or the other", args[0])
	case o.All && o.AllClusters:
		return errors.New("--all-clusters lists the clusters of a placement, and --all lists placements; leave out one or the other")
	case o.All && len(o.Clusters) > 0:
		return errors.New("--cluster explains one cluster of one placement: name the placement instead of --all")
	case !o.All && len(args) == 0:
		return errors.New("name a placement as NAMESPACE/NAME, or list the unsatisfied ones with --all")
	case o.AllNamespaces && o.Namespace != "":
		return errors.New("--all-namespaces and --namespace contradict each other; leave out one or the other")
	default:
		return nil
	}
}

func (o *Options) checkFormat() error {
	if !slices.Contains(printers.WideFormats(), printers.Format(o.Output)) {
		return fmt.Errorf("--output: unknown format %q; use one of %v", o.Output, printers.WideFormats())
	}
	return nil
}

// checkHub reports flags that contradict the origin of the State.
func (o *Options) checkHub() error {
	return o.CheckSource(o.Paths, o.Watch, o.Now)
}

// evaluate computes the output once. It may return an output and an error.
func (o *Options) evaluate(ctx context.Context, from *hubflags.Source, targets []objectnames.Placement, now time.Time) (*output, error) {
	if o.All {
		return o.listUnsatisfied(ctx, from, now)
	}
	return o.explainPlacements(ctx, from, targets, now)
}

// output is a result, or the answer of the hub.
type output struct {
	byHub  *endpoint.Answer
	result document.Source
}

func (o *output) write(out io.Writer, as *Options) error {
	if o.byHub != nil {
		return hubflags.WriteAnswer(out, o.byHub, nil)
	}
	return as.print(out, o.result)
}

// print prints a result.
func (o *Options) print(out io.Writer, result document.Source) error {
	return printers.Print(out, printers.Format(o.Output), result, o.style())
}

// style returns the style for the output.
func (o *Options) style() printers.Style {
	style := answers.ExplanationStyle(o.Output, o.AllClusters)
	style.Color, style.Width = o.color, o.width
	return style
}

// explaining returns the options of explanations.
func (o *Options) explaining() *tools.ExplainOptions {
	return &tools.ExplainOptions{
		Settings: o.HubSettings(), Clusters: o.Clusters, Wide: printers.Format(o.Output) == printers.FormatWide,
		Suggest: suggest.Name,
	}
}
