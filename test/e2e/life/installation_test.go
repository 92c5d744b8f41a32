// SPDX-License-Identifier: Apache-2.0

package life

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env"
	"github.com/placement-hub/placement-hub/test/env/kubelet"
)

const (
	node       = "node"
	release    = "placement-hub"
	deployment = "deployment/placement-hub-controller"
	// rollout is how long a rollout may take on a loaded machine.
	rollout = "240s"
	// The tags of the image: of the commit in test/upgrade/PREVIOUS, and of this checkout.
	previousTag, thisTag = "previous", "latest"
	hubImage             = "placement-hub:"
	// replicas is how many Pods the hub has.
	replicas = 2
)

// installation is a hub that Helm and kubectl install into a control plane with a node.
type installation struct {
	*suite.Hub
	kubelet *kubelet.Kubelet
	root    string // of the checkout
}

// start starts a control plane with a node for Pods of the hub of this checkout and of the previous version.
func start(t *testing.T, more map[string]kubelet.Program) *installation {
	t.Helper()
	checkout, err := binaries.FindCheckout()
	suite.Must(t, err)
	previous := filepath.Join(checkout.Root, "bin", "previous", "placement")
	if _, err := os.Stat(previous); err != nil {
		t.Fatalf("%v: run `make bin/previous/placement`", err)
	}
	images := map[string]kubelet.Program{hubImage + previousTag: {Path: previous, Listen: listen}}
	maps.Copy(images, more)
	return startNode(t, images)
}

// listen has the flags for the ports of the hub by their names and numbers.
var listen = map[string]string{"https": "--listen", "webhook": "--webhook-listen", "dashboard": "--dashboard-listen", "8443": "--listen"}

// startNode starts a control plane with a node for Pods of the hub of this checkout.
func startNode(t *testing.T, more map[string]kubelet.Program) *installation {
	t.Helper()
	checkout, err := binaries.FindCheckout()
	suite.Must(t, err)
	router, err := kubelet.NewRouter(t.Context())
	suite.Must(t, err)
	t.Cleanup(func() { suite.Must(t, router.Close()) })
	flags, err := router.APIServerArgs()
	suite.Must(t, err)
	plane, err := localplane.Start(t.Context(), localplane.Options{Workloads: true, APIServerArgs: flags})
	suite.Must(t, err)
	t.Cleanup(func() { suite.Must(t, plane.Stop()) })
	suite.Must(t, plane.CreateNode(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}))
	images := map[string]kubelet.Program{hubImage + thisTag: {Path: suite.Binary, Listen: listen}}
	maps.Copy(images, more)
	k, err := kubelet.Start(t.Context(), kubelet.Options{
		Config: plane.AdminConfig(), Node: node, Directory: t.TempDir(),
		Images: images,
	})
	suite.Must(t, err)
	i := &installation{Hub: suite.HubOf(t, plane), kubelet: k, root: checkout.Root}
	t.Cleanup(func() {
		if t.Failed() {
			i.logPods(t)
		}
		suite.Must(t, k.Stop())
	})
	router.Route(k)
	return i
}

// logPods logs the Pods of the hub and the ends of their logs.
func (i *installation) logPods(t *testing.T) {
	t.Helper()
	pods := &corev1.PodList{}
	if err := i.Client.List(context.WithoutCancel(t.Context()), pods, client.InNamespace(manifests.Namespace)); err != nil {
		t.Log(err)
	}
	for _, pod := range pods.Items {
		text, err := i.kubelet.Log(pod.Namespace, pod.Name)
		if err != nil {
			text = err.Error()
		}
		t.Logf("pod %s of image %s: %+v\n%s", pod.Name, pod.Spec.Containers[0].Image, pod.Status, text[max(0, len(text)-3000):])
	}
}

// kubectl runs kubectl as an administrator.
func (i *installation) kubectl(t *testing.T, arguments ...string) {
	t.Helper()
	suite.Kubectl(t, i.AdminKubeconfig, arguments...)
}

