// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"errors"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("two groups with placements", func() {
	It("leave the plain names to cluster.open-cluster-management.io", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		run := suite.Kubectl(ctx, f.Namespace)
		f.Placement(ctx, "old", clusterv1beta1.PlacementSpec{})
		placement := unstructuredIn(f.Namespace, "Placement", "new")
		placement.Object["spec"] = map[string]any{"numberOfClusters": int64(3)}
		Expect(suite.Client.Create(ctx, placement)).To(Succeed())
		page := unstructuredIn(f.Namespace, "PlacementDecision", "new-decision-9")
		page.SetLabels(map[string]string{placementv1alpha1.PlacementLabel: "new"})
		page.Object["decisions"] = []any{}
		Expect(suite.Client.Create(ctx, page)).To(Succeed())

		Expect(run("get", "placements", "--output=name")).To(Equal("placement.cluster.open-cluster-management.io/old\n"))
		Expect(run("get", "placement", "--output=name")).To(Equal("placement.cluster.open-cluster-management.io/old\n"))
		Eventually(func() string { return run("get", "placementdecisions", "--output=name") }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(Equal("placementdecision.cluster.open-cluster-management.io/old-decision-1\n"))
		Expect(run("get", "placements.placement.open-cluster-management.io", "--output=name")).
			To(Equal("placement.placement.open-cluster-management.io/new\n"))
	})

	It("show the columns of placement.open-cluster-management.io", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		run := suite.Kubectl(ctx, f.Namespace)

		placement := unstructuredIn(f.Namespace, "Placement", "new")
		placement.Object["spec"] = map[string]any{"numberOfClusters": int64(3)}
		placement.SetAnnotations(map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"}) // The status is this spec's.
		Expect(suite.Client.Create(ctx, placement)).To(Succeed())
		Expect(suite.Client.Status().Patch(ctx, placement, satisfied("False", "NotAllDecisionsScheduled"))).To(Succeed())
		table := suite.Rows(run("get", "placements.placement.open-cluster-management.io"))
		Expect(table[0]).To(Equal([]string{"NAME", "SATISFIED", "REASON", "AGE"}))
		Expect(table[1][:3]).To(Equal([]string{"new", "False", "NotAllDecisionsScheduled"}))

		table = suite.Rows(run("get", "placements.placement.open-cluster-management.io", "--output=wide"))
		Expect(table[0]).To(Equal([]string{"NAME", "SATISFIED", "REASON", "WANTED", "AGE"}))
		Expect(table[1][:4]).To(Equal([]string{"new", "False", "NotAllDecisionsScheduled", "3"}))
		page := unstructuredIn(f.Namespace, "PlacementDecision", "new-decision-9")
		page.SetLabels(map[string]string{placementv1alpha1.PlacementLabel: "new"})
		page.Object["decisions"] = []any{}
		Expect(suite.Client.Create(ctx, page)).To(Succeed())
		table = suite.Rows(run("get", "placementdecisions.placement.open-cluster-management.io", "new-decision-9"))
		Expect(table[0]).To(Equal([]string{"NAME", "PLACEMENT", "AGE"}))
		Expect(table[1][:2]).To(Equal([]string{"new-decision-9", "new"}))
	})
})

var _ = Describe("a Placement that is older than the rules", func() {
	It("can still be labelled, released and reported on, and mended field by field", func(ctx SpecContext) {
		const group = "older.example.com"
		lax, strict := definitionIn(group), definitionIn(group)
		anything := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
		version := lax.Object["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
		version["schema"] = map[string]any{"openAPIV3Schema": anything}
		Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), []*unstructured.Unstructured{lax})).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, lax)).To(Succeed()) })

		broken := unstructuredIn("default", "Placement", strings.Repeat("p", 64))
		broken.SetAPIVersion(group + "/v1alpha1")
		broken.Object["spec"] = map[string]any{
			"numberOfClusters": int64(-1),
			"antiAffinity":     map[string]any{"topologyKey": "zone"},
			"predicates": []any{map[string]any{
				"clusterName":   "EU_1",
				"labelSelector": map[string]any{"matchExpressions": []any{map[string]any{"key": "a b", "operator": "In"}}},
			}},
		}
		another := broken.DeepCopy()
		another.SetName("another")
		Expect(suite.Client.Create(ctx, broken)).To(Succeed())

		Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), []*unstructured.Unstructured{strict})).To(Succeed())
		Eventually(func() []string { return complaints(suite.Client.Create(ctx, another.DeepCopy(), client.DryRunAll)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).ShouldNot(BeEmpty())

		merge := func(patch string) client.Patch { return client.RawPatch("application/merge-patch+json", []byte(patch)) }
		Expect(suite.Client.Patch(ctx, broken, merge(`{"metadata":{"labels":{"a":"b"},"finalizers":["example.com/hold"]}}`))).To(Succeed())
		Expect(suite.Client.Patch(ctx, broken, merge(`{"metadata":{"finalizers":null}}`))).To(Succeed())
		Expect(suite.Client.Status().Patch(ctx, broken, satisfied("True", "AllDecisionsScheduled"))).To(Succeed())
		Expect(suite.Client.Patch(ctx, broken, merge(`{"spec":{"clusterSets":["prod"]}}`))).To(Succeed())
		Expect(complaints(suite.Client.Patch(ctx, broken.DeepCopy(), merge(`{"spec":{"numberOfClusters":-2}}`)))).To(Equal([]string{
			"spec.numberOfClusters: Invalid value: -2: spec.numberOfClusters in body should be greater than or equal to 0",
		}))
		Expect(suite.Client.Patch(ctx, broken, merge(`{"spec":{"numberOfClusters":2}}`))).To(Succeed())
	})
})

// definitionIn is our definition of Placement, moved to another group.
func definitionIn(group string) *unstructured.Unstructured {
	GinkgoHelper()
	objects, err := manifests.Objects()
	Expect(err).NotTo(HaveOccurred())
	index := slices.IndexFunc(objects, func(object *unstructured.Unstructured) bool {
		return object.GetName() == "placements."+placementv1alpha1.GroupName
	})
	Expect(index).NotTo(Equal(-1))
	definition := objects[index]
	definition.SetName("placements." + group)
	Expect(unstructured.SetNestedField(definition.Object, group, "spec", "group")).To(Succeed())
	return definition
}

func unstructuredIn(namespace, kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(placementv1alpha1.GroupVersion.WithKind(kind))
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// satisfied is a patch of a status.
func satisfied(status, reason string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(`{"status":{"conditions":[{"type":"PlacementSatisfied","status":"`+status+
		`","reason":"`+reason+`","message":"","lastTransitionTime":"2026-01-02T03:04:05Z"}]}}`))
}

// complaints are what the API server finds wrong, sorted: "path: problem". They are none when it is satisfied. Its remark that it has
// not looked at the rules, as the schema was broken, is none of them.
func complaints(err error) []string {
	GinkgoHelper()
	if err == nil {
		return nil
	}
	var status *apierrors.StatusError
	Expect(errors.As(err, &status)).To(BeTrue(), "%v", err)
	Expect(status.ErrStatus.Reason).To(Equal(metav1.StatusReasonInvalid), "%v", err)

	found := make([]string, 0, len(status.ErrStatus.Details.Causes))
	for _, cause := range status.ErrStatus.Details.Causes {
		if !strings.Contains(cause.Message, "some validation rules were not checked") {
			found = append(found, cause.Field+": "+cause.Message)
		}
	}
	slices.Sort(found)
	return found
}
