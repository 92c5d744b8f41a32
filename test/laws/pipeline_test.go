// SPDX-License-Identifier: Apache-2.0

package laws

import (
	"go/ast"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// schedulingPackage is the package whose schedulers only the pipeline calls.
const schedulingPackage = module + "pkg/scheduling"

// schedulerCallers are the files that call a scheduler: placement.Evaluate and federation.Evaluate begin with it, and the oracle compares it
// with the reference.
var schedulerCallers = []string{"pkg/placement/evaluate.go", "pkg/federation/evaluate.go", "pkg/placement/controller/compare.go"}

// pipeline is what decides one kind of results: the hub and the tools call the same functions, and a property test compares what the tools say with
// what the hub does.
type pipeline struct {
	of string
	// hub and tools are the directories of the callers, with a function of each that they call.
	hub, hubCalls, tools, toolsCall string
	// agreement are the property tests, in the directory of the hub's caller.
	agreement []string
}

// pipelines are the pipelines of law 7.
var pipelines = []pipeline{
	{
		of: "placements", hub: "pkg/placement/controller", hubCalls: "EvaluateWith", tools: "pkg/explain", toolsCall: "Evaluate",
		agreement: []string{"TestEverybodyAgreesOnHeldRemovals"},
	},
	{
		of: "federated objects", hub: "pkg/federation/controller", hubCalls: "Outcome", tools: "pkg/federation/explain", toolsCall: "Outcome",
		agreement: []string{"TestToolsAgreeWithTheHubOnObjects"},
	},
	{
		of: "Pods", hub: "pkg/podscheduling/webhook", hubCalls: "NewInjection", tools: "pkg/podscheduling/explain", toolsCall: "Inject",
		agreement: []string{"TestToolsAgreeWithTheHubOnPods"},
	},
	{
		of: "AffinityClasses", hub: "pkg/affinityclass/webhook", hubCalls: "CheckPod", tools: "pkg/podscheduling/explain", toolsCall: "CheckPod",
		agreement: []string{"TestToolsAgreeWithTheHubOnClasses"},
	},
	{
		of: "Tenants", hub: "pkg/affinityclass/controller", hubCalls: "Compliance", tools: "pkg/podscheduling/explain", toolsCall: "Compliance",
		agreement: []string{"TestToolsAgreeWithTheHubOnTenants"},
	},
	{
		of: "requests", hub: "pkg/clusterrequest/controller", hubCalls: "Decide", tools: "pkg/clusterrequest/explain", toolsCall: "Decide",
		agreement: []string{"TestToolsAgreeWithTheHubOnRequests"},
	},
}

// Law 7: the hub and the tools share each of the pipelines, and a property test of each says that they agree, which docs/architecture.md names.
func TestEveryPipelineHasAnAgreement(t *testing.T) {
	repository := os.DirFS(root(t))
	page, err := fs.ReadFile(repository, "docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, law, _ := strings.Cut(string(page), "**Law 7.")
	law, _, found := strings.Cut(law, "**Law 8.")
	if !found {
		t.Fatal("docs/architecture.md: law 8 does not follow law 7")
	}
	expectLaw(t, checkAgreements(t, repository, strings.Join(strings.Fields(law), " ")))
}

// checkAgreements finds pipelines that the hub or the tools do not call, tests that do not exist, and what the text of the law leaves out.
func checkAgreements(t *testing.T, repository fs.FS, law string) []string {
	t.Helper()
	var findings []string
	for _, each := range pipelines {
		for _, caller := range [][2]string{{each.hub, each.hubCalls}, {each.tools, each.toolsCall}} {
			if called, _ := namesIn(t, repository, caller[0]); !called[caller[1]] {
				findings = append(findings, caller[0]+": does not call "+caller[1]+", which decides about "+each.of)
			}
		}
		_, tests := namesIn(t, repository, each.hub)
		for _, test := range each.agreement {
			if !tests[test] {
				findings = append(findings, each.hub+": has no test "+test+" for "+each.of)
			}
			if !strings.Contains(law, each.of+" (`"+test+"`") {
				findings = append(findings, "docs/architecture.md: law 7 does not say that "+test+" is about "+each.of)
			}
		}
	}
	return findings
}

// namesIn returns the names of what the code of a directory selects, without its tests, and of the functions of its tests.
func namesIn(t *testing.T, repository fs.FS, dir string) (selected, tests map[string]bool) {
	t.Helper()
	selected, tests = map[string]bool{}, map[string]bool{}
	for _, file := range goFiles(t, repository) {
		if path.Dir(file) != dir {
			continue
		}
		parsed := parseGo(t, repository, file)
		isTest := strings.HasSuffix(file, "_test.go")
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				selected[n.Sel.Name] = selected[n.Sel.Name] || !isTest
			case *ast.FuncDecl:
				tests[n.Name.Name] = tests[n.Name.Name] || isTest
			}
			return true
		})
	}
	return selected, tests
}

