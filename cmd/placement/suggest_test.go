// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/explaining"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
)

func TestSuggestions(t *testing.T) {
	const hub = "../../deploy/samples"
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"explian"}, "did you mean explain?"},
		{[]string{"simulte"}, "did you mean simulate?"},
		{[]string{"diff", "--outptu", "json"}, "unknown flag: --outptu; did you mean --output?"},
		{[]string{"explain", "--wacth", "a/b"}, "did you mean --watch?"},
		{[]string{"explain", "deploymnt/web", "-f", hub}, "did you mean deployment/web?"},
		{[]string{"explain", "placemnt/standby", "-f", hub}, "did you mean placement/standby?"},
		{[]string{"explain", "team-a/stanby", "-f", hub}, "did you mean team-a/standby?"},
		{[]string{"explain", "stanby", "-f", hub}, "did you mean standby?"},
		{[]string{"explain", "team-a/standby", "-f", hub, "--cluster", "eu11"}, "did you mean eu1"},
		{[]string{"federated", "configmpa/settings", "-f", hub}, "did you mean configmap?"},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := execute(t.Context(), tc.args, &stdout, &stderr); code == exit.OK || !strings.Contains(stderr.String(), tc.want) {
				t.Errorf("exit code %d, stderr %q, want a part %q", code, &stderr, tc.want)
			}
		})
	}
}

func TestSuggestsNothingForAnotherWord(t *testing.T) {
	for _, text := range []string{"", "po", "zebra", "deployment"} {
		if got := suggest.DidYouMean(text, "", explaining.ObjectTypes()); got != "" {
			t.Errorf("%q is answered with %q", text, got)
		}
	}
}
