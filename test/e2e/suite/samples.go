// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
)

// TableDecisions reads the clusters of each placement, sorted, out of a table.
func TableDecisions(t *testing.T, text string) map[string][]string {
	t.Helper()
	_, rows, found := strings.Cut(text, "NAMESPACE/NAME")
	if !found {
		t.Fatalf("there is no table in:\n%s", text)
	}
	decisions := map[string][]string{}
	for line := range strings.Lines(rows) {
		fields := strings.Fields(strings.Replace(line, " (v1alpha1)", "", 1))
		if len(fields) < 4 || strings.HasPrefix(line, " ") {
			continue // the rest of the head, or a message
		}
		clusters := slices.DeleteFunc(fields[3:], func(word string) bool { return word == "|" || word == "none" || strings.HasSuffix(word, ":") })
		for i := range clusters {
			clusters[i] = strings.TrimSuffix(clusters[i], ",")
		}
		decisions[fields[0]] = slices.Sorted(slices.Values(clusters))
	}
	return decisions
}

// WantSampleDecisions compares with what the comments of the samples promise.
func WantSampleDecisions(t *testing.T, got map[string][]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(got)) {
		got[name] = slices.Sorted(slices.Values(got[name])) // nil when there are none
	}
	if diff := cmp.Diff(SampleDecisions(t), got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// SampleDecisions reads the lines "# Expected:" of the samples.
func SampleDecisions(t *testing.T) map[string][]string {
	t.Helper()
	files, err := fs.Glob(samples.Files(), "*-placements*.yaml")
	Must(t, err)
	expected := map[string][]string{}
	for _, file := range files {
		content, err := fs.ReadFile(samples.Files(), file)
		Must(t, err)
		maps.Copy(expected, expectedOf(t, file, string(content)))
	}
	return expected
}

func expectedOf(t *testing.T, file, content string) map[string][]string {
	t.Helper()
	expected := map[string][]string{}
	for document := range strings.SplitSeq(content, "\n---\n") {
		objects, err := manifests.Decode(strings.NewReader(document), file)
		Must(t, err)
		_, list, found := strings.Cut(document, "# Expected: ")
		if !found && len(objects) == 0 {
			continue
		}
		if !found || len(objects) != 1 {
			t.Fatalf("a document of %s holds %d objects, and an expectation: %t", file, len(objects), found)
		}
		list, _, _ = strings.Cut(list, "\n")
		var clusters []string
		if list != "none" {
			clusters = strings.Split(list, ", ")
		}
		expected[objects[0].GetNamespace()+"/"+objects[0].GetName()] = clusters
	}
	return expected
}
