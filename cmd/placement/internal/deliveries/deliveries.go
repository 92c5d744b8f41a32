// SPDX-License-Identifier: Apache-2.0

package deliveries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/terminal"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// Options are the flags of the command.
type Options struct {
	hubflags.Files
	hubflags.Kinds
	hubflags.Labels
	hubflags.Ask

	Paths         []string
	Now           string
	Output        string
	AllNamespaces bool
	Watch         bool
	HubLimit      removalbudget.Limit
	// hubControllers are those that the hub says it runs; nil if it says nothing, and for files.
	hubControllers []string
}

// Run prints the reports of the objects that arguments name, or of all, once, or with --watch until ctx ends.
func (o *Options) Run(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	if err := o.ParseKinds(); err != nil {
		return err
	}
	now, names, err := o.parse(args)
	if err != nil {
		return exit.Mistake(err)
	}
	if o.Watch {
		return o.printChanges(ctx, names, stdout)
	}
	from, err := o.open(ctx, stdin)
	if err != nil {
		return err
	}
	state, unread := from.Delivery(ctx, from.Namespace)
	if state == nil {
		return unread
	}
	if unread != nil {
		answer, err := hubflags.AskUnread(unread, func() (endpoint.Answer, error) { return o.ask(ctx, from, names, terminal.Colored(stdout)) })
		if answer != nil {
			return hubflags.WriteAnswer(stdout, answer, err)
		}
		unread = err
	}
	return o.print(state, names, from.Namespace, unread, o.TimeOf(now, o.Now), stdout)
}

// print prints the reports of the named objects, or without names of all objects of the namespace. unread says which rights are missing.
func (o *Options) print(
	state *explain.State, names []hubflags.DeliveredName, namespace string, unread error, now time.Time, stdout io.Writer,
) error {
	keys, missing := objectnames.DeliveredKeys(state, names, namespace)
	if missing != nil && len(keys) == 0 {
		return errors.Join(missing, unread)
	}
	reports := o.reports(state, keys, namespace, unread, now)
	return errors.Join(printers.Print(stdout, printers.Format(o.Output), reports, o.style(keys, stdout)), missing, unread)
}

// style returns the style for the reports of the named objects, or without names of all objects.
func (o *Options) style(keys []inventory.Key, stdout io.Writer) printers.Style {
	options := document.Options{Scores: len(keys) > 0, Wide: printers.Format(o.Output) == printers.FormatWide}
	return printers.Style{Options: options, Color: terminal.Colored(stdout), Width: terminal.Width(stdout)}
}

// reports returns the reports of the named objects, or without names of all objects of the namespace. With missing rights they are those of
// what the hub has written.
func (o *Options) reports(state *explain.State, keys []inventory.Key, namespace string, unread error, now time.Time) federated.Reports {
	filter := explain.ObjectFilter{Wanted: tools.WantedKeys(keys), Named: len(keys) > 0}
	if len(keys) == 0 {
		filter.Wanted = o.Objects(state, o.Kinds)
	}
	state.Controllers = o.hubControllers
	state.Federated.Limit = o.HubLimit
	var reports federated.Reports
	if unread != nil && apierrors.IsForbidden(unread) {
		reports = state.ReportWrittenObjects(filter, now)
	} else {
		reports = state.ReportObjects(filter, printers.Format(o.Output) == printers.FormatWide, now)
	}
	tools.SortByKeys(reports.Objects, keys, func(report federated.Report) inventory.Key { return report.Key })
	if namespace != "" {
		reports.Objects = slices.DeleteFunc(reports.Objects, func(report federated.Report) bool { return report.Namespace != namespace })
	}
	return reports
}

