// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	workv1 "open-cluster-management.io/api/work/v1"
)

// Labels and annotations of ManifestWorks.
const (
	// KindLabel, NamespaceLabel and NameLabel identify the object of a work; the name is a hash where a label cannot hold it.
	KindLabel      = "federation.kubernetes.io/kind"
	NamespaceLabel = "federation.kubernetes.io/namespace"
	NameLabel      = "federation.kubernetes.io/name"
	// ManagedLabel has the value "true" on every work of the hub.
	ManagedLabel = "federation.kubernetes.io/managed"
	// ObjectAnnotation has the full identity of the object: "Deployment.apps/team-a/web".
	ObjectAnnotation = "federation.kubernetes.io/object"
	// HashAnnotation has the hash of what the hub writes.
	HashAnnotation = "federation.kubernetes.io/payload-hash"
)

const (
	// FieldManager is the field manager of the hub. It applies the works.
	FieldManager = "placement-hub"
	// AgentFieldManager is the field manager of the work agents in the members; they require the prefix work-agent.
	AgentFieldManager = "work-agent-federation"
	// ReadyReplicas is the name of the status feedback with the number of ready replicas.
	ReadyReplicas = "ReadyReplicas"
	// SelectedClusters is the name of the status feedback with the number of clusters that the hub has selected which got a Placement.
	SelectedClusters = "SelectedClusters"
	// MaxPayload is the size of the manifests of a work in bytes that Open Cluster Management admits.
	MaxPayload = 500 * 1024

	// objectParts is the number of parts of ObjectAnnotation.
	objectParts = 3

	// hashLength is the length of hashes in names and labels, in hex digits: 128 bits, so that two objects with the same hash cannot be found.
	hashLength = 32
)

// Identity identifies a delivered object.
type Identity struct {
	types.NamespacedName

	Kind FederatedKind
}

// Identity returns the identity of the object.
func (p *Payload) Identity() Identity {
	return Identity{NamespacedName: types.NamespacedName{Namespace: p.namespace, Name: p.name}, Kind: p.kind}
}

// String returns "Deployment.apps/team-a/web".
func (i Identity) String() string {
	return i.Kind.GroupKind().String() + "/" + i.NamespacedName.String()
}

// ParseObject returns what ObjectAnnotation has of an object, in the form of schema.GroupKind.String and of a name; false if the value is not
// one that the hub writes.
func ParseObject(value string) (groupKind string, name types.NamespacedName, valid bool) {
	parts := strings.Split(value, "/")
	if len(parts) != objectParts || slices.Contains(parts, "") {
		return "", types.NamespacedName{}, false
	}
	return parts[0], types.NamespacedName{Namespace: parts[1], Name: parts[2]}, true
}

// WorkName returns the name of the ManifestWorks of the object.
func (i Identity) WorkName() string {
	return WorkNamePrefix + strings.ToLower(i.Kind.Kind) + "-" + shortHash(i.String())
}

// Owns reports whether a ManifestWork belongs to the object: by its name, which is a hash of the identity, and because the hub has applied it
// (docs/spec/trust.md T8). Of other works nothing is written. A copy without managedFields, as kubectl prints it, counts by its annotation.
func (i Identity) Owns(work metav1.Object) bool { return i.owner().owns(work) }

// owner has what the works of an object have of its identity: the name, which is a hash, is computed once for all of them.
type owner struct{ name, object string }

func (i Identity) owner() owner { return owner{name: i.WorkName(), object: i.String()} }

func (o owner) owns(work metav1.Object) bool {
	if work.GetName() != o.name {
		return false
	}
	if len(work.GetManagedFields()) == 0 {
		return work.GetAnnotations()[ObjectAnnotation] == o.object
	}
	return appliedByHub(work)
}

// appliedByHub reports whether the managedFields of a work have an entry of the hub.
func appliedByHub(work metav1.Object) bool { return hubEntry(work) != nil }

// hubEntry returns the entry of the hub in the managedFields of a work; nil if there is none.
func hubEntry(work metav1.Object) *metav1.ManagedFieldsEntry {
	entries := work.GetManagedFields()
	i := slices.IndexFunc(entries, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
	})
	if i < 0 {
		return nil
	}
	return &entries[i]
}

// creationTime bounds the time between the two times that the API server sets when the hub creates a work: that of the entry of the hub, and
// that of the creation, which comes after the calls of webhooks.
const creationTime = time.Minute

// restored reports whether the hub has written a work before it was created: a tool has restored it with its managedFields.
func restored(work *workv1.ManifestWork) bool {
	entry := hubEntry(work)
	return entry != nil && entry.Time != nil && entry.Time.Add(creationTime).Before(work.CreationTimestamp.Time)
}

// labels returns the labels of the works of the object.
func (i Identity) labels() map[string]string {
	name := i.Name
	if len(validation.IsValidLabelValue(name)) > 0 {
		name = shortHash(name)
	}
	return map[string]string{KindLabel: i.Kind.Kind, NamespaceLabel: i.Namespace, NameLabel: name, ManagedLabel: enabled}
}

// TooLargeError is the error of a payload that is larger than MaxPayload.
type TooLargeError struct {
	// Size is the size in bytes.
	Size int
}

// Error names the size and the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the manifests have %d bytes, which exceeds the limit of %d", e.Size, MaxPayload)
}

