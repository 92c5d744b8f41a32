// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/test/property"
)

func labelled(name string, labels map[string]string) *clusterinfo.ClusterInfo {
	return clusterinfo.New(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, nil)
}

// drawLabelExpression draws an expression that reads labels, mostly by their keys.
func drawLabelExpression(t *rapid.T) string {
	question := rapid.SampledFrom([]string{
		`%s == "a"`, `"a" != %s`, `%s == ""`, `%s in ["a", "b"]`, `%s in ["a", ""]`, `%[1]s == %[1]s`, `[%s] == ["a"]`, `dyn(%s) == "a"`,
		`"a" in [%s]`,
		`%s.startsWith("b")`, `["a", "b"].exists(v, %s == v)`, `size(%s) > 1`, `%s.matches("^a+$")`, `semver(%s + ".0.0").major() == 1`, `dyn(%s)`,
		`(%s == "a" ? "x" : "y") == "x"`, `%s.lowerAscii() == "a"`, `string(%s) in ["a"]`,
	})
	label := rapid.SampledFrom([]string{
		`managedCluster.metadata.labels["x"]`, `managedCluster.metadata.labels.y`, `managedCluster["metadata"].labels["x"]`,
		`managedCluster.metadata.labels[?"x"].orValue("a")`, `managedCluster.metadata.?labels.?y.orValue("")`,
	})
	ask := func() string {
		if other := rapid.IntRange(0, 7).Draw(t, "other"); other == 0 {
			return rapid.SampledFrom([]string{
				`"x" in managedCluster.metadata.labels`, `has(managedCluster.metadata.labels.y)`, `size(managedCluster.metadata.labels) == 1`,
				`managedCluster.metadata.labels == {"x": "a"}`, `managedCluster.metadata.name == "c1"`, `has(managedCluster.metadata.labels)`, `true`,
				`managedCluster.metadata.labels[?"x"] == optional.of("a")`, `managedCluster.metadata.labels[?"y"].hasValue()`,
			}).Draw(t, "whole")
		}
		return fmt.Sprintf(question.Draw(t, "question"), label.Draw(t, "label"))
	}
	combined := rapid.SampledFrom([]string{"dyn(%s)%.0s", "!(dyn(%s))%.0s", "dyn(%s) || dyn(%s)", "dyn(%s) && dyn(%s)"}).Draw(t, "combined")
	return fmt.Sprintf(combined, ask(), ask())
}

// drawLabels draws labels with few values, with one that is longer than an API server allows, and no labels.
func drawLabels(t *rapid.T) map[string]string {
	value := rapid.SampledFrom([]string{"", "a", "b", "c", "aa", "1", strings.Repeat("a", 300)})
	labels := map[string]string{}
	for _, key := range []string{"x", "y", "z"} {
		if rapid.IntRange(0, 2).Draw(t, "has") > 0 {
			labels[key] = value.Draw(t, "value")
		}
	}
	return labels
}

// TestMemoChangesNoResult checks that an expression with a memo has the results, errors and costs that it has without one, whatever clusters it was
// evaluated on before, with and without a limit.
func TestMemoChangesNoResult(t *testing.T) {
	remembered := 0
	property.Check(t, func(t *rapid.T) {
		with, err := compile(drawLabelExpression(t))
		if err != nil {
			return // The operands have the wrong types.
		}
		without := *with
		without.memo = nil
		for range 30 {
			info := labelled("c1", drawLabels(t))
			limit := rapid.SampledFrom([]uint64{0, 0, 0, 5, 10, 20}).Draw(t, "limit")
			text := func(p *program) string {
				evaluation := &EvalContext{Now: now, Limit: limit}
				holds, err := p.evaluate(info, evaluation)
				return fmt.Sprint(holds, err, evaluation.Cost(), evaluation.Stopped(), evaluation.RequeueAt(), evaluation.StableSince())
			}
			if _, _, found := with.memo.result(info, expressionCost); found {
				remembered++
			}
			if is, should := text(with), text(&without); is != should {
				t.Fatalf("%s on labels %v with limit %d is %q, without a memo %q", with.source, info.Labels, limit, is, should)
			}
		}
	})
	if remembered == 0 {
		t.Error("no result was remembered")
	}
}

