package alerts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/test/env"
)

// page has the alerts in a fenced block that begins with opening.
const (
	page    = "../../docs/metrics.md"
	opening = "```yaml\ngroups:\n"
)

// TestAlerts checks the syntax of the rules, and runs the cases of testdata/cases.yaml on them.
func TestAlerts(t *testing.T) {
	promtool, err := env.FindPromtool()
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	writeRules(t, filepath.Join(directory, "rules.yaml"))
	cases, err := os.ReadFile("testdata/cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "cases.yaml"), cases, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "cases.yaml"}} {
		cmd := exec.CommandContext(t.Context(), promtool, arguments...)
		cmd.Dir = directory
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(arguments, " "), err, output)
		}
	}
}

// writeRules writes the alerts of the page to a file.
func writeRules(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rules, found := strings.Cut(string(text), opening)
	if !found {
		t.Fatalf("%s has no block with the alerts", page)
	}
	rules, _, _ = strings.Cut(rules, "\n```")
	if err := os.WriteFile(file, []byte("groups:\n"+rules+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}
