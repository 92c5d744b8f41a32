// SPDX-License-Identifier: Apache-2.0

package finalizers

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// mallory may read and write every object and every status, and has no other verb.
const mallory = "mallory"

// writer is the field manager of all objects and of mallory.
const writer = "kubectl"

func TestFinalizers(t *testing.T) {
	suite.Run(t, "finalizers of the hub", suite.OnlyAPIServer, suite.BeforeHub(install))
}

// install installs the policies of all systems. Nothing serves their webhooks, so these are deleted.
func install(ctx SpecContext) {
	admin := suite.ControlPlane.AdminConfig()
	Expect(manifests.Install(ctx, admin)).To(Succeed())
	Expect(manifests.InstallManifestWorks(ctx, admin)).To(Succeed())
	for _, name := range manifests.Systems() {
		Expect(manifests.InstallSystem(ctx, admin, name, "")).To(Succeed())
	}
	for _, webhooks := range []client.Object{
		&admissionregistrationv1.MutatingWebhookConfiguration{}, &admissionregistrationv1.ValidatingWebhookConfiguration{},
	} {
		Expect(suite.Client.DeleteAllOf(ctx, webhooks)).To(Succeed())
	}
	suite.Allow(ctx, "", mallory, rbacv1.PolicyRule{
		APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "create", "update", "patch", "delete"},
	})
}

// specs are the fields of objects beside their metadata, by resource. A finalizer of a new resource needs one here.
var specs = map[string]string{
	"clusterrequests": `{apiVersion: cluster.openmcp.cloud/v1alpha1, kind: ClusterRequest, spec: {purposes: [p]}}`,
	"clusters":        `{apiVersion: cluster.openmcp.cloud/v1alpha1, kind: Cluster, spec: {clusterProviderRef: {name: other, profile: p}}}`,
	"accessrequests":  `{apiVersion: cluster.openmcp.cloud/v1alpha1, kind: AccessRequest, spec: {clusterRef: {name: c}}}`,
	"affinityclasses": `{apiVersion: cozystack.io/v1alpha1, kind: AffinityClass, spec: {nodeSelector: {a: b}}}`,
}

// delivered are objects of the kinds that are delivered without configuration, and of two that a flag can add.
var delivered = map[string]string{
	"ConfigMap":             `{apiVersion: v1, kind: ConfigMap}`,
	"Secret":                `{apiVersion: v1, kind: Secret}`,
	"Service":               `{apiVersion: v1, kind: Service, spec: {ports: [{port: 80}]}}`,
	"Deployment":            `{apiVersion: apps/v1, kind: Deployment, spec: ` + podTemplate + `}`,
	"ReplicaSet":            `{apiVersion: apps/v1, kind: ReplicaSet, spec: ` + podTemplate + `}`,
	"DaemonSet":             `{apiVersion: apps/v1, kind: DaemonSet, spec: ` + podTemplate + `}`,
	"Ingress":               `{apiVersion: networking.k8s.io/v1, kind: Ingress, spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}}`,
	"CronJob":               `{apiVersion: batch/v1, kind: CronJob, spec: {schedule: "@daily", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}`, //nolint:lll // One object.
	"PersistentVolumeClaim": `{apiVersion: v1, kind: PersistentVolumeClaim, spec: {accessModes: [ReadWriteOnce], resources: ` + volume + `}}`,
}

const volume = `{requests: {storage: 1Gi}}`

const podTemplate = `{selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}`

// guarded are the finalizers of all systems, each on an object of each kind that may have it.
func guarded() map[string]*unstructured.Unstructured {
	GinkgoHelper()
	all := map[string]*unstructured.Unstructured{}
	for _, kind := range federation.DefaultKinds() {
		Expect(delivered).To(HaveKey(kind.Kind), "a kind that is delivered has no object in this test")
	}
	var options system.Options
	for _, entry := range options.Systems() {
		for _, finalizer := range entry.Finalizers {
			name := finalizer.Name
			if finalizer.Prefix {
				name += "8a2d1c1e-0000-4000-8000-000000000000"
			}
			objects := delivered
			if !finalizer.Resource.Empty() {
				Expect(specs).To(HaveKey(finalizer.Resource.Resource), "a resource with a finalizer has no object in this test")
				objects = map[string]string{finalizer.Resource.Resource: specs[finalizer.Resource.Resource]}
			}
			for of, text := range objects {
				all[finalizer.String()+" of "+of] = with(text, name)
			}
		}
	}
	return all
}

// with returns an object with a finalizer.
func with(text, finalizer string) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(text), object)).To(Succeed())
	object.SetName("guarded")
	object.SetFinalizers([]string{finalizer, "example.com/other"})
	return object
}

