// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/manifests"
)

const (
	keepAnnotation = "helm.sh/resource-policy"
	definition     = "CustomResourceDefinition"
	registration   = "registration-controller-sa"
)

// TestChartIsTheKustomizations compares the objects of the chart with those of the kustomizations, for each choice that both have.
func TestChartIsTheKustomizations(t *testing.T) {
	type choice struct {
		name                  string
		resources, components []string
		set                   []string
	}
	const (
		base, withTaints = "deploy/base", "taintUnavailableClusters=true,taintGracePeriod=null"
		overlay, beside  = "deploy/overlays/beside-upstream", "besideUpstream=true,maxRemovalPercent=null"
	)

	choices := []choice{
		{name: "base", resources: []string{base}, set: []string{withTaints}},
		{name: "without taints, the default", resources: []string{base}, components: []string{"deploy/components/without-taints"}},
		{name: "beside upstream", resources: []string{overlay}, set: []string{beside}},
		{
			name: "without FlowSchemas", resources: []string{base}, components: []string{"deploy/components/without-flowschemas"},
			set: []string{withTaints, "flowSchema.enabled=false"},
		},
		{
			name: "with ManifestWorks", resources: []string{base, "manifests/manifestworks"},
			set: []string{withTaints, "crds.manifestWorks=true"},
		},
		{
			name: "monitoring", resources: []string{base, "deploy/monitoring"},
			set: []string{withTaints, "monitoring.scraper=true", "monitoring.serviceMonitor=true", "monitoring.prometheusRule=true"},
		},
		{
			name: "refreshes of ApplicationSets", resources: []string{base}, components: []string{"deploy/components/argocd-refresh"},
			set: []string{withTaints, "argocdRefresh.enabled=true"},
		},
		{
			// --sig-placement-decisions, which kustomize has no component for, is the difference of the arguments.
			name: "multicluster", resources: []string{base, "manifests/multicluster"},
			set: []string{withTaints, "sigPlacementDecisions=true"},
		},
	}
	all := choice{name: "all systems", resources: []string{base}, set: []string{withTaints}}

	for _, system := range manifests.Systems() {
		component, value := "deploy/components/"+system, "systems."+system+"=true"
		var definitions []string
		if system == manifests.ClusterProfiles { // The chart brings what the controller writes; kustomize users may have it from another component.
			definitions = []string{"manifests/multicluster"}
		}
		choices = append(choices, choice{
			name: system, resources: append([]string{base}, definitions...), components: []string{component}, set: []string{withTaints, value},
		}, choice{
			name: system + " beside upstream", resources: append([]string{overlay}, definitions...), components: []string{component},
			set: []string{beside, value},
		})
		all.resources = append(all.resources, definitions...)
		all.components, all.set = append(all.components, component), append(all.set, value)
	}

	for _, c := range append(choices, all) {
		t.Run(c.name, func(t *testing.T) {
			want := map[string]any{}
			for _, object := range kustomize(t, c.resources, c.components) {
				unstructured.RemoveNestedField(object.Object, "status")
				if object.GetKind() != "Namespace" || object.GetName() != manifests.Namespace { // That of the release.
					want[describe(object)] = joinLines(object.Object)
				}
			}
			got := map[string]any{}

			for _, object := range decode(t, render(t, c.set...)) {
				if slices.Contains([]string{definition, "Namespace"}, object.GetKind()) {
					takeKeep(t, object)
				}
				if object.GetKind() == "Deployment" {
					takeArgument(t, object, "--sig-placement-decisions", slices.Contains(c.set, "sigPlacementDecisions=true"))
				}
				got[describe(object)] = joinLines(object.Object)
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the chart (+) differs from the kustomizations (-):\n%s", diff)
			}
		})
	}
}

// joinLines removes empty lines from all strings: where a folded line is followed by an indented one, kustomize adds one to CEL expressions.
func joinLines(value any) any {
	switch value := value.(type) {
	case string:
		return emptyLines.ReplaceAllString(value, "\n")
	case map[string]any:
		for key, field := range value {
			value[key] = joinLines(field)
		}
	case []any:
		for i, element := range value {
			value[i] = joinLines(element)
		}
	default:
	}

	return value
}

var emptyLines = regexp.MustCompile("\n\n+")

// takeKeep removes the annotation by which Helm keeps an object, which must be there.
func takeKeep(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	annotations := object.GetAnnotations()
	if annotations[keepAnnotation] != "keep" {
		t.Errorf("%s: Helm would delete it", describe(object))
	}
	delete(annotations, keepAnnotation)
	object.SetAnnotations(annotations)
	if len(annotations) == 0 {
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
	}
}

