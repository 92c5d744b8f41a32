// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// docs/spec/snapshot.md SN2: what no evaluation reads is not in a snapshot, wherever an object is.
func TestSN2Redact(t *testing.T) {
	const secret = "hunter2"
	for name, text := range map[string]string{
		"a Secret": `
apiVersion: v1
kind: Secret
metadata:
  name: s
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: hunter2
    kapp.k14s.io/original: hunter2
    objectset.rio.cattle.io/applied: hunter2
    banzaicloud.com/last-applied: hunter2
    kept: "yes"
data: {password: hunter2}
stringData: {password: hunter2}
`,
		"a ConfigMap": `
apiVersion: v1
kind: ConfigMap
metadata: {name: s, annotations: {kept: "yes"}}
data: {password: hunter2}
binaryData: {password: hunter2}
`,
		"a Deployment": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, annotations: {kubectl.kubernetes.io/last-applied-configuration: "hunter2", kept: "yes"}}
spec:
  template:
    spec:
      initContainers: [{name: i, command: [run, hunter2]}]
      containers: [{name: c, image: kept, env: [{name: P, value: hunter2}], envFrom: [{prefix: hunter2}], args: [--password=hunter2]}]
`,
		"a Pod": `
apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {kubectl.kubernetes.io/last-applied-configuration: "hunter2", kept: "yes"}}
spec: {ephemeralContainers: [{name: c, env: [{name: P, value: hunter2}]}]}
`,
		"a CronJob": `
apiVersion: batch/v1
kind: CronJob
metadata: {name: c, annotations: {kubectl.kubernetes.io/last-applied-configuration: "hunter2", kept: "yes"}}
spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: c, args: [hunter2]}]}}}}}
`,
		"a ManifestWork": `
apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata: {name: w, annotations: {kubectl.kubernetes.io/last-applied-configuration: "hunter2", kept: "yes"}}
spec:
  workload:
    manifests:
    - {apiVersion: v1, kind: Secret, metadata: {name: s}, data: {password: hunter2}}
    - apiVersion: v1
      kind: ConfigMap
      metadata: {name: s, annotations: {kubectl.kubernetes.io/last-applied-configuration: hunter2}}
      data: {p: hunter2}
    - {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {password: hunter2}}]}
`,
	} {
		t.Run(name, func(t *testing.T) {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(text), &object); err != nil {
				t.Fatal(err)
			}
			redact(object)
			left, err := yaml.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(left), secret) || !strings.Contains(string(left), "kept") {
				t.Errorf("what is left:\n%s", left)
			}
		})
	}
}

// What evaluations read of an object stays as it is.
func TestSN2RedactKeepsTheRest(t *testing.T) {
	const placement = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"spec":{}}'
  managedFields:
  - manager: kubectl
  name: p
spec:
  predicates:
  - requiredClusterSelector:
      labelSelector:
        matchLabels:
          data: env
`
	var object map[string]any
	if err := yaml.Unmarshal([]byte(placement), &object); err != nil {
		t.Fatal(err)
	}
	redact(object)
	left, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if string(left) != placement {
		t.Errorf("got\n%s\nwant\n%s", left, placement)
	}
}
