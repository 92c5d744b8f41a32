// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/terminal"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

const historyLong = `history shows which clusters the decisions of Placements have lost and gained, when, and by which change of which object:
the field, its old and its new value, and the field manager where it is known. Of an object that is delivered to clusters it
shows which clusters have lost and gained its ManifestWork, and of a ClusterRequest which Cluster its Grant names. Times are in UTC.

The hub remembers as much as its flag --history-bytes lets it, each namespace its fair share, since it was started. A standby
of the hub remembers too; it knows the changes that it has seen, and not the reasons of the evaluation, and the answer says so.

The command asks the endpoint of the hub with the bearer token of the user, as placement explain does. It shows Placements
and objects that the user may get, without a name those that the user may list in the namespace, and with -A in all namespaces.
Of the changes it shows those of objects that the user may get, and of clusters that the namespace may use. Others are counted.

With --watch the command goes on to print what happens, until Ctrl-C.`

const historyExample = `  # Why has this Placement other clusters than yesterday?
  placement history team-a/payments

  # Which decisions have lost or gained a cluster in the last hour?
  placement history -A --cluster eu2 --since 1h

  # Where was this object delivered?
  placement history deployment/web -n team-a --since 24h

  # Which Cluster did this request get?
  placement history clusterrequest/ci -n team-a

  # With the reasons of the evaluation
  placement history -n team-a -o wide

  # Follow, until Ctrl-C
  placement history -n team-a --watch`

// historyPeriod is how often --watch asks the hub, and historyOverlap how far back, because rows of several processes come in any order.
const (
	historyPeriod  = 2 * time.Second
	historyOverlap = 30 * time.Second
)

// historyOptions are the flags of the command.
type historyOptions struct {
	hubflags.Hub
	hubflags.Ask
	hubflags.Kinds

	apiName       string
	clusters      []string
	since         string
	output        string
	allNamespaces bool
	watch         bool
}

func newHistoryCommand() *cobra.Command {
	var o historyOptions
	cmd := &cobra.Command{
		Use:     "history [NAMESPACE/NAME... | TYPE/NAME...]",
		Short:   "Show which clusters decisions have lost and gained, and why",
		Long:    historyLong,
		Example: historyExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	o.Add(flags)
	o.AddAsk(flags)
	o.AddKinds(flags)
	flags.Lookup("namespace").Usage = "Namespace of the Placements and objects. Default: the namespace of the context."
	flags.StringVar(&o.apiName, "api", "", "API group or version of the named Placements. Default: cluster.open-cluster-management.io.")
	flags.StringArrayVar(&o.clusters, "cluster", nil, "Only what was lost or gained of this ManagedCluster. May be repeated.")
	flags.StringVar(&o.since, "since", "", "Only what happened in this time, such as 24h, or since a time such as 2026-01-31T12:00:00Z.")
	flags.StringVarP(&o.output, "output", "o", string(printers.FormatTable),
		"Output format: table, wide (with reasons), json, yaml, or name (one object per line).")
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "Show all namespaces.")
	flags.BoolVarP(&o.watch, "watch", "w", false, "Print what happens from then on too, until Ctrl-C.")
	o.RegisterCompletions(cmd, printers.WideFormats())
	return cmd
}

// parse returns the question without its namespace, and the named Placements.
func (o *historyOptions) parse(args []string, now time.Time) (endpoint.Question, []objectnames.Placement, error) {
	question := endpoint.Question{Command: endpoint.CommandHistory, Clusters: o.clusters, Output: string(printers.FormatJSON)}
	if !slices.Contains(printers.WideFormats(), printers.Format(o.output)) {
		return question, nil, fmt.Errorf("--output: unknown format %q; use one of %v", o.output, printers.WideFormats())
	}
	switch {
	case o.allNamespaces && o.Namespace != "":
		return question, nil, errors.New("--all-namespaces and --namespace contradict each other; leave out one or the other")
	case o.allNamespaces && len(args) > 0:
		return question, nil, fmt.Errorf("--all-namespaces shows all objects, so naming %q means nothing; leave out one or the other", args[0])
	case slices.Contains(o.clusters, ""):
		return question, nil, errors.New("--cluster: a ManagedCluster has a name; write it, or leave the flag out")
	}
	if o.since != "" {
		since, err := movelist.ParseSince(o.since, now)
		if err != nil {
			return question, nil, fmt.Errorf("--since: %w", err)
		}
		question.Since = &metav1.Time{Time: since}
	}
	objects, err := o.parseObjects(args)
	if err != nil || len(objects) > 0 {
		question.Objects = objects
		return question, nil, err
	}
	targets, err := objectnames.ParsePlacements(args, o.Namespace, o.apiName)
	if err != nil {
		return question, nil, err
	}
	for i := range targets {
		if targets[i].Namespace != targets[0].Namespace {
			return question, nil, fmt.Errorf("the hub is asked about one namespace at a time, and %s and %s are in two; leave out one, or use -A",
				targets[0], targets[i])
		}
		targets[i].APIs = targets[i].APIs[:1] // Of a name without an API, that of v1beta1.
	}
	return question, targets, nil
}

