// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	workv1 "open-cluster-management.io/api/work/v1"
)

// TestDigestsCompactAsCompactWork checks that a remembered digest is that of the work, whatever somebody has edited in another one
// (docs/spec/federated-selector.md 3.1.4).
func TestDigestsCompactAsCompactWork(t *testing.T) {
	_, work := storedWork(t)
	digests := &Digests{}
	hashes := map[string]string{}
	for reason, edit := range map[string]func(*workv1.ManifestWork){
		"as it is": func(*workv1.ManifestWork) {},
		"a label":  func(w *workv1.ManifestWork) { delete(w.Labels, ManagedLabel) },
		"labels in turn": func(w *workv1.ManifestWork) {
			w.Labels[KindLabel], w.Labels[NameLabel] = w.Labels[NameLabel], w.Labels[KindLabel]
		},
		"an identity":       func(w *workv1.ManifestWork) { w.Annotations[ObjectAnnotation] = "x" },
		"a manifest":        func(w *workv1.ManifestWork) { w.Spec.Workload.Manifests[0].Raw = []byte(`{}`) },
		"manifests in turn": func(w *workv1.ManifestWork) { m := w.Spec.Workload.Manifests; m[0], m[1] = m[1], m[0] },
		"a removal":         func(w *workv1.ManifestWork) { w.Spec.Workload.Manifests = w.Spec.Workload.Manifests[:1] },
		"no JSON":           func(w *workv1.ManifestWork) { w.Spec.Workload.Manifests[0].Raw = []byte(`{`) },
		"the deletion":      func(w *workv1.ManifestWork) { w.Spec.DeleteOption = nil },
		"a strategy":        func(w *workv1.ManifestWork) { w.Spec.ManifestConfigs[1].UpdateStrategy.ServerSideApply.Force = true },
		"an executor":       func(w *workv1.ManifestWork) { w.Spec.Executor = &workv1.ManifestWorkExecutor{} },
	} {
		for _, cluster := range []string{"c1", "c2"} {
			got := work.DeepCopy()
			got.Namespace = cluster
			edit(got)
			want := got.DeepCopy()
			CompactWork(want)
			digests.CompactWork(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", reason, cluster, diff)
			}
			digests.CompactWork(got)

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, compacted again (-want +got):\n%s", reason, diff)
			}
			if other, taken := hashes[StoredHash(got)]; taken && other != reason {
				t.Errorf("%s has the hash of %s", reason, other)
			}
			hashes[StoredHash(got)] = reason
		}
	}

	if got := len(digests.known); got != len(hashes) {
		t.Errorf("%d digests are known, want one for each of %d contents", got, len(hashes))
	}
}

// TestDigestsAreBounded checks that contents that came and went do not stay for ever.
func TestDigestsAreBounded(t *testing.T) {
	digests := &Digests{}
	for i := range mostDigests + 1 {
		digests.keep([32]byte{byte(i), byte(i >> 8)}, digest{})
	}
	if got := len(digests.known); got != 1 {
		t.Errorf("%d digests are known, want the last one", got)
	}
}
