// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gomodules.xyz/jsonpatch/v2"
	jsonpatchapply "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

var (
	now    = time.Date(2026, 3, 1, 12, 0, 0, 999, time.FixedZone("elsewhere", 3600))
	nowUTC = "2026-03-01T11:00:00Z"
	before = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	other  = metav1.NewTime(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
)

// member returns a cluster in a set, with taints.
func member(taints ...clusterv1.Taint) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "blue"}},
		Spec:       clusterv1.ManagedClusterSpec{Taints: taints},
	}
}

func taint(key, value string, effect clusterv1.TaintEffect, added metav1.Time) clusterv1.Taint {
	return clusterv1.Taint{Key: key, Value: value, Effect: effect, TimeAdded: added}
}

func labeled(labels map[string]string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: labels}}
}

// The rules of docs/spec/upstream-placement.md 2.1.
func TestDefaults(t *testing.T) {
	const (
		noSelect = clusterv1.TaintEffectNoSelect
		ifNew    = clusterv1.TaintEffectNoSelectIfNew
		setPath  = "/metadata/labels/cluster.open-cluster-management.io~1clusterset"
	)
	never := metav1.Time{}
	deleted := labeled(nil)
	deleted.DeletionTimestamp = &before
	stamp := func(index string) jsonpatch.JsonPatchOperation {
		return jsonpatch.NewOperation("add", "/spec/taints/"+index+"/timeAdded", nowUTC)
	}
	for _, tc := range []struct {
		reason        string
		cluster, from *clusterv1.ManagedCluster
		want          []jsonpatch.JsonPatchOperation
		denied        string
	}{
		{reason: "create: every taint is added now, in seconds", cluster: member(taint("a", "", noSelect, never), taint("b", "", noSelect, never)),
			want: []jsonpatch.JsonPatchOperation{stamp("0"), stamp("1")}},
		{reason: "create: a time that was supplied is discarded", cluster: member(taint("a", "", noSelect, other)),
			want: []jsonpatch.JsonPatchOperation{stamp("0")}},
		{reason: "create: nothing to say", cluster: member()},
		{reason: "create: an entry that is null is the API server's to refuse",
			cluster: member(clusterv1.Taint{}, taint("a", "", noSelect, never), clusterv1.Taint{}), want: []jsonpatch.JsonPatchOperation{stamp("1")}},
		{reason: "update: so is it", cluster: member(clusterv1.Taint{}, taint("a", "", noSelect, never)), from: member(),
			want: []jsonpatch.JsonPatchOperation{stamp("1")}},
		{reason: "update: a new key is added now", cluster: member(taint("a", "", noSelect, before), taint("b", "", noSelect, never)),
			from: member(taint("a", "", noSelect, before)), want: []jsonpatch.JsonPatchOperation{stamp("1")}},
		{reason: "update: a new key must not bring its time", cluster: member(taint("a", "", noSelect, other)), from: member(), denied: `"a"`},
		{reason: "update: another value is added now", cluster: member(taint("a", "y", noSelect, never)),
			from: member(taint("a", "x", noSelect, before)), want: []jsonpatch.JsonPatchOperation{stamp("0")}},
		{reason: "update: another value must not keep its time", cluster: member(taint("a", "y", noSelect, before)),
			from: member(taint("a", "x", noSelect, before)), denied: `"a"`},
		{reason: "update: another effect is added now", cluster: member(taint("a", "", ifNew, never)),
			from: member(taint("a", "", noSelect, before)), want: []jsonpatch.JsonPatchOperation{stamp("0")}},
		{reason: "update: another effect must not keep its time", cluster: member(taint("a", "", ifNew, before)),
			from: member(taint("a", "", noSelect, before)), denied: `"a"`},
		{reason: "update: what stays keeps its time, in whatever order", from: member(taint("a", "", noSelect, before), taint("b", "", ifNew, other)),
			cluster: member(taint("b", "", ifNew, other), taint("a", "", noSelect, before))},
		{reason: "update: what stays must not get another time", cluster: member(taint("a", "", noSelect, other)),
			from: member(taint("a", "", noSelect, before)), denied: `"a"`},
		{reason: "G4: what stays gets its time back", cluster: member(taint("b", "", ifNew, never), taint("a", "", noSelect, never)),
			from: member(taint("a", "", noSelect, before), taint("b", "", ifNew, other)), want: []jsonpatch.JsonPatchOperation{
				jsonpatch.NewOperation("add", "/spec/taints/0/timeAdded", "2026-02-01T00:00:00Z"),
				jsonpatch.NewOperation("add", "/spec/taints/1/timeAdded", "2026-01-01T00:00:00Z"),
			}},
		{reason: "update: a taint from before the webhook stays without a time", cluster: member(taint("a", "", noSelect, never)),
			from: member(taint("a", "", noSelect, never))},
		{reason: "update: every wrong taint is named", cluster: member(taint("a", "", noSelect, other), taint("b", "", noSelect, other)),
			from: member(), denied: `"a,b"`},
		{reason: "update: taints of one key are told apart by the rest",
			from:    member(taint("a", "x", noSelect, before), taint("a", "y", noSelect, other)),
			cluster: member(taint("a", "x", noSelect, before), taint("a", "y", noSelect, other), taint("a", "z", noSelect, never)),
			want:    []jsonpatch.JsonPatchOperation{stamp("2")}},

		{reason: "a cluster without labels is in the set default", cluster: labeled(nil), want: []jsonpatch.JsonPatchOperation{
			jsonpatch.NewOperation("add", "/metadata/labels", map[string]any{clusterv1beta2.ClusterSetLabel: "default"}),
		}},
		{reason: "so is one with other labels", cluster: labeled(map[string]string{"a": "b"}),
			want: []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", setPath, "default")}},
		{reason: "and one with an empty one", cluster: labeled(map[string]string{clusterv1beta2.ClusterSetLabel: ""}),
			want: []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", setPath, "default")}},
		{reason: "the label cannot be removed", cluster: labeled(map[string]string{}), from: member(),
			want: []jsonpatch.JsonPatchOperation{jsonpatch.NewOperation("add", setPath, "default")}},
		{reason: "another set is kept", cluster: labeled(map[string]string{clusterv1beta2.ClusterSetLabel: "green"}), from: member()},
		{reason: "what is being deleted needs no set", cluster: deleted, from: deleted},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := Defaults(tc.cluster, tc.from, now)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
			const words = "It is not allowed to set TimeAdded of Taint "
			switch {
			case (err != nil) != (tc.denied != ""):
				t.Errorf("error: %v, want one that names %q", err, tc.denied)
			case err != nil && !strings.HasPrefix(err.Error(), words+tc.denied+": leave timeAdded out"):
				t.Errorf("error: %v, want upstream's words, the taints %s, and what to do", err, tc.denied)
			}
		})
	}
}

