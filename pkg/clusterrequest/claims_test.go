// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

func TestClaims(t *testing.T) {
	cluster := published()
	aws := profile("aws", aws, compute)
	common := map[string]string{
		"purpose.cluster.openmcp.cloud/platform": "true", "purpose.cluster.openmcp.cloud/onboarding": "true",
		"provider.cluster.openmcp.cloud": "gardener", "profile.cluster.openmcp.cloud": "aws", "tenancy.cluster.openmcp.cloud": "Shared",
		"kubeversion.open-cluster-management.io": "v1.20.3",
	}
	t.Run("cluster-request C66: a profile that is not published", func(t *testing.T) {
		expectEqual(t, common, Claims(cluster, nil), "claims")
	})
	t.Run("cluster-request C66: purposes and traits", func(t *testing.T) {
		common["trait.cluster.openmcp.cloud/infrastructure/vendor/aws"] = "true"
		common["trait.cluster.openmcp.cloud/kubernetes.io/apis/compute"] = "true"
		expectEqual(t, common, Claims(cluster, &aws), "claims")
	})
}

// claimList returns the claims of a text such as "a=1 b=2".
func claimList(text string) []clusterv1.ManagedClusterClaim {
	var list []clusterv1.ManagedClusterClaim
	for item := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(item, "=")
		list = append(list, clusterv1.ManagedClusterClaim{Name: name, Value: value})
	}
	return list
}

func claimMap(text string) map[string]string {
	wanted := map[string]string{}
	for _, claim := range claimList(text) {
		wanted[claim.Name] = claim.Value
	}
	return wanted
}

func annotationOf(t interface{ Fatal(args ...any) }, text string) string {
	if text == "" {
		return ""
	}
	annotation, err := json.Marshal(claimList(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(annotation)
}

func TestMergeClaims(t *testing.T) {
	for _, test := range []struct {
		reason, present, written, wanted, want, before, after string
	}{
		{"cluster-request C66: the first time", "", "", "b=2 a=1", "a=1 b=2", "a=1 b=2", "a=1 b=2"},
		{"cluster-request C66: the claims of an agent stay", "z=9 a=agent", "", "a=1 b=2", "z=9 a=agent b=2", "b=2", "b=2"},
		{"cluster-request C66: a purpose is removed", "z=9 a=1 b=2", "a=1 b=2", "a=1", "z=9 a=1", "a=1 b=2", "a=1"},
		{"cluster-request C66: another value", "a=1", "a=1", "a=2", "a=2", "a=1 a=2", "a=2"},
		{"cluster-request C66: killed before the claims were written", "a=1", "a=1 a=2", "a=2", "a=2", "a=1 a=2", "a=2"},
		{"cluster-request C66: killed after the claims were written", "a=2", "a=1 a=2", "a=2", "a=2", "a=1 a=2", "a=2"},
		{"cluster-request 4.6: an agent overwrites a claim", "a=agent", "a=1", "a=2", "a=agent", "a=1", ""},
		{"cluster-request 4.6: an agent overwrites a claim that is not wanted any more", "a=agent", "a=1", "", "a=agent", "a=1", ""},
		{"cluster-request C63: the order of others", "b=2 z=9 a=1", "a=1 b=2", "a=1 b=2", "b=2 z=9 a=1", "a=1 b=2", "a=1 b=2"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := MergeClaims(claimList(test.present), annotationOf(t, test.written), claimMap(test.wanted))
			if err != nil {
				t.Fatal(err)
			}
			expectEqual(t, claimList(test.want), got.Claims, "claims")
			expectEqual(t, annotationOf(t, test.before), got.Before, "annotation before")
			if test.after == "" {
				test.after = "null"
				expectEqual(t, test.after, got.After, "annotation after")
			} else {
				expectEqual(t, annotationOf(t, test.after), got.After, "annotation after")
			}
		})
	}
	t.Run("cluster-request 4.6: an annotation that cannot be read", func(t *testing.T) {
		if _, err := MergeClaims(nil, "{", nil); err == nil || !strings.Contains(err.Error(), "annotation cluster.openmcp.cloud/claims") {
			t.Error(err)
		}
	})
}

// A hub that is killed between the writes of the annotation and of the claims any number of times keeps the claims of agents, ends with its own
// ones, and then writes nothing.
func TestMergeClaimsIsSafeAtEveryWrite(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		claims := rapid.SampledFrom([]string{"", "a=1", "a=2", "b=1", "a=1 b=1", "a=2 b=1 c=1"})
		agent := claimList(rapid.SampledFrom([]string{"", "a=agent", "z=agent", "a=agent z=agent"}).Draw(t, "agent"))
		present, annotation := agent, ""
		step := func(wanted map[string]string, writes int) {
			merged, err := MergeClaims(present, annotation, wanted)
			if err != nil {
				t.Fatal(err)
			}
			if writes > 0 {
				annotation = merged.Before
			}
			if writes > 1 {
				present = merged.Claims
			}
			if writes > 2 {
				annotation = merged.After
			}
		}
		for range rapid.IntRange(0, 5).Draw(t, "kills") {
			step(claimMap(claims.Draw(t, "wanted")), rapid.IntRange(0, 3).Draw(t, "writes"))
		}
		last := claimMap(claims.Draw(t, "last"))
		step(last, 3)
		want := slices.Clone(agent)
		for name, value := range last {
			if !slices.ContainsFunc(agent, func(claim clusterv1.ManagedClusterClaim) bool { return claim.Name == name }) {
				want = append(want, clusterv1.ManagedClusterClaim{Name: name, Value: value})
			}
		}
		sorted := func(claims []clusterv1.ManagedClusterClaim) []clusterv1.ManagedClusterClaim {
			return slices.SortedFunc(slices.Values(claims), compareClaims)
		}
		if !slices.Equal(sorted(want), sorted(present)) {
			t.Fatalf("cluster-request C66: claims %v, want %v", present, want)
		}
		again, err := MergeClaims(present, annotation, last)
		if err != nil || !slices.Equal(again.Claims, present) || again.Before != annotation || again.After != annotation {
			t.Fatalf("cluster-request C63: %+v over %v %s: %v", again, present, annotation, err)
		}
	})
}
