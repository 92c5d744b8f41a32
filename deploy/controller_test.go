// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/manifests"
)

func TestDeploymentUsesTheInstalledAccount(t *testing.T) {
	deployment := typed[appsv1.Deployment](t, "Deployment")
	if deployment.Namespace != manifests.Namespace {
		t.Errorf("namespace = %q, want %q", deployment.Namespace, manifests.Namespace)
	}
	pod := deployment.Spec.Template
	if pod.Spec.ServiceAccountName != manifests.ServiceAccount {
		t.Errorf("serviceAccountName = %q, want %q", pod.Spec.ServiceAccountName, manifests.ServiceAccount)
	}
	want := []string{"controller", "--controllers=*", "--max-removal-percent=50"} // docs/spec/differences.md G5.
	if diff := cmp.Diff(want, pod.Spec.Containers[0].Args); diff != "" {
		t.Errorf("a standalone hub runs all controllers (-want +got):\n%s", diff)
	}
}

// The rules of the Pod Security Standard "restricted" that a pod must meet by its own fields.
func TestPodIsRestricted(t *testing.T) {
	pod := typed[appsv1.Deployment](t, "Deployment").Spec.Template.Spec
	if pod.SecurityContext == nil || pod.SecurityContext.RunAsNonRoot == nil || !*pod.SecurityContext.RunAsNonRoot {
		t.Error("runAsNonRoot is not true")
	}
	if pod.SecurityContext == nil || pod.SecurityContext.SeccompProfile == nil ||
		pod.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Error("the seccomp profile is not RuntimeDefault")
	}
	for _, container := range pod.Containers {
		context := container.SecurityContext
		if context == nil || context.AllowPrivilegeEscalation == nil || *context.AllowPrivilegeEscalation {
			t.Errorf("%s: allowPrivilegeEscalation is not false", container.Name)
		}
		if context == nil || context.Capabilities == nil ||
			!cmp.Equal(context.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(context.Capabilities.Add) > 0 {
			t.Errorf("%s: capabilities are not dropped", container.Name)
		}
	}
	for _, volume := range pod.Volumes {
		if volume.EmptyDir == nil {
			t.Errorf("volume %s is no emptyDir", volume.Name)
		}
	}
}

func TestProbesAndServiceReachThePort(t *testing.T) {
	deployment := typed[appsv1.Deployment](t, "Deployment")
	service := serviceNamed(t, "placement-hub-metrics")
	container := deployment.Spec.Template.Spec.Containers[0]
	ports := map[string]int32{}
	for _, port := range container.Ports {
		ports[port.Name] = port.ContainerPort
	}
	if diff := cmp.Diff(map[string]int32{"https": 8443, "webhook": 9443}, ports); diff != "" {
		t.Errorf("container ports (-want +got):\n%s", diff)
	}
	for path, probe := range map[string]*corev1.Probe{
		"/healthz": container.LivenessProbe,
		"/readyz":  container.ReadinessProbe,
	} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Path != path ||
			probe.HTTPGet.Scheme != corev1.URISchemeHTTPS || probe.HTTPGet.Port.StrVal != "https" {
			t.Errorf("no probe gets %s from port https over HTTPS", path)
		}
	}
	for _, port := range service.Spec.Ports {
		if _, found := ports[port.TargetPort.StrVal]; !found {
			t.Errorf("service port %s leads to %q, which the container does not open", port.Name, port.TargetPort.StrVal)
		}
	}
	template := labels.Set(deployment.Spec.Template.Labels)
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(template) {
		t.Errorf("the service selects %v, the pods have %v", service.Spec.Selector, template)
	}
	if !labels.SelectorFromSet(deployment.Spec.Selector.MatchLabels).Matches(template) {
		t.Errorf("the deployment selects %v, its pods have %v", deployment.Spec.Selector, template)
	}
}

// One leads and one is warm; neither the loss nor the drain of a node or a zone may take both.
func TestReplicasDoNotGoTogether(t *testing.T) {
	deployment := typed[appsv1.Deployment](t, "Deployment")
	replicas := ptr.Deref(deployment.Spec.Replicas, 1)
	if replicas < 2 {
		t.Errorf("%d replicas, want one that leads and one that stands by", replicas)
	}
	pods := labels.Set(deployment.Spec.Template.Labels)
	selects := func(selector *metav1.LabelSelector) bool {
		selected, err := metav1.LabelSelectorAsSelector(selector)
		if err != nil {
			t.Fatal(err)
		}
		return selected.Matches(pods)
	}
	spread := map[string]bool{}
	for _, constraint := range deployment.Spec.Template.Spec.TopologySpreadConstraints {
		spread[constraint.TopologyKey] = selects(constraint.LabelSelector)
	}
	want := map[string]bool{corev1.LabelHostname: true, corev1.LabelTopologyZone: true}
	if diff := cmp.Diff(want, spread); diff != "" {
		t.Errorf("the pods are spread over (-want +got):\n%s", diff)
	}
	budget := typed[policyv1.PodDisruptionBudget](t, "PodDisruptionBudget")
	if !selects(budget.Spec.Selector) {
		t.Errorf("the budget selects %v, the pods have %v", budget.Spec.Selector, pods)
	}
	if unavailable := ptr.Deref(budget.Spec.MaxUnavailable, intstr.FromInt32(0)); unavailable.IntVal != replicas-1 {
		t.Errorf("%s of %d replicas may be drained at a time, want all but one", unavailable.String(), replicas)
	}
}

// serviceNamed returns a Service of base/controller.
func serviceNamed(t *testing.T, name string) *corev1.Service {
	t.Helper()
	for _, obj := range build(t, "base/controller") {
		if obj.GetKind() != "Service" || obj.GetName() != name {
			continue
		}
		service := new(corev1.Service)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(obj.Object, service, true); err != nil {
			t.Fatalf("%s: %v", id(obj), err)
		}
		return service
	}
	t.Fatalf("base/controller has no Service %s", name)
	return nil
}

// typed returns the one object of that kind in base/controller; a field that the type does not know fails the test.
func typed[T any](t *testing.T, kind string) *T {
	t.Helper()
	return typedIn[T](t, "base/controller", kind)
}

// typedIn is typed for another directory.
func typedIn[T any](t *testing.T, dir, kind string) *T {
	t.Helper()
	for _, obj := range build(t, dir) {
		if obj.GetKind() != kind {
			continue
		}
		into := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(obj.Object, into, true); err != nil {
			t.Fatalf("%s: %v", id(obj), err)
		}
		return into
	}
	t.Fatalf("%s has no %s", dir, kind)
	return nil
}