func TestAgreementCheckerFindsWhatIsMissing(t *testing.T) {
	hub := &fstest.MapFile{Data: []byte("package a\nvar a, b, c, d, e, f, g = x.EvaluateWith, x.Evaluate, x.Outcome, x.NewInjection, x.Inject, " +
		"x.CheckPod, x.Compliance\n")}
	repository := fstest.MapFS{
		"pkg/placement/controller/a.go": hub, "pkg/explain/a.go": hub, "pkg/federation/explain/a.go": hub, "pkg/podscheduling/explain/a.go": hub,
		"pkg/federation/controller/a.go": hub, "pkg/podscheduling/webhook/a.go": hub, "pkg/clusterrequest/controller/a.go": hub,
		"pkg/affinityclass/webhook/a.go": hub, "pkg/affinityclass/controller/a.go": hub,
		"pkg/placement/controller/a_test.go":     &fstest.MapFile{Data: []byte("package a\nfunc TestEverybodyAgreesOnHeldRemovals() {}\n")},
		"pkg/federation/controller/a_test.go":    &fstest.MapFile{Data: []byte("package a\nfunc TestToolsAgreeWithTheHubOnObjects() {}\n")},
		"pkg/podscheduling/webhook/a_test.go":    &fstest.MapFile{Data: []byte("package a\nfunc TestToolsAgreeWithTheHubOnPods() {}\n")},
		"pkg/affinityclass/webhook/a_test.go":    &fstest.MapFile{Data: []byte("package a\nfunc TestToolsAgreeWithTheHubOnClasses() {}\n")},
		"pkg/affinityclass/controller/a_test.go": &fstest.MapFile{Data: []byte("package a\nfunc TestToolsAgreeWithTheHubOnTenants() {}\n")},
	}
	law := "placements (`TestEverybodyAgreesOnHeldRemovals` in x), Pods (`TestToolsAgreeWithTheHubOnPods`), " +
		"AffinityClasses (`TestToolsAgreeWithTheHubOnClasses`), Tenants (`TestToolsAgreeWithTheHubOnTenants`), requests " +
		"(`TestToolsAgreeWithTheHubOnRequests`)"
	expectFindings(t, checkAgreements(t, repository, law), []string{
		"docs/architecture.md: law 7 does not say that TestToolsAgreeWithTheHubOnObjects is about federated objects",
		"pkg/clusterrequest/controller: does not call Decide, which decides about requests",
		"pkg/clusterrequest/explain: does not call Decide, which decides about requests",
		"pkg/clusterrequest/controller: has no test TestToolsAgreeWithTheHubOnRequests for requests",
	})
}

// Law 7: code that evaluates a Placement calls placement.Evaluate, and code that evaluates a federated object federation.Evaluate, whose Outcome says
// what may be withdrawn.
func TestEvaluateIsTheOnlyPipeline(t *testing.T) {
	expectLaw(t, checkPipeline(t, os.DirFS(root(t))))
}

// checkPipeline finds uses of scheduling.Schedule and scheduling.ScheduleRecorded outside of the pipeline, the oracle and test code.
func checkPipeline(t *testing.T, repository fs.FS) []string {
	t.Helper()
	var findings []string
	for _, file := range goFiles(t, repository) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "test/") || slices.Contains(schedulerCallers, file) {
			continue
		}
		parsed := parseGo(t, repository, file)
		name := nameOf(parsed, schedulingPackage)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(selector.Sel.Name, "Schedule") {
				if x, ok := selector.X.(*ast.Ident); ok && x.Name == name {
					findings = append(findings, file+": scheduling."+selector.Sel.Name+
						" without the removal budget; call placement.Evaluate or federation.Evaluate")
				}
			}
			return true
		})
	}
	return findings
}

// nameOf returns the name of a package in a file; empty when the file does not import it.
func nameOf(file *ast.File, imported string) string {
	for _, spec := range file.Imports {
		switch {
		case spec.Path.Value != strconv.Quote(imported):
		case spec.Name != nil:
			return spec.Name.Name
		default:
			return path.Base(imported)
		}
	}
	return ""
}

func TestPipelineCheckerFindsSchedulers(t *testing.T) {
	source := &fstest.MapFile{Data: []byte(
		"package a\nimport engine \"" + schedulingPackage + "\"\nvar result = engine.Schedule(request, snapshot, now)\n")}
	repository := fstest.MapFS{
		"pkg/explain/a.go": source, "pkg/explain/a_test.go": source, "test/benchmark/a.go": source, schedulerCallers[0]: source,
	}
	expectFindings(t, checkPipeline(t, repository), []string{
		"pkg/explain/a.go: scheduling.Schedule without the removal budget; call placement.Evaluate or federation.Evaluate",
	})
}
