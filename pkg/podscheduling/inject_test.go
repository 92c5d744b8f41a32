// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// term returns a required term, or the preference of a preferred one, with a requirement for each key.
func term(keys ...string) string {
	var requirements []string
	for _, key := range keys {
		requirements = append(requirements, "{key: "+key+", operator: Exists}")
	}
	return "{matchExpressions: [" + strings.Join(requirements, ", ") + "]}"
}

func required(terms ...string) string {
	return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + strings.Join(terms, ", ") + "]}}}"
}

func preferred(terms ...string) string {
	return "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [" + strings.Join(terms, ", ") + "]}}"
}

// injectCase is a pod spec before and after policies.
type injectCase struct {
	reason   string
	spec     string   // of the pod template, in YAML
	policies []string // the constraints of cluster policies a, b, ..., in YAML
	want     string   // the pod spec afterwards; "" for no patch
	skipped  []string // policy reason field
}

func TestInject(t *testing.T) {
	const (
		antiAffinity = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}"
		requiredName = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	)
	cases := []injectCase{
		{reason: "K1: nodeSelector of a template without one", spec: "{}",
			policies: []string{"nodeSelector: {pool: etcd}"}, want: "nodeSelector: {pool: etcd}"},
		{reason: "K6: keys that are there are kept", spec: "nodeSelector: {pool: web}", policies: []string{"nodeSelector: {pool: etcd, disk: ssd}"},
			want: "nodeSelector: {pool: web, disk: ssd}", skipped: []string{"a Conflict nodeSelector[pool]"}},
		{reason: "2.1.4: keys with a slash and a tilde", spec: "nodeSelector: {pool: web}", policies: []string{"nodeSelector: {x.io/a: b}"},
			want: "nodeSelector: {pool: web, x.io/a: b}"},
		{reason: "K7: nodeName that is there is kept", spec: "nodeName: n1", policies: []string{"nodeName: n2"},
			skipped: []string{"a Conflict nodeName"}},
		{reason: "K8: nodeName", spec: "nodeName: ''", policies: []string{"nodeName: n2"}, want: "nodeName: n2"},
		{reason: "K8: with scheduling gates nodeName stays empty", spec: "schedulingGates: [{name: g}]", policies: []string{"nodeName: n2"},
			skipped: []string{"a SchedulingGates nodeName"}},
		{reason: "K9, V1: default-scheduler counts as unset", spec: "schedulerName: default-scheduler",
			policies: []string{"schedulerName: custom"}, want: "schedulerName: custom"},
		{reason: "2.1.4: schedulerName is absent", spec: "{}", policies: []string{"schedulerName: custom"}, want: "schedulerName: custom"},
		{reason: "K10: schedulerName that is there is kept", spec: "schedulerName: mine", policies: []string{"schedulerName: custom"},
			skipped: []string{"a Conflict schedulerName"}},
		{reason: "2.1.3: a policy that asks for the default scheduler comes before one that asks for another",
			spec: "schedulerName: default-scheduler", policies: []string{"schedulerName: default-scheduler", "schedulerName: custom"},
			skipped: []string{"b Conflict schedulerName"}},
		{reason: "K11: tolerations are appended once", spec: "tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: " +
			"NoExecute, " +
			"tolerationSeconds: 300}, {key: k, value: v, effect: NoSchedule}]",
			policies: []string{"tolerations: [{key: k, value: v, effect: NoSchedule}, {key: k, value: v, effect: NoExecute}]"},
			want: "tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}, " +
				"{key: k, value: v, effect: NoSchedule}, {key: k, value: v, effect: NoExecute}]"},
		{reason: "2.1.4: there is no subsumption of tolerations", spec: "tolerations: [{operator: Exists}]",
			policies: []string{"tolerations: [{key: k, operator: Exists}]"}, want: "tolerations: [{operator: Exists}, {key: k, operator: Exists}]"},
		{reason: "K12: two terms of the policy and one of the template", spec: required(term("t")),
			policies: []string{required(term("p1"), term("p2"))}, want: required(term("p1", "t"), term("p2", "t"))},
		{reason: "K13: what was injected is left alone", spec: required(term("p1", "t"), term("p2", "t")),
			policies: []string{required(term("p1"), term("p2"))}},
		{reason: "K14: one term of the policy and two of the template", spec: required(term("t1"), term("t2")),
			policies: []string{required(term("p1"))}, want: required(term("p1", "t1"), term("p1", "t2"))},
		{reason: "K15: a template that matches nothing still matches nothing", spec: required("{}"), policies: []string{required(term("p1"))},
			skipped: []string{"a MatchesNothing " + requiredName}},
		{reason: "2.1.4: an empty term of the template goes when another one stays", spec: required("{}", term("t")),
			policies: []string{required(term("p"))}, want: required(term("p", "t"))},
		{reason: "2.1.4: and stays when nothing has to change", spec: required("{}", term("p", "t")), policies: []string{required(term("p"))}},
		{reason: "2.1.4: required terms of the template are absent", spec: "affinity: {nodeAffinity: {}}", policies: []string{required("{}",
			term("p"))},
			want: required(term("p"))},
		{reason: "2.1.4: redundant terms are absorbed", spec: required(term("a"), term("b", "c")), policies: []string{required(term("a"),
			term("b"))},
			want: required(term("a"), term("b", "c"))},
		{reason: "2.1.4: fields and expressions are apart", spec: required("{matchFields: [{key: metadata.name, operator: In, values: [n]}]}"),
			policies: []string{required(term("p"))},
			want: required("{matchFields: [{key: metadata.name, operator: In, values: [n]}], " +
				"matchExpressions: [{key: p, operator: Exists}]}")},
		{reason: "K24: unknown fields of a term and of a requirement survive the product",
			spec:     required("{later: {x: [1, 1.50, 12345678901234567890]}, matchExpressions: [{key: t, operator: Exists, later: true}]}"),
			policies: []string{required(term("p"))},
			want: required("{later: {x: [1, 1.50, 12345678901234567890]}, matchExpressions: [{key: p, operator: Exists}, " +
				"{key: t, operator: Exists, later: true}]}")},
		{reason: "K16: a preferred term that is equal in both", spec: preferred("{weight: 1, preference: " + term("a") + "}"),
			policies: []string{preferred("{weight: 1, preference: " + term("a") + "}")}},
		{reason: "K16: a preferred term with another weight", spec: preferred("{weight: 1, preference: " + term("a") + "}"),
			policies: []string{preferred("{weight: 2, preference: " + term("a") + "}")},
			want:     preferred("{weight: 1, preference: "+term("a")+"}", "{weight: 2, preference: "+term("a")+"}")},
		{reason: "K17: podAntiAffinity of a template without one", spec: "{}", policies: []string{antiAffinity}, want: antiAffinity},
		{reason: "2.1.4: terms of pods are appended",
			spec:     "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host}]}, podAffinity: null}",
			policies: []string{antiAffinity},
			want: "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host}, {topologyKey: zone}]}, " +
				"podAffinity: null}"},
		{reason: "2.1.4: an empty affinity of the policy adds nothing", spec: "{}",
			policies: []string{"affinity: {nodeAffinity: {}, podAffinity: {}}"}},
		{reason: "K18: the first policy wins", spec: "{}", policies: []string{"nodeSelector: {x: '2'}", "nodeSelector: {x: '1'}",
			"nodeSelector: {x: '3'}"},
			want: "nodeSelector: {x: '2'}", skipped: []string{"b Conflict nodeSelector[x]", "c Conflict nodeSelector[x]"}},
		{reason: "K19: tolerations of two policies", spec: "{}",
			policies: []string{"tolerations: [{key: b, operator: Exists}]", "tolerations: [{key: a, operator: Exists}]"},
			want:     "tolerations: [{key: b, operator: Exists}, {key: a, operator: Exists}]"},
		{reason: "2.1.4: fields are independent", spec: "nodeName: n1", policies: []string{"nodeName: n2\nschedulerName: s\nnodeSelector: {a: b}"},
			want: "nodeName: n1\nschedulerName: s\nnodeSelector: {a: b}", skipped: []string{"a Conflict nodeName"}},
		{reason: "K30: a policy that changes nothing", spec: "nodeSelector: {pool: etcd}\nnodeName: n1\nschedulerName: s",
			policies: []string{"nodeSelector: {pool: etcd}\nnodeName: n1\nschedulerName: s"}},
		{reason: "K34: no policy", spec: "{}"},
		{reason: "K37: required terms that are all empty", spec: "{}", policies: []string{"nodeSelector: {pool: etcd}\n" + required("{}", "{}")},
			want: "nodeSelector: {pool: etcd}", skipped: []string{"a EmptyTerms " + requiredName}},
		{reason: "K39: what was injected counts as the workload's own", spec: "nodeSelector: {pool: etcd}",
			policies: []string{"nodeSelector: {pool: db}"},
			skipped:  []string{"a Conflict nodeSelector[pool]"}},
		{reason: "2.1.6: an invalid policy is skipped whole", spec: "{}", policies: []string{"nodeName: A_B\nschedulerName: s", "schedulerName: t"},
			want: "schedulerName: t", skipped: []string{"a Invalid "}},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) { c.check(t) })
	}
}

