// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1client "k8s.io/client-go/kubernetes/typed/apps/v1"

	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// TestWorkloadsAreBound has two Deployments: one may run on the tainted Node only, the other on the Node without a taint only.
func TestWorkloadsAreBound(t *testing.T) {
	e := startControlPlane(t, localplane.Options{Workloads: true})
	dedicated := corev1.Taint{Key: "dedicated", Value: "etcd", Effect: corev1.TaintEffectNoSchedule}
	for _, node := range []*corev1.Node{
		{
			ObjectMeta: metav1.ObjectMeta{Name: "tainted", Labels: map[string]string{"pool": "etcd"}},
			Spec:       corev1.NodeSpec{Taints: []corev1.Taint{dedicated}},
		},
		{ObjectMeta: metav1.ObjectMeta{Name: "plain"}},
	} {
		if err := e.CreateNode(t.Context(), node); err != nil {
			t.Fatal(err)
		}
	}

	createDeployment(t, e, "etcd", corev1.PodSpec{
		NodeSelector: map[string]string{"pool": "etcd"},
		Tolerations:  []corev1.Toleration{{Key: dedicated.Key, Value: dedicated.Value, Effect: dedicated.Effect}},
	})
	createDeployment(t, e, "web", corev1.PodSpec{})

	for app, want := range map[string]string{"etcd": "tainted", "web": "plain"} {
		eventually(t, "waiting for the pods of "+app, func() error {
			pods, err := client(t, e.AdminConfig()).Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
			if err != nil {
				return err
			}
			if len(pods.Items) != 2 {
				return fmt.Errorf("%d pods, want 2", len(pods.Items))
			}
			for _, pod := range pods.Items {
				if pod.Spec.NodeName != want {
					return fmt.Errorf("pod %s is bound to %q, want %q", pod.Name, pod.Spec.NodeName, want)
				}
			}
			return nil
		})
	}
}

// createDeployment creates a Deployment of two pods with the label app.
func createDeployment(t *testing.T, e *localplane.ControlPlane, app string, spec corev1.PodSpec) {
	t.Helper()
	client, err := appsv1client.NewForConfig(e.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}
	replicas, labels := int32(2), map[string]string{"app": app}
	spec.Containers = []corev1.Container{{Name: "main", Image: "registry.example/" + app}}
	_, err = client.Deployments("default").Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating deployment %s: %v", app, err)
	}
}
