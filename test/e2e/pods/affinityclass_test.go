// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// Every replica verifies Pods against their class, the leader or not, with the rights that the manifests grant; the leader labels the
// namespace of the HelmRelease.
func TestEveryReplicaVerifiesClasses(t *testing.T) {
	h := suite.StartHub(t)
	// The definitions and rights come first: without them a replica does not start.
	h.Apply(t, suite.PlatformDefinitions)
	suite.Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), manifests.AffinityClass, ""))
	leader := h.StartReplica(t, "--controllers=affinityclass/*")
	h.WantHolder(t, leader)
	standby := h.StartReplica(t, "--controllers=affinityclass/*")

	class := &cozystackv1alpha1.AffinityClass{ObjectMeta: metav1.ObjectMeta{Name: "dc1"}}
	class.Spec.NodeSelector = map[string]cozystackv1alpha1.NodeLabelValue{"zone": "dc1"}
	suite.Must(t, h.Client.Create(t.Context(), class))
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(affinityclass.ReleaseKind)
	release.SetNamespace(metav1.NamespaceDefault)
	release.SetName("main-db")
	labels := affinityclass.ReleaseLabels("apps.cozystack.io", "Postgres", "main-db")
	labels[affinityclass.ClassLabel] = "dc1"
	release.SetLabels(labels)
	suite.Must(t, h.Client.Create(t.Context(), release))

	h.CallReplica(t, standby, manifests.AffinityClass)
	suite.Eventually(t, "waiting for the standby", func() error { return tryClass(t, h) })
	h.CallReplica(t, leader, manifests.AffinityClass)
	standby.Signal(t, syscall.SIGTERM)
	standby.WantExit(t, 0)
	suite.Eventually(t, "waiting for the leader", func() error { return tryClass(t, h) })
	leader.Signal(t, syscall.SIGTERM)
	leader.WantExit(t, 0)
}

// tryClass is nil when a Pod of the class dc1 is admitted with its node selector, and refused without.
func tryClass(t *testing.T, h *suite.Hub) error {
	t.Helper()
	pod := func(selector map[string]string) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceDefault, GenerateName: "main-db-", Labels: map[string]string{"helm.toolkit.fluxcd.io/name": "main-db"},
		}}
		pod.Spec.NodeSelector = selector
		pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		return pod
	}
	api := client.NewDryRunClient(h.Client)
	if err := api.Create(t.Context(), pod(map[string]string{"zone": "dc1"})); err != nil {
		return err
	}
	err := api.Create(t.Context(), pod(nil))
	if err == nil || !strings.Contains(err.Error(), `AffinityClass "dc1" but missing required nodeSelector zone=dc1`) {
		return errors.New("a Pod without the node selector of its class: " + fmt.Sprint(err))
	}
	return nil
}
