// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// FuzzParseSelector checks that each value is either rejected with the name of the annotation, or is JSON whose requirements compile.
func FuzzParseSelector(f *testing.F) {
	for _, value := range []string{
		``, `null`, `[]`, `{}`, `[null]`, `[] x`, `[{"key":"a","operator":"In","values":["b"]}]`, `[{"key":"a","operator":">","values":["14"]}]`,
		`[{"key":"a","operator":"Lt","values":["9223372036854775808"]}]`, `[{"key":"a","Key":"b","operator":"!"}]`, ControlPlaneOnly,
	} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		target, err := Choose(map[string]string{SelectorAnnotation: value}, nil)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "annotation "+SelectorAnnotation+": ") {
				t.Error(err)
			}
			return
		}
		if !target.Nowhere && !json.Valid([]byte(value)) {
			t.Errorf("%q is accepted", value)
		}
		if request, err := target.Request(selector.NewCompiler(), key); request == nil || err != nil {
			t.Errorf("%q: %v", value, err)
		}
	})
}

// FuzzParsePreferences checks that preferences that are accepted make a plan of at most the total, and survive being encoded.
func FuzzParsePreferences(f *testing.F) {
	for _, value := range []string{
		``, `null`, `{}`, `{"rebalance":true}`, `{"clusters":{"*":{"weight":1}}}`, `{"clusters":{"a":null,"b":{"maxReplicas":2147483647}}}`,
		`{"clusters":{"a":{"minReplicas":2147483647,"weight":2147483647},"*":{"weight":2147483647,"maxReplicas":1}}}`,
	} {
		f.Add(value, int32(9))
	}
	f.Fuzz(func(t *testing.T, value string, total int32) {
		preferences, err := ParsePreferences(value)
		if err != nil {
			return
		}
		clusters := append(available("a", "b", "c"), ReplicaCluster{Name: "d", Planned: 2})
		var sum int64
		for cluster, replicas := range PlanReplicas(key, total, preferences, clusters) {
			if sum += int64(replicas); replicas < 0 {
				t.Errorf("%s has %d replicas", cluster, replicas)
			}
		}
		if sum > int64(max(total, 0)) {
			t.Errorf("%d of %d replicas", sum, total)
		}
		encoded, err := json.Marshal(preferences)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParsePreferences(string(encoded))
		if diff := cmp.Diff(preferences, again); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", encoded, err, diff)
		}
	})
}
