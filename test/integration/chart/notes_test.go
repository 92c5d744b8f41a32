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

// The notes say what an upgrade does with replicas that somebody else has set, unless the release sets none.
func TestNotesAboutReplicas(t *testing.T) {
	const note = "--set replicas=null"
	for _, c := range []struct {
		set  []string
		want bool
	}{
		{nil, true},
		{[]string{"replicas=0"}, true},
		{[]string{"replicas=null"}, false},
	} {
		output := helm4.run(t, append([]string{"install", release, directory, "--dry-run=client"}, flags(c.set)...)...)
		if _, notes, found := strings.Cut(output, "NOTES:\n"); !found || strings.Contains(notes, note) != c.want {
			t.Errorf("values %v: the notes are\n%s\nwant %q in them: %t", c.set, notes, note, c.want)
		}
	}
}
