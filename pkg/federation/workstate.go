// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"
	workv1 "open-cluster-management.io/api/work/v1"
)

// hashed has what the hub writes of a ManifestWork.
type hashed struct {
	Labels    map[string]string       `json:"labels"`
	Object    string                  `json:"object"`
	Manifests []any                   `json:"manifests"`
	Spec      workv1.ManifestWorkSpec `json:"spec"`
}

// hashedLabels are the labels of a work that the hub writes.
var hashedLabels = []string{KindLabel, NamespaceLabel, NameLabel, ManagedLabel}

// WorkHash returns the hash of what the hub writes of a ManifestWork. It is the same for a work as Payload.Work returns it and as the API
// server stores it, and differs once somebody has edited the spec, or a label or annotation of the hub. Other labels and annotations do not
// count. Of a compact work it is the hash at the time of CompactWork.
func WorkHash(work *workv1.ManifestWork) (string, error) {
	if compact := digestOf(work); compact != nil {
		return compact.Hash, nil
	}
	content := hashed{Labels: map[string]string{}, Object: work.Annotations[ObjectAnnotation], Spec: *work.Spec.DeepCopy()}
	for _, name := range hashedLabels {
		content.Labels[name] = work.Labels[name]
	}

	for i, manifest := range content.Spec.Workload.Manifests {
		// The API server encodes manifests anew: the order of members and the escapes differ.
		var decoded any
		if err := utiljson.Unmarshal(manifest.Raw, &decoded); err != nil {
			return "", fmt.Errorf("manifest %d of ManifestWork %s/%s: %w", i, work.Namespace, work.Name, err)
		}
		content.Manifests = append(content.Manifests, decoded)
	}
	content.Spec.Workload.Manifests = nil

	for i := range content.Spec.ManifestConfigs {
		// The default of the API server.
		if config := &content.Spec.ManifestConfigs[i]; config.FeedbackScrapeType == "" {
			config.FeedbackScrapeType = workv1.FeedbackPollType
		}
	}
	encoded, err := json.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("encode ManifestWork %s/%s: %w", work.Namespace, work.Name, err)
	}

	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:]), nil
}

// StoredHash returns WorkHash, or an empty string for a work that cannot be hashed: it differs from every work that the hub writes.
func StoredHash(work *workv1.ManifestWork) string {
	hash, err := WorkHash(work)
	if err != nil {
		return ""
	}
	return hash
}

// PlannedReplicas returns the number of replicas that a work asks for; 0 without any.
func PlannedReplicas(work *workv1.ManifestWork) (int32, error) {
	if compact := digestOf(work); compact != nil {
		return compact.Replicas, nil
	}
	for i, manifest := range work.Spec.Workload.Manifests {
		object := unstructured.Unstructured{}
		if err := json.Unmarshal(manifest.Raw, &object); err != nil {
			return 0, fmt.Errorf("manifest %d of ManifestWork %s/%s: %w", i, work.Namespace, work.Name, err)
		}
		replicas, found, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
		if err != nil {
			return 0, fmt.Errorf("manifest %d of ManifestWork %s/%s: %w", i, work.Namespace, work.Name, err)
		}

		if found {
			return clamp(replicas), nil
		}
	}

	return 0, nil
}

// ReadyOf returns the number of ready replicas that the agent reported; 0 without a report.
func ReadyOf(work *workv1.ManifestWork) int32 {
	return ptr.Deref(feedback(work, ReadyReplicas), 0)
}

// feedback returns a number that the agent reported; nil without a report.
func feedback(work *workv1.ManifestWork, name string) *int32 {
	for _, manifest := range work.Status.ResourceStatus.Manifests {
		for _, value := range manifest.StatusFeedbacks.Values {
			if value.Name == name && value.Value.Integer != nil {
				return ptr.To(clamp(*value.Value.Integer))
			}
		}
	}
	return nil
}

// clamp limits a number of replicas to those of an int32.
func clamp(replicas int64) int32 { return int32(min(max(replicas, 0), math.MaxInt32)) }

// OrphanSeen reports whether the agent has given up the copies of a work, so that they stay when it is deleted
// (docs/spec/federated-selector.md 3.1.5). The agent keeps a copy that it could not apply because of a conflict.
func OrphanSeen(work *workv1.ManifestWork) bool {
	applied := meta.FindStatusCondition(work.Status.Conditions, workv1.WorkApplied)
	option := work.Spec.DeleteOption
	return option != nil && option.PropagationPolicy == workv1.DeletePropagationPolicyTypeOrphan &&
		applied != nil && applied.Status == metav1.ConditionTrue && applied.ObservedGeneration >= work.Generation
}
