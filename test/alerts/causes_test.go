// SPDX-License-Identifier: Apache-2.0

package alerts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// causes has the package whose tests make the cause of each alert real on a hub at work, and have the rules evaluated over scrapes of it.
var causes = map[string]string{
	"AffinityClassReviewsFail":      "test/integration/affinityclass",
	"ArgoCDRefreshesAreHeld":        "test/e2e/argocd",
	"ClusterDrainsTimeOut":          "test/integration/platform",
	"ClusterRequestWritesFail":      "test/integration/platform",
	"ClusterRequestsArePending":     "test/integration/platform",
	"ClustersInventorySetDiffers":   "test/integration/platform",
	"ClustersInventoryWritesFail":   "test/integration/platform",
	"FederationWorksAreUnguarded":   "test/integration/platform",
	"FederationWritesFail":          "test/integration/platform",
	"PlacementEventsAreLost":        "test/integration/monitoring",
	"PlacementExpressionsFail":      "test/integration/monitoring",
	"PlacementHubBehind":            "test/integration/monitoring",
	"PlacementHubHasNoLeader":       "test/e2e/leaders",
	"PlacementHubIsNotReady":        "test/e2e/leaders",
	"PlacementHubIsNotScraped":      "test/e2e/leaders",
	"PlacementHubSystemIsOff":       "test/e2e/leaders",
	"PlacementLeaseIsNotRenewed":    "test/e2e/leaders",
	"PlacementQueueDoesNotDrain":    "test/integration/monitoring",
	"PlacementRemovalsArePostponed": "test/integration/monitoring",
	"PlacementScoresStale":          "test/integration/monitoring",
	"PlacementWritesFail":           "test/integration/monitoring",
	"PlacementsAreStalled":          "test/integration/monitoring",
	"PlacementsLoseClusters":        "test/integration/monitoring",
	"PlacementsMisconfigured":       "test/integration/monitoring",
	"PlacementsUnsatisfied":         "test/integration/monitoring",
	"PodSchedulingReviewsFail":      "test/integration/affinityclass",
	"UnreadableObjects":             "test/integration/monitoring",
}

// withoutCause says why no test makes the cause of an alert real. testdata/cases.yaml has series of them.
var withoutCause = map[string]string{
	"PlacementAnswersDiverge": "the engine and its reference disagree by a defect alone; the property tests of pkg/scheduling look for one",
	"PlacementEvaluationHangs": "an evaluation waits for nothing outside of the process and its expressions have a limit of cost, so that one of a " +
		"minute needs a defect, too",
}

// TestEveryAlertHasACause demands that a test fires each alert by a real cause, or a reason why none does.
func TestEveryAlertHasACause(t *testing.T) {
	for _, rule := range rules(t) {
		directory, caused := causes[rule.Alert]
		_, excused := withoutCause[rule.Alert]
		switch {
		case rule.Alert == "":
		case caused == excused:
			t.Errorf("%s has a package with its cause: %t, and a reason for none: %t; want one of them", rule.Alert, caused, excused)
		case caused && !names(t, directory, rule.Alert):
			t.Errorf("no test of %s that imports test/env/scrapes names %s", directory, rule.Alert)
		}
	}
	known := len(causes) + len(withoutCause)
	for _, rule := range rules(t) {
		if rule.Alert != "" {
			known--
		}
	}
	if known != 0 {
		t.Errorf("%d entries are of no alert", known)
	}
}

// names reports whether a test of a package evaluates rules over scrapes and names the alert.
func names(t *testing.T, directory, alert string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", directory, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(content); strings.Contains(text, `test/env/scrapes"`) && strings.Contains(text, `"`+alert+`":`) {
			return true
		}
	}
	return false
}
