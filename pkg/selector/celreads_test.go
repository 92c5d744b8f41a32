// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

func TestWhatCELReads(t *testing.T) {
	var (
		labelX  = []clusterinfo.Property{{Kind: clusterinfo.Label, Name: "x"}, {Kind: clusterinfo.Field, Name: "metadata.labels"}}
		labels  = []clusterinfo.Property{{Kind: clusterinfo.Label}}
		claims  = []clusterinfo.Property{{Kind: clusterinfo.Field, Name: "status.clusterClaims"}}
		version = []clusterinfo.Property{{Kind: clusterinfo.Field, Name: "status.version"}}
		all     = []clusterinfo.Property{{Kind: clusterinfo.Any}}
		nothing = []clusterinfo.Property{}
	)

	for _, tc := range []struct {
		reason, expression string
		want               []clusterinfo.Property
	}{
		{"an index", `managedCluster.metadata.labels["x"] == "a"`, labelX},
		{"a field", `managedCluster.metadata.labels.x == "a"`, labelX},
		{"an index on the way", `managedCluster["metadata"]["labels"]["x"] == "a"`, labelX},
		{"in", `"x" in managedCluster.metadata.labels`, labelX},
		{"has", `has(managedCluster.metadata.labels.x)`, labelX},
		{"an optional index", `managedCluster.metadata.labels[?"x"].hasValue()`, labelX},
		{"optional fields", `managedCluster.?metadata.?labels.?x.orValue("") == "a"`, labelX},
		{"fields of an optional", `managedCluster.?metadata.labels.x.orValue("") == "a"`, labelX},
		{"in a macro", `["a"].exists(v, managedCluster.metadata.labels.x == v)`, labelX},
		{"a dot before a name that a macro shadows", `["a"].exists(managedCluster, .managedCluster.metadata.labels.x == managedCluster)`,
			append([]clusterinfo.Property{}, append(labelX, all...)...)},
		{"labels are there or not", `has(managedCluster.metadata.labels)`, labels},
		{"labels as a whole", `managedCluster.metadata.labels.size() > 1`, labels},
		{"a dynamic label", `managedCluster.metadata.labels["x" + "y"] == ""`, labels},
		{"labels through a function", `managedCluster.?metadata.?labels.orValue({})["x"] == "a"`, labels},
		{"the name of a label is a fact too", `managedCluster.metadata.labels[managedCluster.metadata.name] == ""`,
			[]clusterinfo.Property{{Kind: clusterinfo.Label}, {Kind: clusterinfo.Field, Name: "metadata.name"}}},
		{"claims", `managedCluster.status.clusterClaims.exists(c, c.name == "x")`, claims},
		{"claims by position", `managedCluster.status.clusterClaims[0].name == "x"`, claims},
		{"what a field is made of", `managedCluster.status.version.kubernetes.startsWith("v1")`, version},
		{"a field is there or not", `has(managedCluster.status.version)`, version},
		{"each once, in their order", `has(managedCluster.status.version) && has(managedCluster.spec.taints) && has(managedCluster.status.version)`,
			append([]clusterinfo.Property{}, append(version, clusterinfo.Property{Kind: clusterinfo.Field, Name: "spec.taints"})...)},
		{"what is always there", `has(managedCluster.status) && "spec" in managedCluster`, nothing},
		{"no cluster at all", `1 < 2`, nothing},
		{"scores", `managedCluster.scores("demo").size() > 0`, []clusterinfo.Property{{Kind: clusterinfo.Score, Name: "demo"}}},
		{"scores without a name", `managedCluster.scores("").size() > 0`, all},
		{"dynamic scores", `managedCluster.scores(managedCluster.metadata.name).size() > 0`,
			[]clusterinfo.Property{{Kind: clusterinfo.Any}, {Kind: clusterinfo.Field, Name: "metadata.name"}}},
		{"no field", `has(managedCluster.kind)`, all},
		{"a field that is mistyped", `has(managedCluster.metadata.lables)`, all},
		{"bookkeeping", `managedCluster.metadata.resourceVersion == "1"`, all},
		{"a part as a whole", `managedCluster.status == {}`, all},
		{"an optional part", `managedCluster.?status.hasValue()`, all},
		{"a dynamic part", `managedCluster["stat" + "us"].version.kubernetes == ""`, all},
		{"every part", `managedCluster.all(part, part != "")`, all},
		{"through a function", `dyn(managedCluster).status.version.kubernetes == ""`, all},
		{"through a list", `[managedCluster].exists(c, c.metadata.labels.x == "a")`, all},
		{"through a map", `{"c": managedCluster}.c.metadata.labels.x == "a"`, all},
		{"through a condition", `(1 < 2 ? managedCluster : managedCluster).metadata.labels.x == "a"`, all},
		{"as a key", `managedCluster in {}`, all},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{tc.expression}})
			if len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			if diff := cmp.Diff(tc.want, s.Reads()); diff != "" {
				t.Errorf("reads (-want +got):\n%s", diff)
			}
		})
	}
}
