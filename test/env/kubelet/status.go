// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// report writes the status of the Pod unless it has done so, and notes whether it is ready. A Pod that is gone has none.
func (p *pod) report(ctx context.Context, phase corev1.PodPhase, state corev1.ContainerState, ready bool) {
	p.mu.Lock()
	of := p.latest
	key := fmt.Sprint(phase, ready, p.restarts, state.Running != nil)
	if key == p.reported {
		p.mu.Unlock()
		return
	}
	p.reported = key
	p.isReady = ready
	status := p.status(of, phase, state)
	p.mu.Unlock()

	if ctx.Err() != nil {
		return
	}
	requests, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": of.UID}, "status": status})
	if err == nil {
		pods := p.kubelet.client.CoreV1().Pods(of.Namespace)
		_, err = pods.Patch(requests, of.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, "status")
	}
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
		p.kubelet.fail(fmt.Errorf("reporting the status of pod %s: %w", describe(of), err))
	}
}

// status returns the status of the Pod. The lock is held.
func (p *pod) status(of *corev1.Pod, phase corev1.PodPhase, state corev1.ContainerState) corev1.PodStatus {
	now := metav1.Now()
	condition := func(kind corev1.PodConditionType, is bool) corev1.PodCondition {
		status := corev1.ConditionFalse
		if is {
			status = corev1.ConditionTrue
		}
		return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: now}
	}
	container := corev1.ContainerStatus{
		Name: p.container.Name, Image: p.container.Image, ImageID: p.container.Image, State: state, LastTerminationState: p.last,
		Ready: p.isReady, Started: new(state.Running != nil), RestartCount: p.restarts,
	}
	status := corev1.PodStatus{
		Phase: phase, HostIP: localAddress, PodIP: localAddress, PodIPs: []corev1.PodIP{{IP: localAddress}}, StartTime: &now,
		Conditions: []corev1.PodCondition{
			condition(corev1.PodInitialized, true), condition(corev1.ContainersReady, p.isReady), condition(corev1.PodReady, p.isReady),
		},
	}
	if of.Status.StartTime != nil {
		status.StartTime = of.Status.StartTime
	}
	if container.Name == "" { // The Pod was refused.
		container.Name, container.Image = of.Spec.Containers[0].Name, of.Spec.Containers[0].Image
	}
	status.ContainerStatuses = []corev1.ContainerStatus{container}
	return status
}
