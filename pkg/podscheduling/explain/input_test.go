// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
)

// parse returns the objects of YAML documents.
func parse(t *testing.T, text string) *Objects {
	t.Helper()
	objects := &Objects{}
	for document := range strings.SplitSeq(text, "\n---\n") {
		raw, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(raw); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		switch object.GetKind() {
		case "PodSchedulingPolicy":
			objects.Policies = append(objects.Policies, decoded[kupidv1alpha1.PodSchedulingPolicy](t, raw))
		case "ClusterPodSchedulingPolicy":
			objects.ClusterPolicies = append(objects.ClusterPolicies, decoded[kupidv1alpha1.ClusterPodSchedulingPolicy](t, raw))
		case "AffinityClass":
			objects.Classes = append(objects.Classes, decoded[cozystackv1alpha1.AffinityClass](t, raw))
		case "Tenant":
			objects.Tenants = append(objects.Tenants, decoded[appsv1alpha1.Tenant](t, raw))
		case "Namespace":
			objects.Namespaces = append(objects.Namespaces, decoded[corev1.Namespace](t, raw))
		case "Node":
			objects.Nodes = append(objects.Nodes, decoded[corev1.Node](t, raw))
		case "HelmRelease":
			objects.Releases = append(objects.Releases, object)
		case "Postgres":
			objects.Applications = append(objects.Applications, object)
		default:
			objects.Workloads = append(objects.Workloads, object)
		}
	}

	return objects
}

func decoded[T any](t *testing.T, raw []byte) *T {
	t.Helper()
	object := new(T)
	if err := json.Unmarshal(raw, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// world has policies, a class, a Tenant with an application and three nodes.
const world = `
apiVersion: v1
kind: Namespace
metadata: {name: tenant-acme, labels: {team: acme, cozystack.io/verify-affinity-class: "true"}}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: etcd, disk: ssd, zone: dc1}}
spec: {taints: [{key: pool, value: etcd, effect: NoSchedule}]}
---
apiVersion: v1
kind: Node
metadata: {name: n2, labels: {pool: web, zone: dc1}}
---
apiVersion: v1
kind: Node
metadata: {name: n3, labels: {pool: web, zone: dc2}}
spec: {unschedulable: true}
---
apiVersion: kupid.gardener.cloud/v1alpha1
kind: ClusterPodSchedulingPolicy
metadata: {name: etcd}
spec:
  namespaceSelector: {}
  podSelector: {matchLabels: {app: etcd}}
  nodeSelector: {pool: etcd, disk: ssd}
  tolerations: [{key: pool, operator: Exists}]
---
apiVersion: kupid.gardener.cloud/v1alpha1
kind: ClusterPodSchedulingPolicy
metadata: {name: broken}
spec: {namespaceSelector: {}, podSelector: {}, nodeName: A_B}
---
apiVersion: kupid.gardener.cloud/v1alpha1
kind: ClusterPodSchedulingPolicy
metadata: {name: nowhere}
spec: {podSelector: {}, nodeName: n1}
---
apiVersion: kupid.gardener.cloud/v1alpha1
kind: ClusterPodSchedulingPolicy
metadata: {name: team-b}
spec: {namespaceSelector: {matchLabels: {team: b}}, podSelector: {}, nodeName: n1}
---
apiVersion: kupid.gardener.cloud/v1alpha1
kind: PodSchedulingPolicy
metadata: {name: web, namespace: tenant-acme}
spec: {podSelector: {matchLabels: {app: web}}, nodeSelector: {pool: web}}
---
apiVersion: kupid.gardener.cloud/v1alpha1
kind: PodSchedulingPolicy
metadata: {name: other, namespace: other}
spec: {podSelector: {}, nodeSelector: {pool: web}}
---
apiVersion: cozystack.io/v1alpha1
kind: AffinityClass
metadata: {name: dc1}
spec: {nodeSelector: {zone: dc1}, enforcement: Deny}
---
apiVersion: apps.cozystack.io/v1alpha1
kind: Tenant
metadata: {name: acme, namespace: tenant-root}
spec: {defaultAffinityClass: dc1}
---
apiVersion: apps.cozystack.io/v1alpha1
kind: Postgres
metadata: {name: main-db, namespace: tenant-acme}
spec: {}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: postgres-main-db
  namespace: tenant-acme
  labels:
    apps.cozystack.io/affinity-class: dc1
    apps.cozystack.io/application.group: apps.cozystack.io
    apps.cozystack.io/application.kind: Postgres
    apps.cozystack.io/application.name: main-db
`

// etcd is a StatefulSet of the application in the world.
const etcd = `---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: main-db, namespace: tenant-acme, labels: {helm.toolkit.fluxcd.io/name: postgres-main-db}}
spec:
  template:
    metadata: {labels: {app: etcd}}
    spec:
      nodeSelector: {disk: hdd}
      containers: [{name: a, image: a}]
`
