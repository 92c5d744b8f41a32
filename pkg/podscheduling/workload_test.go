// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestReadWorkload(t *testing.T) {
	const template = "template: {metadata: {labels: {app: etcd}}, spec: {nodeSelector: {}}}"
	cases := []struct {
		reason string
		kind   schema.GroupKind
		object string
		labels map[string]string
		path   string
	}{
		{"2.1.1: the labels of a Pod are its own", podKind, "metadata: {labels: {app: etcd}}\nspec: {}", map[string]string{"app": "etcd"}, "/spec"},
		{"K2: the labels of the controller do not count", statefulSetKind, "metadata: {labels: {app: etcd}}\nspec: {template: {spec: {}}}", nil,
			"/spec/template/spec"},
		{"K1: those of the template do", statefulSetKind, "metadata: {labels: {app: web}}\nspec: {" + template + "}",
			map[string]string{"app": "etcd"}, "/spec/template/spec"},
		{"K22: those of the template of a CronJob", cronJobKind, "spec: {jobTemplate: {metadata: {labels: {app: web}}, spec: {" + template + "}}}",
			map[string]string{"app": "etcd"}, "/spec/jobTemplate/spec/template/spec"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			w, _ := workload(t, c.kind, c.object)
			if diff := cmp.Diff(c.labels, w.Labels); diff != "" {
				t.Errorf("Labels (-want +got):\n%s", diff)
			}
			result := Inject(w, []*Policy{everywhere(t, "p", "nodeName: n1")})
			if diff := cmp.Diff([]Operation{{Op: "add", Path: c.path + "/nodeName", Value: "n1"}}, result.Operations); diff != "" {
				t.Errorf("Operations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachKindIsMutated(t *testing.T) {
	frames := map[string]string{podPath: "%", templatePath: `{"template":{"spec":%}}`,
		cronJobPath: `{"jobTemplate":{"spec":{"template":{"spec":%}}}}`}
	for kind, path := range specPaths {
		t.Run("2.1.2: "+kind.String(), func(t *testing.T) {
			frame := func(spec string) []byte {
				return []byte(`{"spec":` + strings.Replace(frames[path], "%", spec, 1) + "}")
			}
			w, err := ReadWorkload(kind, frame("{}"))
			if err != nil {
				t.Fatal(err)
			}
			result := Inject(w, []*Policy{everywhere(t, "p", "nodeSelector: {pool: etcd}")})
			equalJSON(t, frame(`{"nodeSelector":{"pool":"etcd"}}`), apply(t, frame("{}"), result))
		})
	}
}

func TestExemption(t *testing.T) {
	const (
		template = "spec: {template: {spec: {}}}"
		owned    = "metadata: {ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: d, uid: u, controller: true}]}\n"
	)
	cases := []struct {
		reason string
		kind   schema.GroupKind
		object string
		update bool
		want   Exemption
	}{
		{"K23: ReplicationController without a template", controllerKind, "spec: {replicas: 1}", false, NoPodSpec},
		{"K23, V8: ReplicationController with the template null", controllerKind, "spec: {template: null}", false, NoPodSpec},
		{"2.1.2: a template without a spec", deploymentKind, "spec: {template: {metadata: {}}}", false, NoPodSpec},
		{"2.1.2: an object that is null", deploymentKind, "null", false, NoPodSpec},
		{"K35: Deployment that is being deleted", deploymentKind, "metadata: {deletionTimestamp: '2026-01-02T03:04:05Z'}\n" + template, true,
			BeingDeleted},
		{"K40: ReplicaSet of a Deployment", replicaSetKind, owned + template, false, Controlled},
		{"K40: standalone ReplicaSet", replicaSetKind, template, false, NotExempt},
		{"2.1.2: ReplicaSet with an owner that is no controller", replicaSetKind,
			"metadata: {ownerReferences: [{apiVersion: v1, kind: X, name: d, uid: u}]}\n" + template, true, NotExempt},
		{"2.1.2: Job of a CronJob", jobKind, owned + template, false, NotExempt},
		{"K20, V7: Job that is updated", jobKind, template, true, OnlyCreated},
		{"K21: Job that is created", jobKind, template, false, NotExempt},
		{"V6: Pod that is updated", podKind, "spec: {}", true, OnlyCreated},
		{"K33: Deployment that is updated", deploymentKind, template, true, NotExempt},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			w, _ := workload(t, c.kind, c.object)
			if got := w.Exemption(c.update); got != c.want {
				t.Errorf("Exemption(%t) = %q, want %q", c.update, got, c.want)
			}
			if c.want == NoPodSpec {
				if result := Inject(w, []*Policy{everywhere(t, "p", "nodeName: n1")}); len(result.Operations) > 0 {
					t.Errorf("Operations = %v, want none", result.Operations)
				}
			}
		})
	}
}

func TestUndecodableObjects(t *testing.T) {
	cases := []struct {
		reason, object, want string
		kind                 schema.GroupKind
	}{
		{"2.1.6: unknown kind", "{}", "kind PodTemplate has no pod spec that policies are injected into", schema.GroupKind{Kind: "PodTemplate"}},
		{"2.1.6: no JSON", "{", "decode Pod: unexpected end of JSON input", podKind},
		{"2.1.6: nodeSelector of another type", `{"spec":{"nodeSelector":[]}}`,
			"decode Pod: /spec: nodeSelector: is []interface {}, not an object", podKind},
		{"2.1.6: a term of another type",
			`{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{},1]}}}}}`,
			"decode Pod: /spec: affinity: nodeAffinity: requiredDuringSchedulingIgnoredDuringExecution: nodeSelectorTerms: [1]: " +
				"is json.Number, not an object", podKind},
		{"2.1.6: nodeName of another type", `{"spec":{"nodeName":1}}`, "decode Pod: /spec: nodeName: is json.Number, not a string", podKind},
		{"2.1.6: tolerations of another type", `{"spec":{"tolerations":{}}}`,
			"decode Pod: /spec: tolerations: is map[string]interface {}, not a list", podKind},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			_, err := ReadWorkload(c.kind, []byte(c.object))
			if err == nil || err.Error() != c.want {
				t.Errorf("ReadWorkload() = %v, want %s", err, c.want)
			}
		})
	}
}

