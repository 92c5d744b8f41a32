// SPDX-License-Identifier: Apache-2.0

package life

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// world is the namespace and the name of the objects of suite.Hub's CreateWorld.
const world = "world"

// TestLifeOfAnInstallation installs the previous version by kustomize and upgrades it with Helm, rolls back in both ways, turns a system off and
// on, drains the node and uninstalls, while clusters and Placements change all the time. No cluster that stays selected leaves a decision, no
// work, grant or cluster is deleted, no object that was left alone is written again, and every request for a webhook is answered.
//
// Requests for webhooks reach a Pod through kubelet.Router: the Service and its selector count, kube-proxy does not.
func TestLifeOfAnInstallation(t *testing.T) {
	i := start(t, nil)
	i.Apply(t, suite.PlatformDefinitions)
	suite.Must(t, manifests.InstallManifestWorks(t.Context(), i.Environment.AdminConfig()))
	i.applyPrevious(t)
	suite.Eventually(t, "waiting for the webhook", func() error { return i.TryDefaults(t) })
	i.CreateWorld(t)
	i.WantWorld(t, "c1")
	i.WantGrant(t)
	suite.Eventually(t, "waiting for the webhooks", func() error { return i.TryReviews(t) })
	w := watchWorld(t, i.Hub)
	before, running := i.quiet(t), previousTag

	for _, step := range []struct {
		name, tag string
		do        func(*testing.T)
	}{
		{"Helm adopts what kubectl has applied, and upgrades", thisTag, i.adopt},
		{"kubectl rolls back to the previous version", previousTag, i.applyPrevious},
		{"Helm upgrades again", thisTag, i.adopt},
		{"Helm changes the image to the previous version", previousTag, i.usePreviousImage},
		{"Helm rolls back", thisTag, i.rollBack},
		{"helm test succeeds", thisTag, i.test},
		{"a system is turned off", thisTag, i.turnOff},
		{"and on", thisTag, i.turnOn},
		{"the node is drained", thisTag, i.drain},
	} {
		t.Run(step.name, func(t *testing.T) {
			w.cuts.Store(running == previousTag)
			step.do(t)
			i.settle(t, w, step.tag)
			if diff := cmp.Diff(before, i.quiet(t)); diff != "" {
				t.Errorf("what nobody changed (-before +after):\n%s", diff)
			}
			w.judge(t)
		})
		if t.Failed() {
			return
		}
		running = step.tag
	}
	w.pause(t)
	terminating := i.terminate(t)
	i.uninstall(t, w)
	w.stop()
	i.release(t)
	for _, object := range terminating { // Somebody else has to finish.
		i.WantMade(t, object)
		if !slices.Equal(object.GetFinalizers(), []string{foreign}) {
			t.Errorf("%T %s has the finalizers %v, want the one of somebody else", object, object.GetName(), object.GetFinalizers())
		}
	}
}

// foreign is a finalizer that neither the hub nor its commands remove.
const foreign = "example.com/foreign"

// terminate deletes objects that have a foreign finalizer, and so stay: a class of a system, and an object with its namespace.
func (i *installation) terminate(t *testing.T) []client.Object {
	t.Helper()
	const leaving = "leaving"
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: leaving}}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: leaving, Name: leaving, Finalizers: []string{foreign}}}
	class := &cozystackv1alpha1.AffinityClass{ObjectMeta: metav1.ObjectMeta{Name: leaving, Finalizers: []string{foreign}}}
	class.Spec.NodeSelector = map[string]cozystackv1alpha1.NodeLabelValue{"zone": leaving}
	for _, made := range []client.Object{namespace, object, class} {
		suite.Must(t, i.Client.Create(t.Context(), made))
	}
	for _, deleted := range []client.Object{namespace, class} {
		suite.Must(t, i.Client.Delete(t.Context(), deleted))
	}
	suite.Eventually(t, "waiting for the deletion", func() error {
		err := i.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if err == nil && object.DeletionTimestamp == nil {
			err = errors.New("the object is not being deleted yet")
		}
		return err
	})
	return []client.Object{object, class}
}

// release deletes what has a finalizer of the hub, which is gone. It stays until `placement uninstall` releases it, and its works stay.
func (i *installation) release(t *testing.T) {
	t.Helper()
	request := &openmcpv1alpha1.ClusterRequest{}
	request.Namespace, request.Name = world, world
	delivered := &corev1.ConfigMap{}
	delivered.Namespace, delivered.Name = world, world
	works := &workv1.ManifestWorkList{}
	suite.Must(t, i.Client.List(t.Context(), works))
	for _, object := range []client.Object{request, delivered} {
		suite.Must(t, i.Client.Delete(t.Context(), object))
		if err := i.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil || object.GetDeletionTimestamp() == nil {
			t.Errorf("%T after its deletion without a hub: %v, want it to wait for a finalizer", object, err)
		}
	}
	// Helm takes away the rights of the leader before it ends, so that it cannot release its Lease.
	i.kubectl(t, "--namespace", manifests.Namespace, "delete", "lease", "placement-lock", "--ignore-not-found")
	released := suite.Run(t, "uninstall", "--kubeconfig", i.AdminKubeconfig, "--release-finalizers", "--delete-hub-state")
	if code := released.ExitCode(t); code != 0 {
		t.Errorf("uninstall ends with %d; %s", code, released)
	}
	for _, object := range []client.Object{request, delivered} {
		if err := i.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); !apierrors.IsNotFound(err) {
			t.Errorf("%T after its release: %v, want it gone; %s", object, err, released)
		}
	}
	if want := "deleted objects of the hub: 3 of 3\n"; !strings.Contains(released.Stdout.String(), want) { // The Lease is gone.
		t.Errorf("uninstall does not say %q; %s", want, released)
	}
	left := &workv1.ManifestWorkList{}
	suite.Must(t, i.Client.List(t.Context(), left))
	if len(left.Items) != len(works.Items) || len(left.Items) == 0 {
		t.Errorf("%d works before the release and %d after it, want them to stay", len(works.Items), len(left.Items))
	}
}

