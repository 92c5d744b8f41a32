// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// differences returns what differs after a change of the world.
func (w *world) differences(change func()) []Difference {
	w.t.Helper()
	before := w.evaluate()
	change()
	return Differences(before, w.evaluate())
}

func TestDifferencesOfARelabelledCluster(t *testing.T) {
	w := newWorld(t)
	w.deliver(w.add(configMap("x", inEurope)), 0, "eu1", "eu2")
	w.deliver(w.add(configMap("z", inUSA)), 0, "us1")
	w.add(configMap("all", `a: b`))
	w.deliver(w.add(deployment(inEurope)), 4, "eu1", "eu2")
	differences := w.differences(func() { w.cluster("eu2", "usa") })
	var got []string
	for _, d := range differences {
		got = append(got, d.Object)
	}

	if diff := cmp.Diff([]string{"Deployment.apps/team-a/web", "ConfigMap/team-a/x", "ConfigMap/team-a/z", "ConfigMap/team-a/all"}, got); diff != "" {
		t.Fatalf("largest loss first: %s", diff)
	}
	x := differences[1]
	want := []Change{{Cluster: "eu2", Reason: "predicate 1 label location In [europe]: is usa"}}
	if diff := cmp.Diff(want, x.Lost); diff != "" || len(x.Gained) > 0 || x.Kept != 1 || x.Updated > 0 {
		t.Errorf("%+v: %s", x, diff)
	}

	all := differences[3]
	if all.Due() || len(all.Gained) != 3 || !all.Gained[0].Anyway {
		t.Errorf("what the hub has not written yet is due anyway: %+v", all)
	}
	summary := Summary{
		Losing: 2, Lost: 2, Gaining: 1, Gained: 1, Workloads: []WorkloadSummary{{Kind: "Deployment", Objects: 1, Replicas: 4}},
	}
	if diff := cmp.Diff(summary, Summarize(differences)); diff != "" {
		t.Error(diff)
	}
}

// federated-selector F40.
func TestDifferencesAreHeld(t *testing.T) {
	w := newWorld(t)
	w.objects.Limit.Percent = new(0)
	w.deliver(w.add(configMap("x", inEurope)), 0, "eu1", "eu2")
	differences := w.differences(func() { w.cluster("eu2", "usa") })
	if len(differences) != 1 || differences[0].RemovalHeld == "" || Summarize(differences).Held != 1 {
		t.Errorf("%+v", differences)
	}
}

// Objects without works have those of the evaluation without the change, so that only the change differs.
func TestAssumedWorks(t *testing.T) {
	w := newWorld(t, configMap("x", inEurope), deployment(inEurope))
	assumed := w.evaluate()

	evaluate := func() []Evaluation {
		evaluator := NewEvaluator(&w.objects)
		evaluator.Assume(assumed)
		return evaluator.Evaluate(Hub{Compiler: w.compiler, Snapshot: w.inventory.Snapshot()}, epoch)
	}

	before := evaluate()
	if differences := Differences(before, evaluate()); len(differences) > 0 {
		t.Errorf("without a change: %+v", differences)
	}
	w.cluster("us1", "europe")
	differences := Differences(before, evaluate())
	if len(differences) != 2 || len(differences[0].Gained) != 1 || differences[0].Gained[0].Anyway {
		t.Errorf("%+v", differences)
	}
}

// New objects that reach no cluster by a mistake are in the report, with what may be meant, and so are replicas without a cluster.
func TestDifferencesOfNewObjectsSayMistakes(t *testing.T) {
	const selector = `federation.alpha.kubernetes.io/cluster-selector: `
	for _, tc := range []struct {
		reason, object, wantState, wantText string
	}{
		{"an unknown annotation", configMap("x", `federation.kubernetes.io/cluster-selector: '[]'`), "Held",
			"did you mean federation.alpha.kubernetes.io/cluster-selector"},
		{"a selector that cannot be read", configMap("x", selector+"x"), "Held", "cluster-selector"},
		{"a misspelt value", configMap("x", selector+`'[{"key":"location","operator":"in","values":["uas"]}]'`), "Delivering",
			"no cluster in scope has location=uas; did you mean usa"},
		{"a misspelt key", configMap("x", selector+`'[{"key":"locatoin","operator":"in","values":["usa"]}]'`), "Delivering",
			`key "locatoin" is a label of none of the 3 clusters in scope; did you mean "location"`},
		{"replicas without a cluster", deployment(inUSA + `, ` +
			`federation.kubernetes.io/deployment-preferences: '{"clusters":{"us1":{"maxReplicas":2,"weight":1}}}'`), "Delivering",
			"7 of 9 replicas have no cluster: maxReplicas of us1"},
	} {
		w := newWorld(t)
		differences := w.differences(func() { w.add(tc.object) })
		if len(differences) != 1 || differences[0].State != tc.wantState {
			t.Errorf("%s: %+v", tc.reason, differences)
			continue
		}
		got := differences[0]
		if text := strings.Join(append(got.Notes, got.Message), "\n"); !strings.Contains(text, tc.wantText) {
			t.Errorf("%s: %q, want %q", tc.reason, text, tc.wantText)
		}
		if got.Differs() != (tc.wantState == "Held" || len(got.Gained) > 0) || Summarize(differences).Stopped > 0 {
			t.Errorf("%s: differs: %t, summary %+v", tc.reason, got.Differs(), Summarize(differences))
		}
	}
}
