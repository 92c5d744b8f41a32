// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// The table in the docs is the output of make generate.
func TestTheTableIsUpToDate(t *testing.T) {
	document, err := os.ReadFile("../../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	written, err := replace(document, table(metrics.All()))
	if err != nil {
		t.Fatal(err)
	}

	if !bytes.Equal(written, document) {
		t.Error("the table in docs/metrics.md is not up to date: run make generate")
	}
}

func TestTheTableStandsBetweenItsMarkers(t *testing.T) {
	series := []metrics.Series{{Name: "a_total", Type: "counter", Labels: []string{"x", "y"}, Help: "One | two."}}
	row := "| `a_total` | counter | `x`, `y` | One \\| two. |\n"

	got, err := replace([]byte("before\n"+begin+"old\n"+end+"after\n"), table(series))
	if err != nil {
		t.Fatal(err)
	}
	want := "before\n" + begin + "\n| series | type | labels | meaning |\n| --- | --- | --- | --- |\n" + row + "\n" + end + "after\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}

	if _, err := replace([]byte("before\n"+begin+"old\n"), table(series)); err == nil || !strings.Contains(err.Error(), "markers") {
		t.Errorf("without a marker: got %v, want an error that names it", err)
	}
}
