// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
)

// writtenSpec is the spec of a live Placement that its files set as a whole, and scaledBy another manager of its numberOfClusters.
const (
	writtenSpec = "{numberOfClusters: 2, clusterSets: [a], predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {env: prod}}}}], " +
		"tolerations: [{key: gpu, operator: Exists}]}"
	ownsWritten = `{"f:spec":{"f:clusterSets":{},"f:predicates":{},"f:tolerations":{},"f:numberOfClusters":{}}}`
	ownsNumber  = `{"f:spec":{"f:numberOfClusters":{}}}`
	ownsApplied = `{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}},` +
		`"f:spec":{"f:clusterSets":{},"f:predicates":{},"f:tolerations":{},"f:numberOfClusters":{}}}`
)

// managedBy returns an entry of managedFields.
func managedBy(manager, operation, fields string) string {
	return fmt.Sprintf(`{manager: %s, operation: %s, apiVersion: cluster.open-cluster-management.io/v1beta1, fieldsType: FieldsV1, `+
		`time: "2026-01-31T12:00:00Z", fieldsV1: %s}`, manager, operation, fields)
}

// A file that drops fields which its last write has set: what goes depends on how it is written.
func TestApplyWritesAsTheObjectWasWritten(t *testing.T) {
	const (
		emptied = "{numberOfClusters: 2}"
		rest    = "{numberOfClusters: 2, clusterSets: [a], " +
			"predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {env: prod}}}}], tolerations: [{key: gpu, operator: Exists}]}"
	)
	gone := []string{"spec.clusterSets", "spec.predicates", "spec.tolerations"}
	applied := `kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"clusterSets":["a"],"predicates":[],"tolerations":[]}}'`
	serverSide := &Writes{Chosen: writes.Write{Method: writes.ServerSide, FieldManager: writes.Kubectl}}
	otherwise := &Writes{InDoubt: writes.ServerSide}

	for _, tc := range []struct {
		reason, managed, annotations, file string
		writes                             *Writes
		wantSpec, wantBy, wantDoubt        string
		wantGone                           []string
		wantRefused                        string
	}{
		{
			reason: "server-side apply of kubectl", managed: managedBy("kubectl", "Apply", ownsWritten), file: emptied,
			wantSpec: emptied, wantBy: "server-side apply of field manager kubectl", wantGone: gone,
		},
		{
			reason:  "server-side apply of Argo CD, which another manager shares a field with",
			managed: managedBy("argocd-controller", "Apply", ownsWritten) + ", " + managedBy("scaler", "Update", ownsNumber), file: "{}",
			wantSpec: "{numberOfClusters: 2}", wantBy: "server-side apply of field manager argocd-controller", wantGone: gone,
		},
		{
			reason: "server-side apply of Helm without the number", managed: managedBy("helm", "Apply", ownsWritten), file: "{}",
			wantSpec: "{}", wantBy: "server-side apply of field manager helm",
			wantGone: append([]string{gone[0], "spec.numberOfClusters"}, gone[1:]...),
		},
		{
			reason:      "client-side apply",
			annotations: applied, managed: managedBy("kubectl-client-side-apply", "Update", ownsApplied), file: emptied, wantSpec: emptied,
			wantGone: gone,
		},
		{
			reason: "server-side apply that takes over the fields of client-side applies", annotations: applied, writes: serverSide,
			managed: managedBy("kubectl-client-side-apply", "Update", ownsApplied), file: emptied, wantSpec: emptied,
			wantBy: "server-side apply of field manager kubectl", wantGone: gone,
		},
		{
			reason: "a conflict", managed: managedBy("kubectl", "Apply", `{"f:spec":{"f:clusterSets":{}}}`) + ", " +
				managedBy("scaler", "Update", ownsNumber), file: "{numberOfClusters: 3}",
			wantRefused: ".spec.numberOfClusters; use --force-conflicts",
		},
		{
			reason: "a forced conflict", managed: managedBy("scaler", "Update", ownsNumber), file: "{numberOfClusters: 3}",
			writes:   &Writes{Chosen: writes.Write{Method: writes.ServerSide, FieldManager: "ci", Force: true}},
			wantSpec: strings.Replace(rest, "2", "3", 1), wantBy: "server-side apply of field manager ci",
		},
		{
			reason: "replace", managed: managedBy("anyone", "Update", ownsWritten), file: emptied,
			writes: &Writes{Chosen: writes.Write{Method: writes.Replace}}, wantSpec: emptied, wantBy: "kubectl replace", wantGone: gone,
		},
		{reason: "hidden managedFields, the one answer", file: emptied, wantSpec: rest, wantDoubt: doubtHidden},
		{
			reason: "hidden managedFields, the other answer", file: emptied, writes: otherwise, wantSpec: emptied,
			wantDoubt: doubtHidden, wantBy: "server-side apply of field manager kubectl", wantGone: gone,
		},
		{
			reason: "server-side apply, and hidden managedFields", file: emptied, writes: serverSide, wantSpec: rest, wantDoubt: doubtHidden,
		},
		{
			reason: "an unknown tool", managed: managedBy("operator", "Update", ownsWritten), file: emptied, wantSpec: rest,
			wantDoubt: fmt.Sprintf(doubtTool, ""),
		},
		{
			reason: "an unknown tool, the other answer", managed: managedBy("operator", "Update", ownsWritten), file: emptied, writes: otherwise,
			wantSpec: rest, wantBy: "server-side apply of field manager kubectl", wantDoubt: fmt.Sprintf(doubtTool, ""),
		},
		{
			reason: "server-side apply of an unknown tool, the other answer", managed: managedBy("ci", "Apply", ownsWritten), file: emptied,
			writes: otherwise, wantSpec: emptied, wantBy: "server-side apply of field manager ci", wantGone: gone,
			wantDoubt: fmt.Sprintf(doubtTool, " --field-manager ci"),
		},
		{
			reason: "Helm 3, the other answer", managed: managedBy("helm", "Update", ownsWritten), file: emptied,
			writes: otherwise, wantSpec: emptied, wantBy: "server-side apply of field manager helm", wantGone: gone,
			wantDoubt: fmt.Sprintf(doubtTool, " --field-manager helm"),
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			hub := read(t, fmt.Sprintf("%smetadata: {name: a, namespace: ns, uid: u1, annotations: {%s}, managedFields: [%s]}\nspec: %s\n",
				placementHead, tc.annotations, tc.managed, writtenSpec))
			changes := readChanges(t, Namespace{Name: "ns"}, placementHead+"metadata: {name: a}\nspec: "+tc.file+"\n")

			after, all, err := changes.Apply(hub, tc.writes)
			if err != nil || len(all) != 1 {
				t.Fatalf("%d objects, error %v", len(all), err)
			}
			got := all[0]
			if tc.wantRefused != "" {
				if refused := strings.Join(got.Result.Refused, ""); !strings.Contains(refused, tc.wantRefused) {
					t.Errorf("refused with %q, want %q", refused, tc.wantRefused)
				}
				if diff := cmp.Diff(hub.Placements, after.Placements); diff != "" {
					t.Errorf("what is refused changes nothing (-before +after):\n%s", diff)
				}
				return
			}
			want := placementIn[*clusterv1beta1.Placement](t, read(t, placementHead+"metadata: {name: a, namespace: ns}\nspec: "+tc.wantSpec+"\n"))
			if diff := cmp.Diff(want.Spec, placementIn[*clusterv1beta1.Placement](t, after).Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantGone, got.Result.Gone); diff != "" || got.Result.By != tc.wantBy || got.Doubt != tc.wantDoubt {
				t.Errorf("by %q, want %q; doubt %q, want %q; gone (-want +got):\n%s", got.Result.By, tc.wantBy, got.Doubt, tc.wantDoubt, diff)
			}
		})
	}
}

