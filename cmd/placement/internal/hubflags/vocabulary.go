// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Vocabulary returns the ConfigMap by which admission policies warn, as the controller vocabulary would write it on a hub of files. It counts no
// Placements, because the report does.
func Vocabulary(hub *explain.State) *unstructured.Unstructured {
	data := map[string]any{}
	for key, value := range managedcluster.VocabularyOf(hub.Clusters, hub.EffectiveBindings()) {
		data[key] = value
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"namespace": DefaultNamespace, "name": managedcluster.VocabularyConfigMap},
	}}
}
