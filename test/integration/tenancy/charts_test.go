// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/test/env"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// libraryChart is the chart with the template cozy-lib.scheduling.nodeSelector.
const libraryChart = "../../../deploy/charts/cozy-lib"

// helm runs helm offline with directories of its own, and returns what it prints.
func helm(ctx context.Context, arguments ...string) string {
	GinkgoHelper()
	path, err := env.FindHelm()
	Expect(err).NotTo(HaveOccurred())
	home := GinkgoT().TempDir()
	command := exec.CommandContext(ctx, path, arguments...)
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	output, err := command.Output()
	Expect(err).NotTo(HaveOccurred(), "helm %v: %s", arguments, output)
	return string(output)
}

// render does what Flux does with a HelmRelease: it renders a chart with the values of the Secret of its namespace, and then those of its
// spec, and applies the objects with the label of the HelmRelease.
func render(ctx context.Context, chart string, release *unstructured.Unstructured) {
	GinkgoHelper()
	charts := GinkgoT().TempDir()
	Expect(os.CopyFS(filepath.Join(charts, "cozy-lib"), os.DirFS(libraryChart))).To(Succeed())
	Expect(os.CopyFS(filepath.Join(charts, chart), os.DirFS(filepath.Join("testdata", "charts", chart)))).To(Succeed())
	helm(ctx, "dependency", "update", filepath.Join(charts, chart))
	secret := &corev1.Secret{} // There is none outside of Tenants.
	key := client.ObjectKey{Namespace: release.GetNamespace(), Name: affinityclass.ValuesSecret}
	Expect(client.IgnoreNotFound(suite.Client.Get(ctx, key, secret))).To(Succeed())
	values, _, err := unstructured.NestedMap(release.Object, "spec", "values")
	Expect(err).NotTo(HaveOccurred())

	own, err := yaml.Marshal(values)
	Expect(err).NotTo(HaveOccurred())
	arguments := []string{"template", release.GetName(), filepath.Join(charts, chart), "--namespace", release.GetNamespace()}
	for i, content := range [][]byte{secret.Data[affinityclass.ValuesKey], own} {
		file := filepath.Join(charts, fmt.Sprintf("values-%d.yaml", i))
		Expect(os.WriteFile(file, content, 0o600)).To(Succeed())
		arguments = append(arguments, "--values", file)
	}
	rendered := helm(ctx, arguments...)

	objects, err := manifests.Decode(strings.NewReader(rendered), chart)
	Expect(err).NotTo(HaveOccurred())
	Expect(objects).NotTo(BeEmpty())
	for _, object := range objects {
		object.SetLabels(map[string]string{"helm.toolkit.fluxcd.io/name": release.GetName()})
		create(ctx, object)
		DeferCleanup(remove, object)
	}
}

// remove deletes an object, which may be gone.
func remove(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, object))).To(Succeed())
}

// expectBound waits until the Pod of a StatefulSet is bound to a Node, and returns it.
func expectBound(ctx context.Context, namespace, set string, node OmegaMatcher) *corev1.Pod {
	GinkgoHelper()
	pod := &corev1.Pod{}
	eventually(ctx, func(g Gomega) {
		g.Expect(suite.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: set + "-0"}, pod)).To(Succeed())
		g.Expect(pod.Spec.NodeName).To(node)
	})
	return pod
}

func chartSpecs() {
	BeforeAll(func(ctx SpecContext) {
		for _, name := range []string{"dc1", "dc2"} {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n-" + name, Labels: map[string]string{zone: name}}}
			Expect(suite.ControlPlane.CreateNode(ctx, node)).To(Succeed())
		}
	})

	It("affinity-class 1.1: a chart with the library renders the class, and kube-scheduler binds its Pods there", func(ctx SpecContext) {
		tenant := acme(ctx)
		_, release := released(ctx, postgres, owned(tenant), "main-db", "dc2", "dc2")
		render(ctx, "compliant", release)
		pod := expectBound(ctx, owned(tenant), release.GetName(), Equal("n-dc2"))
		Expect(pod.Spec.NodeSelector).To(Equal(map[string]string{zone: "dc2"}))
	})

	It("affinity-class 1.1: a chart with the library renders nothing without a class", func(ctx SpecContext) {
		tenant := createTenant(ctx, affinityclass.RootNamespace, unique("acme"), "")
		_, release := released(ctx, postgres, owned(tenant), "main-db", "", "")
		render(ctx, "compliant", release)
		pod := expectBound(ctx, owned(tenant), release.GetName(), Not(BeEmpty()))
		Expect(pod.Spec.NodeSelector).To(BeEmpty())
	})

	It("affinity-class 1.1: the Pods of a chart that forgets the class are refused", func(ctx SpecContext) {
		tenant := acme(ctx)
		_, release := released(ctx, redis, owned(tenant), "cache", "", "dc1")
		render(ctx, "forgetful", release)
		expectRefused(ctx, owned(tenant), release.GetName(), "dc1")
	})

	It("affinity-class A29: outside of Tenants Pods are verified if their application has a class", func(ctx SpecContext) {
		namespace := unique("apps")
		createNamespace(ctx, namespace, nil)
		_, with := released(ctx, postgres, namespace, "main-db", "dc1", "dc1")
		render(ctx, "forgetful", with)
		expectRefused(ctx, namespace, with.GetName(), "dc1")
		_, without := released(ctx, postgres, namespace, "other", "", "")
		render(ctx, "forgetful", without)
		expectBound(ctx, namespace, without.GetName(), Not(BeEmpty()))
	})
}

// expectRefused waits until a StatefulSet reports that its Pod is refused.
func expectRefused(ctx context.Context, namespace, name, class string) {
	GinkgoHelper()
	set := &unstructured.Unstructured{}
	set.SetNamespace(namespace)
	set.SetName(name)
	expectWarning(ctx, set, "FailedCreate", `pod `+namespace+`/`+name+`-0 belongs to application with AffinityClass "`+class+
		`" but missing required nodeSelector `+zone+`=`+class)
}
