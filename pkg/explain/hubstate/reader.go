// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// FleetViewRole is the ClusterRole that has all that an explanation reads beyond the namespace of its object.
const FleetViewRole = "open-cluster-management:placement-hub:fleet-view"

// fleetViewAdvice names the role and what it shows.
const fleetViewAdvice = "the ClusterRole " + FleetViewRole + ", which shows the whole fleet, by a ClusterRoleBinding"

// purpose is what objects are read for.
type purpose struct {
	// concern are the results that the objects decide about, and missing has the notes about what of State could not be read.
	concern explain.Concern
	missing func(*explain.State) *[]string
	// server is what is read from, in notes. refused and advice are the error of a user who lacks rights.
	server, refused, advice string
	// noteSuffices reports that there is no error about kinds that a State need not have and the user may not read.
	noteSuffices bool
}

var (
	forPlacements = purpose{
		concern: explain.OfPlacements, refused: "the hub does not allow this user to read what placements are decided by",
		advice: "ask an administrator of the hub for " + fleetViewAdvice +
			"; for placements and managedclustersetbindings a RoleBinding to view in the namespace is enough",
	}
	forDelivery = purpose{
		concern: explain.OfDelivery, missing: func(state *explain.State) *[]string { return &state.Federated.Missing }, server: "hub",
		refused: forPlacements.refused, advice: forPlacements.advice, noteSuffices: true,
	}
	forPods = purpose{
		concern: explain.OfPods, missing: func(state *explain.State) *[]string { return &state.Pods.Missing }, server: "cluster",
		refused: "the cluster does not allow this user to read all that decides where Pods may run",
		advice:  "ask an administrator of the cluster for " + fleetViewAdvice + "; for workloads and policies of the namespace view is enough",
	}
	forRequests = purpose{
		concern: explain.OfRequests, refused: "the hub does not allow this user to read what ClusterRequests are decided by",
		advice: "ask an administrator of the hub for " + fleetViewAdvice,
	}
	forNamespaces = purpose{
		refused: "the hub does not allow this user to read the Namespaces of the files",
		advice:  "ask for a RoleBinding to view in each of them, or leave them out of the files",
	}
)

// reader reads objects of the table of kinds into a State. It continues after a missing right, so that all of them are reported at once, and
// stops after any other error. unread has the last error of each kind.
type reader struct {
	purpose

	ctx       context.Context //nolint:containedctx // A reader lives as long as one read, whose context this is.
	hub       client.Reader
	state     *explain.State
	unread    map[*explain.Kind]error
	forbidden []error
	failed    error
}

func newReader(ctx context.Context, hub client.Reader, state *explain.State, why purpose) *reader {
	return &reader{purpose: why, ctx: ctx, hub: hub, state: state, unread: map[*explain.Kind]error{}}
}

// kinds returns the kinds of the table that are read and for which wanted is true.
func (r *reader) kinds(wanted func(*explain.Kind) bool) []*explain.Kind {
	return slices.DeleteFunc(slices.Clone(explain.Kinds()), func(kind *explain.Kind) bool {
		return kind.Reads&r.concern == 0 || !wanted(kind)
	})
}

// limited reports whether only objects of a kind in some namespaces are read, and required whether there is no result without the kind.
func (r *reader) limited(kind *explain.Kind) bool  { return kind.Limited&r.concern != 0 }
func (r *reader) required(kind *explain.Kind) bool { return kind.IfMissing[r.concern] == "" }

// readAll reads the objects of kinds, as read does.
func (r *reader) readAll(kinds []*explain.Kind, namespaces ...string) {
	for _, kind := range kinds {
		r.read(kind, namespaces)
	}
}

// read reads the objects of a kind: in namespaces if it is limited to them, and otherwise all. It records errors.
func (r *reader) read(kind *explain.Kind, namespaces []string, options ...client.ListOption) {
	if !r.limited(kind) {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		if r.failed != nil {
			return
		}
		if err := r.add(kind, namespace, options...); err != nil {
			r.unread[kind] = err
			r.record(kind.Several(), kind.IfMissing[r.concern], err)
		}
	}
}

// add adds the objects of a kind in a namespace, or in all, to the State.
func (r *reader) add(kind *explain.Kind, namespace string, options ...client.ListOption) error {
	empty, err := emptyList(kind)
	if err != nil {
		return err
	}
	objects, err := list[api.Object](r.ctx, r.hub, namespace, empty, options...)
	if err != nil {
		return err
	}

	for _, object := range objects {
		if untyped, is := object.(*unstructured.Unstructured); is {
			object = pruned(untyped)
		}
		if err := kind.AddFor(r.concern, r.state, object); err != nil {
			return fmt.Errorf("%s: %w", kind.Name(object), err)
		}
	}
	return nil
}

