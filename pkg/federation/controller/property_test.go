// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/property"
)

// located returns the members of a location, sorted.
func located(w *world, location string) []string {
	list := &clusterv1.ManagedClusterList{}
	w.check(w.store.List(w.t.Context(), list))
	var names []string
	for i := range list.Items {
		if list.Items[i].Labels["location"] == location {
			names = append(names, list.Items[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// laws 4, 5 and 6, federated-selector F15, F16 and F31: whatever the order of changes of the selector, the clusters and the works, and of
// writes that fail, no work of a selected cluster is deleted, none is deleted while a selected cluster lacks one, and in the end the selected
// clusters have a work, and nothing is written any more.
func TestHistories(t *testing.T) {
	locations, clusters := rapid.SampledFrom([]string{"europe", "usa"}), rapid.SampledFrom([]string{"eu1", "eu2", "us1"})
	property.Check(t, func(r *rapid.T) {
		w := newWorld(t, selecting("europe"))
		selected := "europe"
		broken := map[string]bool{}

		w.fail = func(verb, cluster string) error {
			if broken[cluster] {
				return errors.New("no answer from " + cluster)
			}
			if verb != "delete" {
				return nil
			}
			wanted := located(w, selected)
			if slices.Contains(wanted, cluster) {
				r.Errorf("the work of %s is deleted, which is selected", cluster)
			}

			for _, name := range wanted {
				if !slices.Contains(strings.Fields(w.clusters()), name) {
					r.Errorf("the work of %s is deleted before %s has one", cluster, name)
				}
			}
			return nil
		}

		for range rapid.IntRange(1, 8).Draw(r, "changes") {
			switch rapid.IntRange(0, 4).Draw(r, "kind") {
			case 0:
				selected = locations.Draw(r, "selected")
				w.selectLocation(selected)
			case 1:
				location := locations.Draw(r, "location")
				change(w, member(clusters.Draw(r, "cluster"), map[string]string{}), func(c *clusterv1.ManagedCluster) {
					c.Labels["location"] = location
				})
			case 2:
				broken = map[string]bool{clusters.Draw(r, "broken"): true}
			case 3:
				for cluster := range strings.FieldsSeq(w.clusters()) {
					change(w, w.work(cluster), func(work *workv1.ManifestWork) { work.Spec.Workload.Manifests = nil })
				}
			default:
				change(w, selecting(""), func(c *corev1.ConfigMap) { c.Data["a"] += "b" })
			}

			w.show()
			if rapid.Bool().Draw(r, "at once") {
				_, _ = w.reconcileOnceShowing(keyOfConfigMap("x"), rapid.Bool().Draw(r, "shown")) // A failure is retried in the end.
			}
		}

		broken = nil
		w.settle()
		if _, err := w.reconcileOnce(keyOfConfigMap("x")); err != nil {
			r.Fatal(err)
		}
		w.settle()

		// Where a new selector matches no cluster, the withdrawal is held.
		if got, want := w.clusters(), strings.Join(located(w, selected), " "); got != want && want != "" {
			r.Errorf("got works in %q, want %q", got, want)
		}
		for _, cluster := range located(w, selected) {
			if federation.StoredHash(w.work(cluster)) != w.work(cluster).Annotations[federation.HashAnnotation] {
				r.Errorf("the work of %s is not restored", cluster)
			}
		}
		w.written()

		if _, err := w.reconcileOnce(keyOfConfigMap("x")); err != nil || w.written() != "" {
			r.Errorf("a settled hub writes, or fails: %v", err)
		}
	})
}