// TestMemoOfExpressions checks which labels a memo distinguishes by their values.
func TestMemoOfExpressions(t *testing.T) {
	for expression, want := range map[string]string{
		`managedCluster.metadata.labels["x"] in ["a", "b"]`:                                                                   "x of [a b]",
		`managedCluster.metadata.labels.x == "a" || "b" != managedCluster.metadata.labels["x"]`:                               "x of [a b]",
		`"x" in managedCluster.metadata.labels && managedCluster.metadata.labels["y"] == "a"`:                                 "x of [], y of [a]",
		`managedCluster.metadata.labels["x"].startsWith("a")`:                                                                 "x",
		`managedCluster.metadata.labels["x"] == "a" || managedCluster.metadata.labels["x"].size() > 3`:                        "x",
		`managedCluster.metadata.labels["x"] == managedCluster.metadata.labels["y"]`:                                          "x, y",
		`managedCluster.metadata.labels["x"] == ""`:                                                                           "x",
		`has(managedCluster.metadata) && true`:                                                                                "",
		`managedCluster.metadata.labels.exists(k, k == "x")`:                                                                  "none",
		`managedCluster.metadata.labels["x"] == managedCluster.metadata.name`:                                                 "none",
		`managedCluster.scores("x").size() == 0`:                                                                              "none",
		`managedCluster.status.version.kubernetes == "1"`:                                                                     "none",
		`["1","2","3","4","5","6","7","8","9"].all(n, true)` + manyLabels(maxMemoLabels+1):                                    "none",
		`managedCluster.metadata.labels["x"] in [` + strings.Repeat(`"a", "b", `, maxMemoLiterals/2) + `"c"]`:                 "x of [a b c]",
		`managedCluster.metadata.labels["x"] in [` + manyTexts(maxMemoLiterals) + `]`:                                         "x of 32",
		`managedCluster.metadata.labels["x"] in [` + manyTexts(maxMemoLiterals+1) + `]`:                                       "x",
		`managedCluster.metadata.labels.x in [` + manyTexts(maxMemoLiterals) + `] || managedCluster.metadata.labels.x == "a"`: "x",
		`true` + manyLabels(maxMemoLabels): "0 of [], 1 of [], 2 of [], 3 of [], 4 of [], 5 of [], 6 of [], " +
			"7 of []",
	} {
		p, err := compile(expression)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		if got := p.memo.text(); got != want {
			t.Errorf("%s has the memo %q, want %q", expression, got, want)
		}
	}
}

func manyLabels(count int) string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, ` && "%d" in managedCluster.metadata.labels`, i)
	}
	return text.String()
}

func manyTexts(count int) string {
	texts := make([]string, 0, count)
	for i := range count {
		texts = append(texts, fmt.Sprintf("%q", fmt.Sprintf("t%02d", i)))
	}
	return strings.Join(texts, ", ")
}

func (m *memo) text() string {
	if m == nil {
		return "none"
	}
	labels := make([]string, 0, len(m.labels))
	for _, label := range m.labels {
		text := label.key
		switch {
		case len(label.literals) > 3:
			text += fmt.Sprintf(" of %d", len(label.literals))
		case label.compared:
			text += fmt.Sprintf(" of %v", label.literals)
		}
		labels = append(labels, text)
	}
	return strings.Join(labels, ", ")
}

// TestMemoForgetsCancelledEvaluations checks that a cancelled evaluation has no result for another one.
func TestMemoForgetsCancelledEvaluations(t *testing.T) {
	p, err := compile(`managedCluster.metadata.labels["x"] == "a"`)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	close(done)
	info := labelled("c1", map[string]string{"x": "a"})
	if holds, err := p.evaluate(info, &EvalContext{Now: now, Done: done}); err != nil || !holds { // It ends before it looks at Done.
		t.Fatalf("the evaluation returned %t and %v", holds, err)
	}
	if _, _, found := p.memo.result(info, expressionCost); found {
		t.Error("the result of a cancelled evaluation is remembered")
	}
}
