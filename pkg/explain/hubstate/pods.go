// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/pkg/podscheduling/webhook"
)

// Workload names a workload on a cluster.
type Workload struct {
	Kind            pods.WorkloadKind
	Namespace, Name string
}

// PodsFromCluster reads workloads, and the policies, classes, Tenants, Namespaces and Nodes that decide about their Pods. Owners and
// applications are read when they are needed, until ctx ends.
//
// Of kinds that the cluster does not serve there are no objects; Objects.Missing names them. If the user may not read one of the other kinds,
// the error names all missing rights, and the objects are those that could be read. After any other error the objects are nil; it is one that
// apierrors.IsNotFound knows if a workload does not exist.
func PodsFromCluster(ctx context.Context, hub client.Client, workloads []Workload) (*pods.Objects, error) {
	r := newPodsReader(ctx, hub)
	var namespaces []string
	for _, workload := range workloads {
		object, err := r.get(workload.Kind.GroupVersionKind, workload.Namespace, workload.Name)
		if err != nil {
			return nil, err
		}
		r.objects.Workloads = append(r.objects.Workloads, object)
		namespaces = append(namespaces, workload.Namespace)
	}

	slices.Sort(namespaces)
	return r.readInputs(slices.Compact(namespaces)...)
}

// PodInputsFromCluster reads all that decides about the Pods of a namespace, and no workload. Errors are those of PodsFromCluster.
func PodInputsFromCluster(ctx context.Context, hub client.Client, namespace string) (*pods.Objects, error) {
	return newPodsReader(ctx, hub).readInputs(namespace)
}

// SomePodsFromCluster reads all that decides about the Pods of namespaces, and those of the workloads that exist. Errors are those of
// PodsFromCluster.
func SomePodsFromCluster(ctx context.Context, hub client.Client, workloads []Workload, namespaces ...string) (*pods.Objects, error) {
	r := newPodsReader(ctx, hub)
	for _, workload := range workloads {
		object, err := r.find(workload.Kind.GroupVersionKind, workload.Namespace, workload.Name)
		if err != nil {
			return nil, err
		}
		if object != nil {
			r.objects.Workloads = append(r.objects.Workloads, object)
		}
	}
	return r.readInputs(namespaces...)
}

// AllPodsFromCluster reads all workloads of a namespace, or of all when it is empty, and all that decides about their Pods. Errors are those
// of PodsFromCluster.
func AllPodsFromCluster(ctx context.Context, hub client.Client, namespace string) (*pods.Objects, error) {
	r := newPodsReader(ctx, hub)
	r.readAll(r.kinds(func(kind *explain.Kind) bool { return kind.Untyped }), namespace)
	r.readPolicies(namespace)
	if namespace == "" {
		r.read(namespaceKind, nil)
	} else {
		r.readNamespace(namespace)
	}
	r.readClusterWide()
	r.readWebhook()

	if len(r.objects.Tenants) > 0 {
		r.readReleases(namespace)
	}
	return r.result()
}

// namespaceKind and releaseKind are the kinds that are read in ways of their own.
var (
	namespaceKind = explain.FindKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	releaseKind   = explain.FindKind(schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"})
)

// podsReader reads pods.Objects. It continues after a missing right and after a kind that is not served.
type podsReader struct {
	*reader

	hub     client.Client
	objects *pods.Objects
	owners  map[affinityclass.Target]readOwner
}

// readOwner is the result of one read.
type readOwner struct {
	object *affinityclass.Object
	err    error
}

func newPodsReader(ctx context.Context, hub client.Client) *podsReader {
	r := &podsReader{
		reader: newReader(ctx, hub, &explain.State{}, forPods), hub: hub, owners: map[affinityclass.Target]readOwner{},
	}
	r.objects = &r.state.Pods
	r.objects.Owner, r.objects.Application = r.owner, r.application
	return r
}

// readInputs reads all that decides about the Pods of namespaces.
func (r *podsReader) readInputs(namespaces ...string) (*pods.Objects, error) {
	for _, namespace := range namespaces {
		r.readPolicies(namespace)
		r.readNamespace(namespace)
	}
	r.readClusterWide()
	r.readWebhook()
	return r.result()
}

func (r *podsReader) result() (*pods.Objects, error) {
	if r.failed != nil {
		return nil, r.failed
	}
	return r.objects, r.err()
}

// readPolicies reads the objects of a namespace that decide about its Pods.
func (r *podsReader) readPolicies(namespace string) {
	r.readAll(r.kinds(func(kind *explain.Kind) bool { return r.limited(kind) && !kind.Untyped && kind != releaseKind }), namespace)
}

func (r *podsReader) readNamespace(name string) {
	namespace := &corev1.Namespace{}
	switch err := r.hub.Get(r.ctx, client.ObjectKey{Name: name}, namespace); {
	case err == nil:
		r.objects.Namespaces = append(r.objects.Namespaces, namespace)
	case apierrors.IsNotFound(err): // It is to be created, and has no workload.
	default:
		r.record("Namespace "+name, namespaceKind.IfMissing[r.concern], err)
	}
}

// readClusterWide reads the objects of the whole cluster that decide about Pods.
func (r *podsReader) readClusterWide() {
	for _, kind := range r.kinds(func(kind *explain.Kind) bool { return !r.limited(kind) && kind != namespaceKind }) {
		r.read(kind, nil)
		if apierrors.IsForbidden(r.unread[kind]) {
			r.objects.Unread = append(r.objects.Unread, kind.Kind)
		}
	}
}

// readWebhook reads which objects the API server sends to the webhook of policies, if there are policies. A user who may not read that gets
// the report for a webhook that is asked about everything.
func (r *podsReader) readWebhook() {
	if r.failed != nil || len(r.objects.Policies)+len(r.objects.ClusterPolicies) == 0 {
		return
	}
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	err := r.hub.Get(r.ctx, client.ObjectKey{Name: webhook.Configuration}, configuration)
	switch {
	case err == nil:
		r.objects.Webhook = configuration
	case apierrors.IsNotFound(err):
		r.objects.Missing = append(r.objects.Missing, fmt.Sprintf("MutatingWebhookConfiguration %s is not installed on this cluster; "+
			"no policy is injected before it is", webhook.Configuration))
	case apierrors.IsForbidden(err):
		r.objects.Missing = append(r.objects.Missing, fmt.Sprintf("MutatingWebhookConfiguration %s may not be read by this user; "+
			"the report is that for rules which cover every kind and namespace", webhook.Configuration))
	default:
		r.record("MutatingWebhookConfiguration "+webhook.Configuration, "", err)
	}
}

// readReleases reads the labels of HelmReleases, by which the Tenants' applications have classes. A cluster without Flux has none.
func (r *podsReader) readReleases(namespace string) {
	if r.failed != nil {
		return
	}
	err := r.addReleases(namespace)
	if err != nil && !meta.IsNoMatchError(err) {
		r.record(releaseKind.Several(), releaseKind.IfMissing[r.concern], err)
	}
}

func (r *podsReader) addReleases(namespace string) error {
	mapping, err := r.hub.RESTMapper().RESTMapping(releaseKind.GroupKind())
	if err != nil {
		return err //nolint:wrapcheck // Its kind decides what is done.
	}
	empty := &metav1.PartialObjectMetadataList{}
	empty.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind(releaseKind.Kind + "List"))
	releases, err := list[*metav1.PartialObjectMetadata](r.ctx, r.hub, namespace, empty)
	if err != nil {
		return err
	}

	for _, read := range releases {
		release := &unstructured.Unstructured{}
		release.SetGroupVersionKind(mapping.GroupVersionKind)
		release.SetNamespace(read.Namespace)
		release.SetName(read.Name)
		release.SetUID(read.UID)
		release.SetLabels(read.Labels)
		release.SetOwnerReferences(read.OwnerReferences)
		r.objects.Releases = append(r.objects.Releases, release)
	}
	return nil
}

