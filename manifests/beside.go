// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// InstallBeside is Install, and with multicluster also InstallMulticluster, for a cluster with other users. It skips a
// CustomResourceDefinition that another field manager has installed, or that has fields or versions which this binary does not know:
// applying an older one would drop those fields from every object that is written later. left has a sentence with the reason for each skipped
// definition.
func InstallBeside(ctx context.Context, cfg *rest.Config, multicluster bool) (left []string, err error) {
	objs, err := Objects()
	if err != nil {
		return nil, fmt.Errorf("install the placement hub's manifests: %w", err)
	}
	if multicluster {
		more, err := Multicluster()
		if err != nil {
			return nil, fmt.Errorf("install the placement hub's manifests: %w", err)
		}
		objs = append(objs, more...)
	}
	a, err := newApplier(cfg)
	if err != nil {
		return nil, err
	}
	wanted := make([]*unstructured.Unstructured, 0, len(objs))
	for _, obj := range objs {
		why, err := a.reasonToKeep(ctx, obj)
		switch {
		case err != nil:
			return nil, fmt.Errorf("install the placement hub's manifests: %s: %w", describe(obj), err)
		case why != "":
			left = append(left, fmt.Sprintf("%s is left as it is: %s", describe(obj), why))
		default:
			wanted = append(wanted, obj)
		}
	}
	if err := Apply(ctx, cfg, wanted); err != nil {
		return left, fmt.Errorf("install the placement hub's manifests: %w", err)
	}
	return left, nil
}

// reasonToKeep returns why an object in the cluster must not be overwritten; "" means that it may be. It returns an error for a definition
// that must be kept although the hub cannot work with it.
func (a *applier) reasonToKeep(ctx context.Context, obj *unstructured.Unstructured) (string, error) {
	if obj.GroupVersionKind().GroupKind() != definitionKind {
		return "", nil
	}
	res := obj.GroupVersionKind().GroupVersion().WithResource("customresourcedefinitions")
	found, err := a.client.Resource(res).Get(ctx, obj.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look whether it is there: %w", err)
	}
	var ours, live apiextensionsv1.CustomResourceDefinition
	for from, to := range map[*unstructured.Unstructured]*apiextensionsv1.CustomResourceDefinition{obj: &ours, found: &live} {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, to); err != nil {
			return "", fmt.Errorf("read it: %w", err)
		}
	}
	return compareDefinitions(&ours, &live)
}

// compareDefinitions returns why a live definition must not be replaced by ours; "" means that it may be.
func compareDefinitions(ours, live *apiextensionsv1.CustomResourceDefinition) (string, error) {
	why := ""
	if news := unknownTo(ours, live); len(news) > 0 {
		why = "it has what this version does not know: " + strings.Join(news, ", ")
	} else if !appliedByUs(live) {
		why = "somebody else has installed it; kubectl apply --server-side --force-conflicts -k manifests/crds takes it over"
	}
	if why == "" {
		return "", nil
	}
	for _, version := range ours.Spec.Versions {
		serves := func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return v.Name == version.Name && v.Served
		}
		if version.Served && !slices.ContainsFunc(live.Spec.Versions, serves) {
			return "", fmt.Errorf("%s, but it does not serve %s, which the hub needs; update it, or remove it", why, version.Name)
		}
	}
	return why, nil
}

// appliedByUs reports whether Apply has written a definition before.
func appliedByUs(live *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(live.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply
	})
}

// maxNamed is the greatest number of fields that a reason names.
const maxNamed = 3

// unknownTo returns the versions and fields of a live definition that ours lacks.
func unknownTo(ours, live *apiextensionsv1.CustomResourceDefinition) []string {
	known, found := fieldsOf(ours), fieldsOf(live)
	maps.DeleteFunc(found, func(field string, _ bool) bool { return known[field] })
	news := slices.Sorted(maps.Keys(found))
	if len(news) > maxNamed {
		return append(news[:maxNamed:maxNamed], fmt.Sprintf("and %d more", len(news)-maxNamed))
	}
	return news
}

// fieldsOf returns the served versions of a definition and the paths of their fields, such as "v1beta1 .spec.clusterSets".
func fieldsOf(crd *apiextensionsv1.CustomResourceDefinition) map[string]bool {
	fields := map[string]bool{}
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		fields[version.Name] = true
		if version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
			addFields(fields, version.Name+" ", version.Schema.OpenAPIV3Schema)
		}
	}
	return fields
}

func addFields(fields map[string]bool, path string, schema *apiextensionsv1.JSONSchemaProps) {
	for name := range schema.Properties {
		property := schema.Properties[name]
		fields[path+"."+name] = true
		addFields(fields, path+"."+name, &property)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		addFields(fields, path+"[]", schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		addFields(fields, path+"{}", schema.AdditionalProperties.Schema)
	}
}