// applyPrevious applies the kustomizations of the previous version with every system, and waits until its Pods are ready.
func (i *installation) applyPrevious(t *testing.T) {
	t.Helper()
	deploy := filepath.Join(i.root, "bin", "previous", "source", "deploy")
	k := env.Kustomization{
		Resources:  []string{filepath.Join(deploy, "base")},
		Components: []string{filepath.Join(deploy, "components", "without-taints")},
		Images:     map[string]string{"placement-hub": previousTag},
	}
	for _, system := range suite.Systems {
		k.Components = append(k.Components, filepath.Join(deploy, "components", system))
	}
	place := t.TempDir()
	suite.Must(t, k.Write(place))
	suite.Eventually(t, "applying the kustomization", func() error { // Custom resources wait for their definitions.
		command := exec.CommandContext(t.Context(), filepath.Join(suite.Assets, "kubectl"), "--kubeconfig", i.AdminKubeconfig,
			"apply", "--server-side", "--force-conflicts", "--kustomize", place)
		return command.Run()
	})
	i.waitForRollout(t)
}

func (i *installation) waitForRollout(t *testing.T) {
	t.Helper()
	i.kubectl(t, "--namespace", manifests.Namespace, "rollout", "status", deployment, "--timeout", rollout)
}

// helm runs Helm with directories of its own.
func (i *installation) helm(t *testing.T, arguments ...string) {
	t.Helper()
	path, err := env.FindHelm()
	suite.Must(t, err)
	home := t.TempDir()
	command := exec.CommandContext(t.Context(), path, append(arguments, "--namespace", manifests.Namespace, "--kubeconfig", i.AdminKubeconfig)...)
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
}

// upgrade installs or upgrades the release with every system, and waits until its Pods are ready.
func (i *installation) upgrade(t *testing.T, arguments ...string) {
	t.Helper()
	chart := filepath.Join(i.root, "deploy", "charts", "placement-hub")
	all := []string{"upgrade", "--install", release, chart, "--wait", "--timeout", rollout}
	for _, system := range suite.Systems {
		all = append(all, "--set", "systems."+system+"=true")
	}
	i.helm(t, append(all, arguments...)...)
}

// settle returns when the Pods of a rollout run the image with a tag, no other one is left, and the leader among them has carried out changes.
func (i *installation) settle(t *testing.T, w *witness, tag string) {
	t.Helper()
	i.waitForPods(t, hubImage+tag, replicas)
	since := w.moves.Load()
	suite.Eventually(t, "waiting for the leader to carry out changes", func() error { return w.movedSince(since) })
	select { // What it writes without need, it writes at once.
	case <-t.Context().Done():
	case <-time.After(time.Second):
	}
}

// waitForPods waits until so many Pods are ready, all with this image, and no other one is left.
func (i *installation) waitForPods(t *testing.T, image string, count int) {
	t.Helper()
	suite.EventuallyWithin(t, 2*suite.Timeout, "waiting for the end of the rollout", func() error { return i.rolledOut(t, image, count) })
}

func (i *installation) rolledOut(t *testing.T, want string, count int) error {
	t.Helper()
	pods := &corev1.PodList{}
	if err := i.Client.List(t.Context(), pods, client.InNamespace(manifests.Namespace)); err != nil {
		return err
	}
	for n := range pods.Items {
		pod := &pods.Items[n]
		if pod.DeletionTimestamp != nil || !isReady(pod) {
			return fmt.Errorf("pod %s is being deleted, or not ready", pod.Name)
		}
		if image := pod.Spec.Containers[0].Image; image != want {
			return fmt.Errorf("pod %s has the image %s", pod.Name, image)
		}
	}
	if len(pods.Items) != count {
		return fmt.Errorf("there are %d pods", len(pods.Items))
	}
	return nil
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
		return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
	})
}
