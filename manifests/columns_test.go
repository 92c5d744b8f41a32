// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"strings"
	"testing"
)

// P9: the API server prints the first of the values that the path of a column finds, so that a column with several says something wrong.
func TestColumnsHaveOneValue(t *testing.T) {
	definitions, err := Definitions()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0

	for _, definition := range definitions {
		if !strings.HasSuffix(definition.Spec.Group, "openmcp.cloud") {
			continue
		}
		for _, version := range definition.Spec.Versions {
			for _, column := range version.AdditionalPrinterColumns {
				checked++
				if strings.Contains(column.JSONPath, "*") || strings.Contains(column.JSONPath, "..") {
					t.Errorf("%s: column %s has the path %q, which finds several values", definition.Name, column.Name, column.JSONPath)
				}
			}
		}
	}

	if checked == 0 {
		t.Error("no column was checked")
	}
}
