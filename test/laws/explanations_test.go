// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// explanations is the directory of the packages with which results are explained. The explanation of a system is in pkg/<system>/explain.
const explanations = "pkg/explain"

// withSystems are the packages of explanations that may import those of systems, each with the reason.
var withSystems = map[string]string{
	"pkg/explain":                        "a State has the objects of all systems in typed fields, and Reports, Differences and WhatIf their results",
	"pkg/explain/hubstate":               "it reads the objects of all systems into the fields of a State",
	"pkg/explain/counterfactual":         "it explains clusters of Placements, of delivered objects and of workloads that are delivered",
	"pkg/explain/tools":                  "it has the list of what explain, diff and simulate do for each system",
	"pkg/explain/placementtest/evaluate": "cases expect results of all systems",
	"pkg/explain/answers":                "it limits what a question about delivered objects or Pods may show",
}

// askers are the directories that may import the explanation of a system, besides explanations.
var askers = []string{"cmd", "pkg/dashboard", "test"}

func TestExplanationsKnowNoSystem(t *testing.T) {
	expectLaw(t, checkExplanations(importGraph(t)))
}

// checkExplanations finds packages that import the explanation of a system and may not, and exceptions that are not needed.
func checkExplanations(g graph) []string {
	var findings []string
	used := map[string]bool{}
	for _, importer := range g.own() {
		for _, imported := range g[module+importer] {
			imported = strings.TrimPrefix(imported, module)
			if imported == explanations || path.Base(imported) != "explain" || !within(imported, "pkg") {
				continue
			}
			if withSystems[importer] != "" {
				used[importer] = true
				continue
			}
			if within(importer, explanations) || !slices.ContainsFunc(askers, func(asker string) bool { return within(importer, asker) }) {
				findings = append(findings, fmt.Sprintf("%s: imports %s, the explanation of a system", importer, imported))
			}
		}
	}
	for importer := range withSystems {
		if !used[importer] {
			findings = append(findings, importer+": imports no explanation of a system, so that it needs no exception")
		}
	}
	return findings
}

func TestExplanationCheckerFindsWrongArrows(t *testing.T) {
	g := graph{
		module + "pkg/explain":                        {module + "pkg/federation/explain"},
		module + "pkg/explain/hubstate":               {module + "pkg/federation/explain", module + "pkg/explain"},
		module + "pkg/explain/counterfactual":         {module + "pkg/federation/explain"},
		module + "pkg/explain/tools":                  {module + "pkg/federation/explain"},
		module + "pkg/explain/placementtest/evaluate": {module + "pkg/federation/explain"},
		module + "pkg/explain/answers":                {module + "pkg/explain"},
		module + "pkg/explain/printers":               {module + "pkg/federation/explain"},
		module + "pkg/federation/controller":          {module + "pkg/federation/explain", module + "pkg/federation"},
		module + "pkg/federation/explain":             {module + "pkg/explain/document", module + "pkg/podscheduling/explain"},
		module + "cmd/placement":                      {module + "pkg/federation/explain"},
	}
	expectFindings(t, checkExplanations(g), []string{
		"pkg/explain/answers: imports no explanation of a system, so that it needs no exception",
		"pkg/explain/printers: imports pkg/federation/explain, the explanation of a system",
		"pkg/federation/controller: imports pkg/federation/explain, the explanation of a system",
		"pkg/federation/explain: imports pkg/podscheduling/explain, the explanation of a system",
	})
}
