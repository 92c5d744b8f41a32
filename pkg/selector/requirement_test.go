// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

const arn = "arn:aws:eks:eu-west-1:123456789012:cluster/a-name-that-is-longer-than-sixty-three-characters"

func in(key string, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: values}
}

func notIn(key string, values ...string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: values}
}

func exists(key string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpExists}
}

func doesNotExist(key string) metav1.LabelSelectorRequirement {
	return metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpDoesNotExist}
}

func TestRequirements(t *testing.T) {
	f := clusterinfo.New(&clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c1", Labels: map[string]string{"region": "eu", "empty": ""}},
		Status: clusterv1.ManagedClusterStatus{ClusterClaims: []clusterv1.ManagedClusterClaim{
			{Name: "id.k8s.io", Value: arn}, {Name: "https://console?x=1&y=2", Value: "https://api.example.com:6443/path?q=ü"},
			{Name: "blank", Value: ""},
		}},
	}, nil)
	exact := func(claims ...metav1.LabelSelectorRequirement) Spec { return Spec{Claims: claims} }
	label := func(labels ...metav1.LabelSelectorRequirement) Spec {
		return Spec{Labels: metav1.LabelSelector{MatchExpressions: labels}}
	}
	for _, tc := range []struct {
		reason  string
		spec    Spec
		text    string
		failure string
	}{
		{"1.1: empty matches all", Spec{}, "every cluster", ""},
		{"matchLabels", Spec{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}}, "label region In [eu]", ""},
		{"matchLabels are ANDed, in the order of their keys",
			Spec{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu", "a": "b"}}},
			"label a In [b] and label region In [eu]", "label a In [b]: not set"},
		{"matchLabels and matchExpressions are ANDed", Spec{Labels: metav1.LabelSelector{
			MatchLabels: map[string]string{"region": "eu"}, MatchExpressions: []metav1.LabelSelectorRequirement{doesNotExist("region")},
		}}, "label region In [eu] and label region DoesNotExist", "label region DoesNotExist: is eu"},
		{"In, values sorted", label(in("region", "us", "eu")), "label region In [eu us]", ""},
		{"In, another value", label(in("region", "us")), "label region In [us]", "label region In [us]: is eu"},
		{"In, key missing", label(in("zone", "a")), "label zone In [a]", "label zone In [a]: not set"},
		{"In, the empty value is a value", label(in("empty", "")), "label empty In []", ""},
		{"In, the empty value is not a missing key", label(in("zone", "")), "label zone In []", "label zone In []: not set"},
		{"NotIn, listed", label(notIn("region", "eu")), "label region NotIn [eu]", "label region NotIn [eu]: is eu"},
		{"NotIn, other", label(notIn("region", "us")), "label region NotIn [us]", ""},
		{"1.1: NotIn matches a cluster without the key", label(notIn("zone", "a")), "label zone NotIn [a]", ""},
		{"Exists", label(exists("empty")), "label empty Exists", ""},
		{"Exists, missing", label(exists("zone")), "label zone Exists", "label zone Exists: not set"},
		{"1.1: DoesNotExist matches a cluster without the key", label(doesNotExist("zone")), "label zone DoesNotExist", ""},
		{"C1: a long ARN in In", exact(in("id.k8s.io", arn)), "claim id.k8s.io In [" + arn + "]", ""},
		{"C1: a long ARN in NotIn", exact(notIn("id.k8s.io", arn)), "claim id.k8s.io NotIn [" + arn + "]",
			"claim id.k8s.io NotIn [" + arn + "]: is " + arn},
		{"C1: a URL as value and as name", exact(in("https://console?x=1&y=2", "https://api.example.com:6443/path?q=ü")),
			"claim https://console?x=1&y=2 In [https://api.example.com:6443/path?q=ü]", ""},
		{"C1: a URL as name in Exists", exact(exists("https://console?x=1&y=2")), "claim https://console?x=1&y=2 Exists", ""},
		{"C1: a long name in DoesNotExist", exact(doesNotExist(strings.Repeat("x", 300))),
			"claim " + strings.Repeat("x", 300) + " DoesNotExist", ""},
		{"claims: NotIn matches a cluster without the claim", exact(notIn("none", arn)), "claim none NotIn [" + arn + "]", ""},
		{"claims: an empty value is set", exact(exists("blank"), notIn("blank", "x"), in("blank", "")),
			"claim blank Exists and claim blank NotIn [x] and claim blank In []", ""},
		{"a label is no claim", exact(exists("region")), "claim region Exists", "claim region Exists: not set"},
		{"a claim is no label", label(exists("id.k8s.io")), "label id.k8s.io Exists", "label id.k8s.io Exists: not set"},
		{"matchClaims: plain strings, ANDed, in the order of their names", Spec{ClaimValues: map[string]string{"id.k8s.io": arn, "blank": ""}},
			"claim blank In [] and claim id.k8s.io In [" + arn + "]", ""},
		{"matchClaims: another value", Spec{ClaimValues: map[string]string{"id.k8s.io": "x"}}, "claim id.k8s.io In [x]",
			"claim id.k8s.io In [x]: is " + arn},
		{"matchClaims: not set is not the empty value", Spec{ClaimValues: map[string]string{"none": ""}}, "claim none In []",
			"claim none In []: not set"},
		{"matchClaims and matchExpressions are ANDed", Spec{
			ClaimValues: map[string]string{"blank": ""}, Claims: []metav1.LabelSelectorRequirement{doesNotExist("blank")},
		}, "claim blank In [] and claim blank DoesNotExist", "claim blank DoesNotExist: is "},
		{"the name", Spec{Name: "c1"}, "name is c1", ""},
		{"another name", Spec{Name: "c4"}, "name is c4", "name is c4: is c1"},
		{"a label of that name is not the name", Spec{Name: "eu"}, "name is eu", "name is eu: is c1"},
		{"name, labels and claims are ANDed, the name first", Spec{
			Name: "c1", Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "us"}}, ClaimValues: map[string]string{"blank": ""},
		}, "name is c1 and label region In [us] and claim blank In []", "label region In [us]: is eu"},
		{"1.1: the selectors of one predicate are ANDed, labels first", Spec{
			Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
			Claims: []metav1.LabelSelectorRequirement{exists("blank")}, CEL: []string{"true", "1 > 2"},
		}, "label region In [eu] and claim blank Exists and CEL true and CEL 1 > 2", "CEL 1 > 2: is false"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s, errs := NewCompiler().Compile(paths(), tc.spec)
			if len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			verdict := s.Match(f, &EvalContext{Now: now})
			if want := tc.failure == ""; verdict.Matched != want || s.Matches(f, &EvalContext{Now: now}) != want {
				t.Errorf("matched = %v, want %v", verdict.Matched, want)
			}

			if diff := cmp.Diff(tc.failure, verdict.Failure()); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.text, s.String()); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if verdict.Err != nil {
				t.Errorf("unexpected error: %v", verdict.Err)
			}
		})
	}
}