func (c *injectCase) check(t *testing.T) {
	t.Helper()
	frame := func(spec string) string {
		return "metadata: {name: d, labels: {app: x}}\nspec:\n  template:\n    spec:\n      containers: [{name: c}]\n" +
			"      " + strings.ReplaceAll(strings.TrimPrefix(spec, "{}"), "\n", "\n      ") + "\n"
	}
	var policies []*Policy
	for i, constraints := range c.policies {
		policies = append(policies, everywhere(t, string(rune('a'+i)), constraints))
	}
	w, raw := workload(t, deploymentKind, frame(c.spec))
	result := Inject(w, policies)
	if c.want == "" {
		if len(result.Operations) > 0 {
			t.Errorf("Operations = %v, want none", result.Operations)
		}
		c.want = c.spec
	}
	patched := apply(t, raw, result)
	equalJSON(t, toJSON(t, frame(c.want)), patched)
	var skipped []string
	for _, policy := range result.Policies {
		for _, skip := range policy.Skipped {
			skipped = append(skipped, policy.Policy.Name+" "+string(skip.Reason)+" "+skip.Field)
			if skip.Message == "" {
				t.Errorf("%v has no message", skip)
			}
		}
	}
	if diff := cmp.Diff(c.skipped, skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
	again, err := ReadWorkload(deploymentKind, patched)
	if err != nil {
		t.Fatal(err)
	}
	if second := Inject(again, policies); len(second.Operations) > 0 {
		t.Errorf("second injection: %v, want nothing", second.Operations)
	}
}

func TestInjectReportsWhatItAdds(t *testing.T) {
	w, _ := workload(t, podKind, "spec: {nodeSelector: {pool: web}}")
	result := Inject(w, []*Policy{
		everywhere(t, "a", "nodeSelector: {pool: etcd, disk: ssd}\ntolerations: [{operator: Exists}]"), everywhere(t, "b", "nodeName: n1"),
		everywhere(t, "c", "nodeName: n1"),
	})
	var got [][]string
	for _, policy := range result.Policies {
		got = append(got, policy.Added)
	}
	if diff := cmp.Diff([][]string{{"nodeSelector[disk]", "tolerations"}, {"nodeName"}, nil}, got); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	want := `nodeSelector[pool]: "web" is kept, not "etcd"`
	if skip := result.Policies[0].Skipped[0]; skip.Message != want || skip.Wanted != "etcd" || skip.Own != "web" {
		t.Errorf("Skipped[0] = %+v, want the message %s", skip, want)
	}
}

// The product is bounded: docs/spec/pod-scheduling-policy.md 2.1.4.
func TestProductIsBounded(t *testing.T) {
	terms := func(prefix string, count int) []string {
		var list []string
		for i := range count {
			list = append(list, term(fmt.Sprint(prefix, i)))
		}
		return list
	}
	cases := []struct {
		reason      string
		own, wanted int
		want        int
		reasonOf    Reason
	}{
		{"2.1.4: 16 times 16 terms are 256", 16, 16, 256, ""},
		{"2.1.4: 16 times 17 terms are too many", 16, 17, 16, TooManyTerms},
		{"2.1.4: the terms of the policy alone are not bounded", 0, 300, 300, ""},
		{"2.1.4: neither list is compared when there are too many pairs", 300, 300, 300, TooManyTerms},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			spec := "spec: {}"
			if c.own > 0 {
				spec = "spec: {" + required(terms("s", c.own)...) + "}"
			}
			w, raw := workload(t, podKind, spec)
			policy := everywhere(t, "a", required(terms("p", c.wanted)...)+"\nnodeName: n1")
			result := Inject(w, []*Policy{policy})
			patched, err := ReadWorkload(podKind, apply(t, raw, result))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(at[[]any](patched.spec, requiredPath...)); got != c.want {
				t.Errorf("%d terms, want %d", got, c.want)
			}
			if member[string](patched.spec, nodeNameField) != "n1" {
				t.Error("nodeName is not injected")
			}
			skipped := slices.ContainsFunc(result.Policies[0].Skipped, func(skip Skip) bool { return skip.Reason == TooManyTerms })
			if skipped != (c.reasonOf == TooManyTerms) {
				t.Errorf("Skipped = %v, want the reason %q", result.Policies[0].Skipped, c.reasonOf)
			}
			if second := Inject(patched, []*Policy{policy}); len(second.Operations) > 0 {
				t.Errorf("second injection: %v, want nothing", second.Operations)
			}
		})
	}
}

func TestConflictsAreDeterministic(t *testing.T) {
	policies := []*Policy{
		everywhere(t, "b", "nodeSelector: {x: '1'}"), everywhere(t, "a", "nodeSelector: {x: '2'}"),
		namespacedPolicy(t, "n", "0", "podSelector: {}\nnodeSelector: {x: '3'}"),
	}
	t.Run("K18: cluster policy a wins, in each of 100 runs", func(t *testing.T) {
		for range 100 {
			w, raw := workload(t, podKind, "spec: {}")
			result := Inject(w, NewPolicies(policies).Matching("n", nil, nil))
			equalJSON(t, []byte(`{"spec":{"nodeSelector":{"x":"2"}}}`), apply(t, raw, result))
			policies = append(policies[1:], policies[0])
		}
	})
}