// takeArgument removes an argument of the container.
func takeArgument(t *testing.T, deployment *unstructured.Unstructured, argument string, present bool) {
	t.Helper()
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}
	container := containers[0].(map[string]any)
	arguments := container["args"].([]any)
	if slices.Contains(arguments, any(argument)) != present {
		t.Errorf("arguments are %v; has %s: want %t", arguments, argument, present)
	}

	container["args"] = slices.DeleteFunc(arguments, func(a any) bool { return a == argument })
	if err := unstructured.SetNestedSlice(deployment.Object, containers, "spec", "template", "spec", "containers"); err != nil {
		t.Fatal(err)
	}
}

// withoutDefinitions turns off all definitions.
var withoutDefinitions = []string{
	"crds.placementHub=false", "crds.openClusterManagement=false", "crds.manifestWorks=false", "crds.clusterInventory=false",
	"crds.kupid=false", "crds.cozystack=false", "crds.openmcp=false",
}

// TestSwitchesOfDefinitions checks that each definition has a switch.
func TestSwitchesOfDefinitions(t *testing.T) {
	for _, object := range decode(t, render(t, append(everything(), withoutDefinitions...)...)) {
		if object.GetKind() == definition {
			t.Errorf("%s has no switch", object.GetName())
		}
	}
	for _, object := range decode(t, render(t, "crds.openClusterManagement=false")) {
		if object.GetKind() == definition && !strings.HasSuffix(object.GetName(), ".placement.open-cluster-management.io") {
			t.Errorf("%s is there, beside the operator of Open Cluster Management", object.GetName())
		}
	}
}

func TestUnknownAndWrongValuesAreRefused(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"replica=3", "at '': additional properties 'replica' not allowed"},
		{"systems.fleet=true", "at '/systems': additional properties 'fleet' not allowed"},
		{"monitoring.serviceMonitor.enabled=true", "at '/monitoring/serviceMonitor': got object, want boolean"},
		{"crds.ocm=false", "at '/crds': additional properties 'ocm' not allowed"},
		{"replicas=two", "at '/replicas': got string, want null or integer"},
		{"taintGracePeriod=5x", "at '/taintGracePeriod': "},
		{"maxRemovalPercent=101", "at '/maxRemovalPercent': maximum: got 101, want 100"},
		{"image.digest=sha256:1", "at '/image/digest': "},
		{"imagePullSecrets[0].nam=a", "at '/imagePullSecrets/0': "},
		{"flowSchema.matchingPrecedence=1", "at '/flowSchema/matchingPrecedence': "},
		{"flowSchema.priorityLevel=", "at '/flowSchema/priorityLevel': "},
		{"webhooks.url=http://hub.example.com", "at '/webhooks/url': "},
		{"webhooks.url=hub.example.com:9443", "at '/webhooks/url': "},
		{"webhooks.url=https://user@hub.example.com", "at '/webhooks/url': "},
		{"webhooks.url=https://hub.example.com?a", "at '/webhooks/url': "},
		{"webhooks.url=https://", "at '/webhooks/url': "},
		{"webhooks.URL=https://hub.example.com", "at '/webhooks': additional properties 'URL' not allowed"},
		{"explanations.url=https://hub.example.com/other", "at '/explanations/url': "},
		{"explanations.url=http://hub.example.com", "at '/explanations/url': "},
		{"argocdRefresh.minInterval=10", "at '/argocdRefresh/minInterval': "},
		{"argocdRefresh.namespace=Argo", "at '/argocdRefresh/namespace': "},
		{"systems.federation=1", "at '/systems/federation': got number, want boolean"},
	} {
		t.Run(c.set, func(t *testing.T) {
			forEachHelm(t, func(t *testing.T, helm helmVersion) {
				t.Helper()
				output, err := helm.try(t, "template", release, directory, "--set", c.set)
				if err == nil || !strings.Contains(output, c.want) {
					t.Errorf("helm template: %v\n%s\nwant %q", err, output, c.want)
				}
			})
		})
	}
}

// The hub refuses the flag without the controller that it is for.
func TestTaintGracePeriod(t *testing.T) {
	const flag = "--taint-grace-period="
	for _, c := range []struct {
		reason string
		set    []string
		want   string
	}{
		{"no controller taints", nil, ""},
		{"the default", []string{"taintUnavailableClusters=true"}, flag + "5s"},
		{"another period", []string{"taintUnavailableClusters=true", "taintGracePeriod=1m30s"}, flag + "1m30s"},
		{"none", []string{"taintUnavailableClusters=true", "taintGracePeriod=null"}, ""},
		{"beside upstream", []string{"besideUpstream=true", "maxRemovalPercent=null", "taintUnavailableClusters=true"}, ""},
	} {
		t.Run(c.reason, func(t *testing.T) {
			rendered := render(t, c.set...)
			if c.want == "" && strings.Contains(rendered, flag) || c.want != "" && !strings.Contains(rendered, "- "+c.want+"\n") {
				t.Errorf("the arguments lack %q, or have the flag:\n%s", c.want, rendered)
			}
		})
	}
}

