// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
)

const kustomizationFile = "kustomization.yaml"

// kustomization is the part of a kustomization.yaml that this repository uses. Any other field fails strict decoding, so
// that the tests are extended together with the files.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Patches    []struct {
		Target struct{ Kind, Name string } `json:"target"`
		Patch  string                      `json:"patch"`
	} `json:"patches,omitempty"`
}

func TestEveryKustomizationBuilds(t *testing.T) {
	for _, root := range []string{".", "../manifests"} {
		for _, dir := range kustomizations(t, root) {
			t.Run(dir, func(t *testing.T) {
				seen := map[string]bool{}
				for _, obj := range build(t, dir) {
					if seen[id(obj)] {
						t.Errorf("%s is included twice, which kustomize refuses", id(obj))
					}
					seen[id(obj)] = true
				}
				patched := build(t, dir)
				if isComponent(load(t, dir)) { // It patches what it is added to.
					patched = build(t, "base")
				}
				for _, patch := range load(t, dir).Patches {
					if !slices.ContainsFunc(patched, func(obj *unstructured.Unstructured) bool {
						return obj.GetKind() == patch.Target.Kind && (patch.Target.Name == "" || obj.GetName() == patch.Target.Name)
					}) {
						t.Errorf("the patch of %s %s has no target", patch.Target.Kind, patch.Target.Name)
					}
				}
			})
		}
	}
}

// A file that no kustomization lists is embedded and installed by the binary, but missing from a kustomize installation.
func TestEveryFileIsListed(t *testing.T) {
	for _, root := range []string{"base", "overlays", "components", "../manifests"} {
		for _, dir := range kustomizations(t, root) {
			files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				name := filepath.Base(file)
				if name != kustomizationFile && !slices.Contains(load(t, dir).Resources, name) {
					t.Errorf("%s is not among the resources of its kustomization", file)
				}
			}
		}
	}
}

func TestBaseHoldsAllManifests(t *testing.T) {
	objs, err := manifests.Objects()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Deployment open-cluster-management-hub/placement-hub-controller",
		"PodDisruptionBudget open-cluster-management-hub/placement-hub-controller",
		"Service open-cluster-management-hub/placement-hub-metrics",
		"Service open-cluster-management-hub/placement-webhook",
	}
	webhook, err := manifests.Webhook("")
	if err != nil {
		t.Fatal(err)
	}
	flows, err := objectsIn(flowControl)
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range slices.Concat(objs, webhook, flows) {
		want = append(want, id(obj))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, ids(build(t, "base"))); diff != "" {
		t.Errorf("base installs what the binary installs, and the workload (-want +got):\n%s", diff)
	}
}

func TestBesideUpstreamTouchesNothingOfOthers(t *testing.T) {
	want := []string{
		"ClusterRole open-cluster-management:placement-hub:placement",
		"ClusterRoleBinding open-cluster-management:placement-hub:placement",
		"Deployment open-cluster-management-hub/placement-hub-controller",
		"FlowSchema placement-hub",
		"FlowSchema placement-hub-agents",
		"FlowSchema placement-hub-leader-election",
		"FlowSchema placement-hub-reads",
		"FlowSchema placement-hub-reviews",
		"Namespace open-cluster-management-hub",
		"PodDisruptionBudget open-cluster-management-hub/placement-hub-controller",
		"PriorityLevelConfiguration placement-hub-agents",
		"Role open-cluster-management-hub/open-cluster-management:placement-hub:explanations",
		"Role open-cluster-management-hub/open-cluster-management:placement-hub:explanations-address",
		"Role open-cluster-management-hub/open-cluster-management:placement-hub:leader-election",
		"RoleBinding open-cluster-management-hub/open-cluster-management:placement-hub:explanations",
		"RoleBinding open-cluster-management-hub/open-cluster-management:placement-hub:explanations-address",
		"RoleBinding open-cluster-management-hub/open-cluster-management:placement-hub:leader-election",
		"Service open-cluster-management-hub/placement-hub-metrics",
		"Service open-cluster-management-hub/placement-webhook",
		"ServiceAccount open-cluster-management-hub/placement-controller-sa",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-readable",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-readable-clusters",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-readable-placements",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-readable-scores",
		"ValidatingAdmissionPolicy open-cluster-management-placement-hub-readable-v1alpha1-placements",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-readable",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-readable-clusters",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-readable-placements",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-readable-scores",
		"ValidatingAdmissionPolicyBinding open-cluster-management-placement-hub-readable-v1alpha1-placements",
	}
	if diff := cmp.Diff(want, ids(build(t, "overlays/beside-upstream"))); diff != "" {
		t.Errorf("no definitions, no rights over sets and no rules of taste beside upstream (-want +got):\n%s", diff)
	}
}

