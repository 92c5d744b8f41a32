// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// maxSecret is the greatest size of the Secret of a release. etcd refuses objects of 1.5 MiB.
const maxSecret = 512 << 10

// cluster is a control plane without controllers, so that only Helm and the test write.
type cluster struct {
	helm       helmVersion
	client     client.Client
	kubeconfig string
}

func startCluster(t *testing.T, helm helmVersion) cluster {
	t.Helper()
	plane, err := localplane.Start(t.Context(), localplane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})

	log.SetLogger(logr.Discard())
	c, err := client.New(plane.AdminConfig(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	content, err := localplane.Kubeconfig(plane.AdminConfig())
	if err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return cluster{helm: helm, client: c, kubeconfig: file}
}

// install installs or upgrades the release.
func (c cluster) install(t *testing.T, more ...string) {
	t.Helper()
	c.helm.run(t, append([]string{"upgrade", "--install", release, directory, "--namespace", manifests.Namespace, "--create-namespace",
		"--kubeconfig", c.kubeconfig}, more...)...)
}

// state is what identifies a version of an object.
type state struct{ UID, ResourceVersion string }

// states returns the live states of the objects of a rendering. An object that is gone is not among them.
func (c cluster) states(t *testing.T, objects []*unstructured.Unstructured) map[string]state {
	t.Helper()
	states := map[string]state{}
	for _, object := range objects {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(object.GroupVersionKind())
		err := c.client.Get(t.Context(), client.ObjectKeyFromObject(object), live)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		states[describe(object)] = state{UID: string(live.GetUID()), ResourceVersion: live.GetResourceVersion()}
	}

	return states
}

// The life of a release with everything on a real API server: an upgrade without changes writes nothing, a system that is turned off leaves no
// webhook, and neither that nor the end of the release deletes definitions.
func TestLifeOfARelease(t *testing.T) { forEachHelm(t, checkLife) }

func checkLife(t *testing.T, helm helmVersion) {
	t.Helper()
	c := startCluster(t, helm)
	objects := decode(t, render(t, everything()...))
	c.install(t, flags(everything())...)
	installed := c.states(t, objects)
	if len(installed) != len(objects) {
		t.Fatalf("%d of %d objects are there", len(installed), len(objects))
	}
	t.Run("the Secret is small", c.checkSecret)
	t.Run("the Pods are restricted", c.checkPods)

	t.Run("an upgrade without changes writes nothing", func(t *testing.T) {
		c.writeBundle(t)
		c.waitForFlowSchemas(t)
		before := c.states(t, objects)
		c.install(t, flags(everything())...)
		if diff := cmp.Diff(before, c.states(t, objects)); diff != "" {
			t.Errorf("objects (-before +after):\n%s", diff)
		}
		if bundle := c.bundle(t); string(bundle) != "of the hub" {
			t.Errorf("caBundle is %q, and was written by the hub", bundle)
		}
	})

	t.Run("the systems off and on, those with webhooks that fail closed too", func(t *testing.T) {
		set := everything()
		for _, system := range manifests.Systems() {
			set = append(set, "systems."+system+"=false")
		}
		c.install(t, flags(set)...)
		c.expectKept(t, objects, decode(t, render(t, set...)), installed)
		c.install(t, flags(everything())...)
		if got := len(c.states(t, objects)); got != len(objects) {
			t.Errorf("%d of %d objects are there", got, len(objects))
		}
	})

	t.Run("a release without definitions leaves them", func(t *testing.T) {
		var definitions []*unstructured.Unstructured
		for _, object := range objects {
			if object.GetKind() == definition {
				definitions = append(definitions, object)
			}
		}
		before := c.states(t, definitions)
		c.install(t, flags(append(everything(), withoutDefinitions...))...)

		if diff := cmp.Diff(before, c.states(t, definitions)); diff != "" {
			t.Errorf("definitions (-before +after):\n%s", diff)
		}
	})

	t.Run("the end", func(t *testing.T) {
		helm.run(t, "uninstall", release, "--namespace", manifests.Namespace, "--kubeconfig", c.kubeconfig)
		c.expectKept(t, objects, nil, installed)
	})
}

// waitForFlowSchemas waits until the API server has written the status of each FlowSchema, which it does some time after its creation.
func (c cluster) waitForFlowSchemas(t *testing.T) {
	t.Helper()
	schemas := &flowcontrolv1.FlowSchemaList{}
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := c.client.List(ctx, schemas); err != nil {
			return false, err
		}
		return !slices.ContainsFunc(schemas.Items, func(schema flowcontrolv1.FlowSchema) bool {
			return !slices.ContainsFunc(schema.Status.Conditions, func(condition flowcontrolv1.FlowSchemaCondition) bool {
				return condition.Type == flowcontrolv1.FlowSchemaConditionDangling && condition.Status == flowcontrolv1.ConditionFalse
			})
		}), nil
	})
	if err != nil {
		t.Fatalf("waiting for the status of the FlowSchemas: %v; %v", err, schemas.Items)
	}
}

