// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/test/property"
)

// What diff says of a Tenant or a class that is applied, and diff and simulate of Pods after it, is what the webhooks answer: whether they refuse the
// Tenant, and what they say about each Pod when it is created. Classes and HelmReleases can be missing, and an owner can be unreadable, for everybody
// or for the user of the tools alone.
func TestToolsAgreeWithTheHubOnClasses(tb *testing.T) {
	hub := newWorld(tb)
	property.CheckTimes(tb, 100, func(t *rapid.T) {
		a := newClassAgreement(tb, t, hub)
		before := a.state()
		applied := a.drawApplied()
		after, results, err := before.With(func(yield func(*explain.Kind, api.Object) bool) { yield(a.kindOf(applied), applied) })
		if err != nil {
			t.Fatal(err)
		}
		if tenant, is := applied.(*appsv1alpha1.Tenant); is {
			a.checkTenant(before, tenant, &results[0].Result)
		}

		said, err := pods.Diff(&before.Pods, &after.Pods)
		if err != nil {
			t.Fatal(err)
		}
		evaluator := pods.NewEvaluator(&after.Pods)
		for _, pod := range before.Pods.Workloads {
			was, is := a.review(before, pod), a.review(after, pod)
			if a.isForbidden(pod) { // The hub may read the owner, or denies the Pod: the tools do not say which.
				a.checkUnknown(evaluator, pod)
				continue
			}
			a.checkDifference(&said, pod, was, is)
			a.checkReport(evaluator, pod, is)
		}
	})
}

// classAgreement is a hub of the Tenants root, acme and eu, the Postgres main-db of acme, and Pods, some of which belong to it.
type classAgreement struct {
	*rapid.T

	tb     *testing.T
	hub    *world
	fault  int // the status with which the StatefulSet is read; 0 for none
	drawn  pods.Objects
	states map[*explain.State]*readers
}

// newClassAgreement draws the objects.
func newClassAgreement(t *testing.T, drawn *rapid.T, hub *world) *classAgreement {
	t.Helper()
	a := &classAgreement{T: drawn, tb: t, hub: hub, states: map[*explain.State]*readers{}}
	for _, name := range []string{"dc1", "dc2", "gpu"} {
		if rapid.IntRange(0, 3).Draw(drawn, "no class "+name) == 0 {
			continue
		}
		class := a.drawClass(name)
		if rapid.IntRange(0, 3).Draw(drawn, "class is deleted") == 0 {
			class = deleted(class)
		}
		a.drawn.Classes = append(a.drawn.Classes, class)
	}
	for _, at := range [][2]string{{"tenant-root", "root"}, {"tenant-root", "acme"}, {"tenant-acme", "eu"}} {
		if rapid.IntRange(0, 2).Draw(drawn, "no Tenant "+at[1]) > 0 {
			a.drawn.Tenants = append(a.drawn.Tenants, a.drawTenant(at[0], at[1]))
		}
	}
	if rapid.IntRange(0, 4).Draw(drawn, "no HelmRelease") > 0 {
		a.drawn.Releases = append(a.drawn.Releases, release(rapid.SampledFrom([]string{"", "dc1", "dc2", "gpu", "gone"}).Draw(drawn, "of class")))
	}
	for i := range rapid.IntRange(1, 3).Draw(drawn, "Pods") {
		a.drawn.Workloads = append(a.drawn.Workloads, a.drawPod(fmt.Sprint("p", i)))
	}

	hub.server.add(statefulSets+"/db", map[string]string{fluxLabel: "main-db"})
	hub.server.broken = map[string]int{}
	a.fault = rapid.SampledFrom([]int{0, 0, http.StatusForbidden, http.StatusInternalServerError}).Draw(drawn, "StatefulSets are read with")
	if a.fault != 0 {
		hub.server.broken[statefulSets+"/db"] = a.fault
	}
	return a
}