// Upstream's registration controllers keep sets and bindings, and nothing there defines the older placement API.
func TestBesideUpstreamRunsPlacementAlone(t *testing.T) {
	patches := load(t, "overlays/beside-upstream").Patches
	if len(patches) != 1 || patches[0].Target.Kind != "Deployment" {
		t.Fatalf("patches are %+v, want one of the Deployment", patches)
	}
	var operations []struct {
		Op, Path string
		Value    []string
	}
	if err := yaml.UnmarshalStrict([]byte(patches[0].Patch), &operations); err != nil {
		t.Fatal(err)
	}
	if len(operations) != 1 || operations[0].Op != "replace" || operations[0].Path != "/spec/template/spec/containers/0/args" {
		t.Fatalf("operations are %+v, want one that replaces the arguments", operations)
	}
	if diff := cmp.Diff([]string{"controller", "--controllers=placement"}, operations[0].Value); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

// A component adds an opt-in system and its controllers to what the base runs, and repeats nothing of the base.
func TestComponentsAddSystems(t *testing.T) {
	base := ids(build(t, "base"))
	for _, dir := range kustomizations(t, "components") {
		if len(load(t, dir).Resources) == 0 || dir == dashboardComponent || dir == historyComponent {
			continue
		}
		t.Run(dir, func(t *testing.T) {
			system := filepath.Base(dir)
			want, err := manifests.System(system, "")
			if err != nil {
				t.Fatal(err)
			}
			var wanted []string
			for _, obj := range want {
				wanted = append(wanted, id(obj))
			}
			slices.Sort(wanted)
			got := ids(build(t, dir))
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			for _, name := range got {
				if slices.Contains(base, name) {
					t.Errorf("%s is in the base, too, which kustomize refuses", name)
				}
			}
			expectAddedArgument(t, dir, "--controllers="+system+"/*")
		})
	}
}

// The component without-taints leaves off the controller that taints each cluster whose availability is not reported, and adds nothing.
func TestWithoutTaints(t *testing.T) {
	expectAddedArgument(t, "components/without-taints", "--controllers=-"+managedcluster.ManagedClusterTaints)
}

// The components that are no systems.
const (
	dashboardComponent = "components/dashboard"
	historyComponent   = "components/history"
)

// The component history keeps the history in ConfigMaps.
func TestHistory(t *testing.T) {
	want := []string{
		"Role open-cluster-management-hub/open-cluster-management:placement-hub:history",
		"RoleBinding open-cluster-management-hub/open-cluster-management:placement-hub:history",
	}
	if diff := cmp.Diff(want, ids(build(t, historyComponent))); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	expectAddedArgument(t, historyComponent, "--history=configmaps")
}

// The component dashboard serves pages at a port that its Service reaches.
func TestDashboard(t *testing.T) {
	want := []string{
		"ClusterRole open-cluster-management:placement-hub:dashboard", "ClusterRoleBinding open-cluster-management:placement-hub:dashboard",
		"RoleBinding kube-system/placement-hub-dashboard", "Service open-cluster-management-hub/placement-hub-dashboard",
	}
	if diff := cmp.Diff(want, ids(build(t, dashboardComponent))); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	var operations []struct {
		Op, Path string
		Value    any
	}
	if err := yaml.UnmarshalStrict([]byte(load(t, dashboardComponent).Patches[0].Patch), &operations); err != nil {
		t.Fatal(err)
	}
	if len(operations) != 2 || operations[0].Value != "--dashboard-listen=0.0.0.0:8444" {
		t.Fatalf("the patch is %+v", operations)
	}
	port, is := operations[1].Value.(map[string]any)
	if !is || port["name"] != "dashboard" || port["containerPort"] != float64(8444) {
		t.Errorf("the port is %v", operations[1].Value)
	}
}

// expectAddedArgument compares the one patch of a component with one that adds an argument to the container.
func expectAddedArgument(t *testing.T, dir, want string) {
	t.Helper()
	patches := load(t, dir).Patches
	if len(patches) != 1 {
		t.Fatalf("patches are %+v, want one", patches)
	}
	var operations []struct{ Op, Path, Value string }
	if err := yaml.UnmarshalStrict([]byte(patches[0].Patch), &operations); err != nil {
		t.Fatal(err)
	}
	added := operations[0]
	if len(operations) != 1 || added.Op != "add" || added.Path != "/spec/template/spec/containers/0/args/-" || added.Value != want {
		t.Errorf("operations are %+v, want one that adds %s to the arguments", operations, want)
	}
}

// Two ways of applying conflict, because each owns the fields that it has written: every page, comment and message has server-side apply.
func TestKustomizationsAreAppliedServerSide(t *testing.T) {
	apply := regexp.MustCompile(`kubectl apply [^\n]*-k`)
	texts := 0
	for _, directory := range []string{"../README.md", "../docs", "../deploy", "../manifests", "../pkg", "../cmd"} {
		err := filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("reading a text: %w", err)
			}
			for _, command := range apply.FindAllString(string(text), -1) {
				texts++
				if !strings.Contains(command, "--server-side") {
					t.Errorf("%s: %q applies on the client; say kubectl apply --server-side", path, command)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if texts == 0 {
		t.Error("no text applies a kustomization")
	}
}

// build returns the objects of a kustomization, before patches, and fails the test where kustomize would refuse: a file that
// is missing or lies outside its kustomization's directory, a directory without a kustomization, a cycle.
func build(t *testing.T, dir string, parents ...string) []*unstructured.Unstructured {
	t.Helper()
	if slices.Contains(parents, filepath.Clean(dir)) {
		t.Fatalf("kustomizations form a cycle: %s", strings.Join(append(parents, dir), " -> "))
	}
	parents = append(slices.Clone(parents), filepath.Clean(dir))
	var objs []*unstructured.Unstructured
	for _, resource := range load(t, dir).Resources {
		path := filepath.Join(dir, resource)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatalf("%s: resource: %v", dir, err)
		}
		if info.IsDir() {
			objs = append(objs, build(t, path, parents...)...)
			continue
		}
		if !filepath.IsLocal(resource) {
			t.Fatalf("%s: file %s lies outside the kustomization's directory; kustomize loads only directories from there", dir, resource)
		}
		objs = append(objs, decode(t, path)...)
	}
	return objs
}

func load(t *testing.T, dir string) kustomization {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, kustomizationFile))
	if err != nil {
		t.Fatal(err)
	}
	var k kustomization
	if err := yaml.UnmarshalStrict(content, &k); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	if !isComponent(k) && (k.APIVersion != "kustomize.config.k8s.io/v1beta1" || k.Kind != "Kustomization" || len(k.Resources) == 0) {
		t.Fatalf("%s: neither a Component nor a Kustomization with resources: %+v", dir, k)
	}
	return k
}

func isComponent(k kustomization) bool {
	return k.APIVersion == "kustomize.config.k8s.io/v1alpha1" && k.Kind == "Component"
}

func decode(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	objs, err := manifests.Decode(file, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return objs
}

// kustomizations returns the directories below root that hold a kustomization.
func kustomizations(t *testing.T, root string) []string {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Name() == kustomizationFile {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Fatalf("no kustomization below %s", root)
	}
	return dirs
}

func ids(objs []*unstructured.Unstructured) []string {
	names := make([]string, 0, len(objs))
	for _, obj := range objs {
		names = append(names, id(obj))
	}
	slices.Sort(names)
	return names
}

func id(obj *unstructured.Unstructured) string {
	if obj.GetNamespace() == "" {
		return obj.GetKind() + " " + obj.GetName()
	}
	return obj.GetKind() + " " + obj.GetNamespace() + "/" + obj.GetName()
}
