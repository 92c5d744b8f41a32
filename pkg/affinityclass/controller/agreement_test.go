// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/test/property"
)

// What diff says of Tenants, where a Tenant is applied, is what the controller writes once it is there: the condition AffinityClassesCompliant and
// the effective settings in the Secret of each Tenant. Writes can fail, and a Secret can have content that nobody can edit.
func TestToolsAgreeWithTheHubOnTenants(tb *testing.T) {
	property.CheckTimes(tb, 30, func(t *rapid.T) {
		a := &tenantAgreement{T: t, tb: tb, hub: newHub(tb)}
		before := &explain.State{Pods: a.draw()}
		was := a.settle(before.Pods.Tenants)

		at := rapid.SampledFrom([][2]string{{"tenant-root", "root"}, {"tenant-root", "acme"}, {"tenant-acme", "eu"}}).Draw(t, "applied")
		applied := a.drawTenant(at[0], at[1])
		kind := explain.FindKind(appsv1alpha1.GroupVersion.WithKind("Tenant"))
		after, results, err := before.With(func(yield func(*explain.Kind, api.Object) bool) { yield(kind, applied) })
		if err != nil {
			t.Fatal(err)
		}
		if len(results[0].Result.Refused) == 0 { // The webhook refuses it otherwise: TestToolsAgreeWithTheHubOnClasses.
			a.hub.given(tb, applied.DeepCopy())
		}
		is := a.settle(after.Pods.Tenants)

		said, err := pods.Diff(&before.Pods, &after.Pods)
		if err != nil {
			t.Fatal(err)
		}
		wants, became := map[string]tenantState{}, map[string]tenantState{}
		for name := range is {
			wants[name], became[name] = was[name], was[name]
		}
		for _, difference := range said.Tenants {
			became[difference.Tenant] = a.stateOf(difference.After)
			if difference.Before != nil {
				wants[difference.Tenant] = a.stateOf(*difference.Before)
			} else {
				delete(wants, difference.Tenant)
			}
		}
		if diff := cmp.Diff(was, wants); diff != "" {
			t.Errorf("before (-written +said):\n%s", diff)
		}
		if diff := cmp.Diff(is, became); diff != "" {
			t.Errorf("after (-written +said):\n%s", diff)
		}
	})
}

// tenantState is what the controller writes about a Tenant.
type tenantState struct {
	// Reason and Message are those of the condition AffinityClassesCompliant if it is False.
	Reason, Message string
	// Values are those of the Secret; empty if nobody can edit it.
	Values tenantValues
}

// tenantValues are what the hub writes into the Secret of a Tenant.
type tenantValues struct {
	Namespace struct {
		Default string    `json:"defaultAffinityClass"`
		Allowed *[]string `json:"allowedAffinityClasses"`
	} `json:"_namespace"`
}

// tenantAgreement is a hub of the Tenants acme, and perhaps root and eu, with HelmReleases that have classes.
type tenantAgreement struct {
	*rapid.T

	tb  *testing.T
	hub *hub
	// unparsable says that nobody can edit the Secrets.
	unparsable bool
}

func (a *tenantAgreement) drawTenant(namespace, name string) *appsv1alpha1.Tenant {
	names := []string{"dc1", "dc2", "gpu"}
	allowed := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 2, rapid.ID).Draw(a.T, "allowed for "+name)
	return tenant(namespace, name, rapid.SampledFrom(append(names, "")).Draw(a.T, "default of "+name), allowed...)
}