func (o *Options) parse(args []string) (now time.Time, names []hubflags.DeliveredName, err error) {
	if now, err = hubflags.ParseNow(o.Now); err != nil {
		return now, nil, err
	}
	switch {
	case !slices.Contains(printers.WideFormats(), printers.Format(o.Output)):
		return now, nil, fmt.Errorf("--output: unknown format %q; use one of %v", o.Output, printers.WideFormats())
	case o.AllNamespaces && o.Namespace != "":
		return now, nil, errors.New("--all-namespaces and --namespace contradict each other; leave out one or the other")
	case o.Text != "" && len(args) > 0:
		return now, nil, fmt.Errorf("--selector lists objects, so naming %q means nothing; leave out one or the other", args[0])
	case o.AllNamespaces && len(args) > 0:
		return now, nil, fmt.Errorf("--all-namespaces lists objects, so naming %q means nothing; leave out one or the other", args[0])
	}
	if err := errors.Join(o.ParseLabels(), o.checkHub()); err != nil {
		return now, nil, err
	}
	names, err = o.ParseObjects(args)
	if err == nil && len(names) == 0 && len(args) > 0 {
		typed, _, _ := strings.Cut(args[0], "/")
		err = fmt.Errorf("%q names no object that is delivered: write TYPE/NAME, where TYPE is one of %s%s", args[0],
			strings.Join(o.ObjectTypes(), ", "), suggest.DidYouMean(typed, "", o.ObjectTypes()))
	}
	return now, names, err
}

// checkHub reports flags that contradict the origin of the state.
func (o *Options) checkHub() error {
	return o.CheckSource(o.Paths, o.Watch, o.Now)
}

// open reads the files, or connects to the hub.
func (o *Options) open(ctx context.Context, stdin io.Reader) (opened *hubflags.Source, err error) {
	if len(o.Paths) > 0 {
		opened, err = o.OpenFiles(ctx, statefile.Described, o.Delivered, "--filename", o.Paths, stdin)
	} else {
		opened, err = o.OpenHub(ctx, &o.Ask, o.Delivered)
	}
	if err != nil {
		return nil, err
	}
	o.hubControllers = opened.Controllers
	if o.AllNamespaces {
		opened.Namespace = ""
	}
	return opened, nil
}

// ask asks the hub to report the named objects of a namespace, or without names those of the kinds that the user may list. The error is an
// *endpoint.AnswerError if the hub has answered with it.
func (o *Options) ask(ctx context.Context, from *hubflags.Source, names []hubflags.DeliveredName, color bool) (endpoint.Answer, error) {
	switch {
	case o.Now != "":
		return endpoint.Answer{}, errors.New("the hub reports the present, so it was not asked because of --now")
	case o.Selector != nil:
		return endpoint.Answer{}, hubflags.ErrSelectorUnread
	case from.Namespace == "":
		return endpoint.Answer{}, errors.New("the hub reports the objects of one namespace at a time, so it was not asked; " +
			"name one with -n instead of -A")
	}
	question := endpoint.Question{
		Command: endpoint.CommandFederated, Namespace: from.Namespace, Objects: objectnames.DeliveredObjects(names), Output: o.Output, Color: color,
	}
	if len(names) == 0 {
		var err error
		if question.Kinds, err = tools.ListableKinds(ctx, from.Hub, from.Namespace, o.DeliveredKinds()); err != nil {
			return endpoint.Answer{}, err
		}
		if len(question.Kinds) == 0 {
			return endpoint.Answer{}, errors.New("this user may list no objects of a kind that is delivered in namespace " + from.Namespace)
		}
	}
	return o.Send(ctx, from.Hub, from.Config, question)
}

// CompleteObjects offers the types of delivered objects before the slash, and the names of one type after it.
func (o *Options) CompleteObjects(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	offered := o.objectsBegun(cmd, begun)
	directive := cobra.ShellCompDirectiveNoFileComp
	if len(offered) == 1 && strings.HasSuffix(offered[0], "/") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return offered, directive
}

func (o *Options) objectsBegun(cmd *cobra.Command, begun string) []string {
	if o.ParseKinds() != nil {
		return nil
	}
	kinds := func(yield func(schema.GroupVersionKind) bool) {
		for _, kind := range o.Delivered {
			if !yield(kind.GroupVersionKind) {
				return
			}
		}
	}
	return o.TypedNames(cmd.Context(), begun, kinds, func(text string) (schema.GroupVersionKind, bool) {
		kind, is := federated.FindKind(o.Delivered, text)
		return kind.GroupVersionKind, is
	})
}
