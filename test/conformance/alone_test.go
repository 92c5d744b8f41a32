// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/conformance"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/program"
)

// longestRun is how long the suite may take for the example.
const longestRun = time.Minute

// PD21: the module without the repository around it, with what is in the module cache.
// See docs/spec/ecosystem.md E22.
func TestTheModuleStandsAlone(t *testing.T) {
	p := startPlane(t, localplane.Options{}, profileDefinitions)
	alone, built := t.TempDir(), filepath.Join(t.TempDir(), "toy.test")
	program.Must(t, os.CopyFS(alone, os.DirFS(filepath.Join(repository, "conformance"))))
	for _, arguments := range [][]string{{"build", "./..."}, {"test", "-c", "-tags=conformance", "-ldflags=-s", "-o", built, "./toy"}} {
		build := exec.CommandContext(t.Context(), "go", arguments...)
		build.Dir = alone
		build.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-trimpath -mod=readonly -buildvcs=false", "CGO_ENABLED=0")
		if printed, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, printed)
		}
	}

	kubeconfig := p.kubeconfig(t)
	run := func(pattern string) *conformance.Report {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), longestRun)
		defer cancel()
		command := exec.CommandContext(ctx, built, "-test.run="+pattern, "-test.v")
		command.Dir = t.TempDir()
		command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "REPORT=report")
		began := time.Now()
		if printed, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s after %s: %v\n%s", pattern, time.Since(began), err, printed)
		}
		t.Logf("%s took %s", pattern, time.Since(began))
		content, err := os.ReadFile(filepath.Join(command.Dir, "report", "report.yaml"))
		program.Must(t, err)
		report := &conformance.Report{}
		program.Must(t, yaml.UnmarshalStrict(content, report))
		if len(report.Rules) != len(conformance.Rules()) || report.Implementation != "toy" {
			t.Errorf("the report has %d rules of %q", len(report.Rules), report.Implementation)
		}
		return report
	}

	all := run("TestConformance")
	for _, level := range []conformance.Level{conformance.Core, conformance.Extended, conformance.Strict, conformance.Consumer} {
		if !all.Conformant(level) {
			t.Errorf("the example is not conformant at the level %s: %+v", level, all.Levels)
		}
	}
	part := run("TestConformance/CRD")
	for _, result := range part.Rules {
		if ran := result.ID == conformance.RuleSchema; ran != (result.Outcome == conformance.Passed) || !ran && result.Reason == "" {
			t.Errorf("%s was not run, and has the outcome %s (%q)", result.ID, result.Outcome, result.Reason)
		}
	}
	for _, verdict := range part.Levels {
		if verdict.Conformant || len(verdict.Failed) > 0 || len(verdict.Skipped) == 0 {
			t.Errorf("a part of the rules makes the verdict %+v", verdict)
		}
	}
}
