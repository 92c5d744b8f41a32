// SPDX-License-Identifier: Apache-2.0

package deliveries

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// Expected has the works that objects must have: one in every cluster.
type Expected struct {
	// hashes are by namespace and name of the work; empty for a workload, of which each cluster has replicas of its own.
	hashes map[string]string
	// replicas are the replicas of the workloads that no work was taken of yet, by the name of the works.
	replicas map[string]int32
}

// NewExpected returns the works of objects as the API server stores them.
func NewExpected(objects []*unstructured.Unstructured) (*Expected, error) {
	e := &Expected{hashes: map[string]string{}, replicas: map[string]int32{}}
	for _, object := range objects {
		i := slices.IndexFunc(federation.DefaultKinds(), func(k federation.FederatedKind) bool {
			return k.GroupVersionKind == object.GroupVersionKind()
		})
		if i < 0 {
			return nil, fmt.Errorf("%s is not delivered", object.GroupVersionKind())
		}
		kind := federation.DefaultKinds()[i]
		payload := federation.NewPayload(kind, object)
		if kind.HasReplicas() {
			replicas, _, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
			if err != nil {
				return nil, fmt.Errorf("%s: %w", payload.Identity(), err)
			}
			e.replicas[payload.Identity().WorkName()] = int32(replicas)
		}
		for cluster := range Clusters {
			work, err := payload.Work(ClusterName(cluster), federation.Variant{})
			if err != nil {
				return nil, err
			}
			hash := work.Annotations[federation.HashAnnotation]
			if kind.HasReplicas() {
				hash = ""
			}
			e.hashes[work.Namespace+"/"+work.Name] = hash
		}
	}
	return e, nil
}

// Take compares a work of the API server, each once, and returns what is wrong with it, or "".
func (e *Expected) Take(work *workv1.ManifestWork) string {
	key := work.Namespace + "/" + work.Name
	want, known := e.hashes[key]
	if !known {
		return "ManifestWork " + key + " is not needed"
	}
	delete(e.hashes, key)
	got, err := federation.WorkHash(work)
	if err != nil {
		return err.Error()
	}
	if want != "" && got != want {
		return "ManifestWork " + key + " has another payload than its object"
	}
	if want == "" {
		replicas, err := federation.PlannedReplicas(work)
		if err != nil {
			return err.Error()
		}
		e.replicas[work.Name] -= replicas
	}
	return ""
}

// Missing returns the works that were not taken, sorted, and the workloads whose works have other replicas in all than the object.
func (e *Expected) Missing() []string {
	var findings []string
	for _, key := range slices.Sorted(maps.Keys(e.hashes)) {
		findings = append(findings, "ManifestWork "+key+" is missing")
	}
	for _, name := range slices.Sorted(maps.Keys(e.replicas)) {
		if left := e.replicas[name]; left != 0 {
			findings = append(findings, fmt.Sprintf("the ManifestWorks %s lack %d replicas", name, left))
		}
	}
	return findings
}

// SteeredWorks returns the names of the works of the steered objects among objects of the API server.
func SteeredWorks(objects []*unstructured.Unstructured) map[string]bool {
	names := map[string]bool{}
	for _, object := range objects {
		if _, selects := object.GetAnnotations()[federation.SelectorAnnotation]; selects {
			names[federation.NewPayload(federation.DefaultKinds()[0], object).Identity().WorkName()] = true
		}
	}
	return names
}
