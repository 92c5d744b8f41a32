// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const placementDefinition = "placements.cluster.open-cluster-management.io"

// A cluster that is there already may have newer definitions, or those of somebody else.
func TestRunLeavesDefinitionsOfOthersAlone(t *testing.T) {
	h := suite.StartHub(t)
	suite.Kubectl(t, h.AdminKubeconfig, "patch", "crd", placementDefinition, "--type=json", "-p",
		`[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/future","value":{"type":"string"}}]`)
	const setDefinition = "managedclustersets.cluster.open-cluster-management.io"
	suite.Kubectl(t, h.AdminKubeconfig, "patch", "crd", setDefinition, "--type=merge", "-p", `{"metadata":{"managedFields":[{}]}}`)
	before := versionOf(t, h, setDefinition)

	p := suite.Run(t, "run", "--kubeconfig", h.AdminKubeconfig, "--samples", "--once")
	p.WantExit(t, 0)
	p.WantStderr(t, "CustomResourceDefinition "+placementDefinition+" is left as it is: it has what this version does not know: v1beta1 .spec.future",
		"CustomResourceDefinition "+setDefinition+" is left as it is: somebody else has installed it")
	if count := strings.Count(p.Stderr.String(), "is left as it is"); count != 2 {
		t.Errorf("%d definitions are left, want 2; %s", count, p)
	}
	future := suite.KubectlOutput(t, h.AdminKubeconfig, "get", "crd", placementDefinition, "-o",
		"jsonpath={.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.future.type}")
	if future != "string" {
		t.Errorf("the field of the newer definition is %q", future)
	}
	if after := versionOf(t, h, setDefinition); after != before {
		t.Errorf("the definition of somebody else was written: resourceVersion %s, then %s", before, after)
	}
	p.WantNothingLeft(t)
}

func versionOf(t *testing.T, h *suite.Hub, definition string) string {
	t.Helper()
	return suite.KubectlOutput(t, h.AdminKubeconfig, "get", "crd", definition, "-o", "jsonpath={.metadata.resourceVersion}")
}
