// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// rootCertificates is the name of the ConfigMap that kube-controller-manager keeps in every namespace.
const rootCertificates = "kube-root-ca.crt"

const (
	kindServiceAccount = "ServiceAccount"
	// defaultServiceAccount is the ServiceAccount that kube-controller-manager keeps in every namespace.
	defaultServiceAccount = "default"
)

// Dependency is an object that the Pods of a workload need, in the namespace of the workload.
type Dependency struct {
	// Kind is ConfigMap, Secret or ServiceAccount.
	Kind string
	Name string
}

// Dependencies returns the objects that the pod template of a workload names, each once, sorted by kind and name; none for an object without
// a pod template (docs/spec/federated-selector.md 3.2). References that are optional, and what every namespace has by itself, do not count.
func Dependencies(object *unstructured.Unstructured) ([]Dependency, error) {
	template, found, err := unstructured.NestedMap(object.Object, "spec", "template", "spec")
	if err != nil || !found {
		// Kinds that the admin adds may have anything there.
		return nil, nil //nolint:nilerr // the object has no pod template
	}
	spec := corev1.PodSpec{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, &spec); err != nil {
		return nil, fmt.Errorf("spec.template.spec is no pod template: %w", err)
	}

	d := dependencies{}
	d.add(kindServiceAccount, spec.ServiceAccountName, nil)
	for _, secret := range spec.ImagePullSecrets {
		d.add(kindSecret, secret.Name, nil)
	}
	for i := range spec.Volumes {
		d.addVolume(&spec.Volumes[i].VolumeSource)
	}

	for i := range spec.InitContainers {
		d.addEnvironment(spec.InitContainers[i].EnvFrom, spec.InitContainers[i].Env)
	}
	for i := range spec.Containers {
		d.addEnvironment(spec.Containers[i].EnvFrom, spec.Containers[i].Env)
	}
	sorted := make([]Dependency, 0, len(d))
	for dependency := range d {
		sorted = append(sorted, dependency)
	}

	slices.SortFunc(sorted, func(a, b Dependency) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return sorted, nil
}

// CanBePropagated reports whether objects of a kind, in the form of schema.GroupKind.String, are delivered with the workloads that need them.
func CanBePropagated(groupKind string) bool {
	return groupKind == kindConfigMap || groupKind == kindSecret
}

type dependencies map[Dependency]bool

func (d dependencies) add(kind, name string, optional *bool) {
	switch dependency := (Dependency{Kind: kind, Name: name}); {
	case name == "", optional != nil && *optional:
	case dependency == Dependency{kindConfigMap, rootCertificates}, dependency == Dependency{kindServiceAccount, defaultServiceAccount}:
	default:
		d[dependency] = true
	}
}

func (d dependencies) addEnvironment(from []corev1.EnvFromSource, variables []corev1.EnvVar) {
	for _, source := range from {
		if source.ConfigMapRef != nil {
			d.add(kindConfigMap, source.ConfigMapRef.Name, source.ConfigMapRef.Optional)
		}
		if source.SecretRef != nil {
			d.add(kindSecret, source.SecretRef.Name, source.SecretRef.Optional)
		}
	}

	for _, variable := range variables {
		if variable.ValueFrom == nil {
			continue
		}
		if ref := variable.ValueFrom.ConfigMapKeyRef; ref != nil {
			d.add(kindConfigMap, ref.Name, ref.Optional)
		}
		if ref := variable.ValueFrom.SecretKeyRef; ref != nil {
			d.add(kindSecret, ref.Name, ref.Optional)
		}
	}
}

func (d dependencies) addVolume(source *corev1.VolumeSource) {
	if source.ConfigMap != nil {
		d.add(kindConfigMap, source.ConfigMap.Name, source.ConfigMap.Optional)
	}
	if source.Secret != nil {
		d.add(kindSecret, source.Secret.SecretName, source.Secret.Optional)
	}
	if source.AzureFile != nil {
		d.add(kindSecret, source.AzureFile.SecretName, nil)
	}

	for _, ref := range secretRefs(source) {
		if ref != nil {
			d.add(kindSecret, ref.Name, nil)
		}
	}
	if source.Projected == nil {
		return
	}

	for _, projection := range source.Projected.Sources {
		if projection.ConfigMap != nil {
			d.add(kindConfigMap, projection.ConfigMap.Name, projection.ConfigMap.Optional)
		}
		if projection.Secret != nil {
			d.add(kindSecret, projection.Secret.Name, projection.Secret.Optional)
		}
	}
}

// secretRefs returns the references to the Secrets of storage systems; some may be nil.
func secretRefs(source *corev1.VolumeSource) []*corev1.LocalObjectReference {
	var refs []*corev1.LocalObjectReference
	if source.CSI != nil {
		refs = append(refs, source.CSI.NodePublishSecretRef)
	}
	if source.FlexVolume != nil {
		refs = append(refs, source.FlexVolume.SecretRef)
	}
	if source.CephFS != nil {
		refs = append(refs, source.CephFS.SecretRef)
	}

	if source.RBD != nil {
		refs = append(refs, source.RBD.SecretRef)
	}
	if source.ISCSI != nil {
		refs = append(refs, source.ISCSI.SecretRef)
	}
	if source.Cinder != nil {
		refs = append(refs, source.Cinder.SecretRef)
	}

	if source.ScaleIO != nil {
		refs = append(refs, source.ScaleIO.SecretRef)
	}
	if source.StorageOS != nil {
		refs = append(refs, source.StorageOS.SecretRef)
	}
	return refs
}

// MissingDependency is a Dependency that does not reach all clusters of its workload.
type MissingDependency struct {
	Dependency

	// Clusters are the clusters of the workload that it does not reach, sorted.
	Clusters []string
}

// MissingDependencies returns the dependencies that do not reach all clusters of a workload, in their order. reached returns the clusters
// that an object is delivered to.
func MissingDependencies(clusters []string, dependencies []Dependency, reached func(Dependency) []string) []MissingDependency {
	var missing []MissingDependency
	for _, dependency := range dependencies {
		has := map[string]bool{}
		for _, cluster := range reached(dependency) {
			has[cluster] = true
		}
		without := slices.DeleteFunc(slices.Sorted(slices.Values(clusters)), func(cluster string) bool { return has[cluster] })
		if len(without) > 0 {
			missing = append(missing, MissingDependency{Dependency: dependency, Clusters: without})
		}
	}

	return missing
}

// Propagates reports whether the dependencies of a workload are delivered with it, by its annotations or those of its Namespace.
func Propagates(object, namespace map[string]string) bool {
	if value, found := object[PropagateDependenciesAnnotation]; found {
		return value == enabled
	}
	return namespace[PropagateDependenciesAnnotation] == enabled
}
