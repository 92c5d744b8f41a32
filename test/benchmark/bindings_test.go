// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
	"slices"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

const (
	namespaces = 1000
	sets       = 100
	// Every tenth namespace may bind every set, also those to come; the others three by name, and all of them the first two.
	nameless = 10
	named    = 3
	common   = 2
	// rbacController keeps bindings from RBAC.
	rbacController = "clustersetbinding-rbac"
)

// BenchmarkBindingsFromRBAC settles 1,000 namespaces and 100 sets under named and nameless rules from nothing, adds a set, changes one
// ClusterRole of one namespace, and restarts. It fails on any write that was not needed.
func BenchmarkBindingsFromRBAC(b *testing.B) {
	for b.Loop() {
		s := startServer(b)
		s.create(b, tenants())
		s.create(b, slices.Concat(accounts(), clusterSets(0, sets)))

		begin := time.Now()
		h := s.startHub(b, rbacController)
		wanted := int64(namespaces/nameless*sets + (namespaces-namespaces/nameless)*(named+common))
		settled := h.settle(b, begin, wanted)
		floor := s.create(b, floorBindings(int(wanted)))
		b.ReportMetric(float64(wanted), "settle-writes")
		b.ReportMetric(float64(h.reviews.Swap(0)), "settle-reviews")
		b.ReportMetric(settled.Seconds(), "settle-s")
		b.ReportMetric(settled.Seconds()/floor.Seconds(), "settle/floor")
		h.settle(b, time.Now(), 0) // The bindings of the floor are somebody else's.

		begin = time.Now()
		before := reconciles(b)
		s.create(b, clusterSets(sets, 1))
		reached := h.settle(b, begin, namespaces/nameless)
		b.ReportMetric(namespaces/nameless, "newset-writes")
		b.ReportMetric(reached.Seconds(), "newset-s")
		b.ReportMetric(reconciles(b)-before, "newset-reconciles")

		begin = time.Now()
		before = reconciles(b)
		role := &rbacv1.ClusterRole{}
		must(b, s.api.Get(b.Context(), client.ObjectKey{Name: namedRole(1)}, role))
		role.Rules = bindRules(setName(sets-1), setName(sets-2))
		must(b, s.api.Update(b.Context(), role))
		h.settle(b, begin, named+2)
		b.ReportMetric(named+2, "onerole-writes")
		b.ReportMetric(reconciles(b)-before, "onerole-reconciles")
		h.stop()

		begin = time.Now()
		h = s.startHub(b, rbacController)
		h.settle(b, begin, 0)
		b.ReportMetric(0, "restart-writes")
		h.stop()
	}
}

// tenants are the namespaces, their accounts and what these may do, by each form of subject.
func tenants() []client.Object {
	var objects []client.Object
	objects = append(objects, clusterRole("nameless", bindRules()), clusterRole("common", bindRules(setName(0), setName(1))),
		roleBinding("common", "common", rbacv1.Subject{Kind: rbacv1.GroupKind, Name: "system:serviceaccounts"}))
	for i := range namespaces {
		name := namespaceName(i)
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		subject := []rbacv1.Subject{
			{Kind: rbacv1.ServiceAccountKind, Namespace: name, Name: "placement"},
			{Kind: rbacv1.UserKind, Name: "system:serviceaccount:" + name + ":placement"},
			{Kind: rbacv1.GroupKind, Name: "system:serviceaccounts:" + name},
		}[i%3]
		if i%nameless == 0 {
			objects = append(objects, roleBinding(name, "nameless", subject))
			continue
		}
		var names []string
		for k := range named {
			names = append(names, setName(common+(i*named+k)%(sets-2*common)))
		}
		objects = append(objects, clusterRole(namedRole(i), bindRules(names...)), roleBinding(name, namedRole(i), subject))
	}
	return objects
}

// accounts are the ServiceAccounts of the tenants.
func accounts() []client.Object {
	objects := make([]client.Object, 0, namespaces)
	for i := range namespaces {
		objects = append(objects, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName(i), Name: "placement"}})
	}
	return objects
}

func namespaceName(i int) string { return fmt.Sprintf("tenant-%04d", i) }
func setName(i int) string       { return fmt.Sprintf("set-%03d", i) }
func namedRole(i int) string     { return fmt.Sprintf("bind-%04d", i) }

func clusterSets(first, count int) []client.Object {
	objects := make([]client.Object, 0, count)
	for i := range count {
		objects = append(objects, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: setName(first + i)}})
	}
	return objects
}

func bindRules(sets ...string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{
		APIGroups: []string{clusterv1beta2.GroupName}, Resources: []string{"managedclustersets/bind"}, Verbs: []string{"create"},
		ResourceNames: sets,
	}}
}

func clusterRole(name string, rules []rbacv1.PolicyRule) client.Object {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
}

func roleBinding(name, role string, subjects ...rbacv1.Subject) client.Object {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	}
}

// floorBindings are as many bindings as the hub makes, of sets that do not exist.
func floorBindings(count int) []client.Object {
	objects := make([]client.Object, 0, count)
	for i := range count {
		set := fmt.Sprintf("floor-%05d", i)
		objects = append(objects, &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespaceName(i % namespaces), Name: set},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
		})
	}
	return objects
}

// reconciles is how often the controller has looked at a namespace.
func reconciles(b *testing.B) (total float64) {
	b.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	must(b, err)
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			if ofController(metric) {
				total += metric.GetCounter().GetValue()
			}
		}
	}
	return total
}

func ofController(metric *dto.Metric) bool {
	for _, label := range metric.GetLabel() {
		if label.GetName() == "controller" && label.GetValue() == rbacController {
			return true
		}
	}
	return false
}
