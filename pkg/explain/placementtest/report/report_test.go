// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"encoding/xml"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/report"
	"github.com/placement-hub/placement-hub/test/expect"
)

var results = evaluate.Results{
	Now:     metav1.NewTime(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)),
	Summary: evaluate.Summary{Cases: 4, Passed: 1, Failed: 1, Errors: 1, Interrupted: 1},
	Cases: []evaluate.Result{
		{
			Name: "holds", File: "cases.yaml", Line: 1, Status: evaluate.Passed, Objects: 3,
			Situations: &evaluate.Situations{Tried: 100, Of: 1999000, Seed: ptr.To[uint64](7)},
		},
		{
			Name: "fails_here", Description: "Gold survives.\nAlways.", File: "cases.yaml", Line: 11, Status: evaluate.Failed, Objects: 1,
			Failures: 3,
			Failure: &evaluate.Failure{
				Object: "Placement a/web", When: "lose c7", Field: "spec.expect.selected.allOf", Line: 19,
				Message: "eu1 is not selected: <taint> & \"``` \x01", Counterfactuals: []string{"would be selected if label region were eu"},
			},
		},
		{Name: "errs", File: "other.yaml", Line: 1, Status: evaluate.Errored, Error: "spec.objects.placement: there is no Placement a/x"},
		{Name: "unfinished", File: "other.yaml", Line: 9, Status: evaluate.Interrupted, Situations: &evaluate.Situations{Tried: 2, Of: 9}},
	},
}

func TestPT11Formats(t *testing.T) {
	for _, format := range report.Formats() {
		var got bytes.Buffer
		if err := report.Print(&got, format, &results, report.Options{Verbose: true}); err != nil {
			t.Fatal(err)
		}
		if format == report.JUnit {
			if err := xml.Unmarshal(got.Bytes(), new(struct{})); err != nil {
				t.Errorf("PT11: the XML is not valid: %v", err)
			}
		}
		path := "testdata/" + string(format) + ".golden"
		expect.Golden(t, path, got.String())
	}
	if err := report.Print(&bytes.Buffer{}, "xml", &results, report.Options{}); err == nil {
		t.Error("PT11: an unknown format is printed")
	}
}
