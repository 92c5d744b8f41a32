// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/limits"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

var (
	now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	key = inventory.Key{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "x"}, GroupKind: "ConfigMap"}
)

func clusterOf(name string, labels map[string]string, taints ...clusterv1.Taint) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: clusterv1.ManagedClusterSpec{Taints: taints},
	}
}

// members are the clusters of the scenarios.
func members() []*clusterv1.ManagedCluster {
	return []*clusterv1.ManagedCluster{
		clusterOf("eu1", map[string]string{"location": "europe", "environment": "prod", "version": "15", "load": "3"}),
		clusterOf("eu2", map[string]string{"location": "europe", "environment": "test", "version": "9"}),
		clusterOf("us1", map[string]string{"location": "usa", "environment": "prod"}),
	}
}

// selectedBy schedules the object with an annotation of a value on clusters that are all in a bound set.
func selectedBy(t *testing.T, annotations map[string]string, clusters []*clusterv1.ManagedCluster) string {
	t.Helper()
	target, err := Choose(annotations, nil)
	if err != nil {
		t.Fatal(err)
	}
	compiler := selector.NewCompiler()

	request, err := target.Request(compiler, key)
	if err != nil {
		t.Fatal(err)
	}

	hub := inventory.New(compiler)
	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
		SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
	}
	hub.SetClusterSet(set)
	hub.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "all"}})
	for _, cluster := range clusters {
		hub.SetCluster(cluster)
	}

	result := scheduling.Schedule(request, hub.Snapshot(), nil, now)
	if difference := scheduling.Difference(result, scheduling.Reference(request, hub.Snapshot(), nil, now)); difference != "" {
		t.Error(difference)
	}
	var names []string
	for _, verdict := range result.Best() {
		names = append(names, verdict.Cluster.Name)
	}
	return strings.Join(names, " ")
}

func TestSelectedClusters(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{
			"federated-selector F2: the example of Federation",
			`[{"key":"location","operator":"In","values":["europe"]},{"key":"environment","operator":"==","values":["prod"]}]`, "eu1",
		},
		{"federated-selector F3, 3.1.2: an empty array", `[]`, "eu1 eu2 us1"},
		{"federated-selector F4, 3.1.1: > is Gt", `[{"key":"version","operator":">","values":["14"]}]`, "eu1"},
		{"federated-selector F5: Gt is strict", `[{"key":"version","operator":"Gt","values":["15"]}]`, ""},
		{"federated-selector F6: no label, no match", `[{"key":"version","operator":"Lt","values":["15"]}]`, "eu2"},
		{"federated-selector F7: labels that are no numbers", `[{"key":"location","operator":"Gt","values":["1"]}]`, ""},
		{"federated-selector F8: != matches an absent label", `[{"key":"load","operator":"!=","values":["3"]}]`, "eu2 us1"},
		{"federated-selector F9: notin matches an absent label", `[{"key":"load","operator":"notin","values":["3"]}]`, "eu2 us1"},
		{"federated-selector F10: exists", `[{"key":"load","operator":"exists"}]`, "eu1"},
		{"federated-selector F10: !", `[{"key":"load","operator":"!"}]`, "eu2 us1"},
		{
			"federated-selector F11, 3.1.1: a range",
			`[{"key":"version","operator":"gt","values":["8"]},{"key":"version","operator":"<","values":["10"]}]`, "eu2",
		},
		{"federated-selector F25, 3.1.3: the control plane alone", ControlPlaneOnly, ""},
		{"federated-selector 3.1.3: any capitalisation of fields", `[{"KEY":"load","Operator":"Exists"}]`, "eu1"},
		{"federated-selector 3.1.1: =", `[{"key":"location","operator":"=","values":["usa"]}]`, "us1"},
		{"federated-selector 3.1.1: DoesNotExist", `[{"key":"load","operator":"DoesNotExist"}]`, "eu2 us1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := selectedBy(t, map[string]string{SelectorAnnotation: c.value}, members()); got != c.want {
				t.Errorf("selected %q, want %q", got, c.want)
			}
		})
	}

	t.Run("federated-selector F1, 3.1.2: no annotation", func(t *testing.T) {
		if got := selectedBy(t, nil, members()); got != "eu1 eu2 us1" {
			t.Errorf("selected %q", got)
		}
	})
	t.Run("federated-selector 3.1.4: every taint but one is tolerated", func(t *testing.T) {
		clusters := []*clusterv1.ManagedCluster{
			clusterOf("away", nil, clusterv1.Taint{Key: "cluster.open-cluster-management.io/unreachable", Effect: clusterv1.TaintEffectNoSelect}),
			clusterOf("gone", nil, clusterv1.Taint{Key: "x", Effect: clusterv1.TaintEffectNoSelect},
				clusterv1.Taint{Key: TerminatingTaint, Effect: clusterv1.TaintEffectNoSelect}),
		}
		if got := selectedBy(t, nil, clusters); got != "away" {
			t.Errorf("selected %q", got)
		}
	})
}

