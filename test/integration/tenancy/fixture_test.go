// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	zone     = "topology.kubernetes.io/zone"
	postgres = "Postgres"
	redis    = "Redis"
)

// stopSystem stops the hub of the system; starting another hub replaces it.
var stopSystem func()

// The specs of the controllers share a hub, and have Tenants and classes of their own.
var _ = Describe("The controllers of affinity classes", Ordered, ContinueOnFailure, func() {
	BeforeAll(startSystem)
	classSpecs()
	tenantSpecs()
	applicationSpecs()
	releaseSpecs()
	namespaceSpecs()
	chartSpecs()
	restartSpecs()
})

// startSystem installs the system and the kinds of a platform, and runs the controllers of the system until the container ends.
func startSystem(ctx SpecContext) {
	install(ctx, "testdata/definitions.yaml")
	root := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: affinityclass.RootNamespace}}
	Expect(suite.Client.Create(ctx, root)).To(Succeed())
	stopSystem = runSystem(ctx, suite.HubConfig(ctx, suite.ControlPlane))
	DeferCleanup(func() { stopSystem() })
	for name, key := range map[string]string{"dc1": zone, "dc2": zone, "gpu": "node.kubernetes.io/gpu"} {
		createClass(ctx, name, key)
	}
}

// install applies the objects of a file.
func install(ctx context.Context, file string) {
	GinkgoHelper()
	content, err := os.Open(file)
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(content.Close()).To(Succeed()) }()
	objects, err := manifests.Decode(content, file)
	Expect(err).NotTo(HaveOccurred())
	Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), objects)).To(Succeed())
}

// runSystem runs the controllers of the system with a client configuration until stop is called, and has API servers ask their webhooks.
func runSystem(ctx context.Context, config *rest.Config) (stop func()) {
	GinkgoHelper()
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	admin := suite.ControlPlane.AdminConfig()
	Expect(manifests.InstallSystem(ctx, admin, manifests.AffinityClass, "https://"+listener.Addr().String())).To(Succeed())
	stop = suite.StartHub(config, func(o *system.Options) { //nolint:contextcheck // It runs until stop.
		o.Controllers = []string{manifests.AffinityClass + "/*"}
		o.Webhook.Listener = listener
	})

	eventually(ctx, func(g Gomega) { // The webhook refuses a name with a dash, and nothing else does.
		err := client.NewDryRunClient(suite.Client).Create(ctx, newTenant(affinityclass.RootNamespace, "a-dash", ""))
		g.Expect(err).To(MatchError(ContainSubstring("a dash")))
	})
	return stop
}

func createClass(ctx context.Context, name, key string) *cozystackv1alpha1.AffinityClass {
	GinkgoHelper()
	value := cozystackv1alpha1.NodeLabelValue(name)
	if !strings.HasPrefix(name, "dc") {
		value = "true"
	}

	class := &cozystackv1alpha1.AffinityClass{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       cozystackv1alpha1.AffinityClassSpec{NodeSelector: map[string]cozystackv1alpha1.NodeLabelValue{key: value}},
	}
	Expect(suite.Client.Create(ctx, class)).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(class), class)).To(Succeed())
		g.Expect(class.Finalizers).To(ContainElement(cozystackv1alpha1.InUseFinalizer))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	return class
}

// names counts the names that are unique in this process.
var names atomic.Int64

// unique returns a name that begins with a text.
func unique(text string) string { return fmt.Sprintf("%s%d", text, names.Add(1)) }