func TestAccepts(t *testing.T) {
	accepted := &clusterv1.ManagedCluster{Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true}}
	for _, tc := range []struct {
		reason        string
		cluster, from *clusterv1.ManagedCluster
		want          bool
	}{
		{reason: "made as accepted", cluster: accepted, want: true},
		{reason: "accepted later", cluster: accepted, from: member(), want: true},
		{reason: "accepted before", cluster: accepted, from: accepted},
		{reason: "2.2: no longer accepted, which nothing checks", cluster: member(), from: accepted},
		{reason: "not accepted yet", cluster: member()},
	} {
		if got := Accepts(tc.cluster, tc.from); got != tc.want {
			t.Errorf("%s: Accepts() = %t, want %t", tc.reason, got, tc.want)
		}
	}
}

// patched applies a patch as an API server does, to an object with a field that no type has.
func patched(t interface {
	Helper()
	Fatal(args ...any)
}, cluster *clusterv1.ManagedCluster, patch []jsonpatch.JsonPatchOperation,
) map[string]any {
	t.Helper()
	object := asJSON(t, cluster)
	object["future"] = "field"
	document, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	operations, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := jsonpatchapply.DecodePatch(operations)
	if err != nil {
		t.Fatal(err)
	}
	if document, err = decoded.Apply(document); err != nil {
		t.Fatal(err)
	}
	result := map[string]any{}
	if err := json.Unmarshal(document, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

func asJSON(t interface {
	Helper()
	Fatal(args ...any)
}, object any,
) map[string]any {
	t.Helper()
	content, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	result := map[string]any{}
	if err := json.Unmarshal(content, &result); err != nil {
		t.Fatal(err)
	}
	return result
}
