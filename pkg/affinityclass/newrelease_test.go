// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

func TestCreateRelease(t *testing.T) {
	application := Application{
		Kind:      schema.GroupVersionKind{Group: "apps.cozystack.io", Version: "v1alpha1", Kind: "Postgres"},
		Namespace: "tenant-acme", Name: "main-db", UID: "u", Spec: map[string]any{"affinityClass": "dc1", "replicas": int64(2)},
	}
	chosen := NewRelease(Resolution{Class: dc1, Record: Record{"dc1", "0123456789abcdef"}})
	const chart = `{"kind":"OCIRepository","name":"postgres","namespace":"cozy-public"}`

	t.Run("affinity-class A39: everything that a HelmRelease needs", func(t *testing.T) {
		created, err := application.CreateRelease(chart, chosen)
		if err != nil {
			t.Fatal(err)
		}
		got, err := yaml.Marshal(created.Object)
		if err != nil {
			t.Fatal(err)
		}
		const want = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  annotations:
    apps.cozystack.io/affinity-class-resolved: dc1@0123456789abcdef
  labels:
    apps.cozystack.io/affinity-class: dc1
    apps.cozystack.io/application.group: apps.cozystack.io
    apps.cozystack.io/application.kind: Postgres
    apps.cozystack.io/application.name: main-db
  name: postgres-main-db
  namespace: tenant-acme
  ownerReferences:
  - apiVersion: apps.cozystack.io/v1alpha1
    kind: Postgres
    name: main-db
    uid: u
spec:
  chartRef:
    kind: OCIRepository
    name: postgres
    namespace: cozy-public
  interval: 5m
  values:
    _scheduling:
      affinityClass: dc1
      nodeSelector:
        topology.kubernetes.io/zone: dc1
    replicas: 2
  valuesFrom:
  - kind: Secret
    name: cozystack-values
`
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		values, _, err := unstructured.NestedMap(created.Object, "spec", "values")
		if err != nil || !chosen.InStep(created.GetLabels(), created.GetAnnotations(), values) {
			t.Errorf("the created HelmRelease is not in step: %v", err)
		}
		if !application.Created(created) || (&Application{UID: "another"}).Created(created) {
			t.Error("Created() does not go by the UID of the owner")
		}
	})
	t.Run("affinity-class 1.3: no class", func(t *testing.T) {
		created, err := (&Application{Kind: application.Kind, Name: "a"}).CreateRelease(chart,
			NewRelease(Resolution{Record: Record{Hash: "0123456789abcdef"}}))
		if err != nil {
			t.Fatal(err)
		}
		values, found, err := unstructured.NestedMap(created.Object, "spec", "values")
		if _, labelled := created.GetLabels()[ClassLabel]; labelled || err != nil || !found || len(values) > 0 {
			t.Errorf("labels %v, values %v, %v, want neither the label nor a value", created.GetLabels(), values, err)
		}
	})
	for _, annotation := range []string{"", "null", "[]", "{"} {
		t.Run("affinity-class 1.1: the annotation is no JSON object: "+annotation, func(t *testing.T) {
			if created, err := application.CreateRelease(annotation, chosen); err == nil {
				t.Errorf("CreateRelease() = %v, want an error", created)
			}
		})
	}
}

func TestChooseRelease(t *testing.T) {
	one := &unstructured.Unstructured{}
	cases := []struct {
		reason    string
		found     []*unstructured.Unstructured
		creatable bool
		want      *unstructured.Unstructured
		why       string
	}{
		{"affinity-class 1.1: one", []*unstructured.Unstructured{one}, false, one, ""},
		{"affinity-class A39: none, and no chart", nil, false, nil, "ReleaseNotFound"},
		{"affinity-class A39: none, and a chart", nil, true, nil, ""},
		{"affinity-class A39: two", []*unstructured.Unstructured{one, one}, true, nil, "ReleaseAmbiguous"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if got, why := ChooseRelease(c.found, c.creatable); got != c.want || why != c.why {
				t.Errorf("ChooseRelease() = %v, %q, want %v, %q", got, why, c.want, c.why)
			}
		})
	}
}

func TestUsersOf(t *testing.T) {
	var many []ApplicationUse
	for i := range 11 {
		many = append(many, ApplicationUse{Application: "Redis tenant-acme/" + string(rune('k'-i)), Released: "dc1"})
	}
	cases := []struct {
		reason       string
		applications []ApplicationUse
		tenants      []*appsv1alpha1.Tenant
		want         string
	}{
		{"affinity-class A28: an application, by its spec or its HelmRelease", []ApplicationUse{
			{Application: "Redis tenant-acme/cache", Released: "dc1"}, {Application: "Postgres tenant-acme/main-db", Named: "dc1", Released: "dc2"},
			{Application: "Postgres tenant-acme/other", Named: "dc2"},
		}, nil, "Postgres tenant-acme/main-db, Redis tenant-acme/cache"},
		{"affinity-class A28: a Tenant, by its default or its list", nil, []*appsv1alpha1.Tenant{
			acme(), tenant(RootNamespace, "b", "dc1"), tenant(RootNamespace, "c", "dc2"),
		}, "Tenant tenant-root/acme, Tenant tenant-root/b"},
		{"affinity-class 1.1: at most ten are named", many, []*appsv1alpha1.Tenant{acme()},
			"Redis tenant-acme/a, Redis tenant-acme/b, Redis tenant-acme/c, Redis tenant-acme/d, Redis tenant-acme/e, Redis tenant-acme/f, " +
				"Redis tenant-acme/g, Redis tenant-acme/h, Redis tenant-acme/i, Redis tenant-acme/j and 2 more"},
		{"affinity-class A28: nobody", []ApplicationUse{{Application: "a"}}, nil, ""},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if got := UsersOf("dc1", c.applications, c.tenants); got.String() != c.want || got.InUse() != (c.want != "") {
				t.Errorf("UsersOf() = %s, in use %t, want %s", got, got.InUse(), c.want)
			}
		})
	}
}

func TestVerified(t *testing.T) {
	tree := NewTree([]*appsv1alpha1.Tenant{acme()})
	cases := []struct {
		reason                   string
		namespace                Namespace
		hasApplication, hasClass bool
		want                     bool
	}{
		{"affinity-class 1.5: the namespace of a Tenant", Namespace{Name: "tenant-acme"}, false, false, true},
		{"affinity-class A29: one with an application", Namespace{Name: "apps"}, true, false, true},
		{"affinity-class 1.5: one with a HelmRelease with a class", Namespace{Name: "apps"}, false, true, true},
		{"affinity-class 1.5: any other one", Namespace{Name: "apps"}, false, false, false},
		{"affinity-class 1.5: one of the system's", Namespace{Name: "kube-system", System: true}, true, true, false},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			if got := tree.Verified(c.namespace, c.hasApplication, c.hasClass); got != c.want {
				t.Errorf("Verified(%v) = %t, want %t", c.namespace, got, c.want)
			}
		})
	}
}
