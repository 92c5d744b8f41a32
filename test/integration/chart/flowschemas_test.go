// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The values set the level of what the hub reads and writes, and where its FlowSchemas are among those of others: the Leases and the reviews are
// before the rest.
func TestFlowSchemas(t *testing.T) {
	type schema struct {
		level      string
		precedence int64
	}
	for _, c := range []struct {
		reason string
		set    []string
		want   map[string]schema
	}{
		{"the default", nil, map[string]schema{
			"placement-hub-agents": {"placement-hub-agents", 899}, "placement-hub-leader-election": {"leader-election", 899},
			"placement-hub-reviews": {"workload-low", 899}, "placement-hub": {"workload-high", 900}, "placement-hub-reads": {"workload-high", 900},
		}},
		{"others", []string{"flowSchema.priorityLevel=hubs", "flowSchema.matchingPrecedence=2"}, map[string]schema{
			"placement-hub-agents": {"placement-hub-agents", 1}, "placement-hub-leader-election": {"leader-election", 1},
			"placement-hub-reviews": {"workload-low", 1}, "placement-hub": {"hubs", 2}, "placement-hub-reads": {"hubs", 2},
		}},
		{"none", []string{"flowSchema.enabled=false"}, map[string]schema{}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got := map[string]schema{}
			for _, object := range decode(t, render(t, c.set...)) {
				if !strings.HasPrefix(object.GetAPIVersion(), "flowcontrol.") || object.GetKind() != "FlowSchema" {
					continue
				}
				level, _, err := unstructured.NestedString(object.Object, "spec", "priorityLevelConfiguration", "name")
				if err != nil {
					t.Fatal(err)
				}
				precedence, _, err := unstructured.NestedInt64(object.Object, "spec", "matchingPrecedence")
				if err != nil {
					t.Fatal(err)
				}
				got[object.GetName()] = schema{level, precedence}
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(schema{})); diff != "" {
				t.Errorf("FlowSchemas (-want +got):\n%s", diff)
			}
		})
	}
}
