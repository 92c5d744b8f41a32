// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// own returns a policy of the namespace n for all Pods.
func own(tb testing.TB, name, constraints string) *Policy {
	tb.Helper()
	return namespacedPolicy(tb, "n", name, "podSelector: {}\n"+constraints)
}

// keys returns label keys with a prefix.
func keys(prefix string, count int) []string {
	list := make([]string, count)
	for i := range list {
		list[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return list
}

// tolerations returns as many tolerations.
func tolerations(prefix string, count int) string {
	list := make([]string, count)
	for i, key := range keys(prefix, count) {
		list[i] = "{key: " + key + ", operator: Exists}"
	}
	return "tolerations: [" + strings.Join(list, ", ") + "]"
}

// bomb returns 31 policies of 165 kB together: eight with two required terms of one expression, then 23 with one term of many.
func bomb(tb testing.TB) []*Policy {
	tb.Helper()
	var policies []*Policy
	for i := range 31 {
		terms := []string{term(keys(fmt.Sprintf("e%d", i), 170)...)}
		if i < 8 {
			terms = []string{term(fmt.Sprintf("a%d", i)), term(fmt.Sprintf("b%d", i))}
		}
		policies = append(policies, own(tb, fmt.Sprintf("p%02d", i), required(terms...)))
	}
	return policies
}

func TestLimitsOfANamespace(t *testing.T) {
	selector := func(count int) string { return "nodeSelector: {" + strings.Join(keys("k", count), ": v, ") + ": v}" }
	var hundredAndOne []*Policy
	for i := range MaxPolicies + 1 {
		hundredAndOne = append(hundredAndOne, own(t, fmt.Sprintf("p%03d", i), fmt.Sprintf("nodeSelector: {k%03d: v}", i)))
	}
	cluster := everywhere(t, "cluster", "nodeSelector: {pool: etcd}\n"+tolerations("c", 1990)+"\n"+required(term(keys("c", 50)...)))
	var bombed []string
	for _, policy := range bomb(t) {
		bombed = append(bombed, policy.Name)
	}
	for _, tc := range []struct {
		reason   string
		spec     string
		policies []*Policy
		skipped  []string // the names of the policies that are skipped as a whole
	}{
		{"T12: 100 policies of a namespace are injected, by name", "", append(hundredAndOne[:MaxPolicies:MaxPolicies],
			everywhere(t, "cluster", "nodeSelector: {pool: etcd}")), nil},
		{"T12: the 101st is skipped", "", hundredAndOne, []string{"p100"}},
		{"T12: 2,000 expressions are injected", "", []*Policy{own(t, "a", tolerations("a", 1000)), own(t, "b", tolerations("b", 1000))}, nil},
		{"T12: one more is skipped, and what comes after it by name", "", []*Policy{
			own(t, "a", tolerations("a", 1000)), own(t, "b", tolerations("b", 1001)), own(t, "c", "nodeName: n1")}, []string{"b", "c"}},
		{"T12: keys of the node selector and expressions of affinity terms count", "", []*Policy{
			own(t, "a", selector(1000)), own(t, "b", required(term(keys("r", 500)...), term(keys("s", 500)...))),
			own(t, "c", preferred("{weight: 1, preference: "+term("p")+"}"))}, []string{"c"}},
		{"T12: what the workload has itself counts in the lists that are merged", tolerations("w", 1500), []*Policy{
			own(t, "a", tolerations("w", 1500)), own(t, "b", tolerations("a", 500)), own(t, "c", tolerations("b", 1))}, []string{"c"}},
		{"T12: so does the product of required terms", required(term("x0"), term("x1"), term("x2")), []*Policy{
			own(t, "a", required(term(keys("r", 600)...))), own(t, "b", required(term(keys("s", 70)...)))}, []string{"b"}},
		{"T12: texts of more than a mebibyte are not injected", "", []*Policy{
			own(t, "a", required("{matchExpressions: [{key: a, operator: In, values: ["+strings.Join(keys("v", MaxBytes/8), ", ")+"]}]}")),
			own(t, "b", "nodeName: n1")}, []string{"a", "b"}},
		{"T12: cluster policies have no limits, and what they list counts", "", []*Policy{
			cluster, own(t, "a", "nodeName: n1"), own(t, "b", tolerations("a", 11))}, []string{"b"}},
		{"T12: the policy bomb", "", bomb(t), bombed[7:]},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w, raw := workload(t, podKind, "spec: {"+tc.spec+"}")
			policies := NewPolicies(tc.policies).Matching("n", nil, nil)
			result := Inject(w, policies)
			if diff := cmp.Diff(tc.skipped, skippedWhole(&result)); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
			patched, err := ReadWorkload(podKind, apply(t, raw, result))
			if err != nil {
				t.Fatal(err)
			}
			again := Inject(patched, policies)
			if diff := cmp.Diff(tc.skipped, skippedWhole(&again)); diff != "" || len(again.Operations) > 0 {
				t.Errorf("the second injection has %d operations, and skipped (-want +got):\n%s", len(again.Operations), diff)
			}
		})
	}
}

