// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/klog/v2"
)

func TestWhatTheAPIServerLacksIsLogged(t *testing.T) {
	for _, c := range []struct {
		reason string
		server *apiversion.Info
		want   []string // parts of the only line; none for no line
	}{
		{reason: "a forbidden version"},
		{reason: "no version", server: &apiversion.Info{GitVersion: "main"}},
		{reason: "the newest", server: &apiversion.Info{GitVersion: "v1.37.9"}},
		{reason: "the oldest that lacks nothing", server: &apiversion.Info{GitVersion: "v1.34.0"}},
		{reason: "one feature", server: &apiversion.Info{GitVersion: "v1.33.5-eks-abc"},
			want: []string{"v1.33.5-eks-abc", `"streaming lists by default`}},
		{reason: "an unsupported version", server: &apiversion.Info{GitVersion: "v1.32.0"},
			want: []string{"limits.yaml is refused", "streaming lists"}},
		{reason: "a newer one", server: &apiversion.Info{GitVersion: "v1.38.0-alpha.1"}, want: []string{"newer than those", `"newest"="1.37"`}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var lines []string
			log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
			logVersion(klog.NewContext(t.Context(), log), c.server)
			if (len(c.want) == 0 && len(lines) > 0) || (len(c.want) > 0 && len(lines) != 1) {
				t.Fatalf("lines %q, want parts %q", lines, c.want)
			}
			for _, part := range c.want {
				if !strings.Contains(lines[0], part) {
					t.Errorf("%q lacks %q", lines[0], part)
				}
			}
		})
	}
}

// docs/compatibility.md has the range and a row for each version that lacks something.
func TestThePageHasTheSameVersions(t *testing.T) {
	content, err := os.ReadFile("../../../../docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(content)
	if want := "| " + lacking[0].before.String() + " to " + newestTested.String() + " |"; !strings.Contains(page, want) {
		t.Errorf("docs/compatibility.md lacks %q", want)
	}
	for _, lack := range lacking {
		if want := "\n| " + lack.before.String() + " | "; !strings.Contains(page, want) {
			t.Errorf("docs/compatibility.md has no row %q", want)
		}
	}
}
