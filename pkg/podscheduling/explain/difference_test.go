// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// summary is what a test compares of a difference.
type summary struct {
	Name                           string
	Lacks, Dropped, Skipped, Class []string
	Denial                         string
	Anyway, Admitted               bool
	Before, After                  []string
}

func summarize(d Difference) summary {
	s := summary{
		Name: d.Kind + " " + d.Name, Lacks: d.Lacks, Dropped: append([]string(nil), d.Dropped...), Class: d.LacksOfClass,
		Denial: d.Denial, Anyway: d.Anyway, Admitted: d.Admitted,
	}
	for _, skip := range d.Skipped {
		s.Skipped = append(s.Skipped, skip.Message)
	}
	if d.After != nil {
		s.Before, s.After = d.Before.Fit, d.After.Fit
	}
	return s
}

const (
	policyHead  = "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: ClusterPodSchedulingPolicy\n"
	selectsEtcd = "  namespaceSelector: {}\n  podSelector: {matchLabels: {app: etcd}}\n"
	classHead   = "apiVersion: cozystack.io/v1alpha1\nkind: AffinityClass\n"
	tenantHead  = "apiVersion: apps.cozystack.io/v1alpha1\nkind: Tenant\n"
	denied      = `pod tenant-acme/main-db-0 belongs to application with AffinityClass "dc1" but missing required nodeSelector zone=dc1`
)