// expectKept expects that of the objects those of a smaller rendering, the definitions and the namespaces are left, and are not new ones.
func (c cluster) expectKept(t *testing.T, objects, smaller []*unstructured.Unstructured, before map[string]state) {
	t.Helper()
	states := c.states(t, objects)
	for _, object := range objects {
		name := describe(object)
		kept := slices.Contains([]string{definition, "Namespace"}, object.GetKind())
		rendered := slices.ContainsFunc(smaller, func(other *unstructured.Unstructured) bool { return describe(other) == name })
		live, found := states[name]
		if found != (kept || rendered) {
			t.Errorf("%s: is there: %t, want %t", name, found, kept || rendered)
		}
		if found && live.UID != before[name].UID {
			t.Errorf("%s has been deleted and created again", name)
		}
	}
}

// checkSecret checks the size of what Helm stores.
func (c cluster) checkSecret(t *testing.T) {
	t.Helper()
	secrets := &corev1.SecretList{}
	if err := c.client.List(t.Context(), secrets, client.InNamespace(manifests.Namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
		t.Fatal(err)
	}
	if len(secrets.Items) != 1 {
		t.Fatalf("there are %d Secrets of releases", len(secrets.Items))
	}

	text, err := json.Marshal(secrets.Items[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the Secret of a release with everything has %d bytes", len(text))
	if len(text) >= maxSecret {
		t.Errorf("the Secret has %d bytes, want less than %d", len(text), maxSecret)
	}
}

// checkPods has the API server check the Pod template of the Deployment by the pod security standard "restricted".
func (c cluster) checkPods(t *testing.T) {
	t.Helper()
	namespace := &corev1.Namespace{}
	if err := c.client.Get(t.Context(), client.ObjectKey{Name: manifests.Namespace}, namespace); err != nil {
		t.Fatal(err)
	}
	namespace.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	if err := c.client.Update(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}

	deployment := c.deployment(t)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: manifests.Namespace, Name: "trial"}, Spec: deployment.Spec.Template.Spec,
	}
	if err := c.client.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Error(err)
	}

	hooks := c.helm.run(t, "get", "hooks", release, "--namespace", manifests.Namespace, "--kubeconfig", c.kubeconfig)
	for _, hook := range decode(t, hooks) {
		if err := c.client.Create(t.Context(), hook, client.DryRunAll); err != nil {
			t.Errorf("the Pod of helm test: %v", err)
		}
	}
	pod.Spec.SecurityContext.SeccompProfile = nil
	pod.ResourceVersion, pod.UID = "", ""

	if err := c.client.Create(t.Context(), pod, client.DryRunAll); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "restricted") {
		t.Errorf("a Pod without a seccomp profile: %v, want a refusal by the standard", err)
	}
}

// configuration is one that the hub writes a bundle into.
var configuration = client.ObjectKey{Name: "open-cluster-management-placement-hub-managedclusters"}

// writeBundle does what the hub does.
func (c cluster) writeBundle(t *testing.T) {
	t.Helper()
	live := &admissionv1.MutatingWebhookConfiguration{}
	if err := c.client.Get(t.Context(), configuration, live); err != nil {
		t.Fatal(err)
	}
	for i := range live.Webhooks {
		live.Webhooks[i].ClientConfig.CABundle = []byte("of the hub")
	}

	if err := c.client.Update(t.Context(), live); err != nil {
		t.Fatal(err)
	}
}

func (c cluster) bundle(t *testing.T) []byte {
	t.Helper()
	live := &admissionv1.MutatingWebhookConfiguration{}
	if err := c.client.Get(t.Context(), configuration, live); err != nil {
		t.Fatal(err)
	}
	return live.Webhooks[0].ClientConfig.CABundle
}

// A hub that kustomize has installed becomes a release: no object is created again, and no Pod restarts.
func TestAdoptingAKustomization(t *testing.T) { forEachHelm(t, checkAdoption) }

func checkAdoption(t *testing.T, helm helmVersion) {
	t.Helper()
	c := startCluster(t, helm)
	kubectl(t, "apply", "--server-side", "--kubeconfig", c.kubeconfig, "--cache-dir", t.TempDir(),
		"--kustomize", kustomization(t, []string{"deploy/base"}, nil))
	const same = "taintUnavailableClusters=true,taintGracePeriod=null"
	objects := decode(t, render(t, same))
	before := c.states(t, objects)
	if len(before) != len(objects) {
		t.Fatalf("%d of %d objects are there", len(before), len(objects))
	}

	deployment := c.deployment(t)

	// kubectl owns the fields that it has applied, and the API server has defaulted some of them.
	arguments := []string{"--take-ownership", "--set", same}
	if helm.serverSide {
		arguments = append(arguments, "--force-conflicts")
	}
	c.install(t, arguments...)
	for name, live := range c.states(t, objects) {
		if live.UID != before[name].UID {
			t.Errorf("%s has been deleted and created again", name)
		}
	}

	if diff := cmp.Diff(deployment.Spec, c.deployment(t).Spec); diff != "" {
		t.Errorf("the spec of the Deployment (-before +after):\n%s", diff)
	}
}

func (c cluster) deployment(t *testing.T) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: manifests.Namespace, Name: "placement-hub-controller"}
	if err := c.client.Get(t.Context(), key, deployment); err != nil {
		t.Fatal(err)
	}
	return deployment
}