func (a *classAgreement) drawClass(name string) *cozystackv1alpha1.AffinityClass {
	drawn := class(name)
	drawn.Spec.Enforcement = rapid.SampledFrom([]cozystackv1alpha1.Enforcement{
		"", cozystackv1alpha1.EnforcementDeny, cozystackv1alpha1.EnforcementWarn,
	}).Draw(a.T, "enforcement of "+name)
	return drawn
}

func (a *classAgreement) drawTenant(namespace, name string) *appsv1alpha1.Tenant {
	names := []string{"dc1", "dc2", "gpu", "gone"}
	allowed := rapid.SliceOfN(rapid.SampledFrom(names), 0, 3).Draw(a.T, "allowed for "+name)
	return tenant(namespace, name, rapid.SampledFrom(append(names, "")).Draw(a.T, "default of "+name), allowed...)
}

// drawPod draws a Pod that belongs to the HelmRelease by its label or by its StatefulSet, to nobody, or to an owner that is gone.
func (a *classAgreement) drawPod(name string) *unstructured.Unstructured {
	pod := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c"}}}}}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetNamespace("tenant-acme")
	pod.SetName(name)
	switch rapid.SampledFrom([]string{"label", "StatefulSet", "gone", "nobody"}).Draw(a.T, "belongs by") {
	case "label":
		pod.SetLabels(map[string]string{fluxLabel: "main-db"})
	case "StatefulSet":
		pod.SetOwnerReferences([]metav1.OwnerReference{owner("apps/v1", "StatefulSet", "db")})
	case "gone":
		pod.SetOwnerReferences([]metav1.OwnerReference{owner("apps/v1", "StatefulSet", "gone")})
	}
	if in := rapid.SampledFrom([]string{"", "dc1", "dc2"}).Draw(a.T, "zone"); in != "" {
		if err := unstructured.SetNestedField(pod.Object, in, "spec", "nodeSelector", zone); err != nil {
			a.Fatal(err)
		}
	}
	return pod
}

// drawApplied draws a Tenant or a class that is created or changed. The Tenant can be one that no hub admits.
func (a *classAgreement) drawApplied() client.Object {
	if rapid.Bool().Draw(a.T, "a class is applied") {
		return a.drawClass(rapid.SampledFrom([]string{"dc1", "dc2", "gone"}).Draw(a.T, "applied class"))
	}
	at := rapid.SampledFrom([][2]string{
		{"tenant-root", "root"}, {"tenant-root", "acme"}, {"tenant-acme", "eu"}, {"tenant-root", "beta"}, {"tenant-root", "a-dash"},
		{"tenant-none", "x"},
	}).Draw(a.T, "applied Tenant")
	return a.drawTenant(at[0], at[1])
}

// state is the hub as the tools read it: owners of Pods one by one.
func (a *classAgreement) state() *explain.State {
	state := &explain.State{Pods: a.drawn}
	state.Pods.Owner = func(target affinityclass.Target) (*affinityclass.Object, error) {
		r := a.readersOf(state)
		return r.lookup(a.tb.Context(), r.owners.newWalk())(target)
	}
	return state
}

// kindOf returns the kind of a Tenant or class in the table of the tools.
func (a *classAgreement) kindOf(object client.Object) *explain.Kind {
	if _, is := object.(*appsv1alpha1.Tenant); is {
		return explain.FindKind(appsv1alpha1.GroupVersion.WithKind("Tenant"))
	}
	return explain.FindKind(cozystackv1alpha1.GroupVersion.WithKind("AffinityClass"))
}

// readersOf returns what the webhooks of a hub that has the objects of a State read by.
func (a *classAgreement) readersOf(state *explain.State) *readers {
	if known := a.states[state]; known != nil {
		return known
	}
	w := &world{server: a.hub.server, clock: a.hub.clock}
	for _, class := range state.Pods.Classes {
		w.cached = append(w.cached, class)
	}
	for _, tenant := range state.Pods.Tenants {
		w.cached = append(w.cached, tenant)
	}
	for _, release := range state.Pods.Releases {
		w.cached = append(w.cached, release)
	}
	a.states[state] = w.readers(a.tb)
	return a.states[state]
}