// eventually waits until the assertions of a function hold.
func eventually(ctx context.Context, assert func(Gomega)) {
	GinkgoHelper()
	Eventually(assert).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// create creates an object, once the API server can ask the webhooks of the hub.
func create(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Eventually(func() error { return suite.Client.Create(ctx, object) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// acme creates a Tenant of another name like acme of the scenarios, waits for its namespace, and returns it.
func acme(ctx context.Context) *appsv1alpha1.Tenant {
	GinkgoHelper()
	return createTenant(ctx, affinityclass.RootNamespace, unique("acme"), "dc1", "dc1", "dc2")
}

// createTenant creates a Tenant, and waits for its Secret.
func createTenant(ctx context.Context, namespace, name, class string, allowed ...string) *appsv1alpha1.Tenant {
	GinkgoHelper()
	tenant := newTenant(namespace, name, class, allowed...)
	create(ctx, tenant)
	eventually(ctx, func(g Gomega) {
		g.Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: owned(tenant), Name: affinityclass.ValuesSecret}, &corev1.Secret{})).To(Succeed())
	})
	return tenant
}

func newTenant(namespace, name, class string, allowed ...string) *appsv1alpha1.Tenant {
	return &appsv1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       appsv1alpha1.TenantSpec{DefaultAffinityClass: class, AllowedAffinityClasses: allowed},
	}
}

func owned(tenant *appsv1alpha1.Tenant) string {
	return affinityclass.WorkloadNamespace(tenant.Namespace, tenant.Name)
}

// newApplication returns an application with a class; empty for none.
func newApplication(kind, namespace, name, class string) *unstructured.Unstructured {
	application := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(1)}}}
	application.SetGroupVersionKind(schema.GroupVersionKind{Group: appsv1alpha1.GroupName, Version: "v1alpha1", Kind: kind})
	application.SetNamespace(namespace)
	application.SetName(name)
	if class != "" {
		Expect(unstructured.SetNestedField(application.Object, class, "spec", "affinityClass")).To(Succeed())
	}
	return application
}

// newRelease returns a HelmRelease with the labels of an application, as the platform writes it.
func newRelease(name string, application *unstructured.Unstructured) *unstructured.Unstructured {
	release := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"interval": "1m", "chartRef": map[string]any{"kind": "OCIRepository", "name": "chart"},
		"values": map[string]any{"replicas": int64(1), "nested": map[string]any{"kept": "yes"}},
	}}}
	release.SetGroupVersionKind(affinityclass.ReleaseKind)
	release.SetNamespace(application.GetNamespace())
	release.SetName(name)
	labels := affinityclass.ReleaseLabels(appsv1alpha1.GroupName, application.GetKind(), application.GetName())
	labels["platform"] = "keeps"
	release.SetLabels(labels)
	return release
}

// released creates an application and its HelmRelease, and waits until the HelmRelease has a class; empty for none.
func released(ctx context.Context, kind, namespace, name, class, expected string) (application, release *unstructured.Unstructured) {
	GinkgoHelper()
	application = newApplication(kind, namespace, name, class)
	release = newRelease(strings.ToLower(kind)+"-"+name, application)
	create(ctx, release)
	create(ctx, application)
	expectClass(ctx, release, expected)
	return application, release
}

// expectClass waits until a HelmRelease has exactly what follows from a class; empty for none. The HelmRelease is read into the argument.
func expectClass(ctx context.Context, release *unstructured.Unstructured, class string) {
	GinkgoHelper()
	eventually(ctx, func(g Gomega) {
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(release), release)).To(Succeed())
		g.Expect(release.GetAnnotations()).To(HaveKeyWithValue(affinityclass.ResolvedAnnotation, MatchRegexp("^"+class+"@[0-9a-f]{16}$")))
		hasClass(g, release, class)
	})
}

// hasClass checks label and _scheduling of a HelmRelease.
func hasClass(g Gomega, release *unstructured.Unstructured, class string) {
	scheduling, found, err := unstructured.NestedFieldNoCopy(release.Object, "spec", "values", "_scheduling")
	g.Expect(err).NotTo(HaveOccurred())
	if class == "" {
		g.Expect(release.GetLabels()).NotTo(HaveKey(affinityclass.ClassLabel))
		g.Expect(found).To(BeFalse())
		return
	}
	g.Expect(release.GetLabels()).To(HaveKeyWithValue(affinityclass.ClassLabel, class))
	g.Expect(scheduling).To(Equal(map[string]any{"affinityClass": class, "nodeSelector": map[string]any{zone: class}}))
}

