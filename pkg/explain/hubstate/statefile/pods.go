package statefile

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
)

// The kinds of policies, classes and Tenants, which have CustomResourceDefinitions.
var (
	policyKind        = kupidv1alpha1.GroupVersion.WithKind("PodSchedulingPolicy")
	clusterPolicyKind = kupidv1alpha1.GroupVersion.WithKind("ClusterPodSchedulingPolicy")
	classKind         = cozystackv1alpha1.GroupVersion.WithKind("AffinityClass")
	tenantKind        = appsv1alpha1.GroupVersion.WithKind("Tenant")
)

// The groups of HelmReleases and applications, whose definitions belong to the platform: only their metadata is validated.
const releaseGroup = "helm.toolkit.fluxcd.io"

// optionalKind reports whether a kind belongs to a system that a hub need not have.
func optionalKind(gvk schema.GroupVersionKind) bool {
	return slices.Contains([]schema.GroupVersionKind{policyKind, clusterPolicyKind, classKind, tenantKind}, gvk)
}

// typedWorkloads has an empty object of each kind of workload, for strict decoding.
var typedWorkloads = map[string]runtime.Object{
	"Pod": &corev1.Pod{}, "ReplicationController": &corev1.ReplicationController{}, "ReplicaSet": &appsv1.ReplicaSet{},
	"Deployment": &appsv1.Deployment{}, "StatefulSet": &appsv1.StatefulSet{}, "DaemonSet": &appsv1.DaemonSet{},
	"Job": &batchv1.Job{}, "CronJob": &batchv1.CronJob{},
}

// podStores has the kinds of State.Pods.
func podStores() map[schema.GroupVersionKind]store {
	stores := map[schema.GroupVersionKind]store{
		policyKind: into(func(w *explain.State) *[]*kupidv1alpha1.PodSchedulingPolicy { return &w.Pods.Policies }),
		clusterPolicyKind: into(func(w *explain.State) *[]*kupidv1alpha1.ClusterPodSchedulingPolicy {
			return &w.Pods.ClusterPolicies
		}),
		classKind:  into(func(w *explain.State) *[]*cozystackv1alpha1.AffinityClass { return &w.Pods.Classes }),
		tenantKind: storeTenant,

		namespaceKind: storeNamespace,
		corev1.SchemeGroupVersion.WithKind("Node"): into(func(w *explain.State) *[]*corev1.Node { return &w.Pods.Nodes }),
	}

	for _, kind := range pods.Kinds() {
		stores[kind.GroupVersionKind] = storeWorkload(typedWorkloads[kind.Kind])
	}

	return stores
}

// storeTenant stores a Tenant, whose spec has fields of the platform that the type does not have.
func storeTenant(w *explain.State, fields map[string]any) error {
	tenant := &appsv1alpha1.Tenant{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, tenant); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}

	w.Pods.Tenants = append(w.Pods.Tenants, tenant)

	return nil
}

// decidesPods reports whether a kind decides where Pods may run.
func (r *Reader) decidesPods(gvk schema.GroupVersionKind) bool {
	if stores[gvk] == nil {
		stored, _ := r.storeOf(gvk)

		return stored != nil
	}

	return optionalKind(gvk) || podBuiltins()[gvk] != nil
}

// storeWorkload returns a store that keeps an object as it was given, once a type of its kind can have it.
func storeWorkload(empty runtime.Object) store {
	return func(w *explain.State, fields map[string]any) error {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, empty.DeepCopyObject(), true); err != nil {
			return fmt.Errorf("cannot be read: %w", err)
		}

		workload := &unstructured.Unstructured{Object: fields}
		w.Pods.Workloads = append(w.Pods.Workloads, workload)

		if isFederated(w, workload.GroupVersionKind()) {
			w.Federated.Objects = append(w.Federated.Objects, workload)
		}

		return nil
	}
}

// podBuiltins are the kinds of State.Pods without a CustomResourceDefinition.
func podBuiltins() map[schema.GroupVersionKind]admitter {
	named := func(kind string, namespaced bool, rule metavalidation.ValidateNameFunc) admitter {
		return &builtin{metadataRules: metadataRules{kind: kind, namespaced: namespaced, nameRule: rule}}
	}
	admitters := map[schema.GroupVersionKind]admitter{
		namespaceKind: named("Namespace", false, metavalidation.NameIsDNSLabel),
		corev1.SchemeGroupVersion.WithKind("Node"): named("Node", false, metavalidation.NameIsDNSSubdomain),
	}

	for _, kind := range pods.Kinds() {
		admitters[kind.GroupVersionKind] = named(kind.Kind, true, metavalidation.NameIsDNSSubdomain)
	}

	return admitters
}

// storeOf returns the store and the admitter of a kind; a nil store if no State has it.
func (r *Reader) storeOf(gvk schema.GroupVersionKind) (store, admitter) {
	if known, definition := stores[gvk], r.definitions[gvk]; known != nil && definition != nil {
		return known, definition
	}

	platform := &builtin{metadataRules: metadataRules{kind: gvk.Kind, namespaced: true, nameRule: metavalidation.NameIsDNSSubdomain}}

	switch {
	case gvk.Group == releaseGroup && gvk.Kind == "HelmRelease":
		return keep(func(w *explain.State) *[]*unstructured.Unstructured { return &w.Pods.Releases }), platform
	case gvk.Group == appsv1alpha1.GroupVersion.Group:
		return keep(func(w *explain.State) *[]*unstructured.Unstructured { return &w.Pods.Applications }), platform
	case isFederated(&r.state, gvk):
		return keep(func(w *explain.State) *[]*unstructured.Unstructured { return &w.Federated.Objects }), platform
	default:
		return nil, nil
	}
}

// keep returns a store for objects without a type.
func keep(list func(*explain.State) *[]*unstructured.Unstructured) store {
	return func(w *explain.State, fields map[string]any) error {
		*list(w) = append(*list(w), &unstructured.Unstructured{Object: fields})

		return nil
	}
}

// merged returns the entries of both maps.
func merged[K comparable, V any](a, b map[K]V) map[K]V {
	all := maps.Clone(a)
	maps.Copy(all, b)

	return all
}

var unknownFieldPath = regexp.MustCompile(`^unknown field "(.+)"$`)

// decodingFindings returns the findings of an error of a store: one for each unknown field, with its path.
func decodingFindings(err error) []finding {
	strict, isStrict := runtime.AsStrictDecodingError(errors.Unwrap(err)) // A store adds a prefix.
	if !isStrict {
		return []finding{{"", err.Error()}}
	}

	var findings []finding

	for _, err := range strict.Errors() {
		if match := unknownFieldPath.FindStringSubmatch(err.Error()); match != nil {
			findings = append(findings, finding{match[1], unknownField(nil)})
		} else {
			findings = append(findings, finding{"", err.Error()})
		}
	}

	return findings
}
