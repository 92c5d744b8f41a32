// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"testing"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// docs/spec/cluster-request.md 4.6: each change of the difference is logged once.
func TestSetCheckReport(t *testing.T) {
	naming := func(data map[string]string) *corev1.ConfigMap { return &corev1.ConfigMap{Data: data} }

	lines := 0
	ctx := klog.NewContext(t.Context(), funcr.New(func(string, string) { lines++ }, funcr.Options{}))
	check := &setCheck{set: "default"}
	for _, c := range []struct {
		reason string
		found  *corev1.ConfigMap
		differ bool
		logged bool
	}{
		{"the sets are the same", naming(map[string]string{"set": "default"}), false, false},
		{"the ConfigMap is missing", nil, true, true},
		{"it is still missing", nil, true, false},
		{"it names another set", naming(map[string]string{"set": "fleet"}), true, true},
		{"it has another key, too", naming(map[string]string{"set": "fleet", "other": "x"}), true, false},
		{"it names the empty set", naming(map[string]string{"set": ""}), true, true},
		{"without the key it names the default set", naming(nil), false, true},
		{"the sets are the same again", naming(map[string]string{"set": "default"}), false, false},
	} {
		before := lines
		difference := setDifference(c.found, check.set)
		check.report(ctx, difference)
		if (difference != nil) != c.differ {
			t.Errorf("%s: difference %v", c.reason, difference)
		}
		if logged := lines > before; logged != c.logged {
			t.Errorf("%s: logged %v, want %v", c.reason, logged, c.logged)
		}
	}
}