// Types come from definitions: the elements of lists with keys belong to their managers.
func TestApplyServerSideMergesListsByTheirKeys(t *testing.T) {
	service := func(more, ports string) string {
		return "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: ns" + more + "}\nspec: {ports: [" + ports + "]}\n"
	}
	const http, https = "{name: http, port: 80, protocol: TCP}", "{name: https, port: 443, protocol: TCP}"
	owned := func(port string) string {
		return `{"f:spec":{"f:ports":{'k:{"port":` + port + `,"protocol":"TCP"}': {".":{},"f:name":{},"f:port":{},"f:protocol":{}}}}}`
	}
	managed := ", managedFields: [" + strings.ReplaceAll(managedBy("kubectl", "Apply", owned("80"))+", "+managedBy("mesh", "Apply", owned("443")),
		"cluster.open-cluster-management.io/v1beta1", "v1") + "]"
	hub := read(t, service(managed, http+", "+https))

	after, applied, err := readChanges(t, Namespace{Name: "ns"}, service("", "{name: web, port: 8080, protocol: TCP}")).Apply(hub, nil)
	if err != nil || len(applied[0].Result.Refused) > 0 {
		t.Fatalf("error %v, applied %+v", err, applied)
	}
	spec, _ := after.Federated.Objects[0].Object["spec"].(map[string]any)
	ports, _ := spec["ports"].([]any)
	if len(ports) != 2 || !strings.Contains(fmt.Sprint(ports), "443") || !strings.Contains(fmt.Sprint(ports), "8080") {
		t.Errorf("ports are %v, want those of the other manager and of the file", ports)
	}
	if len(hub.Federated.Objects[0].Object["spec"].(map[string]any)["ports"].([]any)) != 2 {
		t.Error("the live object was changed")
	}
}

// An object that is not there cannot be replaced.
func TestReplaceCreatesNothing(t *testing.T) {
	changes := readChanges(t, Namespace{Name: "ns"}, placementHead+"metadata: {name: a}\nspec: {}\n")
	after, applied, err := changes.Apply(&explain.State{}, &Writes{Chosen: writes.Write{Method: writes.Replace}})
	if err != nil || len(after.Placements) != 0 || len(applied) != 1 || len(applied[0].Result.Refused) != 1 {
		t.Errorf("error %v, placements %v, applied %+v", err, after.Placements, applied)
	}
}
