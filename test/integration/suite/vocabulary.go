// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
)

// ReadVocabulary returns the ConfigMap with the names in use, by which admission warns.
func ReadVocabulary(ctx context.Context, g Gomega) *corev1.ConfigMap {
	vocabulary := &corev1.ConfigMap{}
	g.Expect(Client.Get(ctx, client.ObjectKey{Namespace: manifests.Namespace, Name: managedcluster.VocabularyConfigMap}, vocabulary)).To(Succeed())
	return vocabulary
}

// ExpectVocabulary waits until the ConfigMap has every label key of the clusters and the number of namespaces with bindings.
func ExpectVocabulary(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		clusters, bindings := &clusterv1.ManagedClusterList{}, &clusterv1beta2.ManagedClusterSetBindingList{}
		g.Expect(Client.List(ctx, clusters)).To(Succeed())
		g.Expect(Client.List(ctx, bindings)).To(Succeed())
		labels, namespaces := map[string]bool{}, map[string]bool{}
		for _, cluster := range clusters.Items {
			for key := range cluster.Labels {
				labels[key] = true
			}
		}

		for _, binding := range bindings.Items {
			namespaces[binding.Namespace] = true
		}
		data := ReadVocabulary(ctx, g).Data
		g.Expect(strings.Split(data["labels"], "\n")).To(Equal(slices.Sorted(maps.Keys(labels))))
		g.Expect(data["bound"]).To(Equal(strconv.Itoa(len(namespaces))))
	}).WithContext(ctx).WithTimeout(Timeout).Should(Succeed())
}