// emptyList returns an empty list of a kind.
func emptyList(kind *explain.Kind) (runtime.Object, error) {
	gvk := kind.GroupVersion().WithKind(kind.Kind + "List")
	if kind.Untyped {
		untyped := &unstructured.UnstructuredList{}
		untyped.SetGroupVersionKind(gvk)
		return untyped, nil
	}
	empty, err := scheme.Known().New(gvk)
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", kind.Several(), err)
	}
	return empty, nil
}

// record records an error about objects. With a consequence for the reports there is a note about a missing kind or right.
func (r *reader) record(what, consequence string, err error) {
	if consequence != "" && isUnserved(err) {
		r.note(fmt.Sprintf("%s are not installed on this %s%s; %s", what, r.server, installs(err), consequence))
		return
	}
	if consequence != "" && apierrors.IsForbidden(err) {
		r.note(fmt.Sprintf("%s may not be read by this user; %s", what, consequence))
		if r.noteSuffices {
			return
		}
	}

	switch {
	case apierrors.IsForbidden(err):
		r.forbidden = append(r.forbidden, err)
	case isUnserved(err):
		r.fail(fmt.Errorf("the hub does not serve %s: %w; name the kubeconfig or context of a hub, or %s", what, err, installAdvice(err)))
	case apierrors.IsUnauthorized(err):
		r.fail(fmt.Errorf("listing %s: the hub does not accept the credentials: %w; renew them, or name another kubeconfig or context", what, err))
	default:
		r.fail(fmt.Errorf("listing %s: %w; check the connection to the hub and try again", what, err))
	}
}

// fail ends the reader with an error, unless it has ended.
func (r *reader) fail(err error) {
	if r.failed == nil {
		r.failed = err
	}
}

// note adds a note about what could not be read.
func (r *reader) note(text string) {
	if missing := r.missing(r.state); !slices.Contains(*missing, text) {
		*missing = append(*missing, text)
	}
}

// err returns the error that ended the reader, or one about all missing rights.
func (r *reader) err() error {
	if r.failed == nil && len(r.forbidden) > 0 {
		return &refusal{what: r.refused, refused: r.forbidden, advice: r.advice}
	}
	return r.failed
}

func isUnserved(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// pageSize is the limit of objects of one list request.
const pageSize = 500

// ClusterSets lists all ManagedClusterSets.
func ClusterSets(ctx context.Context, hub client.Reader) ([]*clusterv1beta2.ManagedClusterSet, error) {
	return list[*clusterv1beta2.ManagedClusterSet](ctx, hub, "", &clusterv1beta2.ManagedClusterSetList{})
}

// Bindings lists the ManagedClusterSetBindings of a namespace.
func Bindings(ctx context.Context, hub client.Reader, namespace string) ([]*clusterv1beta2.ManagedClusterSetBinding, error) {
	return list[*clusterv1beta2.ManagedClusterSetBinding](ctx, hub, namespace, &clusterv1beta2.ManagedClusterSetBindingList{})
}

// list lists the objects of a kind in one namespace or in all; empty is an empty list of the kind.
func list[T runtime.Object](
	ctx context.Context, hub client.Reader, namespace string, empty runtime.Object, options ...client.ListOption,
) ([]T, error) {
	var objects []T
	err := eachPage(ctx, hub, namespace, empty, func(page client.ObjectList, first bool) error {
		if first {
			objects = nil
		}
		var err error
		objects, err = appendItems(objects, page)
		return err
	}, options...)
	if err != nil {
		return nil, err
	}

	return objects, nil
}

// eachPage calls visit with the pages of a list; empty is an empty list of the kind. If the continue token has expired, it lists again without a
// limit: visit is called with the first page again.
func eachPage(
	ctx context.Context, hub client.Reader, namespace string, empty runtime.Object, visit func(page client.ObjectList, first bool) error,
	options ...client.ListOption,
) error {
	options = slices.Clip(options)
	next := ""
	for limit := int64(pageSize); ; {
		page, isList := empty.DeepCopyObject().(client.ObjectList)
		if !isList {
			return fmt.Errorf("%T is no list", empty)
		}
		err := hub.List(ctx, page, append(options, client.InNamespace(namespace), client.Limit(limit), client.Continue(next))...)
		if apierrors.IsResourceExpired(err) && next != "" {
			next, limit = "", 0
			continue
		}

		if err != nil {
			return err //nolint:wrapcheck // Callers choose their message by its type.
		}
		if err := visit(page, next == ""); err != nil {
			return err
		}
		if next = page.GetContinue(); next == "" {
			return nil
		}
	}
}

func appendItems[T runtime.Object](objects []T, page runtime.Object) ([]T, error) {
	err := meta.EachListItem(page, func(object runtime.Object) error {
		typed, isOne := object.(T)
		if !isOne {
			return fmt.Errorf("%T holds a %T", page, object)
		}
		objects = append(objects, typed)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading a list: %w", err)
	}

	return objects, nil
}