// attempts are the ways in which a user can take the first finalizer off a copy of an object that was read.
var attempts = map[string]func(ctx context.Context, c client.Client, read *unstructured.Unstructured) error{
	"update": func(ctx context.Context, c client.Client, read *unstructured.Unstructured) error {
		read.SetFinalizers(read.GetFinalizers()[1:])
		return c.Update(ctx, read)
	},
	"merge patch": func(ctx context.Context, c client.Client, read *unstructured.Unstructured) error {
		return c.Patch(ctx, read, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":["example.com/other"]}}`)))
	},
	"merge patch of all": func(ctx context.Context, c client.Client, read *unstructured.Unstructured) error {
		return c.Patch(ctx, read, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	},
	"JSON patch": func(ctx context.Context, c client.Client, read *unstructured.Unstructured) error {
		return c.Patch(ctx, read, client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/finalizers/0"}]`)))
	},
	"server-side apply": func(ctx context.Context, c client.Client, read *unstructured.Unstructured) error {
		applied := without(read)
		applied.SetFinalizers([]string{"example.com/other"})
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(writer), client.ForceOwnership)
	},
	"update of the status": func(ctx context.Context, c client.Client, read *unstructured.Unstructured) error {
		read.SetFinalizers(read.GetFinalizers()[1:])
		return c.Status().Update(ctx, read)
	},
	"patch of the status": func(ctx context.Context, c client.Client, read *unstructured.Unstructured) error {
		return c.Status().Patch(ctx, read, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	},
}

// without returns what a manifest has of an object.
func without(read *unstructured.Unstructured) *unstructured.Unstructured {
	manifest := read.DeepCopy()
	manifest.SetManagedFields(nil)
	manifest.SetResourceVersion("")
	manifest.SetUID("")
	unstructured.RemoveNestedField(manifest.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(manifest.Object, "metadata", "deletionTimestamp")
	unstructured.RemoveNestedField(manifest.Object, "metadata", "deletionGracePeriodSeconds")
	unstructured.RemoveNestedField(manifest.Object, "metadata", "generation")
	unstructured.RemoveNestedField(manifest.Object, "status")
	return manifest
}

// expectKept demands that no attempt takes the finalizer off.
func expectKept(ctx context.Context, as client.Client, object *unstructured.Unstructured, when string) {
	GinkgoHelper()
	finalizer := object.GetFinalizers()[0]
	for way, attempt := range attempts {
		read := object.DeepCopy()
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), read)).To(Succeed(), "%s %s", way, when)
		err := attempt(ctx, as, read.DeepCopy())

		// The status of a custom resource has no metadata, and some objects have no status.
		ineffective := func(err error) bool { return err == nil || apierrors.IsNotFound(err) }
		Expect(err).To(Or(Satisfy(apierrors.IsForbidden), Satisfy(ineffective)), "%s %s", way, when)
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), read)).To(Succeed(), "%s %s: %v", way, when, err)
		Expect(read.GetFinalizers()).To(ContainElement(finalizer), "%s %s: %v", way, when, err)
		if way == "update" {
			Expect(err).To(And(Satisfy(apierrors.IsForbidden), MatchError(ContainSubstring("this needs the verb"))))
		}
	}
}

var _ = Describe("a finalizer of the hub", func() {
	It("T19: is taken off by nobody with update, before and during the deletion, and by an administrator", func(ctx SpecContext) {
		as := suite.ClientOf(suite.Impersonating(mallory))
		all := guarded()
		Expect(all).NotTo(BeEmpty())
		for name, object := range all {
			By(name)
			kind := object.GroupVersionKind()
			mapping, err := suite.Client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
			Expect(err).NotTo(HaveOccurred())
			if mapping.Scope.Name() == "namespace" {
				object.SetNamespace(metav1.NamespaceDefault)
			}
			finalizers := object.GetFinalizers()
			Expect(suite.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(writer))).To(Succeed())
			object.SetFinalizers(finalizers)

			Eventually(func(g Gomega) { // The API server learns of policies by a watch.
				read := object.DeepCopy()
				g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), read)).To(Succeed())
				g.Expect(attempts["update"](ctx, client.NewDryRunClient(as), read)).To(Satisfy(apierrors.IsForbidden))
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			expectKept(ctx, as, object, "before the deletion")
			Expect(as.Delete(ctx, object.DeepCopy())).To(Succeed())
			expectKept(ctx, as, object, "during the deletion")

			suite.DropFinalizers(ctx, object)
			suite.ExpectGone(ctx, object)
		}
	})

	It("R2: says nothing about other finalizers", func(ctx SpecContext) {
		as := suite.ClientOf(suite.Impersonating(mallory))
		for _, text := range []string{specs["accessrequests"], specs["clusterrequests"], specs["affinityclasses"], delivered["ConfigMap"]} {
			object := with(text, "example.com/another")
			object.SetName("free")
			if object.GetKind() != "AffinityClass" {
				object.SetNamespace(metav1.NamespaceDefault)
			}
			Expect(suite.Client.Create(ctx, object)).To(Succeed())
			Expect(as.Delete(ctx, object.DeepCopy())).To(Succeed())
			Expect(as.Patch(ctx, object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
			suite.ExpectGone(ctx, object)
		}
	})
})
