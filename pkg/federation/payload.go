// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// localAnnotations are those that kubectl, the API server or the controllers of the hub have set, or that are for the hub; members get none of them.
var localAnnotations = map[string]bool{
	corev1.LastAppliedConfigAnnotation:          true,
	"deprecated.daemonset.template.generation":  true,
	"deployment.kubernetes.io/revision":         true,
	"deployment.kubernetes.io/revision-history": true,
	"deployment.kubernetes.io/desired-replicas": true,
	"deployment.kubernetes.io/max-replicas":     true,
	clusterv1beta1.PlacementDisableAnnotation:   true, // A Placement that this hub is not to evaluate is evaluated by the hubs that get it.
}

// hubPrefix is the prefix of further annotations for the hub, such as those of the removal budget.
const hubPrefix = "placement-hub.open-cluster-management.io/"

// Payload is the copy of an object that members get, without the Namespace. It is immutable.
type Payload struct {
	kind            FederatedKind
	namespace, name string
	content         map[string]any
}

// NewPayload copies an object without its status, the metadata that the API server sets, and what only the hub reads
// (docs/spec/federated-selector.md 3.1.4). Finalizers and ownerReferences are not copied, because nothing in the member serves them.
func NewPayload(kind FederatedKind, object *unstructured.Unstructured) *Payload {
	content := runtime.DeepCopyJSON(object.Object)
	metadata := map[string]any{"name": object.GetName(), "namespace": object.GetNamespace()}
	if labels := object.GetLabels(); len(labels) > 0 {
		metadata["labels"] = jsonMap(labels)
	}
	annotations := object.GetAnnotations()
	maps.DeleteFunc(annotations, func(name, _ string) bool {
		return localAnnotations[name] || slices.Contains(objectAnnotations, name) || strings.HasPrefix(name, hubPrefix)
	})

	if len(annotations) > 0 {
		metadata["annotations"] = jsonMap(annotations)
	}
	delete(content, "status")
	content["apiVersion"], content["kind"] = kind.GroupVersion().String(), kind.Kind
	content["metadata"] = metadata
	if spec, ok := content["spec"].(map[string]any); ok && kind.Group == "" && kind.Kind == kindService {
		stripService(spec, object.GetManagedFields())
	}
	return &Payload{kind: kind, namespace: object.GetNamespace(), name: object.GetName(), content: content}
}

// withReplicas returns the content of the object with its number of replicas. It shares all other parts.
func (p *Payload) withReplicas(replicas int32) map[string]any {
	content := maps.Clone(p.content)
	spec, _ := content["spec"].(map[string]any)
	if spec = maps.Clone(spec); spec == nil {
		spec = map[string]any{}
	}
	spec["replicas"] = int64(replicas)
	content["spec"] = spec
	return content
}

func jsonMap(values map[string]string) map[string]any {
	converted := make(map[string]any, len(values))
	for name, value := range values {
		converted[name] = value
	}
	return converted
}

// Excluded returns why an object of a namespace that takes part is never delivered, or "" (docs/spec/federated-selector.md 3.1.4).
func Excluded(kind FederatedKind, object *unstructured.Unstructured) string {
	if why := ExcludedByMetadata(kind, object); why != "" {
		return why
	}
	if kind.Group == "" && kind.Kind == kindSecret {
		switch secret, _, _ := unstructured.NestedString(object.Object, "type"); corev1.SecretType(secret) {
		case corev1.SecretTypeServiceAccountToken:
			return "is a token of a ServiceAccount"
		case corev1.SecretTypeBootstrapToken:
			return "is a bootstrap token"
		default:
		}
	}

	return ""
}

// ExcludedByMetadata returns why an object is never delivered as far as its metadata decides that, or "". It reads the name, the owners and
// those annotations that MetadataAnnotations returns.
func ExcludedByMetadata(kind FederatedKind, meta metav1.Object) string {
	if owner := metav1.GetControllerOfNoCopy(meta); owner != nil {
		return "is controlled by " + owner.Kind + " " + owner.Name
	}
	if _, leads := meta.GetAnnotations()[leaderAnnotation]; leads {
		return "is the record of a leader election"
	}
	if kind.Group == "" && kind.Kind == kindConfigMap && meta.GetName() == rootCertificates {
		return "every namespace of a member has its own"
	}
	return ""
}

// ExcludedNamespace returns why no object of a namespace is delivered, or "" (docs/spec/federated-selector.md 3.1.4). ofCluster reports
// whether it is the namespace of a ManagedCluster.
func ExcludedNamespace(name, hubNamespace string, labels map[string]string, ofCluster bool) string {
	switch {
	case strings.HasPrefix(name, "kube-"):
		return "is a namespace of Kubernetes"
	case name == hubNamespace:
		return "is the namespace of the hub"
	case ofCluster:
		return "is the namespace of a ManagedCluster"
	case labels[FederatedLabel] != enabled:
		return "does not have the label " + FederatedLabel + "=" + enabled
	default:
		return ""
	}
}
