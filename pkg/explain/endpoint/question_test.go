// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// docs/spec/differences.md E1a: what a question asks for is bounded, and belongs to its command.
func TestE1aQuestionsAreChecked(t *testing.T) {
	thing, kind := Object{Kind: "Thing", Name: "x"}, KindRef{Kind: "Thing"}
	for _, tc := range []struct {
		reason   string
		question Question
		command  string
		refused  string
	}{
		{reason: "a list", command: CommandExplain},
		{reason: "manifests", question: Question{Objects: []Object{thing}, Manifests: "x"}, command: CommandDiff},
		{
			reason: "a simulation", command: CommandSimulate,
			question: Question{Command: CommandSimulate, Objects: []Object{thing}, Kinds: []KindRef{kind}, WithoutBindings: []string{"edge"}},
		},
		{reason: "a report", question: Question{Command: CommandFederated, Kinds: []KindRef{kind}}, command: CommandFederated},
		{reason: "an unknown command", question: Question{Command: "delete", Objects: []Object{thing}}, refused: `unknown command "delete"`},
		{reason: "a report of nothing", question: Question{Command: CommandFederated}, refused: "objects, kinds: name what is asked about"},
		{reason: "a difference without manifests", question: Question{Command: CommandDiff, Objects: []Object{thing}}, refused: "manifests"},
		{
			reason: "server-side apply", command: CommandDiff,
			question: Question{Objects: []Object{thing}, Manifests: "x", Write: "server-side", FieldManager: "ci", ForceConflicts: true},
		},
		{reason: "replace", question: Question{Objects: []Object{thing}, Manifests: "x", Write: "replace"}, command: CommandDiff},
		{
			reason: "an unknown write", question: Question{Objects: []Object{thing}, Manifests: "x", Write: "create"},
			refused: "write: it is client-side, server-side or replace of the command diff",
		},
		{
			reason: "a write without manifests", question: Question{Objects: []Object{thing}, Write: "replace"}, refused: "write: it is client-side",
		},
		{
			reason: "server-side apply of nobody", question: Question{Objects: []Object{thing}, Manifests: "x", Write: "server-side"},
			refused: "fieldManager, forceConflicts: they are of the write server-side",
		},
		{
			reason:   "a field manager that is too long",
			question: Question{Objects: []Object{thing}, Manifests: "x", Write: "server-side", FieldManager: strings.Repeat("x", maxManager+1)},
			refused:  "fieldManager, forceConflicts",
		},
		{
			reason: "conflicts of replace", question: Question{Objects: []Object{thing}, Manifests: "x", Write: "replace", ForceConflicts: true},
			refused: "fieldManager, forceConflicts",
		},
		{
			reason: "a simulation of manifests", command: CommandSimulate,
			question: Question{Command: CommandSimulate, Objects: []Object{thing}, Manifests: "x"},
		},
		{
			reason: "a simulation of manifests and bindings", refused: "manifests: what they add is simulated by itself",
			question: Question{Command: CommandSimulate, Objects: []Object{thing}, Manifests: "x", WithoutBindings: []string{"edge"}},
		},
		{
			reason: "a report of manifests", refused: "manifests: they are of the commands diff and simulate",
			question: Question{Command: CommandFederated, Objects: []Object{thing}, Manifests: "x"},
		},
		{reason: "an explanation of a kind", question: Question{Kinds: []KindRef{kind}}, refused: "kinds: an explanation is of objects"},
		{reason: "a kind without a name", question: Question{Command: CommandSimulate, Kinds: []KindRef{{}}}, refused: "kinds[0]: kind is required"},
		{
			reason: "many kinds", question: Question{Command: CommandSimulate, Kinds: make([]KindRef, maxKinds+1)},
			refused: "kinds: " + strconv.Itoa(maxKinds+1) + " are too many",
		},
		{
			reason: "an explanation without a binding", question: Question{Objects: []Object{thing}, WithoutBindings: []string{"edge"}},
			refused: "withoutBindings: only the command simulate has it",
		},
		{
			reason: "many bindings", refused: "withoutBindings: " + strconv.Itoa(maxBindings+1) + " are too many",
			question: Question{Command: CommandSimulate, Objects: []Object{thing}, WithoutBindings: make([]string, maxBindings+1)},
		},
		{
			reason: "a binding without a name", refused: "withoutBindings: a set has a name",
			question: Question{Command: CommandSimulate, Objects: []Object{thing}, WithoutBindings: []string{""}},
		},
		{
			reason: "a comparison for workloads", command: CommandDiff,
			question: Question{Objects: []Object{thing}, Manifests: "x", Kinds: []KindRef{kind}, Workloads: []Object{thing}, WorkloadsLeftOut: 3},
		},
		{
			reason: "a workload of a kind for which no right is asked", refused: "workloads[0]: a workload has a name, and a kind of those in kinds",
			question: Question{Objects: []Object{thing}, Manifests: "x", Workloads: []Object{thing}},
		},
		{
			reason: "a workload without a name", refused: "workloads[0]",
			question: Question{Objects: []Object{thing}, Manifests: "x", Kinds: []KindRef{kind}, Workloads: []Object{{Kind: "Thing"}}},
		},
		{reason: "a history", question: Question{Command: CommandHistory, Kinds: []KindRef{kind}, Since: &metav1.Time{}}, command: CommandHistory},
		{
			reason: "a history of a cluster", command: CommandHistory,
			question: Question{Command: CommandHistory, Kinds: []KindRef{kind}, Clusters: []string{"c1"}},
		},
		{reason: "a history of nothing", question: Question{Command: CommandHistory}, refused: "objects, kinds: name what is asked about"},
		{
			reason: "a time of an explanation", question: Question{Objects: []Object{thing}, Since: &metav1.Time{}},
			refused: "since: only the command history has it",
		},
		{
			reason: "a limit of an explanation", question: Question{Objects: []Object{thing}, Limit: 5},
			refused: "limit: only the command history has it",
		},
		{
			reason: "fewer than no rows", question: Question{Command: CommandHistory, Kinds: []KindRef{kind}, Limit: -1},
			refused: "limit: -1 is no number of rows",
		},
		{
			reason: "many workloads", refused: "workloads: " + strconv.Itoa(MaxWorkloads+1) + " are too many",
			question: Question{Objects: []Object{thing}, Manifests: "x", Kinds: []KindRef{kind}, Workloads: make([]Object, MaxWorkloads+1)},
		},
		{
			reason: "a report for workloads", refused: "workloads: only the command diff has it",
			question: Question{Command: CommandFederated, Kinds: []KindRef{kind}, Workloads: []Object{thing}},
		},
		{
			reason: "fewer than no workloads", refused: "workloadsLeftOut",
			question: Question{Objects: []Object{thing}, Manifests: "x", WorkloadsLeftOut: -1},
		},
		{
			reason: "a cluster of a report", refused: "clusters",
			question: Question{Command: CommandFederated, Objects: []Object{thing}, Clusters: []string{"c1"}},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			tc.question.Namespace = "team-a"
			tc.question.complete()
			switch err := tc.question.validate(); {
			case tc.refused == "" && (err != nil || tc.question.Command != tc.command):
				t.Errorf("command %q, error %v", tc.question.Command, err)
			case tc.refused != "" && (err == nil || !strings.Contains(err.Error(), tc.refused)):
				t.Errorf("error %v, want %q", err, tc.refused)
			}
		})
	}
}
