// SPDX-License-Identifier: Apache-2.0

package federation

import "testing"

// An unknown annotation may be a misspelt selector, without which the object would be delivered everywhere.
func TestUnknownAnnotation(t *testing.T) {
	const alone = "is unknown; correct its name, or remove it"
	meant := func(name string) string {
		return "is unknown; did you mean " + name + "? Correct its name, or remove it"
	}
	for name, want := range map[string]string{
		SelectorAnnotation: "", OrphanAnnotation: "", PropagateDependenciesAnnotation: "", DeploymentPreferencesAnnotation: "",
		"federation.kubernetes.io/cluster-selector":             meant(SelectorAnnotation),
		"federation.alpha.kubernetes.io/cluster-selecter":       meant(SelectorAnnotation),
		"federation.alpha.kubernetes.io/clusterselector":        meant(SelectorAnnotation),
		"federation.alpha.kubernetes.io/clustr-selectr":         meant(SelectorAnnotation),
		"federation.alpha.kubernetes.io/orphan":                 meant(OrphanAnnotation),
		"federation.alpha.kubernetes.io/deployment-preferences": meant(DeploymentPreferencesAnnotation),
		"federation.kubernetes.io/placement":                    meant(PlacementAnnotation),
		"federation.kubernetes.io/federated":                    alone,
		"federation.kubernetes.io/":                             alone,
		"federation.kubernetes.io/job-preferences":              "",
		"federation.alpha.kubernetes.io/federation-name":        "",
		"example.com/cluster-selector":                          "",
		"federation.example.com/cluster-selector":               "",
		"placement.open-cluster-management.io/placment":         "",
		"my.federation.kubernetes.io/cluster-selector":          "",
	} {
		if got := UnknownAnnotation(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if want != "" && len(HubAnnotations(map[string]string{name: ""})) == 0 {
			t.Errorf("%s holds the object, and does not decide about its delivery", name)
		}
	}
}