// answer is what admission answers about a Pod that is created.
type answer struct {
	denial   string
	warnings []string
}

func (a *classAgreement) review(state *explain.State, pod *unstructured.Unstructured) answer {
	created := request(a.tb, admissionv1.Create, metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, pod.GetNamespace(), nil, pod.Object)
	response := handlers(a.readersOf(state), hub)[PodPath].Handle(a.tb.Context(), created)
	if response.Allowed {
		return answer{warnings: response.Warnings}
	}
	return answer{response.Result.Message, response.Warnings}
}

// checkTenant compares what diff says about a Tenant that is applied with what the webhook answers.
func (a *classAgreement) checkTenant(before *explain.State, applied *appsv1alpha1.Tenant, said *pods.Applied) {
	var live *appsv1alpha1.Tenant
	for _, known := range before.Pods.Tenants {
		if client.ObjectKeyFromObject(known) == client.ObjectKeyFromObject(applied) {
			live = known
		}
	}
	response := handlers(a.readersOf(before), hub)[TenantPath].Handle(a.tb.Context(), tenantRequest(a.tb, live, applied))
	if response.Allowed != (len(said.Refused) == 0) {
		a.Fatalf("the webhook answers %t, %+v, and diff says %q", response.Allowed, response.Result, said.Refused)
	}
	for _, refused := range said.Refused {
		if !strings.Contains(response.Result.Message, refused) {
			a.Errorf("diff says %q, and the webhook answers %s", refused, response.Result.Message)
		}
	}
	if !slices.Equal(response.Warnings, said.Warnings) {
		a.Errorf("the webhook warns %q, and diff %q", response.Warnings, said.Warnings)
	}
}

// checkDifference compares what diff says about a Pod with the answers before and after.
func (a *classAgreement) checkDifference(said *pods.Differences, pod *unstructured.Unstructured, was, is answer) {
	at := slices.IndexFunc(said.Workloads, func(d pods.Difference) bool { return d.Name == pod.GetName() })
	if at < 0 {
		if was.denial != "" || is.denial != "" {
			a.Errorf("diff says nothing of %s, and the webhook first %q and then %q", pod.GetName(), was.denial, is.denial)
		}
		return
	}
	difference := &said.Workloads[at]
	admitted, anyway := was.denial != "" && is.denial == "", was.denial == is.denial
	if difference.Denial != is.denial || difference.Admitted != admitted || difference.Anyway != anyway {
		a.Errorf("diff says of %s %+v, and the webhook first %q and then %q", pod.GetName(), difference, was.denial, is.denial)
	}
}

// checkReport compares what simulate says about a Pod that is created with the answer.
func (a *classAgreement) checkReport(evaluator *pods.Evaluator, pod *unstructured.Unstructured, is answer) {
	report, err := evaluator.Explain(pod, true)
	if err != nil {
		a.Fatal(err)
	}
	var said answer
	if report.Class != nil {
		said = answer{report.Class.Denial, report.Class.Warnings}
	}
	if said.denial != is.denial || !slices.Equal(said.warnings, is.warnings) {
		a.Errorf("the webhook answers %+v about %s, and simulate says %+v", is, pod.GetName(), said)
	}
}

// isForbidden reports whether an owner of a Pod may not be read.
func (a *classAgreement) isForbidden(pod *unstructured.Unstructured) bool {
	owners := pod.GetOwnerReferences()
	return a.fault == http.StatusForbidden && len(owners) > 0 && owners[0].Name == "db"
}

// checkUnknown expects a note that says why the class of a Pod is not known, and no denial.
func (a *classAgreement) checkUnknown(evaluator *pods.Evaluator, pod *unstructured.Unstructured) {
	report, err := evaluator.Explain(pod, true)
	if err != nil {
		a.Fatal(err)
	}
	if report.Class == nil || report.Class.Denial != "" || !strings.Contains(strings.Join(report.Class.Notes, "\n"), "the class is not known") {
		a.Errorf("simulate says of %s, whose owner may not be read, %+v", pod.GetName(), report.Class)
	}
}