func prune(object *unstructured.Unstructured) {
	object.SetManagedFields(nil)
	unstructured.RemoveNestedField(object.Object, "status")
}

// pruned returns a copy of an object, which a cache may share, without these fields. Both share the other fields.
func pruned(object *unstructured.Unstructured) *unstructured.Unstructured {
	fields := maps.Clone(object.Object)
	if metadata, isMap := fields["metadata"].(map[string]any); isMap {
		fields["metadata"] = maps.Clone(metadata)
	}
	shallow := &unstructured.Unstructured{Object: fields}
	prune(shallow)
	return shallow
}

// get reads a workload. The error is one that apierrors.IsNotFound knows if it does not exist.
func (r *podsReader) get(kind schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	object, err := r.find(kind, namespace, name)
	if object == nil && err == nil {
		err = &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
			Message: fmt.Sprintf("there is no %s %s/%s; correct the name or the namespace", kind.Kind, namespace, name),
		}}
	}
	return object, err
}

// find reads a workload; nil if it does not exist.
func (r *podsReader) find(kind schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	err := r.hub.Get(r.ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	switch {
	case err == nil:
		prune(object)
		return object, nil
	case apierrors.IsNotFound(err):
		return nil, nil
	default:
		return nil, fmt.Errorf("reading %s %s/%s: %w", kind.Kind, namespace, name, err)
	}
}

// owner is a affinityclass.Lookup that reads the metadata of each owner once.
func (r *podsReader) owner(target affinityclass.Target) (*affinityclass.Object, error) {
	known, found := r.owners[target]
	if !found {
		known.object, known.err = r.readOwner(target)
		r.owners[target] = known
	}
	return known.object, known.err
}

func (r *podsReader) readOwner(target affinityclass.Target) (*affinityclass.Object, error) {
	kind := target.Kind
	if kind.Version == "" {
		mapping, err := r.hub.RESTMapper().RESTMapping(kind.GroupKind())
		if err != nil {
			return nil, ignoreUnserved(err)
		}
		kind = mapping.GroupVersionKind
	}
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)

	if err := r.hub.Get(r.ctx, client.ObjectKey{Namespace: target.Namespace, Name: target.Name}, object); err != nil {
		return nil, ignoreUnserved(err)
	}
	return &affinityclass.Object{
		Kind: kind.GroupKind(), Namespace: object.Namespace, Name: object.Name, UID: object.UID,
		Labels: object.Labels, Owners: object.OwnerReferences,
	}, nil
}

// application reads an application; nil if it or its kind does not exist.
func (r *podsReader) application(kind schema.GroupKind, namespace, name string) (*unstructured.Unstructured, error) {
	mapping, err := r.hub.RESTMapper().RESTMapping(kind)
	if err != nil {
		return nil, ignoreUnserved(err)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(mapping.GroupVersionKind)
	if err := r.hub.Get(r.ctx, client.ObjectKey{Namespace: namespace, Name: name}, object); err != nil {
		return nil, ignoreUnserved(err)
	}
	return object, nil
}

func ignoreUnserved(err error) error {
	if isUnserved(err) {
		return nil
	}
	return err
}
