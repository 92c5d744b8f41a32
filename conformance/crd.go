// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"maps"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	inventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

var (
	placementDecisions = inventory.GroupVersion.WithResource("placementdecisions")
	clusterProfiles    = inventory.GroupVersion.WithResource("clusterprofiles")
)

const decisionsField = "decisions"

// object returns an object with fields beside its metadata.
func object(apiVersion, kind, namespace, name string, fields map[string]any) *unstructured.Unstructured {
	content := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name}}
	maps.Copy(content, fields)
	o := &unstructured.Unstructured{Object: content}
	o.SetNamespace(namespace)
	return o
}

// references returns n decisions as they are sent.
func references(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = map[string]any{"clusterProfileRef": map[string]any{"name": fmt.Sprintf("c%d", i), "namespace": "fleet"}}
	}
	return list
}

// TestCRD checks the definition that the API server serves.
func (s *Suite) TestCRD(t *testing.T) {
	t.Helper()
	results, err := s.CRD(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runSubtests(t, results)
}

// CRD checks the definition that the API server serves, and returns the results, which are also in the report. The error is of the API server.
func (s *Suite) CRD(ctx context.Context) ([]Result, error) {
	namespace, remove, err := s.createNamespace(ctx, "crd")
	if err != nil {
		return nil, err
	}
	defer remove()
	o := newOutcomes()
	for _, c := range []struct {
		name     string
		fields   map[string]any
		accepted bool
		message  string
	}{
		{"without-decisions", nil, false, "an object without decisions is accepted: the field is required"},
		{"null", map[string]any{decisionsField: nil}, false, "an object with decisions: null is accepted: the field is required"},
		{"empty", map[string]any{decisionsField: []any{}}, true, "decisions: [] is refused, which says that nothing is selected"},
		{"full", map[string]any{decisionsField: references(maxDecisions)}, true, "100 decisions are refused"},
		{"overfull", map[string]any{decisionsField: references(maxDecisions + 1)}, false, "101 decisions are accepted"},
		{
			"without-reference", map[string]any{decisionsField: []any{map[string]any{"reason": "r"}}}, false,
			"a decision without clusterProfileRef is accepted",
		},
		{
			"without-name", map[string]any{decisionsField: []any{map[string]any{"clusterProfileRef": map[string]any{"namespace": "fleet"}}}}, false,
			"a reference without a name is accepted",
		},
		{
			"without-namespace", map[string]any{decisionsField: []any{map[string]any{"clusterProfileRef": map[string]any{"name": "c0"}}}}, true,
			"a reference without a namespace is refused, which means that of the slice",
		},
	} {
		_, err := s.dynamic.Resource(placementDecisions).Namespace(namespace).
			Create(ctx, object(inventory.GroupVersion.String(), "PlacementDecision", namespace, c.name, c.fields), metav1.CreateOptions{})
		switch {
		case err != nil && !apierrors.IsInvalid(err):
			return nil, fmt.Errorf("create PlacementDecision %s/%s: %w", namespace, c.name, err)
		case err == nil && !c.accepted, err != nil && c.accepted:
			o.addf(RuleSchema, "%s", c.message)
		}
	}

	if err := s.checkStatus(ctx, namespace, o); err != nil {
		return nil, err
	}
	results := o.results(RuleSchema)
	s.report.add(results)
	return results, nil
}

// checkStatus checks that a slice stores no status and has no such subresource.
func (s *Suite) checkStatus(ctx context.Context, namespace string, o *outcomes) error {
	decisions := s.dynamic.Resource(placementDecisions).Namespace(namespace)
	fields := map[string]any{decisionsField: references(1), "status": map[string]any{"phase": "Ready"}}
	slice := object(inventory.GroupVersion.String(), "PlacementDecision", namespace, "status", fields)
	created, err := decisions.Create(ctx, slice, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create PlacementDecision %s/status: %w", namespace, err)
	}
	if _, stored := created.Object["status"]; stored {
		o.addf(RuleSchema, "a status is stored: the object has data alone")
	}
	if _, err := decisions.Get(ctx, "status", metav1.GetOptions{}, "status"); err == nil {
		o.addf(RuleSchema, "the subresource status is served: the object has data alone")
	} else if !apierrors.IsNotFound(err) {
		return fmt.Errorf("read the status of PlacementDecision %s/status: %w", namespace, err)
	}
	return nil
}
