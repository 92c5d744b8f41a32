// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/env/shapes"
)

// valueGroups are the alternatives of the values that change the arguments, the roles, the ports or the webhooks, besides those of systems.
var valueGroups = [][]string{
	{"besideUpstream=false", "besideUpstream=true"},
	{"taintUnavailableClusters=false", "taintUnavailableClusters=true", "taintUnavailableClusters=true,taintGracePeriod=null"},
	{"dashboard.enabled=false", "dashboard.enabled=true"},
	{"sigPlacementDecisions=false", "sigPlacementDecisions=true"},
	{"history.store=memory", "history.store=configmaps", "history.store=off"},
	{"replicas=2", "replicas=1", "replicas=null"},
	{"maxRemovalPercent=50", "maxRemovalPercent=null"},
	{"flowSchema.enabled=true", "flowSchema.enabled=false"},
	{"webhooks.url=", "webhooks.url=https://hub.example.com:9443"},
	{"explanations.url=", "explanations.url=https://hub.example.com:9443"},
	{"serviceAccount.name=placement-controller-sa", "serviceAccount.name=another"},
}

// TestEveryShapeOfTheChartStarts renders the chart with every combination of systems beside upstream and without it, and with every pair of the other
// values. The process of each has what it needs to start.
func TestEveryShapeOfTheChartStarts(t *testing.T) {
	for _, set := range shapesOfValues() {
		t.Run(strings.Join(set, ","), func(t *testing.T) {
			expectStart(t, decode(t, render(t, append(set, withoutDefinitions...)...)))
		})
	}
}

// TestEveryShapeOfTheKustomizationsStarts is TestEveryShapeOfTheChartStarts for the kustomizations: each component beside each other one, on both
// bases.
func TestEveryShapeOfTheKustomizationsStarts(t *testing.T) {
	components := append(manifests.Systems(), "dashboard", "history", "without-taints", "without-flowschemas")
	for _, base := range []string{"deploy/base", "deploy/overlays/beside-upstream"} {
		for i := range components {
			for j := range i {
				names := []string{components[j], components[i]}
				t.Run(base+" "+strings.Join(names, ","), func(t *testing.T) {
					expectStart(t, kustomize(t, []string{base}, []string{"deploy/components/" + names[0], "deploy/components/" + names[1]}))
				})
			}
		}
	}
}

// TestShapesCheckerFindsWhatIsMissing takes away one object after the other. Some are needed by nothing, or grant what another one grants too.
func TestShapesCheckerFindsWhatIsMissing(t *testing.T) {
	objects := kustomize(t, []string{"deploy/base"}, []string{"deploy/components/podscheduling", "deploy/components/dashboard"})
	expectStart(t, objects)
	found := map[string]bool{}
	for i, object := range objects {
		missing, err := shapes.Missing(slices.Delete(slices.Clone(objects), i, i+1))
		if object.GetKind() == "Deployment" {
			continue // It says what is needed.
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(missing) > 0 {
			found[object.GetKind()] = true
		}
	}
	for _, kind := range []string{
		"ServiceAccount", "Service", "MutatingWebhookConfiguration", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
	} {
		if !found[kind] {
			t.Errorf("nothing is missing without any one %s", kind)
		}
	}
}

func expectStart(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	missing, err := shapes.Missing(objects)
	if err != nil {
		t.Fatal(err)
	}
	if len(missing) > 0 {
		t.Errorf("the process lacks\n  %s", strings.Join(missing, "\n  "))
	}
}

// shapesOfValues returns every combination of systems with both values of the first group, and more where a pair of values is missing.
func shapesOfValues() [][]string {
	systems := manifests.Systems()
	missing := map[[2]string]bool{}
	for i, group := range valueGroups {
		for _, other := range valueGroups[:i] {
			for _, a := range other {
				for _, b := range group {
					missing[[2]string{a, b}] = true
				}
			}
		}
	}
	pairs := func(values []string, do func([2]string)) {
		for i := range values {
			for j := range i {
				do([2]string{values[j], values[i]})
			}
		}
	}
	var all [][]string
	for n := 0; n < 2<<len(systems) || len(missing) > 0; n++ {
		values := []string{valueGroups[0][n%2]}
		for _, group := range valueGroups[1:] { // The value with which most pairs are new; in turn where none is.
			best, most := group[n/2%len(group)], 0
			for _, value := range group {
				fresh := 0
				pairs(append(values, value), func(pair [2]string) {
					if missing[pair] {
						fresh++
					}
				})
				if fresh > most {
					best, most = value, fresh
				}
			}
			values = append(values, best)
		}
		pairs(values, func(pair [2]string) { delete(missing, pair) })
		for i, system := range systems {
			if n>>(1+i)&1 == 1 {
				values = append(values, "systems."+system+"=true")
			}
		}
		all = append(all, values)
	}
	return all
}
