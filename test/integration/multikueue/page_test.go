// SPDX-License-Identifier: Apache-2.0

package multikueue

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	page      = "../../../docs/multikueue.md"
	namespace = "kueue-system"
)

var fencedBlock = regexp.MustCompile("(?s)```(yaml|sh)\n(.*?\n)```\n")

// blocks returns the YAML and the commands of the page.
func blocks() (yaml, sh []string) {
	GinkgoHelper()
	text, err := os.ReadFile(page)
	Expect(err).NotTo(HaveOccurred())
	for _, block := range fencedBlock.FindAllStringSubmatch(string(text), -1) {
		if block[1] == "yaml" {
			yaml = append(yaml, block[2])
		} else {
			sh = append(sh, block[2])
		}
	}
	return yaml, sh
}

// shell runs commands with all rights.
type shell struct{ directory, kubectl string }

func newShell() *shell {
	GinkgoHelper()
	assets, err := binaries.Find()
	Expect(err).NotTo(HaveOccurred())
	Expect(assets.Kubectl).NotTo(BeEmpty(), "no kubectl beside the control plane: run `make assets`")
	s := &shell{directory: GinkgoT().TempDir(), kubectl: filepath.Dir(assets.Kubectl)}
	content, err := localplane.Kubeconfig(suite.ControlPlane.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	s.file("kubeconfig", string(content))
	return s
}

// file writes a file that commands name.
func (s *shell) file(name, content string) {
	GinkgoHelper()
	Expect(os.WriteFile(filepath.Join(s.directory, name), []byte(content), 0o600)).To(Succeed())
}

func (s *shell) run(commands string) (string, error) {
	command := exec.Command("sh", "-ec", commands)
	command.Dir = s.directory
	command.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(s.directory, "kubeconfig"), "KUBERC=off", "HOME="+s.directory,
		"PATH="+s.kubectl+string(filepath.ListSeparator)+os.Getenv("PATH"))
	printed, err := command.CombinedOutput()
	return string(printed), err
}

// apply applies YAML.
func (s *shell) apply(yaml string) {
	GinkgoHelper()
	s.file("objects.yaml", yaml)
	printed, err := s.run("kubectl apply --server-side -f objects.yaml")
	Expect(err).NotTo(HaveOccurred(), printed)
}

// workers returns the list of the MultiKueueConfig.
func workers(ctx SpecContext) []string {
	GinkgoHelper()
	config := &unstructured.Unstructured{}
	config.SetGroupVersionKind(schema.GroupVersionKind{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "MultiKueueConfig"})
	Expect(suite.Client.Get(ctx, client.ObjectKey{Name: "batch"}, config)).To(Succeed())
	names, _, err := unstructured.NestedStringSlice(config.Object, "spec", "clusters")
	Expect(err).NotTo(HaveOccurred())
	return names
}

var _ = Describe("the page about MultiKueue", Ordered, func() {
	var (
		s        *shell
		yaml, sh []string
	)

	cluster := func(ctx SpecContext, name, cpu string) {
		GinkgoHelper()
		managed := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "batch"},
		}}
		managed.Spec.HubAcceptsClient = true
		Expect(suite.Client.Create(ctx, managed)).To(Succeed())
		quantity := resource.MustParse(cpu)
		managed.Status.Allocatable = clusterv1.ResourceList{clusterv1.ResourceCPU: quantity}
		managed.Status.Capacity = managed.Status.Allocatable
		Expect(suite.Client.Status().Update(ctx, managed)).To(Succeed())
	}

	BeforeAll(func(ctx SpecContext) {
		yaml, sh = blocks()
		Expect(yaml).To(HaveLen(2), "the decision and the check")
		Expect(sh).To(HaveLen(1), "from the decision to the MultiKueueConfig")
		s = newShell()
		Expect(suite.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "batch"}}
		set.Spec.ClusterSelector.SelectorType = clusterv1beta2.ExclusiveClusterSetLabel
		Expect(suite.Client.Create(ctx, set)).To(Succeed())
		cluster(ctx, "small", "4")
		cluster(ctx, "large", "64")
		cluster(ctx, "medium", "16")
	})

	It("lists the clusters of the decision in the order of their score, each with a ClusterProfile", func(ctx SpecContext) {
		s.apply(yaml[0])
		Eventually(func(g Gomega) {
			printed, err := s.run(sh[0])
			g.Expect(err).NotTo(HaveOccurred(), printed)
			g.Expect(workers(ctx)).To(Equal([]string{"large", "medium", "small"}))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		printed, err := s.run(`kubectl get multikueueclusters -o jsonpath='{.items[*].spec.clusterSource.clusterProfileRef.name}'
			for name in large medium small; do kubectl wait --for=create --timeout=30s clusterprofile/$name -n kueue-system; done`)
		Expect(err).NotTo(HaveOccurred(), printed)
		Expect(printed).To(HavePrefix("large medium small"))
		s.apply(yaml[1])
	})

	It("follows the decision when it is run again", func(ctx SpecContext) {
		small := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "small"}}
		Expect(suite.Client.Delete(ctx, small)).To(Succeed())
		Eventually(func(g Gomega) {
			printed, err := s.run(sh[0])
			g.Expect(err).NotTo(HaveOccurred(), printed)
			g.Expect(workers(ctx)).To(Equal([]string{"large", "medium"}))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("keeps the workers of before where a decision is empty, or has more than Kueue takes", func(ctx SpecContext) {
		printed, err := s.run(`kubectl apply --server-side -f - <<EOF
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata:
  name: many
spec:
  clusters: [` + names(21) + `]
EOF`)
		Expect(err).To(HaveOccurred())
		Expect(printed).To(ContainSubstring("must have at most 20 items"))
		Expect(suite.Client.DeleteAllOf(ctx, &clusterv1.ManagedCluster{})).To(Succeed())
		Eventually(func() (string, error) {
			return s.run(`kubectl get placementdecisions -n kueue-system -o jsonpath='{.items[*].status.decisions[*].clusterName}'`)
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeEmpty())
		printed, err = s.run(sh[0])
		Expect(err).To(HaveOccurred(), printed)
		Expect(workers(ctx)).To(Equal([]string{"large", "medium"}))
	})
})

// names returns n names of clusters.
func names(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "c" + strconv.Itoa(i)
	}
	return strings.Join(list, ", ")
}