// Variant is what differs between the works of an object, besides their clusters.
type Variant struct {
	// Replicas replaces the replicas of the object if HasReplicas.
	Replicas    int32
	HasReplicas bool
	// ServiceAccount is created with the object, without rights; empty for none.
	ServiceAccount string
	// Orphan keeps the copies when the work is deleted; otherwise only the Namespace stays.
	Orphan bool
}

// Work returns the ManifestWork of a cluster, to be written by server-side apply. Works of one Variant have the same hash in all clusters. The
// error is a TooLargeError, or the object cannot be encoded.
func (p *Payload) Work(cluster string, variant Variant) (*workv1.ManifestWork, error) {
	identity := p.Identity()
	work := &workv1.ManifestWork{
		TypeMeta: metav1.TypeMeta{APIVersion: workv1.GroupVersion.String(), Kind: "ManifestWork"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cluster, Name: identity.WorkName(), Labels: identity.labels(),
			Annotations: map[string]string{ObjectAnnotation: identity.String()},
		},
	}
	namespace := workv1.ResourceIdentifier{Resource: "namespaces", Name: p.namespace}
	object := workv1.ResourceIdentifier{Group: p.kind.Group, Resource: p.kind.Resource, Namespace: p.namespace, Name: p.name}
	size := 0

	for _, content := range p.manifests(variant) {
		raw, err := json.Marshal(content)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", identity, err)
		}
		manifest := workv1.Manifest{RawExtension: runtime.RawExtension{Raw: raw}}
		size += manifest.Size()
		work.Spec.Workload.Manifests = append(work.Spec.Workload.Manifests, manifest)
	}

	if size > MaxPayload {
		return nil, &TooLargeError{Size: size}
	}
	work.Spec.ManifestConfigs = []workv1.ManifestConfigOption{
		{ResourceIdentifier: namespace, UpdateStrategy: updateStrategy()},
		{ResourceIdentifier: object, UpdateStrategy: updateStrategy(), FeedbackRules: feedbackRules(p.kind)},
	}
	work.Spec.DeleteOption = deleteOption(namespace, variant.Orphan)

	if variant.ServiceAccount != "" {
		account := workv1.ResourceIdentifier{Resource: "serviceaccounts", Namespace: p.namespace, Name: variant.ServiceAccount}
		work.Spec.ManifestConfigs = append(work.Spec.ManifestConfigs,
			workv1.ManifestConfigOption{ResourceIdentifier: account, UpdateStrategy: updateStrategy()})

		// Pods of others in the member may run as the ServiceAccount.
		if orphans := work.Spec.DeleteOption.SelectivelyOrphan; orphans != nil {
			orphans.OrphaningRules = append(orphans.OrphaningRules, workv1.OrphaningRule(account))
		}
	}

	hash, err := WorkHash(work)
	if err != nil {
		return nil, err
	}
	work.Annotations[HashAnnotation] = hash
	return work, nil
}

// manifests returns the manifests of a work: the Namespace, the ServiceAccount, and the object.
func (p *Payload) manifests(variant Variant) []map[string]any {
	manifests := []map[string]any{
		{"apiVersion": versionV1, "kind": kindNamespace, "metadata": map[string]any{"name": p.namespace}},
	}
	if variant.ServiceAccount != "" {
		manifests = append(manifests, map[string]any{
			"apiVersion": versionV1, "kind": kindServiceAccount,
			"metadata": map[string]any{"name": variant.ServiceAccount, "namespace": p.namespace},
		})
	}

	if variant.HasReplicas {
		return append(manifests, p.withReplicas(variant.Replicas))
	}
	return append(manifests, p.content)
}

// updateStrategy lets other managers keep the fields that they have set in the member.
func updateStrategy() *workv1.UpdateStrategy {
	return &workv1.UpdateStrategy{
		Type: workv1.UpdateStrategyTypeServerSideApply, ServerSideApply: &workv1.ServerSideApplyConfig{FieldManager: AgentFieldManager},
	}
}

func deleteOption(namespace workv1.ResourceIdentifier, orphan bool) *workv1.DeleteOption {
	if orphan {
		return &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeOrphan}
	}
	return &workv1.DeleteOption{
		PropagationPolicy: workv1.DeletePropagationPolicyTypeSelectivelyOrphan,
		SelectivelyOrphan: &workv1.SelectivelyOrphan{OrphaningRules: []workv1.OrphaningRule{workv1.OrphaningRule(namespace)}},
	}
}

// feedbackRules returns what the agents report of an object of a kind.
func feedbackRules(kind FederatedKind) []workv1.FeedbackRule {
	counted := func(name, path string) []workv1.FeedbackRule {
		return []workv1.FeedbackRule{{Type: workv1.JSONPathsType, JsonPaths: []workv1.JsonPath{{Name: name, Path: path}}}}
	}
	switch {
	case kind.SelectsClusters():
		return counted(SelectedClusters, ".status.numberOfSelectedClusters")
	case kind.Group != groupApps:
		return nil
	case kind.Kind == kindDeployment, kind.Kind == kindDaemonSet:
		return []workv1.FeedbackRule{{Type: workv1.WellKnownStatusType}}
	case kind.Kind == kindReplicaSet:
		return counted(ReadyReplicas, ".status.readyReplicas")
	default:
		return nil
	}
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:hashLength]
}
