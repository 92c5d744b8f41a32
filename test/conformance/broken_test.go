// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/conformance"
	"github.com/placement-hub/placement-hub/conformance/toy"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/program"
)

// brief are the times for a toy, which answers at once where the machine has time for it.
func brief(p *plane) conformance.Options {
	return conformance.Options{Implementation: "toy", Config: p.config(), Timeout: 10 * time.Second, Quiet: 300 * time.Millisecond}
}

// failed returns the rules that do not hold, with their findings in the log.
func failed(t *testing.T, results []conformance.Result) []string {
	t.Helper()
	var rules []string
	for _, result := range results {
		if result.Outcome == conformance.Failed {
			rules = append(rules, result.ID)
			t.Log(result.Findings)
		}
	}
	return rules
}

// expectFailed fails unless a rule is the only one that does not hold; none if it is empty.
func expectFailed(t *testing.T, results []conformance.Result, err error, rule string) {
	t.Helper()
	program.Must(t, err)
	var want []string
	if rule != "" {
		want = []string{rule}
	}
	if got := failed(t, results); !slices.Equal(got, want) {
		t.Errorf("rules that do not hold: %v, want %v", got, want)
	}
}

// PD20: TestEachRuleFindsWhatBreaksIt runs the suite on implementations that break one rule, and on one that breaks none.
// See docs/spec/ecosystem.md E21.
func TestEachRuleFindsWhatBreaksIt(t *testing.T) {
	p := startPlane(t, localplane.Options{}, profileDefinitions)
	for _, rule := range append([]conformance.Rule{{Title: "none"}}, conformance.Rules()...) {
		if rule.ID == conformance.RuleSchema {
			continue // TestTheSchemaIsChecked has it.
		}
		t.Run(rule.ID+" "+rule.Title, func(t *testing.T) {
			suite, err := conformance.NewSuite(brief(p))
			program.Must(t, err)
			if rule.Level != conformance.Consumer {
				results, err := suite.Producer(t.Context(), startToy(t, p, rule.ID))
				expectFailed(t, results, err, rule.ID)
				expectSkipped(t, results, rule.ID == conformance.RuleFollows)
			}
			if rule.Level == conformance.Consumer || rule.ID == "" {
				results, err := suite.Consumer(t.Context(), &toy.Consumer{Client: p.profiles, Breaks: rule.ID})
				expectFailed(t, results, err, rule.ID)
				expectSkipped(t, results, false)
			}
		})
	}
}

// startToy starts a producer that ends with the test.
func startToy(t *testing.T, p *plane, breaks string) *toy.Producer {
	t.Helper()
	producer := &toy.Producer{Client: p.profiles, Breaks: breaks}
	program.Must(t, producer.Start(t.Context()))
	t.Cleanup(func() { program.Must(t, producer.Kill(t.Context())) })
	return producer
}

// expectSkipped fails if a rule was skipped, unless some may.
func expectSkipped(t *testing.T, results []conformance.Result, may bool) {
	t.Helper()
	for _, result := range results {
		if (result.Outcome == conformance.Skipped) != (result.Reason != "") {
			t.Errorf("%s: outcome %s, and the reason to skip it %q", result.ID, result.Outcome, result.Reason)
		}
		if result.Outcome == conformance.Skipped && !may {
			t.Errorf("%s was skipped: %s", result.ID, result.Reason)
		}
	}
}

// withoutRestarts is a driver without Kill and Start.
type withoutRestarts struct{ conformance.Driver }

func TestRulesThatCannotBeReachedAreSkipped(t *testing.T) {
	p := startPlane(t, localplane.Options{}, profileDefinitions)
	suite, err := conformance.NewSuite(brief(p))
	program.Must(t, err)
	results, err := suite.Producer(t.Context(), withoutRestarts{startToy(t, p, "")})
	expectFailed(t, results, err, "")
	if got := suite.Report().Result(conformance.RuleRestart); got.Outcome != conformance.Skipped || suite.Report().Conformant(conformance.Strict) {
		t.Errorf("a driver without restarts: %+v", got)
	}

	options := brief(p)
	options.Level = conformance.Core
	suite, err = conformance.NewSuite(options)
	program.Must(t, err)
	results, err = suite.Producer(t.Context(), startToy(t, p, ""))
	expectFailed(t, results, err, "")
	for _, result := range results {
		if wanted := result.Level == conformance.Core; wanted != (result.Outcome == conformance.Passed) {
			t.Errorf("at the level Core %s has the outcome %s (%s)", result.ID, result.Outcome, result.Reason)
		}
	}
	crd, err := suite.CRD(t.Context())
	expectFailed(t, crd, err, "")
	if report := suite.Report(); !report.Conformant(conformance.Core) || report.Conformant(conformance.Extended) {
		t.Errorf("levels at the level Core: %+v", report.Levels)
	}
}

func TestTheSchemaIsChecked(t *testing.T) {
	const schema = "/spec/versions/0/schema/openAPIV3Schema"
	const item = schema + "/properties/decisions/items"
	p := startPlane(t, localplane.Options{}, profileDefinitions)
	suite, err := conformance.NewSuite(brief(p))
	program.Must(t, err)
	results, err := suite.CRD(t.Context())
	expectFailed(t, results, err, "")

	for _, tc := range []struct {
		reason string
		broken map[string]any
		mended map[string]any
	}{
		{
			"PD1: more than 100 decisions", map[string]any{"op": "remove", "path": schema + "/properties/decisions/maxItems"},
			map[string]any{"op": "add", "path": schema + "/properties/decisions/maxItems", "value": 100},
		},
		{
			"PD1: an empty list is refused", map[string]any{"op": "add", "path": schema + "/properties/decisions/minItems", "value": 1},
			map[string]any{"op": "add", "path": schema + "/properties/decisions/minItems", "value": 0},
		},
		{
			"PD1: decisions is optional", map[string]any{"op": "remove", "path": schema + "/required"},
			map[string]any{"op": "add", "path": schema + "/required", "value": []string{"decisions"}},
		},
		{
			"PD1: the name is optional", map[string]any{"op": "remove", "path": item + "/properties/clusterProfileRef/required"},
			map[string]any{"op": "add", "path": item + "/properties/clusterProfileRef/required", "value": []string{"name"}},
		},
		{
			"PD1: the reference is optional", map[string]any{"op": "remove", "path": item + "/required"},
			map[string]any{"op": "add", "path": item + "/required", "value": []string{"clusterProfileRef"}},
		},
		{
			"PD1: a status",
			map[string]any{"op": "add", "path": "/spec/versions/0/subresources", "value": map[string]any{"status": map[string]any{}}},
			map[string]any{"op": "remove", "path": "/spec/versions/0/subresources"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			p.patchDefinition(t, tc.broken)
			expectOutcome(t, suite, conformance.Failed)
			p.patchDefinition(t, tc.mended)
			expectOutcome(t, suite, conformance.Passed)
		})
	}
}

// expectOutcome waits until the API server follows a change of the definition.
func expectOutcome(t *testing.T, suite *conformance.Suite, outcome conformance.Outcome) {
	t.Helper()
	program.Eventually(t, "waiting for the outcome "+string(outcome), func() error {
		results, err := suite.CRD(t.Context())
		if err == nil && results[0].Outcome != outcome {
			err = fmt.Errorf("%s: %v", results[0].Outcome, results[0].Findings)
		}
		return err
	})
}
