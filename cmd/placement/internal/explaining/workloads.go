// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// isWorkload reports whether a type names a kind of workloads.
func isWorkload(_ *Options, text string) bool {
	_, is := pods.FindKind(text)
	return is
}

// checkWorkloadFlags reports flags that mean something for placements alone, or for objects of kinds that are delivered. workloads and delivered
// report whether the named objects have Pods, and whether they are of such kinds.
func (o *Options) checkWorkloadFlags(workloads, delivered bool) error {
	switch {
	case o.All || o.AllNamespaces:
		return errors.New("--all, --all-namespaces: they list placements; leave them out, or leave the workload out")
	case len(o.Clusters) > 0 && !delivered:
		return errors.New("--cluster, --api, --now: they are about placements and objects that are delivered to clusters; leave them out")
	case o.API != "" || o.Now != "":
		return errors.New("--api, --now: they are about placements, and a workload has none of them; leave them out")
	case o.Watch && workloads:
		return errors.New("--watch follows placements and objects that are delivered to clusters; where the pods of a workload may run is " +
			"explained once, so leave it out; placement federated TYPE/NAME --watch follows the delivery of a workload")
	default:
		return errors.Join(o.checkFormat(), o.checkHub())
	}
}

// runWorkloads prints where the Pods of workloads may run that arguments name.
func runWorkloads(ctx context.Context, o *Options, args []string, stdin io.Reader, stdout io.Writer) error {
	workloads, err := objectnames.ParseWorkloads(args, o.Namespace)
	if err == nil {
		delivered, _ := o.ParseObjects(args) // Workloads of other kinds are not delivered.
		err = o.checkWorkloadFlags(true, len(delivered) > 0)
	}
	if err != nil {
		return exit.Mistake(err)
	}
	source, err := o.source(ctx, stdin)
	if err != nil {
		return err
	}
	for i := range workloads {
		workloads[i].Namespace = source.Namespace
	}
	objects, unread := source.Workloads(ctx, workloads, source.Namespace)
	if objects == nil {
		return unread
	}
	var missing error
	if objects.Workloads, missing = objectnames.FindWorkloads(objects.Workloads, workloads); len(objects.Workloads) == 0 {
		return missing
	}
	if unread != nil {
		answer, err := hubflags.AskUnread(unread, func() (endpoint.Answer, error) { return o.askWorkloads(ctx, source, workloads) })
		if answer != nil {
			return hubflags.WriteAnswer(stdout, answer, err)
		}
		unread = err
	}
	return o.printWorkloads(ctx, source, objects, errors.Join(unread, missing), stdout)
}

// printWorkloads prints explanations of workloads. unread says which rights and other workloads are missing.
func (o *Options) printWorkloads(ctx context.Context, from *hubflags.Source, objects *pods.Objects, unread error, stdout io.Writer) error {
	read := func(namespace string) (*explain.State, error) { return from.Delivery(ctx, namespace) }
	explanations, err := o.explaining().Workloads(objects, read, time.Now())
	if err != nil && (explanations == nil || explanations.Federated == nil) {
		return err
	}
	return errors.Join(o.print(stdout, *explanations), unread, err)
}

// askWorkloads asks the hub to explain workloads.
func (o *Options) askWorkloads(ctx context.Context, from *hubflags.Source, workloads []hubstate.Workload) (endpoint.Answer, error) {
	objects := make([]endpoint.Object, 0, len(workloads))
	for _, workload := range workloads {
		objects = append(objects, endpoint.Object{Group: workload.Kind.Group, Kind: workload.Kind.Kind, Name: workload.Name})
	}
	return o.ask(ctx, from, from.Namespace, objects)
}

// completeWorkloads offers the types of workloads before the slash, and the names of one type after it.
func (o *Options) completeWorkloads(cmd *cobra.Command, begun string) []string {
	if begun == "" {
		return nil
	}
	kinds := func(yield func(schema.GroupVersionKind) bool) {
		for _, kind := range pods.Kinds() {
			if !yield(kind.GroupVersionKind) {
				return
			}
		}
	}
	return o.TypedNames(cmd.Context(), begun, kinds, func(text string) (schema.GroupVersionKind, bool) {
		kind, is := pods.FindKind(text)
		return kind.GroupVersionKind, is
	})
}
