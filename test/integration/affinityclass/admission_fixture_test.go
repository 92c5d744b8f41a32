// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// fluxLabel is what Flux writes on the objects that it renders: the name of their HelmRelease.
const fluxLabel = "helm.toolkit.fluxcd.io/name"

// rendered returns the labels of an object of the HelmRelease main-db.
func rendered() map[string]string { return map[string]string{fluxLabel: "main-db"} }

// mainDB creates the HelmRelease main-db with a class, and a StatefulSet without replicas that it rendered, and returns the latter.
func mainDB(ctx context.Context, namespace, class string) *appsv1.StatefulSet {
	GinkgoHelper()
	Expect(suite.Client.Create(ctx, newRelease(namespace, "main-db", class))).To(Succeed())
	set := newStatefulSet(namespace, "db", 0, nil)
	Expect(suite.Client.Create(ctx, set)).To(Succeed())
	return set
}

func newStatefulSet(namespace, name string, replicas int32, selector map[string]string) *appsv1.StatefulSet {
	labels := map[string]string{"app": name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: rendered()},
		Spec: appsv1.StatefulSetSpec{
			// Without a kubelet no Pod is ready, which the next one would wait for.
			Replicas: &replicas, ServiceName: name, PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: podSpec(selector)},
		},
	}
}

func podSpec(selector map[string]string) corev1.PodSpec {
	none := int64(0) // No kubelet confirms the end of the Pod.
	return corev1.PodSpec{
		NodeSelector: selector, Containers: []corev1.Container{{Name: "c", Image: "example.com/none"}}, TerminationGracePeriodSeconds: &none,
	}
}

// newPod returns a Pod with a generated name.
func newPod(namespace string, selector map[string]string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "main-db-", Namespace: namespace, OwnerReferences: owners}, Spec: podSpec(selector),
	}
}

// owner returns a reference to an object that was created.
func owner(object client.Object) metav1.OwnerReference {
	GinkgoHelper()
	kind, err := suite.Client.GroupVersionKindFor(object)
	Expect(err).NotTo(HaveOccurred())
	return metav1.OwnerReference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: object.GetName(), UID: object.GetUID()}
}

// tryPod has the API server review a Pod as if it was created, and returns its warnings. No garbage collector deletes such a Pod, whatever
// its owners are.
func tryPod(ctx context.Context, pod *corev1.Pod) (warnings []string, err error) {
	GinkgoHelper()
	heard := &warningList{}
	config := rest.CopyConfig(suite.ControlPlane.AdminConfig())
	config.WarningHandler = heard
	api, newErr := client.New(config, client.Options{Scheme: system.Scheme()})
	Expect(newErr).NotTo(HaveOccurred())
	err = client.NewDryRunClient(api).Create(ctx, pod)
	return heard.texts, err
}

// warningList keeps the warnings of the API server.
type warningList struct {
	mu    sync.Mutex
	texts []string
}

// HandleWarningHeader keeps the text of a warning.
func (w *warningList) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.texts = append(w.texts, text)
}

// denial returns the text about a Pod that was tried, which has its generated name.
func denial(pod *corev1.Pod, class, requirement string) string {
	return fmt.Sprintf("pod %s/%s belongs to application with AffinityClass %q but missing required nodeSelector %s", pod.Namespace, pod.Name,
		class, requirement)
}

// expectAdmitted expects that a Pod would be admitted without a warning.
func expectAdmitted(ctx context.Context, pod *corev1.Pod) {
	GinkgoHelper()
	warnings, err := tryPod(ctx, pod)
	Expect(err).NotTo(HaveOccurred())
	Expect(warnings).To(BeEmpty())
}

// expectDenied expects that a Pod would be denied because its class requires something else. The message ends with the text of the
// contract, which has the generated name.
func expectDenied(ctx context.Context, pod *corev1.Pod, class, requirement string) {
	GinkgoHelper()
	_, err := tryPod(ctx, pod)
	Expect(err).To(refusedWith(http.StatusForbidden, `admission webhook "pods.affinityclass.placement-hub.open-cluster-management.io" denied`,
		"pod "+pod.Namespace+"/main-db-"))
	Expect(err.Error()).To(MatchRegexp(`denied the request: pod %s/main-db-[a-z0-9]{5} belongs to application with AffinityClass "%s" but `+
		`missing required nodeSelector %s$`, pod.Namespace, class, requirement))
}
