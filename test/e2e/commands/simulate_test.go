// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

func TestSimulateAgreesWithTheHub(t *testing.T) {
	samples, err := filepath.Abs("../../../deploy/samples")
	suite.Must(t, err)
	p := suite.Run(t, "simulate", "-f", samples, "-o", "name")
	p.WantExit(t, 0)
	got := map[string][]string{}
	for placement := range suite.SampleDecisions(t) {
		got[placement] = nil
	}
	for line := range strings.Lines(p.Stdout.String()) {
		placement, cluster, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found {
			t.Fatalf("line %q is not a placement and a cluster; %s", line, p)
		}
		placement, _, _ = strings.Cut(placement, "@")
		got[placement] = append(got[placement], cluster)
	}
	suite.WantSampleDecisions(t, got)
	p.WantNothingLeft(t)
}

// TestSimulateEndsOnSIGTERM has a simulation evaluate thousands of expensive expressions, which takes minutes, and stops it amid that.
func TestSimulateEndsOnSIGTERM(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 100), ",") + "]"
	expression := list + ".exists(x, " + list + ".exists(y, x + y < 0)) || managedCluster.metadata.name != \"x\""
	file := filepath.Join(t.TempDir(), "world.yaml")
	world := &strings.Builder{}
	world.WriteString("apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n" +
		"metadata: {name: global, namespace: team}\nspec: {clusterSet: global}\n")
	for i := range 2000 {
		fmt.Fprintf(world, "---\napiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: c%d}\n", i)
	}
	for i := range 500 {
		fmt.Fprintf(world, "---\napiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: p%d, namespace: team}\n"+
			"spec: {predicates: [{requiredClusterSelector: {celSelector: {celExpressions: ['(%s) && %d >= 0']}}}]}\n", i, expression, i)
	}
	suite.Must(t, os.WriteFile(file, []byte(world.String()), 0o600))
	p := suite.Start(t, "simulate", "-f", file)
	suite.Eventually(t, "waiting for the evaluation", func() error {
		if p.Ended() {
			t.Fatalf("it ended; %s", p)
		}
		if used := p.CPUTime(t); used < 3*time.Second {
			return fmt.Errorf("it has used the CPU for %s", used)
		}
		return nil
	})
	p.Signal(t, syscall.SIGTERM)
	p.WantExit(t, 1)
	p.WantStderr(t, "interrupted")
	if out := p.Stdout.String(); out != "" {
		t.Errorf("an interrupted simulation reports:\n%s", out)
	}
	p.WantNothingLeft(t)
}
