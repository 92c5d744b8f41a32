// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// schemaRules are the keywords of a schema that demand more of a value than its type.
var schemaRules = []string{
	"enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "maxProperties", "required",
	"x-kubernetes-validations",
}

// SeparateWithoutValidation has the specs of this container run on an API server that lets everything in: it has no admission policies, and
// its schema asks nothing of the spec of a Placement but types. So objects got in that are older than a rule, or before the policies were
// there.
func SeparateWithoutValidation(ctx context.Context) {
	GinkgoHelper()
	SeparateAPIServer(ctx, "/trusting", withoutRules)
}

// SeparateAPIServer has the specs of this container, or the rest of this spec, run on an API server and a hub of their own, with the
// manifests as changed. Nobody collects garbage there.
func SeparateAPIServer(ctx context.Context, prefix string, change func([]*unstructured.Unstructured) []*unstructured.Unstructured) {
	GinkgoHelper()
	another, err := ControlPlane.AnotherAPIServer(ctx, prefix, localplane.Options{AuditLog: true, Log: GinkgoWriter})
	Expect(err).NotTo(HaveOccurred())
	objects, err := manifests.Objects()
	Expect(err).NotTo(HaveOccurred())
	Expect(manifests.Apply(ctx, another.AdminConfig(), change(objects))).To(Succeed())
	api, err := client.New(another.AdminConfig(), client.Options{Scheme: system.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	sharedPlane, sharedHub, stopShared := ControlPlane, Client, StopHub
	ControlPlane, Client, StopHub = another, api, StartHub(HubConfig(ctx, another)) //nolint:contextcheck // It runs until StopHub.

	DeferCleanup(func() {
		StopHub()
		ControlPlane, Client, StopHub = sharedPlane, sharedHub, stopShared
		Expect(another.Stop()).To(Succeed())
	})
}

// withoutRules returns the objects without those that refuse invalid placements.
func withoutRules(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	GinkgoHelper()
	var kept []*unstructured.Unstructured
	for _, object := range objects {
		if strings.Contains(object.GetKind(), "AdmissionPolicy") || strings.Contains(object.GetKind(), "WebhookConfiguration") {
			continue
		}
		if object.GetName() == "placements.cluster.open-cluster-management.io" {
			for _, schema := range SchemasOf(object) {
				DropRules(SpecOf(schema))
			}
		}
		kept = append(kept, object)
	}

	return kept
}

// SchemasOf returns the schemas of all versions of a CustomResourceDefinition; the caller may change them.
func SchemasOf(definition *unstructured.Unstructured) []map[string]any {
	GinkgoHelper()
	versions, found, err := unstructured.NestedFieldNoCopy(definition.Object, "spec", "versions")
	Expect(err).NotTo(HaveOccurred())
	Expect(found).To(BeTrue())
	var schemas []map[string]any

	for _, version := range versions.([]any) {
		schema, found, err := unstructured.NestedFieldNoCopy(version.(map[string]any), "schema", "openAPIV3Schema")
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(BeTrue())
		schemas = append(schemas, schema.(map[string]any))
	}
	return schemas
}

// SpecOf returns the part of a schema about the spec; the caller may change it.
func SpecOf(schema map[string]any) map[string]any {
	GinkgoHelper()
	spec, found, err := unstructured.NestedFieldNoCopy(schema, "properties", "spec")
	Expect(err).NotTo(HaveOccurred())
	Expect(found).To(BeTrue())
	return spec.(map[string]any)
}

// DropRules removes the keywords other than types from a schema and its parts.
func DropRules(schema map[string]any) {
	for _, rule := range schemaRules {
		delete(schema, rule)
	}
	for _, holder := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[holder].(map[string]any); ok {
			DropRules(inner)
		}
	}

	properties, _ := schema["properties"].(map[string]any)
	for _, property := range properties {
		if inner, ok := property.(map[string]any); ok {
			DropRules(inner)
		}
	}
}
