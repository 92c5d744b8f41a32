// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"strings"
	"testing"
)

// The report skips what the webhook skips, and does not say that the workload has it.
func TestExplainLimitsOfANamespace(t *testing.T) {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")
	for i := range 101 {
		fmt.Fprintf(&text, "---\napiVersion: kupid.gardener.cloud/v1alpha1\nkind: PodSchedulingPolicy\nmetadata: {name: p%03d, namespace: a}\n"+
			"spec: {podSelector: {}, nodeSelector: {pool: etcd}}\n", i)
	}
	text.WriteString("---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\nspec: {nodeSelector: {pool: etcd}}\n")

	policies := explained(t, text.String(), false).Policies
	if last := policies[99]; len(last.Skipped) > 0 || len(last.Has) != 1 {
		t.Errorf("T12: the 100th policy is %+v, want one whose label the Pod has", last)
	}
	if skipped := policies[100]; len(skipped.Skipped) != 1 || skipped.Skipped[0].Reason != "TooManyTerms" || len(skipped.Has)+len(skipped.Adds) > 0 {
		t.Errorf("T12: the 101st policy is %+v, want one that is skipped as a whole", skipped)
	}
}
