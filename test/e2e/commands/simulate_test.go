package commands

import (
	"path/filepath"
	"strings"
	"testing"

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
