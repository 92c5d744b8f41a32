// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/test/env/kubelet"
)

const kubeletNode = "node-of-kubelet"

// shell returns a Pod that runs a script on the node of the kubelet.
func shell(name, script string, policy corev1.RestartPolicy) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: kubeletNode, RestartPolicy: policy, TerminationGracePeriodSeconds: ptr.To[int64](1),
			Containers: []corev1.Container{{
				Name: "main", Image: "shell", Args: []string{"-c", script},
				Env: []corev1.EnvVar{{Name: "WHERE", ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"},
				}}},
			}},
		},
	}
}

// The life of Pods on the kubelet of the tests, as far as the hub does not show it.
func TestKubelet(t *testing.T) {
	e := sharedControlPlane(t)
	k, err := kubelet.Start(t.Context(), kubelet.Options{
		Config: e.AdminConfig(), Node: kubeletNode, Directory: t.TempDir(),
		Images: map[string]kubelet.Program{"shell": {Path: "/bin/sh"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Stop(); err != nil {
			t.Error(err)
		}
	})
	pods := client(t, e.AdminConfig()).Pods("default")
	create := func(pod *corev1.Pod) {
		t.Helper()
		if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	await := func(name, what string, check func(*corev1.Pod) bool) {
		t.Helper()
		eventually(t, what, func() error {
			pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && !check(pod) {
				err = fmt.Errorf("the status is %+v", pod.Status)
			}
			return err
		})
	}

	create(shell("fails", `echo in $WHERE; test -s $KUBECONFIG; exit 3`, corev1.RestartPolicyNever))
	create(shell("restarts", `exit 1`, corev1.RestartPolicyAlways))
	create(shell("stubborn", `trap "" TERM; echo $$; while :; do sleep 0.1; done`, corev1.RestartPolicyAlways))
	refused := shell("refused", "", corev1.RestartPolicyAlways)
	refused.Spec.Containers[0].Image = "unknown"
	create(refused)

	await("fails", "the end of a Pod", func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodFailed && pod.Status.ContainerStatuses[0].State.Terminated.ExitCode == 3
	})
	if text, err := k.Log("default", "fails"); err != nil || text != "in default\n" {
		t.Errorf("the log is %q (%v)", text, err)
	}
	await("restarts", "a second start", func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodRunning && pod.Status.ContainerStatuses[0].RestartCount > 0
	})
	await("refused", "the reason of a Pod that cannot run", func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) == 1 && strings.Contains(pod.Status.ContainerStatuses[0].State.Waiting.Message, "of known images")
	})

	await("stubborn", "a Pod without probes", func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) == 1 && pod.Status.ContainerStatuses[0].Ready
	})
	var process int
	eventually(t, "waiting for the log", func() error {
		text, err := k.Log("default", "stubborn")
		if err == nil {
			process, err = strconv.Atoi(strings.TrimSpace(text))
		}
		return err
	})
	for _, name := range []string{"fails", "restarts", "stubborn", "refused"} {
		if err := pods.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "waiting for the end of "+name, func() error {
			_, err := pods.Get(t.Context(), name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(errors.New("it is there"), err)
		})
	}
	if err := syscall.Kill(process, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process that ignores SIGTERM: %v, want none", err)
	}
}