// expectValues waits until the Secret of a namespace has this below _namespace, and nothing else there.
func expectValues(ctx context.Context, namespace string, expected map[string]any) {
	GinkgoHelper()
	below := HaveKeyWithValue("_namespace", Equal(expected))
	if len(expected) == 0 {
		below = Or(below, Not(HaveKey("_namespace")))
	}
	eventually(ctx, func(g Gomega) { g.Expect(valuesOf(ctx, g, namespace)).To(below) })
}

func valuesOf(ctx context.Context, g Gomega, namespace string) map[string]any {
	secret := &corev1.Secret{}
	g.Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: affinityclass.ValuesSecret}, secret)).To(Succeed())
	values := map[string]any{}
	g.Expect(yaml.Unmarshal(secret.Data[affinityclass.ValuesKey], &values)).To(Succeed())
	return values
}

// expectCondition waits until an application or a Tenant has a condition with a status, a reason and parts of the message.
func expectCondition(ctx context.Context, object client.Object, kind, status, reason string, parts ...string) {
	GinkgoHelper()
	message := make([]OmegaMatcher, 0, len(parts))
	for _, part := range parts {
		message = append(message, ContainSubstring(part))
	}

	eventually(ctx, func(g Gomega) {
		read := &unstructured.Unstructured{}
		read.SetGroupVersionKind(kindOf(object))
		g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), read)).To(Succeed())
		conditions, _, err := unstructured.NestedSlice(read.Object, "status", "conditions")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(conditions).To(ContainElement(And(
			HaveKeyWithValue("type", kind), HaveKeyWithValue("status", status), HaveKeyWithValue("reason", reason),
			HaveKeyWithValue("message", And(message...)),
		)))
	})
}

func kindOf(object client.Object) schema.GroupVersionKind {
	GinkgoHelper()
	kind, err := suite.Client.GroupVersionKindFor(object)
	Expect(err).NotTo(HaveOccurred())
	return kind
}

// expectWarning waits until an object has a Warning with a reason.
func expectWarning(ctx context.Context, object client.Object, reason, text string) {
	GinkgoHelper()
	eventually(ctx, func(g Gomega) {
		events := &corev1.EventList{}
		g.Expect(suite.Client.List(ctx, events, client.InNamespace(object.GetNamespace()))).To(Succeed())
		g.Expect(events.Items).To(ContainElement(And(
			HaveField("InvolvedObject.Name", object.GetName()), HaveField("Type", corev1.EventTypeWarning), HaveField("Reason", reason),
			HaveField("Message", ContainSubstring(text)),
		)))
	})
}

// expectVerified waits until a namespace has the label of verified namespaces, or has it not.
func expectVerified(ctx context.Context, name string, verified bool) {
	GinkgoHelper()
	eventually(ctx, func(g Gomega) {
		namespace := &corev1.Namespace{}
		g.Expect(suite.Client.Get(ctx, client.ObjectKey{Name: name}, namespace)).To(Succeed())
		label := HaveKeyWithValue(affinityclass.VerifyLabel, "true")
		if !verified {
			label = Not(HaveKey(affinityclass.VerifyLabel))
		}
		g.Expect(namespace.Labels).To(label)
	})
}

// mergePatch patches an object.
func mergePatch(ctx context.Context, object client.Object, patch string) {
	GinkgoHelper()
	Expect(suite.Client.Patch(ctx, object, client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
}

// editTenant changes the spec of a Tenant, once the API server can ask the webhooks of the hub.
func editTenant(ctx context.Context, tenant *appsv1alpha1.Tenant, class string, allowed ...string) {
	GinkgoHelper()
	suite.Edit(ctx, tenant, func(t *appsv1alpha1.Tenant) {
		t.Spec.DefaultAffinityClass, t.Spec.AllowedAffinityClasses = class, allowed
	})
}

func mergeSpec(patch string) client.Patch {
	return client.RawPatch("application/merge-patch+json", []byte(patch))
}
