// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKindsOfWorkloadsAreAddedOnce(t *testing.T) {
	deployment := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	secret := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	got := AddKinds([]schema.GroupVersionKind{secret, deployment})
	if diff := cmp.Diff([]schema.GroupVersionKind{secret, deployment}, got[:2]); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	for _, kind := range Kinds() {
		others := func(k schema.GroupVersionKind) bool { return k != kind.GroupVersionKind }
		if count := len(slices.DeleteFunc(slices.Clone(got), others)); count != 1 {
			t.Errorf("%s is in the list %d times", kind.Kind, count)
		}
	}
}
