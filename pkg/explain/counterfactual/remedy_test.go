// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"strings"
	"testing"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
)

// A taint of the controller managedcluster-taints comes with what removes it.
func TestRemedy(t *testing.T) {
	for key, want := range map[string]string{
		clusterv1.ManagedClusterTaintUnreachable: "no agent reports",
		clusterv1.ManagedClusterTaintUnavailable: "is not available",
		"gpu":                                    "",
	} {
		got := remedy(key)
		named := strings.Contains(got, want) && strings.Contains(got, "ManagedClusterConditionAvailable is True")
		if want == "" && got != "" || want != "" && !named {
			t.Errorf("the remedy of %s is %q, want %q in it", key, got, want)
		}
	}
}
