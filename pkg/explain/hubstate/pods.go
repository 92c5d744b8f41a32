// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
	"github.com/placement-hub/placement-hub/pkg/podscheduling/webhook"
)

// Workload names a workload on a cluster.
type Workload struct {
	Kind            pods.Kind
	Namespace, Name string
}

// PodsFromCluster reads workloads, and the policies, classes, Tenants, Namespaces and Nodes that decide about their Pods. Owners and
// applications are read when they are needed, until ctx ends.
//
// Of kinds that the cluster does not serve there are no objects; Objects.Missing names them. If the user may not read one of the other kinds,
// the error names all missing rights, and the objects are those that could be read. After any other error the objects are nil.
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

// SomePodsFromCluster reads all that decides about the Pods of a namespace, and those of the workloads that exist. Errors are those of
// PodsFromCluster.
func SomePodsFromCluster(ctx context.Context, hub client.Client, namespace string, workloads []Workload) (*pods.Objects, error) {
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

	return r.readInputs(namespace)
}

// AllPodsFromCluster reads all workloads of a namespace, or of all when it is empty, and all that decides about their Pods. Errors are those
// of PodsFromCluster.
func AllPodsFromCluster(ctx context.Context, hub client.Client, namespace string) (*pods.Objects, error) {
	r := newPodsReader(ctx, hub)

	for _, kind := range pods.Kinds() {
		r.objects.Workloads = append(r.objects.Workloads, r.listUntyped(kind.GroupVersionKind, namespace)...)
	}

	r.readPolicies(namespace)

	if namespace == "" {
		r.objects.Namespaces = readPods[*corev1.Namespace](r, "Namespaces", "", &corev1.NamespaceList{}, onlyNames)
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

// The consequences of kinds that are not there, for Objects.Missing.
const (
	noPolicies = "no policy of this kind is in the report"
	noClasses  = "AffinityClasses are not in the report"
	noTenants  = "defaults and limits of Tenants are not in the report"
	noNodes    = "the report does not say which nodes fit"
	onlyNames  = "namespaceSelectors are evaluated with the names of the namespaces alone"
	noReleases = "classes of applications are not in the report"
	noWorkload = "they are not in the report"
)

// podsReader reads pods.Objects. It continues after a missing right and after a kind that is not served.
type podsReader struct {
	ctx     context.Context //nolint:containedctx // A reader lives as long as one command, whose context this is.
	hub     client.Client
	objects *pods.Objects
	owners  map[affinityclass.Target]readOwner
	reader  reader
}

// readOwner is the result of one read.
type readOwner struct {
	object *affinityclass.Object
	err    error
}

func newPodsReader(ctx context.Context, hub client.Client) *podsReader {
	r := &podsReader{ctx: ctx, hub: hub, owners: map[affinityclass.Target]readOwner{}, reader: reader{hub: hub}}
	r.objects = &pods.Objects{Owner: r.owner, Application: r.application}

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
	switch {
	case r.reader.failed != nil:
		return nil, r.reader.failed
	case len(r.reader.forbidden) > 0:
		return r.objects, &refusal{
			what: "the cluster does not allow this user to read all that decides where Pods may run", refused: r.reader.forbidden,
			advice: "ask an administrator of the cluster for " + fleetViewAdvice + "; for workloads and policies of the namespace view is enough",
		}
	default:
		return r.objects, nil
	}
}

func (r *podsReader) readPolicies(namespace string) {
	r.objects.Policies = append(r.objects.Policies, readPods[*kupidv1alpha1.PodSchedulingPolicy](
		r, "PodSchedulingPolicies", namespace, &kupidv1alpha1.PodSchedulingPolicyList{}, noPolicies)...)
}

func (r *podsReader) readNamespace(name string) {
	namespace := &corev1.Namespace{}

	switch err := r.hub.Get(r.ctx, client.ObjectKey{Name: name}, namespace); {
	case err == nil:
		r.objects.Namespaces = append(r.objects.Namespaces, namespace)
	case apierrors.IsNotFound(err): // It is to be created, and has no workload.
	default:
		r.record("Namespace "+name, err, onlyNames)
	}
}

func (r *podsReader) readClusterWide() {
	r.objects.ClusterPolicies = readPods[*kupidv1alpha1.ClusterPodSchedulingPolicy](
		r, "ClusterPodSchedulingPolicies", "", &kupidv1alpha1.ClusterPodSchedulingPolicyList{}, noPolicies)
	unread := &r.objects.Unread
	r.objects.Classes = readOrNot[*cozystackv1alpha1.AffinityClass](
		r, &unread.Classes, "AffinityClasses", &cozystackv1alpha1.AffinityClassList{}, noClasses)
	r.objects.Tenants = readOrNot[*appsv1alpha1.Tenant](r, &unread.Tenants, "Tenants", &appsv1alpha1.TenantList{}, noTenants)
	r.objects.Nodes = readOrNot[*corev1.Node](r, &unread.Nodes, "Nodes", &corev1.NodeList{}, noNodes)
}

// readWebhook reads which objects the API server sends to the webhook of policies, if there are policies. A user who may not read that gets
// the report for a webhook that is asked about everything.
func (r *podsReader) readWebhook() {
	if r.reader.failed != nil || len(r.objects.Policies)+len(r.objects.ClusterPolicies) == 0 {
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
		r.reader.record("MutatingWebhookConfiguration "+webhook.Configuration, err)
	}
}

// readReleases reads the labels of HelmReleases, by which the Tenants' applications have classes. A cluster without Flux has none.
func (r *podsReader) readReleases(namespace string) {
	mapping, err := r.hub.RESTMapper().RESTMapping(schema.GroupKind{Group: "helm.toolkit.fluxcd.io", Kind: "HelmRelease"})
	if err != nil {
		if !isUnserved(err) {
			r.record("HelmReleases", err, noReleases)
		}

		return
	}

	empty := &metav1.PartialObjectMetadataList{}
	empty.SetGroupVersionKind(mapping.GroupVersionKind.GroupVersion().WithKind("HelmReleaseList"))

	for _, read := range readPods[*metav1.PartialObjectMetadata](r, "HelmReleases", namespace, empty, noReleases) {
		release := &unstructured.Unstructured{}
		release.SetGroupVersionKind(mapping.GroupVersionKind)
		release.SetNamespace(read.Namespace)
		release.SetName(read.Name)
		release.SetUID(read.UID)
		release.SetLabels(read.Labels)
		release.SetOwnerReferences(read.OwnerReferences)
		r.objects.Releases = append(r.objects.Releases, release)
	}
}

// readOrNot lists objects of the whole cluster, and sets unread if the user may not do that.
func readOrNot[T runtime.Object](r *podsReader, unread *bool, kind string, empty runtime.Object, consequence string) []T {
	before := len(r.reader.forbidden)
	objects := readPods[T](r, kind, "", empty, consequence)
	*unread = len(r.reader.forbidden) > before

	return objects
}

// readPods lists objects, and records why there are none.
func readPods[T runtime.Object](r *podsReader, kind, namespace string, empty runtime.Object, consequence string) []T {
	if r.reader.failed != nil {
		return nil
	}

	objects, err := list[T](r.ctx, r.hub, namespace, empty)
	if err != nil {
		r.record(kind, err, consequence)
	}

	return objects
}

// record records a kind that is not served or may not be read, or the failure of the whole.
func (r *podsReader) record(kind string, err error, consequence string) {
	missing := ""

	switch {
	case isUnserved(err):
		missing = fmt.Sprintf("%s are not installed on this cluster%s; %s", kind, installs(err), consequence)
	case apierrors.IsForbidden(err):
		missing = fmt.Sprintf("%s may not be read by this user; %s", kind, consequence)

		r.reader.record(kind, err)
	default:
		r.reader.record(kind, err)
	}

	if missing != "" && !slices.Contains(r.objects.Missing, missing) {
		r.objects.Missing = append(r.objects.Missing, missing)
	}
}

// listUntyped lists objects without the fields that are not read.
func (r *podsReader) listUntyped(kind schema.GroupVersionKind, namespace string) []*unstructured.Unstructured {
	empty := &unstructured.UnstructuredList{}
	empty.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))

	objects := readPods[*unstructured.Unstructured](r, kind.Kind+"s", namespace, empty, noWorkload)
	for _, object := range objects {
		prune(object)
	}

	return objects
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

// get reads a workload.
func (r *podsReader) get(kind schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	object, err := r.find(kind, namespace, name)
	if object == nil && err == nil {
		err = fmt.Errorf("there is no %s %s/%s; correct the name or the namespace", kind.Kind, namespace, name)
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