// quiet returns the versions of the decisions, works and grants outside the namespace whose clusters and Placement change.
func (i *installation) quiet(t *testing.T) map[string]string {
	t.Helper()
	outcome := i.Outcome(t)
	for name := range outcome {
		if strings.Contains(name, churned+"/") {
			delete(outcome, name)
		}
	}
	return outcome
}

// adopt upgrades to this version, and takes over objects that kubectl has applied.
func (i *installation) adopt(t *testing.T) {
	t.Helper()
	i.upgrade(t, "--take-ownership", "--force-conflicts")
}

func (i *installation) usePreviousImage(t *testing.T) {
	t.Helper()
	i.upgrade(t, "--set", "image.tag="+previousTag)
}

func (i *installation) rollBack(t *testing.T) {
	t.Helper()
	i.helm(t, "rollback", release, "--wait", "--timeout", rollout)
}

func (i *installation) test(t *testing.T) {
	t.Helper()
	i.helm(t, "test", release, "--timeout", rollout)
}

// turnOff turns a system off. Its webhook does not outlive it, and what it was for goes on without it.
func (i *installation) turnOff(t *testing.T) {
	t.Helper()
	i.upgrade(t, "--set", "systems."+manifests.PodScheduling+"=false")
	if err := i.TryInjection(t); err == nil || !strings.Contains(err.Error(), "has the nodeSelector") {
		t.Errorf("a new Pod after the system was turned off: %v; want one without constraints", err)
	}
}

// turnOn turns all systems on, of which the leader before the rollout does not know one.
func (i *installation) turnOn(t *testing.T) {
	t.Helper()
	i.upgrade(t)
	suite.Eventually(t, "waiting for the webhooks", func() error { return i.TryReviews(t) })
}

// drain evicts the Pods of the hub one after the other, as a drained node does. The PodDisruptionBudget keeps one of them at any time.
func (i *installation) drain(t *testing.T) {
	t.Helper()
	pods := &corev1.PodList{}
	suite.Must(t, i.Client.List(t.Context(), pods, client.InNamespace(manifests.Namespace)))
	refused := 0
	for n := range pods.Items {
		pod := &pods.Items[n]
		if pod.DeletionTimestamp != nil {
			continue
		}
		suite.Eventually(t, "evicting "+pod.Name, func() error {
			eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
			err := i.Client.SubResource("eviction").Create(t.Context(), pod, eviction)
			if apierrors.IsTooManyRequests(err) {
				refused++
			}
			return err
		})
	}
	if refused == 0 {
		t.Error("all Pods were evicted at once; want the PodDisruptionBudget to refuse one")
	}
	suite.Eventually(t, "waiting for new Pods", func() error { return i.replaced(t, pods.Items) })
	i.waitForRollout(t)
}

// replaced returns an error as long as one of these Pods is there.
func (i *installation) replaced(t *testing.T, old []corev1.Pod) error {
	t.Helper()
	pods := &corev1.PodList{}
	if err := i.Client.List(t.Context(), pods, client.InNamespace(manifests.Namespace)); err != nil {
		return err
	}
	for _, pod := range pods.Items {
		for n := range old {
			if pod.UID == old[n].UID {
				return fmt.Errorf("pod %s is still there", pod.Name)
			}
		}
	}
	return nil
}

// uninstall ends the release. Decisions, works, grants and definitions stay as they are, and the webhooks are gone before the Pods.
func (i *installation) uninstall(t *testing.T, w *witness) {
	t.Helper()
	before, definitions := i.Outcome(t), i.definitions(t)
	i.helm(t, "uninstall", release, "--wait", "--timeout", rollout)
	suite.Eventually(t, "waiting for the end of the Pods", func() error {
		pods := &corev1.PodList{}
		err := i.Client.List(t.Context(), pods, client.InNamespace(manifests.Namespace))
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("there are %d", len(pods.Items))
		}
		return err
	})
	if diff := cmp.Diff(before, i.Outcome(t)); diff != "" {
		t.Errorf("decisions, works and grants (-before +after the end of the release):\n%s", diff)
	}
	if diff := cmp.Diff(definitions, i.definitions(t)); diff != "" {
		t.Errorf("definitions (-before +after the end of the release):\n%s", diff)
	}
	w.judge(t)
}

// definitions returns the identities of the CustomResourceDefinitions.
func (i *installation) definitions(t *testing.T) map[string]string {
	t.Helper()
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	suite.Must(t, i.Client.List(t.Context(), list))
	identities := map[string]string{}
	for n := range list.Items {
		identities[list.Items[n].Name] = string(list.Items[n].UID)
	}
	return identities
}
