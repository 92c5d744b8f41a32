// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkInject measures all of the core's work for one review of a Deployment of ordinary size: reading, matching, merging, encoding
// the patch. Of 1,000 policies in 500 namespaces three match.
func BenchmarkInject(b *testing.B) {
	const affinity = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: " +
		"[{matchExpressions: [{key: %s, operator: In, values: [a, b]}]}]}}}\n"
	policies := []*Policy{
		everywhere(b, "all", fmt.Sprintf(affinity, "pool")+"tolerations: [{key: pool, operator: Exists}]"),
		clusterPolicy(b, "other", "namespaceSelector: {matchLabels: {team: b}}\npodSelector: {}\nnodeName: n1"),
	}
	for i := range 499 {
		for _, name := range []string{"a", "b"} {
			policies = append(policies, namespacedPolicy(b, fmt.Sprintf("team-%d", i), name,
				"podSelector: {matchLabels: {app: etcd}}\nnodeSelector: {disk-"+name+": ssd}\n"+fmt.Sprintf(affinity, "zone-"+name)))
		}
	}
	arranged := NewPolicies(policies)
	raw := toJSON(b, "metadata: {name: etcd, namespace: team-7, labels: {app: etcd}}\nspec:\n  replicas: 3\n  template:\n"+
		"    metadata: {labels: {app: etcd, role: main}}\n    spec:\n      schedulerName: default-scheduler\n      "+
		strings.ReplaceAll(fmt.Sprintf(affinity, "arch"), "\n", "")+"\n      containers:\n"+
		strings.Repeat("      - {name: c, image: registry.example.com/etcd:v3, env: [{name: A, value: b}, {name: C, value: d}], resources: "+
			"{requests: "+
			"{cpu: 100m, memory: 1Gi}}, volumeMounts: [{name: data, mountPath: /var/lib/etcd}], terminationMessagePath: /dev/termination-log, "+
			"livenessProbe: {httpGet: {path: /health, port: 2379, scheme: HTTP}, periodSeconds: 10, timeoutSeconds: 1, failureThreshold: 3}}\n", 4))
	namespace := map[string]string{"kubernetes.io/metadata.name": "team-7", "team": "a"}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		w, err := ReadWorkload(deploymentKind, raw)
		if err != nil {
			b.Fatal(err)
		}
		result := Inject(w, arranged.Matching(w.Namespace, namespace, w.Labels))
		patch, err := result.Patch()
		if err != nil || len(patch) == 0 || len(result.Policies) != 3 {
			b.Fatalf("patch %s of %d policies: %v", patch, len(result.Policies), err)
		}
	}
}
