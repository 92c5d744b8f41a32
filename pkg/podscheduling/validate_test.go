// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
)

func TestValidate(t *testing.T) {
	const (
		node      = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%]}}}"
		nodePath  = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
		soft      = "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [%]}}"
		softPath  = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution"
		pods      = "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [%]}}"
		podsPath  = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution"
		softPods  = "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [%]}}"
		labelName = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
			"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
		labelValue = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with " +
			"an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
			"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
		subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with " +
			"an alphanumeric character (e.g. 'example.com', regex used for validation is " +
			"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
	)
	put := func(frame, part string) string { return strings.Replace(frame, "%", part, 1) }
	cases := []struct {
		reason, constraints string
		want                []string
	}{
		{reason: "K27: operator Near", constraints: put(node, "{matchExpressions: [{key: a, operator: Near}]}"),
			want: []string{nodePath + `[0].matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`}},
		{reason: "K27: weight 0", constraints: put(soft, "{weight: 0, preference: {}}"),
			want: []string{softPath + "[0].weight: Invalid value: 0: must be in the range 1-100"}},
		{reason: "2.1.7: weight 101 of pods", constraints: put(softPods, "{weight: 101, podAffinityTerm: {topologyKey: zone}}"),
			want: []string{"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: " +
				"Invalid value: 101: must be in the range 1-100"}},
		{reason: "K27: toleration with an empty key and operator Equal", constraints: "tolerations: [{operator: Equal}]",
			want: []string{"spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty, " +
				"which means \"match all values and all keys\""}},
		{reason: "K27: In without values", constraints: put(node, "{matchExpressions: [{key: a, operator: In}]}"),
			want: []string{nodePath + "[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"}},
		{reason: "K27: nodeName A_B", constraints: "nodeName: A_B", want: []string{`spec.nodeName: Invalid value: "A_B": ` + subdomain}},
		{reason: "K27: required with no terms", constraints: put(node, ""),
			want: []string{nodePath + ": Required value: must have at least one node selector term"}},
		{reason: "2.1.7: schedulerName", constraints: "schedulerName: a b",
			want: []string{`spec.schedulerName: Invalid value: "a b": ` + subdomain}},
		{reason: "2.1.7: keys and values of nodeSelector, in their order", constraints: "nodeSelector: {b c: x, a: y z}",
			want: []string{`spec.nodeSelector: Invalid value: "y z": ` + labelValue, `spec.nodeSelector: Invalid value: "b c": ` + labelName}},
		{reason: "2.1.7: Exists with values", constraints: put(node, "{matchExpressions: [{key: a, operator: Exists, values: [b]}]}"),
			want: []string{nodePath + "[0].matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or " +
				"'DoesNotExist'"}},
		{reason: "2.1.7: Gt without a value", constraints: put(node, "{matchExpressions: [{key: a, operator: Gt}]}"),
			want: []string{nodePath + "[0].matchExpressions[0].values: Required value: must be specified single value when `operator` is " +
				"'Lt' or 'Gt'"}},
		{reason: "2.1.7: a value that no label has", constraints: put(node, "{matchExpressions: [{key: a, operator: In, values: [b, c d]}]}"),
			want: []string{nodePath + `[0].matchExpressions[0].values[1]: Invalid value: "c d": ` + labelValue}},
		{reason: "2.1.7: a value that no label has, in a preferred term",
			constraints: put(soft, "{weight: 1, preference: {matchExpressions: [{key: a, operator: In, values: [c d]}]}}")},
		{reason: "2.1.7: matchFields of another key", constraints: put(node, "{matchFields: [{key: spec.x, operator: In, values: [b]}]}"),
			want: []string{nodePath + `[0].matchFields[0].key: Invalid value: "spec.x": not a valid field selector key`}},
		{reason: "2.1.7: matchFields with two values and one that is no name",
			constraints: put(node, "{matchFields: [{key: metadata.name, operator: In, values: [b, C]}]}"),
			want: []string{
				nodePath + "[0].matchFields[0].values: Required value: must be only one value when `operator` is 'In' or 'NotIn' for node " +
					"field selector",
				nodePath + `[0].matchFields[0].values[1]: Invalid value: "C": ` + subdomain,
			}},
		{reason: "2.1.7: matchFields with another operator", constraints: put(node, "{matchFields: [{key: metadata.name, operator: Exists}]}"),
			want: []string{nodePath + `[0].matchFields[0].operator: Invalid value: "Exists": not a valid selector operator`}},
		{reason: "2.1.7: pod term without a topologyKey", constraints: put(pods, "{topologyKey: ''}"),
			want: []string{
				podsPath + "[0].topologyKey: Required value: can not be empty",
				podsPath + `[0].topologyKey: Invalid value: "": name part must be non-empty`,
				podsPath + `[0].topologyKey: Invalid value: "": ` + labelName,
			}},
		{reason: "2.1.7: selectors and namespaces of a pod term",
			constraints: put(pods, "{topologyKey: zone, namespaces: [A], labelSelector: {matchExpressions: [{key: a, operator: Near}]}, "+
				"namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}"),
			want: []string{
				podsPath + `[0].labelSelector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`,
				podsPath + "[0].namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
				podsPath + `[0].namespace: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric ` +
					`characters or '-', ` +
					"and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
					"'[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
			}},
		{reason: "2.1.7: keys of a pod term",
			constraints: put(pods, "{topologyKey: zone, matchLabelKeys: [a, b], mismatchLabelKeys: [b]}, "+
				"{topologyKey: zone, matchLabelKeys: [a, a], labelSelector: {matchLabels: {a: x}, matchExpressions: [{key: a, operator: Exists}]}}"),
			want: []string{
				podsPath + "[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
				podsPath + "[0].mismatchLabelKeys: Forbidden: must not be specified when labelSelector is not set",
				podsPath + `[0].matchLabelKeys[1]: Invalid value: "b": exists in both matchLabelKeys and mismatchLabelKeys`,
				podsPath + `[1][1]: Invalid value: "a": exists in both matchLabelKeys and labelSelector`,
			}},
		{reason: "2.1.7: tolerationSeconds without NoExecute", constraints: "tolerations: [{key: a, operator: Exists, tolerationSeconds: 3}]",
			want: []string{"spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set"}},
		{reason: "2.1.7: Exists with a value, and an effect that there is not",
			constraints: "tolerations: [{key: a, operator: Exists, value: b, effect: Never}]",
			want: []string{
				"spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'",
				`spec.tolerations[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
			}},
		{reason: "2.1.7: operators that there are not", constraints: "tolerations: [{key: a, operator: Near}, {key: a, operator: Lt, value: '1'}]",
			want: []string{
				`spec.tolerations[0].operator: Unsupported value: "Near": supported values: "Equal", "Exists"`,
				`spec.tolerations[1].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"`,
			}},
		{reason: "2.1.7: a key and a value that no taint has", constraints: "tolerations: [{key: a b, value: c d}]",
			want: []string{
				`spec.tolerations[0].key: Invalid value: "a b": ` + labelName,
				`spec.tolerations[0].operator: Invalid value: "c d": ` + labelValue,
			}},
		{reason: "2.1.7: everything is in order",
			constraints: "nodeName: n1\nschedulerName: s\nnodeSelector: {a/b: c}\ntolerations: [{operator: Exists}, {key: a, value: b, " +
				"effect: NoExecute, tolerationSeconds: 1}]\n" +
				put(node, "{}, {matchExpressions: [{key: a, operator: Gt, values: ['1']}], matchFields: [{key: metadata.name, operator: In, "+
					"values: [n1]}]}")},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			policy := everywhere(t, "p", c.constraints)
			var got []string
			for _, err := range policy.Errors {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// docs/spec/pod-scheduling-policy.md 2.1.7: finalizers are qualified or standard.
func TestValidateFinalizers(t *testing.T) {
	policy := &kupidv1alpha1.PodSchedulingPolicy{}
	policy.Namespace, policy.Name = "a", "p"
	policy.Finalizers = []string{"example.com/mine", "orphan", "kubernetes", "mine", "no name"}
	var got []string
	for _, err := range NewPolicy(policy).Errors {
		got = append(got, err.Field+" "+fmt.Sprint(err.BadValue))
	}
	if diff := cmp.Diff([]string{"metadata.finalizers no name", "metadata.finalizers[3] mine"}, got); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}

func TestValidateMetadata(t *testing.T) {
	policy := clusterPolicy(t, "A_B", "namespaceSelector: {matchLabels: {a: b c}}\npodSelector: {matchExpressions: [{key: a, operator: "+
		"Near}]}\nnodeName: n1")
	var got []string
	for _, err := range policy.Errors {
		got = append(got, err.Field)
	}
	want := []string{"metadata.name", "spec.namespaceSelector.matchLabels", "spec.podSelector.matchExpressions[0].operator"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields of the errors (-want +got):\n%s", diff)
	}
}