// parseObjects returns the delivered objects or the ClusterRequests that arguments name; none if they name Placements.
func (o *historyOptions) parseObjects(args []string) ([]endpoint.Object, error) {
	named, err := o.ParseObjects(args)
	if err != nil || len(named) > 0 {
		return objectnames.DeliveredObjects(named), err
	}
	requested, err := objectnames.ParseRequests(args)
	if err != nil {
		return nil, err
	}
	objects := make([]endpoint.Object, 0, len(requested))
	for _, name := range requested {
		objects = append(objects, tools.RequestObject(name))
	}
	return objects, nil
}

func (o *historyOptions) run(ctx context.Context, args []string, stdout io.Writer) error {
	if err := o.ParseKinds(); err != nil {
		return err
	}
	question, targets, err := o.parse(args, time.Now())
	if err != nil {
		return exit.Mistake(err)
	}
	hub, config, namespace, err := o.ConnectHub()
	if err != nil {
		return err
	}
	if o.allNamespaces {
		namespace = ""
	}
	for _, target := range targets {
		if target.Namespace != "" {
			namespace = target.Namespace
		}
		question.Objects = append(question.Objects, objectnames.PlacementObject(target.WithNamespace(namespace).Keys()[0]))
	}
	question.Namespace = namespace
	if len(question.Objects) == 0 {
		kinds := tools.KindsFor(o.Delivered, endpoint.CommandHistory)
		if question.Kinds, err = tools.ListableKinds(ctx, hub, namespace, kinds); err != nil {
			return err
		}
		if len(question.Kinds) == 0 {
			return fmt.Errorf("this user may list neither Placements, delivered objects nor ClusterRequests in %s; "+
				"ask for the verb list on placements, or name one", whereIs(namespace))
		}
	}
	list, err := o.askHistory(ctx, hub, config, question)
	if err != nil {
		return err
	}
	if !o.watch {
		return o.show(stdout, list)
	}
	return o.follow(ctx, hub, config, question, list, stdout)
}

// whereIs names a namespace, or all.
func whereIs(namespace string) string {
	if namespace == "" {
		return "all namespaces"
	}
	return "namespace " + namespace
}

// askHistory asks the hub for rows.
func (o *historyOptions) askHistory(
	ctx context.Context, hub client.Reader, config *rest.Config, question endpoint.Question,
) (*movelist.List, error) {
	answer, err := o.Send(ctx, hub, config, question)
	if err != nil {
		return nil, err
	}
	list := &movelist.List{}
	if err := json.Unmarshal([]byte(answer.Output), list); err != nil {
		return nil, fmt.Errorf("the answer of the hub is no history: %w; use a version of the command near that of the hub", err)
	}
	return list, nil
}

func (o *historyOptions) show(stdout io.Writer, list *movelist.List) error {
	style := printers.Style{Color: terminal.Colored(stdout), Options: document.Options{Wide: printers.Format(o.output) == printers.FormatWide}}
	return printers.Print(stdout, printers.Format(o.output), list, style)
}

// follow prints a list, and then the rows that the hub adds, until ctx ends.
func (o *historyOptions) follow(
	ctx context.Context, hub client.Reader, config *rest.Config, question endpoint.Question, list *movelist.List, stdout io.Writer,
) error {
	printed := printedRows{}
	for first := true; ; first = false {
		if fresh := printed.fresh(list); first || len(fresh.Moves) > 0 {
			if err := o.show(stdout, fresh); err != nil {
				return err
			}
		}
		since := list.Now.Add(-historyOverlap)
		select {
		case <-ctx.Done():
			return nil // The user ended the command.
		case <-time.After(historyPeriod):
		}
		if question.Since == nil || question.Since.Time.Before(since) {
			question.Since = &metav1.Time{Time: since}
		}
		next, err := o.askHistory(ctx, hub, config, question)
		switch {
		case err == nil:
			list = next
		case ctx.Err() == nil:
			return err
		}
	}
}

// printedRows are the rows that were printed, with their times. The processes of a hub number the same row alike.
type printedRows map[string]time.Time

// fresh returns a list with the rows that were not printed, and remembers them for as long as the hub is asked for them.
func (p printedRows) fresh(list *movelist.List) *movelist.List {
	fresh := *list
	fresh.Moves = nil
	for i := range list.Moves {
		move := &list.Moves[i]
		id := strings.Join([]string{move.Group, move.Kind, move.Namespace, move.Name, move.UID, move.ResourceVersion}, " ")
		if _, printed := p[id]; !printed {
			fresh.Moves = append(fresh.Moves, *move)
		}
		p[id] = move.Time
	}
	for id, at := range p {
		if at.Before(list.Now.Add(-2 * historyOverlap)) {
			delete(p, id)
		}
	}
	return &fresh
}
