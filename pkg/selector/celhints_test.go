// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// The documented expressions (docs/decisions.md) read the versions that clusters of these providers report.
func TestVersionsOfRealClusters(t *testing.T) {
	const read = "managedCluster.status.version.kubernetes"
	page, err := os.ReadFile("../../docs/decisions.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := regexp.MustCompile(`(?m)^ {2}- (semver\(.*)$`).FindSubmatch(page)
	if documented == nil {
		t.Fatal("docs/decisions.md has no expression that compares versions")
	}
	rewritten := strings.ReplaceAll(string(documented[1]), read, `"VERSION"`)
	const plain = `semver("VERSION").isGreaterThan(semver("1.32.0"))`
	for _, version := range []string{
		"1.33.1", "v1.33.1", "v1.33.1-gke.1106000", "v1.33.1-eks-5d632e1", "v1.33.1+k3s1", "v1.33.1+rke2r1", "v1.33.1-vmware.1",
	} {
		clause := onlyClause(t, strings.ReplaceAll(rewritten, "VERSION", version))
		if !clause.Matches {
			t.Errorf("%s: %s", version, clause.Failure)
		}
		clause = onlyClause(t, strings.ReplaceAll(plain, "VERSION", version))
		if strings.HasPrefix(version, "v") && !strings.HasSuffix(clause.Failure, semverHint) {
			t.Errorf("%s: no hint: %s", version, clause.Failure)
		}
	}
	if clause := onlyClause(t, `managedCluster.metadata.nothing == "1"`); strings.Contains(clause.Failure, "semver") {
		t.Errorf("a hint for another error: %s", clause.Failure)
	}
}

// A function that is called in the form that it does not have has the other one in the error.
func TestCompileErrorsHaveTheOtherForm(t *testing.T) {
	for expression, want := range map[string]string{
		`quantity("1").sign() > 0`:     "; write sign(x) instead of x.sign()",
		`isInteger(quantity("1"))`:     "; write x.isInteger() instead of isInteger(x)",
		`isGreaterThan(quantity("1"))`: "; write x.isGreaterThan() instead of isGreaterThan(x)",
		`"a".size(1) > 1`:              "",
		`"a".unknown()`:                "",
	} {
		_, errs := NewCompiler().Compile(Paths{}, Spec{CEL: []string{expression}})
		if len(errs) != 1 || strings.Contains(errs[0].Detail, "; write") != (want != "") || !strings.HasSuffix(errs[0].Detail, want) {
			t.Errorf("%s: got %v, want the end %q", expression, errs, want)
		}
	}
}

// onlyClause evaluates an expression on a cluster.
func onlyClause(t *testing.T, expression string) Clause {
	t.Helper()
	compiled, errs := NewCompiler().Compile(Paths{}, Spec{CEL: []string{expression}})
	if len(errs) > 0 {
		t.Fatalf("%s: %v", expression, errs)
	}
	return compiled.Explain(&clusterinfo.ClusterInfo{Name: "c1"}, &EvalContext{})[0]
}
