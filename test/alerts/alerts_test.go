// SPDX-License-Identifier: Apache-2.0

package alerts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/test/env"
)

const (
	monitoring = "../../deploy/monitoring/"
	// seriesOfTheHub is kept by test/surface.
	seriesOfTheHub = "../surface/testdata/metrics.txt"
)

// rule is an alert or a recording rule.
type rule struct {
	Alert       string            `json:"alert,omitempty"`
	Record      string            `json:"record,omitempty"`
	Expr        string            `json:"expr"`
	For         *string           `json:"for,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// prometheusRule is the part of a PrometheusRule that Prometheus reads, too.
type prometheusRule struct {
	Spec struct {
		Groups []struct {
			Name  string `json:"name"`
			Rules []rule `json:"rules"`
		} `json:"groups"`
	} `json:"spec"`
}

// TestAlerts checks the syntax of the rules, and runs the cases of testdata/cases.yaml on them.
func TestAlerts(t *testing.T) {
	promtool, err := env.FindPromtool()
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	rules, err := yaml.Marshal(readRules(t).Spec)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"rules.yaml": rules, "cases.yaml": read(t, "testdata/cases.yaml")} {
		if err := os.WriteFile(filepath.Join(directory, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range [][]string{{"check", "rules", "--lint=all", "rules.yaml"}, {"test", "rules", "cases.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, arguments...)
		cmd.Dir = directory
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(arguments, " "), err, output)
		}
	}
}

// TestEveryAlertIsWhole checks what each alert has, and that a case has it fire and another one does not.
func TestEveryAlertIsWhole(t *testing.T) {
	var cases struct {
		Tests []struct {
			Alerts []struct {
				Name     string `json:"alertname"`
				Expected []any  `json:"exp_alerts"`
			} `json:"alert_rule_test"`
		} `json:"tests"`
	}
	if err := yaml.Unmarshal(read(t, "testdata/cases.yaml"), &cases); err != nil {
		t.Fatal(err)
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, test := range cases.Tests {
		for _, alert := range test.Alerts {
			if len(alert.Expected) > 0 {
				fires[alert.Name] = true
			} else {
				silent[alert.Name] = true
			}
		}
	}
	for _, rule := range rules(t) {
		if rule.Alert == "" {
			continue
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) {
			t.Errorf("%s has the severity %q", rule.Alert, rule.Labels["severity"])
		}
		if rule.For == nil || rule.Annotations["summary"] == "" || rule.Annotations["runbook_url"] == "" {
			t.Errorf("%s lacks for, a summary or a runbook_url", rule.Alert)
		}
		if !fires[rule.Alert] || !silent[rule.Alert] {
			t.Errorf("%s: cases have it fire: %t, and not: %t; want both", rule.Alert, fires[rule.Alert], silent[rule.Alert])
		}
	}
}

// TestSeriesExist checks that the rules and the dashboard query series that the hub exports.
func TestSeriesExist(t *testing.T) {
	// Those of controller-runtime and of Kubernetes.
	known := map[string]bool{"leader_election_master_status": true, "workqueue_depth": true, "rest_client_requests_total": true}
	for line := range strings.Lines(string(read(t, seriesOfTheHub))) {
		fields := strings.Fields(line)
		if fields[1] == "histogram" {
			known[fields[0]+"_bucket"], known[fields[0]+"_count"], known[fields[0]+"_sum"] = true, true, true
		}
		known[fields[0]] = true
	}
	queries := dashboardQueries(t)
	if len(queries) == 0 {
		t.Error("the dashboard has no query")
	}
	for _, rule := range rules(t) {
		queries = append(queries, rule.Expr)
		if rule.Record != "" {
			known[rule.Record] = true
		}
	}
	series := regexp.MustCompile(`\b(?:placement_hub|kupid|scheduling|leader_election|workqueue|rest_client)[a-z0-9_:]*`)
	for _, query := range queries {
		names := series.FindAllString(query, -1)
		if len(names) == 0 {
			t.Errorf("%s queries no series", query)
		}
		for _, name := range names {
			if !known[name] {
				t.Errorf("%s: the hub has no series %s", query, name)
			}
		}
	}
}

// dashboardQueries returns the queries of the panels, whose identifiers must differ.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			ID      int    `json:"id"`
			Title   string `json:"title"`
			Type    string `json:"type"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(read(t, monitoring+"dashboard.json"), &dashboard); err != nil {
		t.Fatal(err)
	}
	var queries []string
	seen := map[int]bool{}
	for _, panel := range dashboard.Panels {
		if seen[panel.ID] || panel.Title == "" {
			t.Errorf("panel %d %q has no title, or the identifier of another one", panel.ID, panel.Title)
		}
		seen[panel.ID] = true
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("panel %q has no query", panel.Title)
		}
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	return queries
}

func rules(t *testing.T) []rule {
	t.Helper()
	var all []rule
	for _, group := range readRules(t).Spec.Groups {
		all = append(all, group.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("there are no rules")
	}
	return all
}

func readRules(t *testing.T) prometheusRule {
	t.Helper()
	var found prometheusRule
	if err := yaml.Unmarshal(read(t, monitoring+"prometheusrule.yaml"), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