func TestDaemonSets(t *testing.T) {
	const owned = "metadata: {ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: d, uid: u, controller: true}]}\n"
	policy := everywhere(t, "p", "nodeName: n1\nnodeSelector: {pool: etcd}\nschedulerName: s\ntolerations: [{operator: Exists}]\naffinity:\n"+
		"  nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["+term("pool")+"]}}\n"+
		"  podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}")

	t.Run("K25: the template of a DaemonSet gets everything", func(t *testing.T) {
		w, raw := workload(t, daemonSetKind, "spec: {template: {spec: {}}}")
		result := Inject(w, []*Policy{policy})
		if len(result.Policies[0].Skipped) > 0 {
			t.Errorf("Skipped = %v, want nothing", result.Policies[0].Skipped)
		}
		equalJSON(t, toJSON(t, "spec: {template: {spec: {nodeName: n1, nodeSelector: {pool: etcd}, schedulerName: s, tolerations: "+
			"[{operator: Exists}], "+
			"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: ["+term("pool")+"]}}, "+
			"podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}}}}"), apply(t, raw, result))
	})
	t.Run("K25: what the Pod has of its template is not reported", func(t *testing.T) {
		w, _ := workload(t, podKind, owned+"spec: {nodeName: n1, nodeSelector: {pool: etcd, disk: ssd}}")
		result := Inject(w, []*Policy{everywhere(t, "p", "nodeName: n1\nnodeSelector: {pool: etcd}")})
		if len(result.Operations)+len(result.Policies[0].Skipped) > 0 {
			t.Errorf("Operations = %v, Skipped = %v, want nothing", result.Operations, result.Policies[0].Skipped)
		}
	})
	t.Run("K25: a Pod of it keeps the node that its controller has chosen", func(t *testing.T) {
		const chosen = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: " +
			"[{matchFields: [{key: metadata.name, operator: In, values: [n3]}]}]}}"
		w, raw := workload(t, podKind, owned+"spec: {"+chosen+"}}")
		result := Inject(w, []*Policy{policy})
		equalJSON(t, toJSON(t, owned+"spec: {schedulerName: s, tolerations: [{operator: Exists}], "+chosen+", "+
			"podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}}"), apply(t, raw, result))
		var fields []string
		for _, skip := range result.Policies[0].Skipped {
			fields = append(fields, string(skip.Reason)+" "+skip.Field)
		}
		if diff := cmp.Diff([]string{"DaemonSetPod nodeName", "DaemonSetPod nodeSelector", "DaemonSetPod affinity.nodeAffinity"},
			fields); diff != "" {
			t.Errorf("Skipped (-want +got):\n%s", diff)
		}
	})
}