func TestMistakesInRequirements(t *testing.T) {
	label := func(labels ...metav1.LabelSelectorRequirement) Spec {
		return Spec{Labels: metav1.LabelSelector{MatchExpressions: labels}}
	}
	for _, tc := range []struct {
		reason string
		spec   Spec
		want   []string
	}{
		{"label operator", label(metav1.LabelSelectorRequirement{Key: "a", Operator: "in"}), []string{
			`spec.labelSelector.matchExpressions[0].operator: Invalid value: "in": not a valid selector operator`,
		}},
		{"label In without values", label(exists("a"), in("b")), []string{
			"spec.labelSelector.matchExpressions[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
		}},
		{"label Exists with values", label(metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpExists, Values: []string{"b"}}),
			[]string{"spec.labelSelector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'"}},
		{"every mistake is named", Spec{
			Labels: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in("a")}},
			Claims: []metav1.LabelSelectorRequirement{exists("fine"), in(""), {Key: "c", Operator: "Gt", Values: []string{"1"}}},
			CEL:    []string{"true", "1"},
		}, []string{
			"spec.labelSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			"spec.claimSelector.matchExpressions[1].key: Required value: the name of a cluster claim",
			"spec.claimSelector.matchExpressions[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			`spec.claimSelector.matchExpressions[2].operator: Unsupported value: "Gt": supported values: "In", "NotIn", "Exists", "DoesNotExist"`,
			`spec.celExpressions[1]: Invalid value: "1": must be a boolean expression, but its type is int`,
		}},
		{"a name that no cluster can have", Spec{Name: "C_4"}, []string{
			`spec.clusterName: Invalid value: "C_4": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, ` +
				`'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is ` +
				`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		}},
		{"a claim value without a claim", Spec{Name: "c4", ClaimValues: map[string]string{"": "x", "y": "z"}}, []string{
			`spec.claimSelector.matchClaims[]: Required value: the name of a cluster claim`,
		}},
		{"claim DoesNotExist with values", Spec{Claims: []metav1.LabelSelectorRequirement{
			{Key: "a", Operator: metav1.LabelSelectorOpDoesNotExist, Values: []string{"b"}},
		}}, []string{
			"spec.claimSelector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s, errs := NewCompiler().Compile(paths(), tc.spec)
			if s != nil {
				t.Error("there is a selector in spite of the mistakes")
			}
			got := make([]string, 0, len(errs))
			for _, err := range errs {
				got = append(got, err.Error())
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("mistakes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReads checks that each property is listed once, and that the existence of a cluster is read by its name alone.
func TestReads(t *testing.T) {
	s, errs := NewCompiler().Compile(paths(), Spec{
		Name: "c4", Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
		ClaimValues: map[string]string{"id": "x"}, Claims: []metav1.LabelSelectorRequirement{exists("id"), exists("region")},
	})
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}

	want := []clusterinfo.Property{
		{Kind: clusterinfo.Name, Name: "c4"}, {Kind: clusterinfo.Label, Name: "region"}, {Kind: clusterinfo.Claim, Name: "id"},
		{Kind: clusterinfo.Claim, Name: "region"},
	}
	if diff := cmp.Diff(want, s.Reads()); diff != "" {
		t.Errorf("reads (-want +got):\n%s", diff)
	}
	c4 := clusterinfo.New(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c4"}}, nil)
	c1 := clusterinfo.New(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, nil)

	if comes := clusterinfo.ChangedProperties(nil, c4); !clusterinfo.Affects(s.Reads(), comes) {
		t.Errorf("not touched by %v", comes)
	}
	if goes := clusterinfo.ChangedProperties(c1, nil); clusterinfo.Affects(s.Reads(), goes) {
		t.Errorf("touched by %v", goes)
	}
}

// TestLabelErrorsAreSorted checks that errors do not depend on the order of a map, so that conditions do not change
// (docs/spec/differences.md B6).
func TestLabelErrorsAreSorted(t *testing.T) {
	spec := Spec{Labels: metav1.LabelSelector{
		MatchLabels:      map[string]string{"a": "1!", "b": "2!", "c": "3!", "d!": "4"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "e", Operator: metav1.LabelSelectorOpIn}},
	}}
	first := ""

	for range 30 {
		_, errs := NewCompiler().Compile(Paths{Labels: field.NewPath("labels")}, spec)
		if len(errs) != 5 {
			t.Fatalf("got %d mistakes, want 5: %v", len(errs), errs)
		}
		if text := errs.ToAggregate().Error(); first == "" {
			first = text
		} else if text != first {
			t.Fatalf("two texts for one selector:\n%s\n%s", first, text)
		}
	}
}
