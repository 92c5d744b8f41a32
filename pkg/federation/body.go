// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// digestLength is the length of Body.Digest.
const digestLength = 10

// Body is what the spec or data of an object decides about its delivery, without the spec or data themselves.
type Body struct {
	// Excluded describes why the object is never delivered; empty if it is.
	Excluded string
	// Mistake names the field by which the object cannot be delivered, and what is wrong with it; empty if there is none. The other fields
	// may be missing then.
	Mistake string
	// Replicas is the number of replicas of a kind with replicas.
	Replicas int32
	// Dependencies are the objects that the Pods of a workload need.
	Dependencies []Dependency
	// Digest is a short hash of what members get of the object.
	Digest string
}

// BodyOf returns the Body of an object, and its Payload, which is not to be delivered if the Body has a Mistake.
func BodyOf(kind FederatedKind, object *unstructured.Unstructured) (Body, *Payload) {
	payload := NewPayload(kind, object)
	body := Body{Excluded: Excluded(kind, object)}
	if kind.HasReplicas() {
		replicas, found, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
		switch {
		case err != nil:
			body.Mistake = err.Error()
		case found:
			body.Replicas = clamp(replicas)
		default:
			body.Replicas = 1
		}
	}

	var err error
	if body.Dependencies, err = Dependencies(object); err != nil {
		body.Mistake = err.Error()
	}
	encoded, err := json.Marshal(payload.content)
	if err != nil {
		body.Mistake = fmt.Sprintf("encoding it: %v", err)
	}
	body.Digest = shortHash(string(encoded))[:digestLength]
	return body, payload
}

// Variant returns how the work of a selected cluster differs from those of other clusters.
func (e *Evaluation) Variant(cluster string) Variant {
	variant := Variant{ServiceAccount: e.serviceAccount}
	variant.Replicas, variant.HasReplicas = e.Replicas[cluster]
	return variant
}

// Plan returns the writes that lead to the works of the selected clusters. hash returns the hash of the works of a Variant. With its error, and
// while the object is held or suspended, the plan withdraws from the clusters that have left the scope, and has no other writes
// (docs/spec/trust.md T10).
func (e *Evaluation) Plan(hash func(Variant) (string, error)) (WorkPlan, error) {
	if e.State == Held || e.State == Suspended {
		return WorkPlan{Lose: e.withdrawals()}, nil
	}
	wanted := make([]WantedWork, 0, len(e.Selected))

	for _, cluster := range e.Selected {
		variant := e.Variant(cluster)
		hashed, err := hash(variant)
		if err != nil {
			return WorkPlan{Lose: e.withdrawals()}, err
		}
		wanted = append(wanted, WantedWork{Cluster: cluster, Hash: hashed, Replicas: variant.Replicas})
	}
	return PlanWorks(wanted, e.Works), nil
}