func TestSelectorErrors(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, c := range []struct{ name, value, want string }{
		{"federated-selector F12: values on exists", `[{"key":"a","operator":"exists","values":["b"]}]`,
			`requirement[0]: values: Invalid value: ["b"]: values set must be empty for exists and does not exist`},
		{"federated-selector F12: no values on in", `[{"key":"a","operator":"!"},{"key":"a","operator":"in"}]`,
			`requirement[1]: values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty`},
		{"federated-selector F12: two values on ==", `[{"key":"a","operator":"==","values":["b","c"]}]`,
			`requirement[0]: values: Invalid value: ["b","c"]: exact-match compatibility requires one single value`},
		{"federated-selector F12: Gt 1.5", `[{"key":"a","operator":"Gt","values":["1.5"]}]`,
			`requirement[0]: values[0]: Invalid value: "1.5": for 'Gt', 'Lt' operators, the value must be an integer`},
		{"federated-selector 3.1.3: Gt without a value", `[{"key":"a","operator":"Gt"}]`,
			`requirement[0]: values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required`},
		{"federated-selector F12: Gt -5", `[{"key":"a","operator":"Gt","values":["-5"]}]`,
			`requirement[0]: values[0][a]: Invalid value: "-5": a valid label must be`},
		{"federated-selector F12: operator IN", `[{"key":"a","operator":"IN","values":["b"]}]`,
			`requirement[0]: operator: Unsupported value: "IN": supported values: `},
		{"federated-selector F12: operator missing", `[{"key":"a"}]`, `requirement[0]: operator: Unsupported value: "": supported values: `},
		{"federated-selector F12: key with a blank", `[{"key":"a b","operator":"exists"}]`, `requirement[0]: key: Invalid value: "a b": `},
		{"federated-selector F12: a value of 64 characters", `[{"key":"a","operator":"in","values":["` + long + `"]}]`,
			`requirement[0]: values[0][a]: Invalid value: "` + long + `": must be no more than 63 `},
		{"federated-selector F13: empty", ``, `unexpected end of JSON input`},
		{"federated-selector F13: an object", `{}`, `json: cannot unmarshal object into Go value of type `},
		{"federated-selector F13, 3.1.2: null", `null`, `must be a JSON array, not null; [] selects every cluster`},
		{"federated-selector F13: no JSON", `[{"not able to parse",}]`, `invalid character ',' after object key`},
		{"federated-selector F13: text after the array", `[] x`, `invalid character 'x' after top-level value`},
		{"federated-selector F13: values a string", `[{"key":"a","operator":"in","values":"b"}]`, `json: cannot unmarshal string into Go `},
		{"federated-selector F13: values numbers", `[{"key":"a","operator":"in","values":[1]}]`, `json: cannot unmarshal number into Go `},
		{"federated-selector F13: an unknown field", `[{"key":"a","operator":"exists","value":["b"]}]`, `json: unknown field "value"`},
		{"C2a: too many requirements", `[` + strings.Repeat(`{"key":"a","operator":"exists"},`, 100) + `{}]`,
			`has 101 requirements: must have at most 100 requirements on labels and claims: give the clusters one label for what they `},
		{"C2a: too many values", `[{"key":"a","operator":"in","values":["` + strings.Repeat(`b","`, 1000) + `c"]}]`,
			`requirement[0]: values: Too many: 1001: must have at most 1000 values: give the clusters one label for what they have in common`},
		{"federated-selector 3.1.3: a null requirement", `[null]`, `requirement[0]: [key: Invalid value: "": `},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Choose(map[string]string{SelectorAnnotation: c.value}, nil)
			if err == nil || !strings.HasPrefix(err.Error(), "annotation "+SelectorAnnotation+": "+c.want) {
				t.Errorf("error %v\nwant   %s", err, c.want)
			}
		})
	}
}

// docs/spec/differences.md C2a: a selector may have as many requirements as the limit says.
func TestSelectorWithTheMostRequirements(t *testing.T) {
	value := "[" + strings.Repeat(`{"key":"a","operator":"exists"},`, limits.Requirements.Max-1) + `{"key":"b","operator":"exists"}]`
	if requirements, err := ParseSelector(value); len(requirements) != limits.Requirements.Max || err != nil {
		t.Errorf("%d requirements, %v", len(requirements), err)
	}
}

func TestChoose(t *testing.T) {
	all := map[string]string{SelectorAnnotation: "[]"}
	p := map[string]string{PlacementAnnotation: "p"}
	both := map[string]string{SelectorAnnotation: "[]", PlacementAnnotation: "p"}
	for _, c := range []struct {
		name              string
		object, namespace map[string]string
		want              Target
		err               string
	}{
		{"federated-selector F38, 3.1.4: both annotations", both, nil, Target{}, "exclude each other"},
		{"federated-selector F38: the default of the Namespace", nil, p, Target{Placement: "p", FromNamespace: true}, ""},
		{"federated-selector F38: an own selector wins", map[string]string{SelectorAnnotation: ControlPlaneOnly}, p, Target{Nowhere: true}, ""},
		{"federated-selector F38: an own selector wins over a broken default", map[string]string{PlacementAnnotation: "q"}, both,
			Target{Placement: "q"}, ""},
		{"federated-selector 3.1.4: a broken default", nil, both, Target{}, "namespace: "},
		{"federated-selector 3.1.4: an empty name", map[string]string{PlacementAnnotation: ""}, all, Target{}, "must be the name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Choose(c.object, c.namespace)
			if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("error %v, want %q", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}

	for want, target := range map[string]Target{
		"Placement p": {Placement: "p"}, "no cluster": {Nowhere: true}, "all clusters": {FromNamespace: true},
	} {
		if got := target.String(); got != want {
			t.Errorf("the text of a Target is %q, want %q", got, want)
		}
	}
	request, err := Target{Placement: "p"}.Request(selector.NewCompiler(), key)
	if request != nil || err != nil {
		t.Errorf("the decisions of a Placement: %v, %v", request, err)
	}
}