// skippedWhole returns the names of the policies that have TooManyTerms as a whole and add nothing.
func skippedWhole(result *Result) []string {
	var names []string
	for _, policy := range result.Policies {
		for _, skip := range policy.Skipped {
			if skip.Reason == TooManyTerms && skip.Field == "" && len(policy.Added) == 0 {
				names = append(names, policy.Policy.Name)
			}
		}
	}
	return names
}

func TestAnItemThatIsListedTwiceIsInjectedOnce(t *testing.T) {
	policy := everywhere(t, "a", "tolerations: [{key: a, operator: Exists}, {key: b, operator: Exists}, {key: a, operator: Exists}]\n"+
		required(term("d", "e", "d"), term("f"), term("e", "d")))
	w, raw := workload(t, podKind, "spec: {}")
	equalJSON(t, toJSON(t, "spec: {tolerations: [{key: a, operator: Exists}, {key: b, operator: Exists}], "+
		required(term("d", "e"), term("f"))+"}"), apply(t, raw, Inject(w, []*Policy{policy})))
}

func TestInjectionEndsWithItsContext(t *testing.T) {
	w, _ := workload(t, podKind, "spec: {}")
	ctx, cancel := context.WithCancel(t.Context())
	injection := NewInjection(w)
	if err := injection.Inject(ctx, []*Policy{everywhere(t, "a", "nodeName: n1")}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := injection.Inject(ctx, []*Policy{own(t, "b", "nodeSelector: {a: b}")}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if policies := injection.Result().Policies; len(policies) != 1 {
		t.Errorf("%d policies were injected, want the first one", len(policies))
	}
}

// BenchmarkPolicyBomb measures the injection of 31 policies of one namespace with 165 kB, and of the same policies for the whole cluster.
func BenchmarkPolicyBomb(b *testing.B) {
	w, _ := workload(b, podKind, "spec: {}")
	own := bomb(b)
	cluster := make([]*Policy, len(own))
	for i, policy := range own {
		everywhere := *policy
		everywhere.Namespace = ""
		cluster[i] = &everywhere
	}
	for name, policies := range map[string][]*Policy{"namespace": own, "cluster": cluster} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				result := Inject(w, policies)
				if _, err := result.Patch(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// docs/spec/trust.md section 5: what a Pod that all policies select would not be given is named, by the specs alone.
func TestBeyondLimits(t *testing.T) {
	var many []*Policy
	for i := range MaxPolicies + 2 {
		many = append(many, own(t, fmt.Sprintf("p%03d", i), fmt.Sprintf("nodeSelector: {k%03d: v}", i)))
	}
	large := []*Policy{own(t, "c", "nodeName: n1"), own(t, "b", tolerations("b", 1001)), own(t, "a", tolerations("a", 1000))}
	nothing := namespacedPolicy(t, "n", "a0", "nodeSelector: {x: v}")
	for _, tc := range []struct {
		reason   string
		policies []*Policy
		want     map[string]string // a part of each message
	}{
		{"none", nil, map[string]string{}},
		{"100 fit", many[:MaxPolicies], map[string]string{}},
		{"what comes after 100 does not", many, map[string]string{"p100": "after the first 100", "p101": "after the first 100"}},
		{"what selects no Pod does not count", append([]*Policy{nothing}, many[:MaxPolicies]...), map[string]string{}},
		{"too many expressions, and what comes after them", large, map[string]string{
			"b": "with the policy b", "c": "with the policy b the node selector, tolerations and affinity terms would have more than 2000"}},
		{"the same without the large one", []*Policy{large[0], large[2]}, map[string]string{}},
	} {
		got := BeyondLimits(tc.policies)
		for name, message := range got {
			if !strings.Contains(message, tc.want[name]) || tc.want[name] == "" {
				t.Errorf("%s: policy %s: %s", tc.reason, name, message)
			}
		}
		if len(got) != len(tc.want) {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}
