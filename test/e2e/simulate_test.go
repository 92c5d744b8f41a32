package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSimulateAgreesWithTheHub(t *testing.T) {
	samples, err := filepath.Abs("../../deploy/samples")
	must(t, err)
	p := run(t, "simulate", "-f", samples, "-o", "name")
	p.wantExit(t, 0)
	got := map[string][]string{}
	for placement := range expectedDecisions(t) {
		got[placement] = nil
	}
	for line := range strings.Lines(p.stdout.String()) {
		placement, cluster, found := strings.Cut(strings.TrimSpace(line), " ")
		if !found {
			t.Fatalf("line %q is not a placement and a cluster; %s", line, p)
		}
		placement, _, _ = strings.Cut(placement, "@")
		got[placement] = append(got[placement], cluster)
	}
	wantDecisions(t, got)
	p.wantNothingLeft(t)
}
