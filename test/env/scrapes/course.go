// SPDX-License-Identifier: Apache-2.0

package scrapes

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/env"
)

// rulesFile has the rules, in a checkout.
const rulesFile = "deploy/monitoring/prometheusrule.yaml"

// The minutes of the course in which each scrape is repeated.
var (
	beforeCause = span{0, 30}
	whileCause  = span{30, 70}
	afterCause  = span{100, 30}
)

// atChange is when an alert about a change is evaluated: soon after the cause is there.
const atChange = "35m"

// Course is what Prometheus scrapes while the causes of alerts come and go. A zero Scrape is one to which no process responds.
type Course struct {
	// Healthy is a scrape before the causes are there, Broken one while they are, and Mended one after them.
	Healthy, Broken, Mended Scrape
	// Later is another scrape while the causes are there. A minute of these counts what the hub has counted between Broken and Later.
	Later Scrape
}

// Firing is an alert that fires.
type Firing struct {
	// Labels are those that the alert does not have by its rule.
	Labels map[string]string
	// Words are pairs of templates of the summary, without braces, and what they become.
	Words []string
}

// Expected is what the rule of an alert says in a Course, when its cause has been there for an hour.
type Expected struct {
	Firing []Firing
	// OnChange expects the alert five minutes after its cause is there instead, and not after an hour.
	OnChange bool
}

// rules has the groups of the PrometheusRule, as Prometheus reads them.
type rules struct {
	Groups []group `json:"groups"`
}

type group struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Alert       string            `json:"alert,omitempty"`
	Record      string            `json:"record,omitempty"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// readRules reads the rules. Durations in summaries are left out: they depend on the speed of the machine.
func readRules() (rules, error) {
	checkout, err := binaries.FindCheckout()
	if err != nil {
		return rules{}, fmt.Errorf("finding the rules: %w", err)
	}
	content, err := os.ReadFile(filepath.Join(checkout.Root, rulesFile))
	if err != nil {
		return rules{}, fmt.Errorf("reading the rules: %w", err)
	}

	var found struct {
		Spec rules `json:"spec"`
	}
	if err := yaml.Unmarshal(content, &found); err != nil {
		return rules{}, fmt.Errorf("reading the rules: %w", err)
	}

	for _, group := range found.Spec.Groups {
		for _, rule := range group.Rules {
			if summary, is := rule.Annotations["summary"]; is {
				rule.Annotations["summary"] = strings.ReplaceAll(summary, "{{ $value }} seconds", "seconds")
			}
		}
	}
	return found.Spec, nil
}

// alert returns the rule of an alert.
func (r rules) alert(name string) (rule, error) {
	for _, group := range r.Groups {
		if i := slices.IndexFunc(group.Rules, func(rule rule) bool { return rule.Alert == name }); i >= 0 {
			return group.Rules[i], nil
		}
	}
	return rule{}, fmt.Errorf("there is no alert %s", name)
}

// expectation is an alert with all its labels and annotations, as promtool reads it.
func (f Firing) expectation(of rule) map[string]any {
	labels, annotations := maps.Clone(of.Labels), maps.Clone(of.Annotations)
	maps.Copy(labels, f.Labels)
	for i := 0; i+1 < len(f.Words); i += 2 {
		annotations["summary"] = strings.ReplaceAll(annotations["summary"], "{{ "+f.Words[i]+" }}", f.Words[i+1])
	}
	return map[string]any{"exp_labels": labels, "exp_annotations": annotations}
}

// Evaluate has promtool evaluate the rules over the course, and returns an error unless the alerts are as expected before the causes, with them, and
// after them. It writes its files to a directory.
func (c Course) Evaluate(ctx context.Context, directory string, expected map[string]Expected) error {
	promtool, err := env.FindPromtool()
	if err != nil {
		return fmt.Errorf("evaluating alerts: %w", err)
	}
	rules, err := readRules()
	if err != nil {
		return err
	}

	alerts, err := cases(rules, expected)
	if err != nil {
		return err
	}

	for file, content := range map[string]any{
		"rules.yaml": rules,
		"cases.yaml": map[string]any{
			"rule_files": []string{"rules.yaml"}, "evaluation_interval": "1m",
			"tests": []any{map[string]any{"interval": "1m", "input_series": c.series(), "alert_rule_test": alerts}},
		},
	} {
		encoded, err := yaml.Marshal(content)
		if err != nil {
			return fmt.Errorf("writing %s: %w", file, err)
		}
		if err := os.WriteFile(filepath.Join(directory, file), encoded, 0o600); err != nil {
			return fmt.Errorf("writing the cases for promtool: %w", err)
		}
	}

	command := exec.CommandContext(ctx, promtool, "test", "rules", "cases.yaml")
	command.Dir = directory
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("promtool: %w: %s", err, output)
	}
	return nil
}

// series returns the samples of all scrapes, one for each minute.
func (c Course) series() []any {
	names := map[string]float64{}
	for _, scrape := range []Scrape{c.Healthy, c.Broken, c.Mended} {
		maps.Copy(names, scrape.Samples)
	}
	series := make([]any, 0, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		series = append(series, map[string]string{"series": name, "values": strings.Join([]string{
			c.Healthy.repeated(name, beforeCause), c.Broken.growing(c.Later, name, whileCause), c.Mended.repeated(name, afterCause),
		}, " ")})
	}
	return series
}

// cases returns when each alert is expected and when not, as promtool reads it.
func cases(rules rules, expected map[string]Expected) ([]any, error) {
	var tests []any
	for alert, want := range expected {
		rule, err := rules.alert(alert)
		if err != nil {
			return nil, err
		}
		var firing []any
		for _, f := range want.Firing {
			firing = append(firing, f.expectation(rule))
		}

		whileBroken := map[string][]any{"29m": nil, "99m": firing, "129m": nil}
		if want.OnChange {
			whileBroken["99m"], whileBroken[atChange] = nil, firing
		}
		for at, alerts := range whileBroken {
			tests = append(tests, map[string]any{"alertname": alert, "eval_time": at, "exp_alerts": alerts})
		}
	}

	return tests, nil
}
