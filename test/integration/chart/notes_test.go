// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"
)

// The notes begin with the image while it is the default: without it no Pod becomes ready, and Helm reports success. Helm 3 renders no notes without
// an API server.
func TestNotesBeginWithTheImage(t *testing.T) {
	const warning, state = "image.repository is placement-hub, the default", "The hub runs in namespace "
	for _, c := range []struct {
		reason string
		set    []string
		want   string
	}{
		{"the defaults", nil, warning},
		{"another tag of the default", []string{"image.tag=v1"}, warning},
		{"an image of the user", []string{"image.repository=registry.example/hub"}, state},
	} {
		t.Run(c.reason, func(t *testing.T) {
			output := helm4.run(t, append([]string{"install", release, directory, "--dry-run=client"}, flags(c.set)...)...)
			_, notes, found := strings.Cut(output, "NOTES:\n")
			if !found || !strings.HasPrefix(notes, c.want) || !strings.Contains(notes, state) {
				t.Errorf("the notes are\n%s\nwant them to begin with %q", notes, c.want)
			}
		})
	}
}