func TestDiff(t *testing.T) {
	stored := etcdFields()
	for _, tc := range []struct {
		reason, workload, change string
		applied                  []Applied
		want                     []summary
		tenants                  []string
	}{
		{
			reason:  "K38: the policy of the hub itself names what has drifted from it",
			change:  policyHead + "metadata: {name: etcd}\nspec:\n" + selectsEtcd + stored,
			applied: []Applied{{Object: "ClusterPodSchedulingPolicy etcd", Unchanged: true}},
			want: []summary{{
				Name: "StatefulSet main-db", Lacks: []string{"nodeSelector[pool]", "tolerations"}, Denial: denied, Anyway: true,
				Before: []string{}, After: []string{},
			}},
		},
		{
			reason: "K39: another pool; what the policy no longer adds is named",
			change: policyHead + "metadata: {name: etcd}\nspec:\n" + selectsEtcd + "  nodeSelector: {disk: ssd, rack: a}\n",
			applied: []Applied{
				{Object: "ClusterPodSchedulingPolicy etcd"},
			},
			want: []summary{{
				Name: "StatefulSet main-db", Lacks: []string{"nodeSelector[rack]"}, Dropped: []string{"nodeSelector[pool]", "tolerations"},
				Denial: denied, Before: []string{}, After: []string{},
			}},
		},
		{
			reason:  "K31: a policy injects what the chart forgot",
			change:  policyHead + "metadata: {name: zone}\nspec:\n" + selectsEtcd + "  nodeSelector: {zone: dc1, disk: nvme}\n",
			applied: []Applied{{Object: "ClusterPodSchedulingPolicy zone", New: true}},
			want: []summary{{
				Name: "StatefulSet main-db", Lacks: []string{"nodeSelector[pool]", "tolerations", "nodeSelector[zone]"},
				Skipped:  []string{`ClusterPodSchedulingPolicy zone: nodeSelector[disk]: "hdd" is kept, not "nvme"`},
				Admitted: true, Before: []string{}, After: []string{},
			}},
		},
		{
			reason: "K27: an invalid policy is refused and not compared",
			change: policyHead + "metadata: {name: bad}\nspec: {nodeName: A_B}",
			applied: []Applied{{
				Object: "ClusterPodSchedulingPolicy bad", New: true,
				Refused: []string{"spec.nodeName: Invalid value: \"A_B\": " + dnsSubdomain},
				Warnings: []string{
					"spec.namespaceSelector: is absent, so the policy selects no namespaces; {} selects all",
					"spec.podSelector: is absent, so the policy selects no pods; {} selects all",
				},
			}},
			want: []summary{{
				Name: "StatefulSet main-db", Lacks: []string{"nodeSelector[pool]", "tolerations"}, Denial: denied, Anyway: true,
				Before: []string{}, After: []string{},
			}},
		},
		{
			reason: "affinity-class A23: the nodeSelector of a class is immutable, its enforcement is not",
			change: classHead + "metadata: {name: dc1}\nspec: {nodeSelector: {zone: dc2}}\n---\n" +
				classHead + "metadata: {name: " + strings.Repeat("a", 64) + "}\nspec: {nodeSelector: {a!: b}}",
			applied: []Applied{
				{Object: "AffinityClass dc1", Refused: []string{"spec.nodeSelector: Forbidden: is immutable: create another AffinityClass"}},
				{Object: "AffinityClass " + strings.Repeat("a", 64), New: true, Refused: []string{
					`metadata.name: Invalid value: "` + strings.Repeat("a", 64) +
						`": must have at most 63 characters, because the name becomes the value of a label`,
					`spec.nodeSelector: Invalid value: "a!": name part must consist of alphanumeric characters, '-', '_' or '.', ` +
						`and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', ` +
						`regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
				}},
			},
			want: []summary{{
				Name: "StatefulSet main-db", Lacks: []string{"nodeSelector[pool]", "tolerations"}, Denial: denied, Anyway: true,
				Before: []string{}, After: []string{},
			}},
		},
		{
			reason:  "affinity-class 1.4: with enforcement Warn new Pods are admitted",
			change:  classHead + "metadata: {name: dc1}\nspec: {nodeSelector: {zone: dc1}, enforcement: Warn}",
			applied: []Applied{{Object: "AffinityClass dc1"}},
			want: []summary{{
				Name: "StatefulSet main-db", Lacks: []string{"nodeSelector[pool]", "tolerations"}, Admitted: true,
				Before: []string{}, After: []string{},
			}},
		},
		{
			reason:   "affinity-class A26: a tightened list breaks nothing that runs, and says so",
			workload: "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: other-ns}\nspec: {}",
			change: classHead + "metadata: {name: dc2}\nspec: {nodeSelector: {zone: dc2}}\n---\n" +
				tenantHead + "metadata: {name: acme, namespace: tenant-root}\nspec: {defaultAffinityClass: dc2, allowedAffinityClasses: [dc2]}",
			applied: []Applied{{Object: "AffinityClass dc2", New: true}, {Object: "Tenant tenant-root/acme"}},
			want:    []summary{},
			tenants: []string{"tenant-root/acme dc1 -> dc2 [dc2] ApplicationsOutsideAllowedClasses"},
		},
		{
			reason: "a Pod that is older than its class, of a workload that is not in the report otherwise",
			workload: podOf + ", ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: gone, uid: a, controller: true}]}\n" +
				"spec: {nodeName: n2}",
			change: "apiVersion: v1\nkind: Namespace\nmetadata: {name: new}",
			want:   []summary{{Name: "Pod p", Class: []string{"zone=dc1"}, Anyway: true}},
		},
		{
			reason:   "a Pod without a controller: what a new one gets",
			workload: podOf + "}\nspec: {nodeName: n2, nodeSelector: {zone: dc1}}",
			change:   policyHead + "metadata: {name: etcd}\nspec:\n" + selectsEtcd + "  nodeSelector: {pool: web}\n",
			applied:  []Applied{{Object: "ClusterPodSchedulingPolicy etcd"}},
			want: []summary{{
				Name: "Pod p", Lacks: []string{"nodeSelector[pool]"}, Dropped: []string{"nodeSelector[disk]", "tolerations"},
				Before: []string{"n1"}, After: []string{"n2"},
			}},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			workload := tc.workload
			if workload == "" {
				workload = etcd
			}
			before := parse(t, world+workload)
			after, applied := With(before, parse(t, tc.change))
			differences, err := Diff(before, after)
			if err != nil {
				t.Fatal(err)
			}
			got := []summary{}
			for _, difference := range differences.Workloads {
				got = append(got, summarize(difference))
				if (difference.Patch != "") != (len(difference.Lacks) > 0) {
					t.Errorf("patch %q, and it lacks %q", difference.Patch, difference.Lacks)
				}
			}
			var tenants []string
			for _, tenant := range differences.Tenants {
				tenants = append(tenants, tenant.Tenant+" "+tenant.Before.Default+" -> "+tenant.After.Default+" ["+
					strings.Join(tenant.After.Allowed, " ")+"] "+tenant.After.Reason)
			}
			for _, compared := range []struct {
				name      string
				want, got any
			}{{"applied", tc.applied, applied}, {"workloads", tc.want, got}, {"tenants", tc.tenants, tenants}} {
				if diff := cmp.Diff(compared.want, compared.got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", compared.name, diff)
				}
			}
			if differences.Differ() != (len(tc.want)+len(tc.tenants) > 0) {
				t.Errorf("Differ() = %v", differences.Differ())
			}
		})
	}
}

// etcdFields are the constraints of the policy etcd in the world.
func etcdFields() string {
	return "  nodeSelector: {pool: etcd, disk: ssd}\n  tolerations: [{key: pool, operator: Exists}]\n"
}

const dnsSubdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end " +
	"with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

// The patch is what kubectl diff shows of the update.
func TestDiffShowsThePatch(t *testing.T) {
	before := parse(t, world+"---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: tenant-acme, labels: {app: web}}\n"+
		"spec: {nodeSelector: {a: b}}")
	differences, err := Diff(before, before)
	if err != nil {
		t.Fatal(err)
	}
	const want = `--- LIVE/v1.Pod.tenant-acme.p
+++ MERGED/v1.Pod.tenant-acme.p
@@ -8,3 +8,4 @@
 spec:
   nodeSelector:
     a: b
+    pool: web
`
	if diff := cmp.Diff(want, differences.Workloads[0].Patch); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
}