// draw draws the objects, and gives them to the hub.
func (a *tenantAgreement) draw() pods.Objects {
	objects := pods.Objects{Tenants: []*appsv1alpha1.Tenant{a.drawTenant("tenant-root", "acme")}}
	for _, name := range []string{"dc1", "dc2", "gpu"} {
		objects.Classes = append(objects.Classes, class(name))
	}
	for _, at := range [][2]string{{"tenant-root", "root"}, {"tenant-acme", "eu"}} {
		if rapid.Bool().Draw(a.T, "has Tenant "+at[1]) {
			objects.Tenants = append(objects.Tenants, a.drawTenant(at[0], at[1]))
		}
	}
	for i := range rapid.IntRange(0, 3).Draw(a.T, "HelmReleases") {
		name := fmt.Sprint("r", i)
		in := rapid.SampledFrom([]string{"tenant-acme", "tenant-acme-eu", "tenant-root"}).Draw(a.T, "namespace")
		drawn := release(name, application(postgres, in, name, ""))
		labels := drawn.GetLabels()
		labels[affinityclass.ClassLabel] = rapid.SampledFrom([]string{"dc1", "dc2", "gpu"}).Draw(a.T, "class")
		drawn.SetLabels(labels)
		objects.Releases = append(objects.Releases, drawn)
	}

	given := make([]client.Object, 0, len(objects.Tenants)+len(objects.Releases)+1)
	for _, tenant := range objects.Tenants {
		given = append(given, tenant.DeepCopy())
	}
	for _, release := range objects.Releases {
		given = append(given, release.DeepCopy())
	}
	if a.unparsable = rapid.IntRange(0, 4).Draw(a.T, "unparsable") == 0; a.unparsable {
		for _, in := range []string{"tenant-root", "tenant-acme", "tenant-acme-eu"} {
			given = append(given, secret(in, "a: [b"))
		}
	}
	a.hub.given(a.tb, given...)
	return objects
}

// settle has the controller reconcile the Tenants, although one of its writes fails, and returns what it has written.
func (a *tenantAgreement) settle(tenants []*appsv1alpha1.Tenant) map[string]tenantState {
	fails := rapid.IntRange(0, 6).Draw(a.T, "write that fails")
	a.hub.fails = func(string, client.Object) error {
		fails--
		if fails == 0 {
			return errBroken
		}
		return nil
	}
	defer func() { a.hub.fails = func(string, client.Object) error { return nil } }()
	reconciler := a.hub.tenants()
	written := map[string]tenantState{}
	for _, tenant := range tenants {
		_, err := reconciler.Reconcile(a.tb.Context(), requestOf(tenant))
		if err != nil { // The queue tries it again.
			_, err = reconciler.Reconcile(a.tb.Context(), requestOf(tenant))
		}
		if err != nil {
			a.Fatal(err)
		}
		written[tenant.Namespace+"/"+tenant.Name] = a.written(tenant)
	}
	return written
}

// written returns what the controller has written about a Tenant.
func (a *tenantAgreement) written(of *appsv1alpha1.Tenant) tenantState {
	live, values := &appsv1alpha1.Tenant{}, &corev1.Secret{}
	if err := a.hub.Get(a.tb.Context(), client.ObjectKeyFromObject(of), live); err != nil {
		a.Fatal(err)
	}
	if err := a.hub.Get(a.tb.Context(), client.ObjectKey{Namespace: owned(of), Name: affinityclass.ValuesSecret}, values); err != nil {
		a.Fatal(err)
	}
	var state tenantState
	condition := meta.FindStatusCondition(live.Status.Conditions, appsv1alpha1.ConditionAffinityClassesCompliant)
	if condition == nil {
		a.Fatalf("nothing was written about %s", of.Name)
	}
	if condition.Status == metav1.ConditionFalse {
		state.Reason, state.Message = condition.Reason, condition.Message
	}
	if !a.unparsable {
		if err := yaml.Unmarshal(values.Data[affinityclass.ValuesKey], &state.Values); err != nil {
			a.Fatal(err)
		}
	}
	return state
}

// stateOf returns what the controller writes if diff is right.
func (a *tenantAgreement) stateOf(said pods.TenantSettings) tenantState {
	state := tenantState{Reason: said.Reason, Message: said.Message}
	if a.unparsable {
		return state
	}
	state.Values.Namespace.Default = said.Default
	if said.Restricted {
		allowed := append([]string{}, said.Allowed...)
		state.Values.Namespace.Allowed = &allowed
	}
	return state
}