// TestRenderingIsDeterministic checks that Argo CD and Flux, which render without access to the cluster, get what Helm installs.
func TestRenderingIsDeterministic(t *testing.T) {
	if first, second := render(t, everything()...), render(t, everything()...); first != second {
		t.Errorf("two renderings differ:\n%s", cmp.Diff(first, second))
	}
	action := regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	impure := regexp.MustCompile(`\b(lookup|rand[A-Z]\w*|uuidv4|now|date\w*|gen[A-Z]\w*|derivePassword|htpasswd|bcrypt|getHostByName|` +
		`Capabilities|IsInstall|IsUpgrade|Revision)\b`)
	files := 0

	err := fs.WalkDir(os.DirFS(directory), "templates", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files++

		text, err := os.ReadFile(filepath.Join(directory, path))
		if err != nil {
			return err
		}
		for _, code := range action.FindAllString(string(text), -1) {
			if !strings.HasPrefix(code, "{{- /*") && impure.MatchString(code) {
				t.Errorf("%s: %s depends on more than the values", path, code)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	if files == 0 {
		t.Error("the chart has no templates")
	}
}

// TestHelm3RendersTheSame checks that what the other tests find of renderings is true of Helm 3 too.
func TestHelm3RendersTheSame(t *testing.T) {
	for _, set := range [][]string{nil, everything(), {"besideUpstream=true", "maxRemovalPercent=null"}} {
		want, got := map[string]any{}, map[string]any{}
		for _, object := range decode(t, helm4.render(t, set...)) {
			want[describe(object)] = object.Object
		}
		for _, object := range decode(t, helm3.render(t, set...)) {
			got[describe(object)] = object.Object
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("values %v: Helm 3 (+) renders other objects than Helm 4 (-):\n%s", set, diff)
		}
	}
}

// TestCABundleIsTheHubs checks that the chart does not set what the hub writes.
func TestCABundleIsTheHubs(t *testing.T) {
	configurations := 0
	for _, object := range decode(t, render(t, everything()...)) {
		if !strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
			continue
		}
		configurations++

		webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
		if err != nil {
			t.Fatal(err)
		}
		for _, webhook := range webhooks {
			fields := webhook.(map[string]any)
			if _, found, err := unstructured.NestedFieldNoCopy(fields, "clientConfig", "caBundle"); found || err != nil {
				t.Errorf("%s sets caBundle (%v)", describe(object), err)
			}
		}
	}

	if configurations == 0 {
		t.Error("no webhook configuration was rendered")
	}
}

// TestOtherNames checks that a namespace and a ServiceAccount of the user are used everywhere.
func TestOtherNames(t *testing.T) {
	text := helm4.run(t, append([]string{"template", release, directory, "--namespace", "1234",
		"--set", "serviceAccount.create=false", "--set", "serviceAccount.name=existing"}, flags(everything())...)...)

	accounts := 0
	for _, object := range decode(t, text) {
		if object.GetKind() == "ServiceAccount" {
			t.Errorf("%s is created", describe(object))
		}
		if namespace := object.GetNamespace(); namespace == manifests.Namespace {
			t.Errorf("%s is not in the namespace of the release", describe(object))
		}
		subjects, _, err := unstructured.NestedSlice(object.Object, "subjects")
		if err != nil {
			t.Fatal(err)
		}

		for _, subject := range subjects {
			fields := subject.(map[string]any)
			switch {
			case fields["kind"] != "ServiceAccount":
			case fields["name"] == registration: // It stays in the namespace of Open Cluster Management.
				if fields["namespace"] != manifests.Namespace {
					t.Errorf("the subject of %s is %v", describe(object), fields)
				}
			default:
				accounts++
				want := map[string]any{"kind": "ServiceAccount", "name": "existing", "namespace": "1234"}
				if diff := cmp.Diff(want, fields); diff != "" {
					t.Errorf("subject of %s (-want +got):\n%s", describe(object), diff)
				}
			}
		}
	}

	if accounts == 0 {
		t.Error("no role is bound")
	}
	if fixed := strings.Count(text, manifests.Namespace) + strings.Count(text, manifests.ServiceAccount); fixed != 1 {
		t.Errorf("the names of the manifests are in the rendering %d times, want once, for %s", fixed, registration)
	}
}

// TestOptions checks each option that adds an object or a field.
func TestOptions(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	text := `
image: {repository: registry.example/hub, digest: "sha256:` + strings.Repeat("0", 64) + `"}
imagePullSecrets: [{name: pull}]
replicas: 3
resources: {limits: {memory: 1Gi}}
nodeSelector: {disk: ssd}
tolerations: [{key: infra, operator: Exists}]
affinity: {nodeAffinity: {}}
topologySpreadConstraints: []
priorityClassName: system-cluster-critical
podLabels: {team: a, app.kubernetes.io/name: another}
podAnnotations: {note: b}
extraArgs: [--v=2]
extraEnv: [{name: A, value: b}]
podDisruptionBudget: {maxUnavailable: 50%}
networkPolicy: {enabled: true, metricsFrom: [{namespaceSelector: {}}], egress: []}
monitoring: {scraper: true, serviceMonitor: true, prometheusRule: true, labels: {release: prometheus}}
extraObjects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: extra}, data: {template: "{{ .x }}"}}]
`
	if err := os.WriteFile(values, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	byKind := map[string]*unstructured.Unstructured{}
	for _, object := range decode(t, helm4.run(t, "template", release, directory, "--values", values)) {
		byKind[object.GetKind()] = object
	}

	pod := map[string]any{
		"imagePullSecrets":  []any{map[string]any{"name": "pull"}},
		"nodeSelector":      map[string]any{"disk": "ssd"},
		"tolerations":       []any{map[string]any{"key": "infra", "operator": "Exists"}},
		"affinity":          map[string]any{"nodeAffinity": map[string]any{}},
		"priorityClassName": "system-cluster-critical",
	}
	for field, want := range pod {
		expect(t, byKind, "Deployment", want, "spec", "template", "spec", field)
	}

	expect(t, byKind, "Deployment", nil, "spec", "template", "spec", "topologySpreadConstraints")
	expect(t, byKind, "Deployment", int64(3), "spec", "replicas")
	expect(t, byKind, "Deployment", map[string]any{
		"app.kubernetes.io/component": "controller", "app.kubernetes.io/name": "placement-hub", "team": "a",
	}, "spec", "template", "metadata", "labels")
	expect(t, byKind, "Deployment", map[string]any{"note": "b"}, "spec", "template", "metadata", "annotations")
	expect(t, byKind, "PodDisruptionBudget", "50%", "spec", "maxUnavailable")
	expect(t, byKind, "NetworkPolicy", []any{"Ingress", "Egress"}, "spec", "policyTypes")
	expect(t, byKind, "NetworkPolicy", []any{
		map[string]any{"ports": []any{map[string]any{"port": "webhook", "protocol": "TCP"}}},
		map[string]any{
			"ports": []any{map[string]any{"port": "https", "protocol": "TCP"}},
			"from":  []any{map[string]any{"namespaceSelector": map[string]any{}}},
		},
	}, "spec", "ingress")
	expect(t, byKind, "ConfigMap", map[string]any{"template": "{{ .x }}"}, "data")

	for _, kind := range []string{"ServiceMonitor", "PrometheusRule"} {
		expect(t, byKind, kind, map[string]any{"app.kubernetes.io/name": "placement-hub", "release": "prometheus"}, "metadata", "labels")
	}
	containers, _, err := unstructured.NestedSlice(byKind["Deployment"].Object, "spec", "template", "spec", "containers")
	if err != nil {
		t.Fatal(err)
	}

	container := containers[0].(map[string]any)
	want := map[string]any{
		"image":     "registry.example/hub@sha256:" + strings.Repeat("0", 64),
		"resources": map[string]any{"requests": map[string]any{"cpu": "10m", "memory": "64Mi"}, "limits": map[string]any{"memory": "1Gi"}},
		"args": []any{
			"controller", "--controllers=*", "--max-removal-percent=50", "--controllers=-managedcluster-taints", "--v=2",
		},
	}
	for field, value := range want {
		if diff := cmp.Diff(value, container[field]); diff != "" {
			t.Errorf("%s of the container (-want +got):\n%s", field, diff)
		}
	}

	if environment := container["env"].([]any); len(environment) != 2 {
		t.Errorf("the environment is %v, want one variable more", environment)
	}
}

// expect compares a field of the object of a kind; nil demands that it is absent.
func expect(t *testing.T, byKind map[string]*unstructured.Unstructured, kind string, want any, path ...string) {
	t.Helper()
	if byKind[kind] == nil {
		t.Fatalf("there is no %s", kind)
	}
	got, _, err := unstructured.NestedFieldNoCopy(byKind[kind].Object, path...)
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s of the %s (-want +got):\n%s", strings.Join(path, "."), kind, diff)
	}
}
