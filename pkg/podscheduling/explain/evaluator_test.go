// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
)

// The whole report of K38: what matches and what not, what an existing template lacks, its class, and the nodes.
func TestExplainTemplate(t *testing.T) {
	want := Report{
		Kind: "StatefulSet", Namespace: "tenant-acme", Name: "main-db",
		Policies: []Policy{
			{
				Policy: "ClusterPodSchedulingPolicy broken", Matches: true,
				Skipped: []Skip{{Reason: "Invalid", Message: `is invalid and skipped: spec.nodeName: Invalid value: "A_B": ` + dnsSubdomain}},
			},
			{
				Policy: "ClusterPodSchedulingPolicy etcd", Matches: true, Adds: []string{"nodeSelector[pool]", "tolerations"},
				Skipped: []Skip{{Field: "nodeSelector[disk]", Reason: "Conflict", Message: `nodeSelector[disk]: "hdd" is kept, not "ssd"`}},
			},
			{
				Policy: "ClusterPodSchedulingPolicy nowhere", Mismatch: "spec.namespaceSelector is absent, so it selects no namespaces",
				Warnings: []string{"spec.namespaceSelector: is absent, so the policy selects no namespaces; {} selects all"},
			},
			{Policy: "ClusterPodSchedulingPolicy team-b", Mismatch: `namespace label team=b: is "acme"`},
			{Policy: "PodSchedulingPolicy other/other", Mismatch: "applies to its own namespace only"},
			{Policy: "PodSchedulingPolicy tenant-acme/web", Mismatch: `pod label app=web: is "etcd"`},
		},
		Drift: []string{"nodeSelector[pool]", "tolerations"},
		Class: &Class{
			Class: "dc1", Origin: "default of Tenant tenant-root/acme", Application: "Postgres main-db", Release: "tenant-acme/postgres-main-db",
			Enforcement: "Deny", NodeSelector: map[string]string{"zone": "dc1"}, Verified: true,
			Denial: `pod tenant-acme/main-db-0 belongs to application with AffinityClass "dc1" but missing required nodeSelector zone=dc1`,
		},
		Nodes: &Nodes{
			Total: 3, Fit: []string{},
			Message: "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't match Pod's node affinity/selector.",
			Rejected: []Rejection{
				{Reason: "node(s) didn't match Pod's node affinity/selector", Cause: "nodeSelector disk=hdd", Nodes: []string{"n1", "n2"}},
				{
					Reason: "node(s) were unschedulable", Nodes: []string{"n3"},
					Cause: "spec.unschedulable, and taint node.kubernetes.io/unschedulable:NoSchedule not tolerated",
				},
			},
		},
	}
	if diff := cmp.Diff(want, explained(t, world+etcd, false)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// explained is the report of the last workload of YAML documents.
func explained(t *testing.T, text string, isNew bool) Report {
	t.Helper()
	objects := parse(t, text)
	report, err := NewEvaluator(objects).Explain(objects.Workloads[len(objects.Workloads)-1], isNew)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

const podOf = `---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: tenant-acme, labels: {app: etcd, helm.toolkit.fluxcd.io/name: postgres-main-db}`

func TestExplainExemptsAndExistingPods(t *testing.T) {
	for _, tc := range []struct {
		reason, object string
		isNew          bool
		exempt         string
		drift          []string
		denied         bool
		lacks          []string
		fit            []string
		notes          []string
	}{
		{
			reason: "K40: a ReplicaSet of a Deployment gets nothing, its Pods do",
			object: "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r, namespace: tenant-acme, ownerReferences: [{" +
				"apiVersion: apps/v1, kind: Deployment, name: d, uid: a, controller: true}]}\n" +
				"spec: {template: {metadata: {labels: {app: etcd}}, spec: {}}}",
			exempt: "the ReplicaSet has the template of its controller", fit: []string{"n1"},
		},
		{
			reason: "K35: an object that is being deleted",
			object: podOf + ", deletionTimestamp: \"2026-01-01T00:00:00Z\"}\nspec: {}",
			exempt: "the object is being deleted", denied: true, lacks: []string{"zone=dc1"}, fit: []string{"n2"},
		},
		{
			reason: "K23: a ReplicationController without a template",
			object: "---\napiVersion: v1\nkind: ReplicationController\nmetadata: {name: r, namespace: tenant-acme}\nspec: {}",
			exempt: "the object has no pod template",
		},
		{
			reason: "K25: a DaemonSet drifts, and tolerates what its controller adds",
			object: "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: r, namespace: tenant-acme}\n" +
				"spec: {template: {metadata: {labels: {app: etcd}}, spec: {}}}",
			drift: []string{"nodeSelector[disk]", "nodeSelector[pool]", "tolerations"}, fit: []string{"n1", "n2", "n3"},
		},
		{
			reason: "a new DaemonSet goes to the pool",
			object: "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: r, namespace: tenant-acme}\n" +
				"spec: {template: {metadata: {labels: {app: etcd}}, spec: {}}}",
			isNew: true, fit: []string{"n1"},
		},
		{
			reason: "a CronJob is evaluated by the template of its Jobs",
			object: "---\napiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c, namespace: tenant-acme, labels: {helm.toolkit.fluxcd.io/name: " +
				"postgres-main-db}}\nspec: {jobTemplate: {spec: {template: {metadata: {labels: {app: web}}, spec: {nodeSelector: {zone: dc1}}}}}}",
			drift: []string{"nodeSelector[pool]"}, fit: []string{"n2"},
		},
		{
			reason: "a Pod that is older than its class and the policy keeps its node",
			object: podOf + "}\nspec: {nodeName: n2, schedulerName: mine}",
			drift:  []string{"nodeSelector[disk]", "nodeSelector[pool]", "tolerations"}, denied: true, lacks: []string{"zone=dc1"},
			fit: []string{"n2"},
			notes: []string{
				"the Pod is bound to node n2; the nodes are those that fit without that",
				"scheduler mine binds the Pods; the nodes are those that kube-scheduler would choose from",
			},
		},
		{
			reason: "K31: the Pod's class is in its nodeSelector",
			object: podOf + "}\nspec: {nodeSelector: {zone: dc1, pool: etcd, disk: ssd}, tolerations: [{key: pool, operator: Exists}], " +
				"schedulingGates: [{name: b}, {name: a}]}",
			fit: []string{"n1"}, notes: []string{"the Pod is not scheduled until its schedulingGates are removed: a, b"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			report := explained(t, world+tc.object, tc.isNew)
			var fit, lacks []string
			if report.Nodes != nil {
				fit = report.Nodes.Fit
			}
			if report.Class != nil {
				lacks = report.Class.Lacks
			}
			for _, compared := range []struct {
				name      string
				want, got any
			}{
				{"exempt", tc.exempt, report.Exempt}, {"drift", tc.drift, report.Drift}, {"refused", tc.denied, report.Refused()},
				{"lacks", tc.lacks, lacks}, {"fit", tc.fit, fit}, {"notes", tc.notes, report.Notes},
			} {
				if diff := cmp.Diff(compared.want, compared.got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", compared.name, diff)
				}
			}
		})
	}
}

func TestExplainReadsOwnersAndApplications(t *testing.T) {
	objects := parse(t, world+podOf+", ownerReferences: [{apiVersion: db/v1, kind: Cluster, name: c, uid: u}]}\nspec: {}")
	application := objects.Applications[0]
	objects.Applications = nil
	objects.Owner = func(target affinityclass.Target) (*affinityclass.Object, error) {
		if target.Name != "c" {
			t.Errorf("%s is read", target)
		}
		return nil, errors.New("clusters.db is forbidden")
	}
	report, err := NewEvaluator(objects).Explain(objects.Workloads[0], false)
	if err != nil {
		t.Fatal(err)
	}
	want := &Class{Denial: "owner Cluster.db tenant-acme/c: clusters.db is forbidden", Verified: true}
	if diff := cmp.Diff(want, report.Class); diff != "" {
		t.Errorf("affinity-class A33: class (-want +got):\n%s", diff)
	}

	for _, tc := range []struct {
		reason, class, origin, note string
		err                         error
	}{
		{"the application names the class", "dc1", "spec.affinityClass of Postgres main-db", "", nil},
		{
			"affinity-class 1.3: a class is resolved once per spec", "dc2",
			"label apps.cozystack.io/affinity-class of HelmRelease tenant-acme/postgres-main-db",
			`the next change of the spec of Postgres main-db resolves class "dc2" instead`, nil,
		},
		{
			"the application cannot be read", "", "label apps.cozystack.io/affinity-class of HelmRelease tenant-acme/postgres-main-db",
			"Postgres main-db could not be read, so its own class is not known: postgreses is forbidden", errors.New("postgreses is forbidden"),
		},
	} {
		objects := parse(t, world+etcd)
		objects.Applications = nil
		objects.Application = func(schema.GroupKind, string, string) (*unstructured.Unstructured, error) {
			if tc.err != nil {
				return nil, tc.err
			}
			named := application.DeepCopy()
			return named, unstructured.SetNestedField(named.Object, tc.class, "spec", "affinityClass")
		}
		report, err := NewEvaluator(objects).Explain(objects.Workloads[0], false)
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		if tc.note != "" {
			notes = []string{tc.note}
		}
		if report.Class.Origin != tc.origin || !cmp.Equal(notes, report.Class.Notes) {
			t.Errorf("%s: origin %q, notes %q", tc.reason, report.Class.Origin, report.Class.Notes)
		}
	}
}

// What the user may not read is not taken for something that is not there.
func TestUnreadIsNotAbsent(t *testing.T) {
	objects := parse(t, world+etcd)
	objects.Classes, objects.Tenants, objects.Nodes, objects.Namespaces = nil, nil, nil, nil
	objects.Unread = []string{"Node", "AffinityClass", "Tenant"}
	report, err := NewEvaluator(objects).Explain(objects.Workloads[0], false)
	if err != nil {
		t.Fatal(err)
	}
	want := &Class{
		Class: "dc1", Origin: "label apps.cozystack.io/affinity-class of HelmRelease tenant-acme/postgres-main-db", Application: "Postgres main-db",
		Release: "tenant-acme/postgres-main-db", Notes: []string{"it is not known whether Pods satisfy the class, which this user may not read"},
	}
	if diff := cmp.Diff(want, report.Class); diff != "" || report.Nodes != nil {
		t.Errorf("nodes %v, class (-want +got):\n%s", report.Nodes, diff)
	}

	objects = parse(t, world+podOf+", ownerReferences: [{apiVersion: db/v1, kind: Cluster, name: c, uid: u}]}\nspec: {}")
	objects.Owner = func(affinityclass.Target) (*affinityclass.Object, error) {
		return nil, apierrors.NewForbidden(schema.GroupResource{Group: "db", Resource: "clusters"}, "c", errors.New("no"))
	}
	if report, err = NewEvaluator(objects).Explain(objects.Workloads[0], false); err != nil {
		t.Fatal(err)
	}
	if report.Refused() || len(report.Class.Notes) != 1 || !strings.Contains(report.Class.Notes[0], "this user may not read an owner") {
		t.Errorf("class %+v", report.Class)
	}
}
