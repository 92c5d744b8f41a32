// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

func TestWhatCELCompares(t *testing.T) {
	label := func(values ...string) []RequiredValue {
		return []RequiredValue{{Key: clusterinfo.Property{Kind: clusterinfo.Label, Name: "region"}, Values: values}}
	}
	claim := func(values ...string) []RequiredValue {
		return []RequiredValue{{Key: clusterinfo.Property{Kind: clusterinfo.Claim, Name: "place"}, Values: values}}
	}
	for _, tc := range []struct {
		reason, expression string
		want               []RequiredValue
	}{
		{"an index", `managedCluster.metadata.labels["region"] == "eu"`, label("eu")},
		{"a field", `managedCluster.metadata.labels.region != "eu"`, label("eu")},
		{"the literal first", `"eu" == managedCluster["metadata"].labels.region`, label("eu")},
		{"a list", `managedCluster.metadata.labels["region"] in ["us", "eu", "us"]`, label("eu", "us")},
		{"an optional with a default", `managedCluster.metadata.labels[?"region"].orValue("") == "eu"`, label("eu")},
		{"optional fields", `managedCluster.?metadata.?labels.?region.orValue("") in ["eu"]`, label("eu")},
		{"as a part", `true || !(managedCluster.metadata.labels.region == "eu")`, label("eu")},
		{"several", `managedCluster.metadata.labels.region == "eu" || managedCluster.metadata.labels.region == "us"`,
			append(label("eu"), label("us")...)},
		{"a key is no value", `"region" in managedCluster.metadata.labels`, nil},
		{"another function", `managedCluster.metadata.labels.region.startsWith("eu")`, nil},
		{"no literal", `managedCluster.metadata.labels.region == managedCluster.metadata.name`, nil},
		{"a list with something else", `managedCluster.metadata.labels.region in ["eu", managedCluster.metadata.name]`, nil},
		{"a dynamic key", `managedCluster.metadata.labels["a" + "b"] == "eu"`, nil},
		{"another field", `managedCluster.metadata.annotations.region == "eu"`, nil},
		{"a number", `managedCluster.metadata.labels.region == 1`, nil},
		{
			"a claim", `managedCluster.status.clusterClaims.exists(c, c.name == "place" && c.value == "eu")`, claim("eu"),
		},
		{"a claim in a list", `managedCluster.status.clusterClaims.exists(c, "place" == c.name && c.value in ["us", "eu"])`, claim("eu", "us")},
		{"an element", `managedCluster.status.clusterClaims.filter(c, c.name == "place")[0].value == "eu"`, claim("eu")},
		{"optional claims", `managedCluster.?status.?clusterClaims.orValue([]).exists_one(c, c.name == "place" && c.value != "eu")`, claim("eu")},
		{"a claim of any name", `managedCluster.status.clusterClaims.exists(c, c.value == "eu")`, nil},
		{"claims of two names", `managedCluster.status.clusterClaims.exists(c, (c.name == "place" || c.name == "zone") && c.value == "eu")`, nil},
		{"taints are no claims", `managedCluster.spec.taints.exists(c, c.key == "place" && c.value == "eu")`, nil},
		{"a macro over something else", `[{"name": "place", "value": "us"}].exists(c, c.name == "place" && c.value == "eu")`, nil},
		{
			"a bounded number", strings.Repeat(`managedCluster.metadata.labels.region == "eu" || `, 80) + "true",
			func() (all []RequiredValue) {
				for range maxComparisons {
					all = append(all, label("eu")...)
				}
				return all
			}(),
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			made, errs := NewCompiler().Compile(Paths{}, Spec{CEL: []string{tc.expression}})
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(tc.want, made.ComparedValues()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
