// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// openmcpPage is for users of the group clusters.openmcp.cloud.
const openmcpPage = "../../../docs/openmcp.md"

var (
	fencedBlock = regexp.MustCompile("(?s)( *)```(yaml|sh)\n(.*?\n) *```\n")
	refusedRow  = regexp.MustCompile("(?m)^\\| .* \\| `((?:unknown field|needs exactly) .*)` \\|$")
)

// migration runs the commands of the page.
type migration struct {
	directory  string // with the kubeconfig, and the files that commands name
	kubectl    string // the directory of kubectl
	page       string
	yaml, sh   []string // the blocks of the page, without their indentation
	kubeconfig string
}

func newMigration() *migration {
	GinkgoHelper()
	page, err := os.ReadFile(openmcpPage)
	Expect(err).NotTo(HaveOccurred())
	assets, err := binaries.Find()
	Expect(err).NotTo(HaveOccurred())
	Expect(assets.Kubectl).NotTo(BeEmpty(), "no kubectl beside the control plane: run `make assets`")
	m := &migration{directory: GinkgoT().TempDir(), kubectl: filepath.Dir(assets.Kubectl), page: string(page)}
	for _, block := range fencedBlock.FindAllStringSubmatch(m.page, -1) {
		text := regexp.MustCompile("(?m)^"+block[1]).ReplaceAllString(block[3], "")
		if block[2] == "yaml" {
			m.yaml = append(m.yaml, text)
		} else {
			m.sh = append(m.sh, text)
		}
	}

	Expect(m.yaml).To(HaveLen(3), "the objects before, the objects after, and the Purpose")
	Expect(m.sh).To(HaveLen(2), "the commands on the sample objects, and those that keep a cluster")
	content, err := localplane.Kubeconfig(suite.ControlPlane.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	m.kubeconfig = m.file("kubeconfig", string(content))
	return m
}

// file writes a file that commands name, and returns its path.
func (m *migration) file(name, content string) string {
	GinkgoHelper()
	file := filepath.Join(m.directory, name)
	Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
	return file
}

// try runs commands with all rights, and returns what they print.
func (m *migration) try(commands string) (string, error) {
	command := exec.Command("sh", "-ec", commands)
	command.Dir = m.directory
	command.Env = append(os.Environ(), "KUBECONFIG="+m.kubeconfig, "KUBERC=off", "HOME="+m.directory,
		"PATH="+m.kubectl+string(filepath.ListSeparator)+os.Getenv("PATH"))
	printed, err := command.CombinedOutput()
	return string(printed), err
}

func (m *migration) run(commands string) string {
	GinkgoHelper()
	printed, err := m.try(commands)
	Expect(err).NotTo(HaveOccurred(), "%s\n%s", commands, printed)
	return printed
}

// theirDefinition is a definition of the group of openMCP with its names, which stores all fields.
const theirDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: PLURAL.clusters.openmcp.cloud}
spec:
  group: clusters.openmcp.cloud
  scope: Namespaced
  names: {kind: KIND, listKind: KINDList, plural: PLURAL, shortNames: SHORT}
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
---
`

func theirDefinitions() string {
	return strings.NewReplacer("KIND", "ClusterRequest", "PLURAL", "clusterrequests", "SHORT", "[cr, creq]").Replace(theirDefinition) +
		strings.NewReplacer("KIND", "AccessRequest", "PLURAL", "accessrequests", "SHORT", "[ar, areq]").Replace(theirDefinition)
}

var _ = Describe("users of openMCP", Serial, func() {
	// docs/spec/ecosystem.md E30
	It("cluster-request C74, C75: apply the objects and commands of their page, beside their own definitions", func(ctx SpecContext) {
		m := newMigration()
		w := &world{namespace: "shop", ctx: ctx}
		w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
		m.run("kubectl apply -f " + m.file("purpose.yaml", m.yaml[2]))
		m.run("kubectl apply -f " + m.file("after.yaml", m.yaml[1]))
		Expect(m.run("kubectl get creq,areq -n shop -o name")).To(Equal(
			"clusterrequest.cluster.openmcp.cloud/web\naccessrequest.cluster.openmcp.cloud/deployer\n"))

		theirs := m.file("theirs.yaml", theirDefinitions())
		m.run("kubectl apply -f " + theirs + " && kubectl wait --for=condition=Established -f " + theirs)
		DeferCleanup(func(SpecContext) { m.run("kubectl delete -f " + theirs) })
		m.run("kubectl apply -f " + m.file("before.yaml", m.yaml[0]))

		request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
		grant, cluster := w.granted(request)
		Expect(grant.Spec.ClusterRef.Name).To(HavePrefix("workload-"))
		access := &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "deployer"}}
		w.allow(cluster) // The Cluster is shared.
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(access), access)).To(Succeed())
		patch(w, access, w.byUser)
		secret := w.secret(access)
		expectKeysOfKubeconfig(secret)

		printed := m.run(m.sh[0])
		Expect(printed).To(ContainSubstring("clusterrequest.cluster.openmcp.cloud/web"))
		Expect(printed).To(ContainSubstring("accessrequest.cluster.openmcp.cloud/deployer"))
		Expect(printed).To(ContainSubstring("clusterrequest.clusters.openmcp.cloud/web"))
		Expect(printed).To(HaveSuffix(suite.ControlPlane.AdminConfig().Host))
	})

	It("cluster-request C75: are told the field that has no counterpart", func(ctx SpecContext) {
		m, w := newMigration(), newWorld(ctx)
		var promised []string
		for _, row := range refusedRow.FindAllStringSubmatch(m.page, -1) {
			promised = append(promised, row[1])
		}

		var answers []string
		for _, refused := range []struct{ answer, kind, spec string }{
			{`unknown field "spec.purpose"`, "ClusterRequest", `{purpose: workload, purposes: [workload]}`},
			{`unknown field "spec.token"`, "AccessRequest", `{requestRef: {name: web}, token: {permissions: []}}`},
			{`unknown field "spec.oidc"`, "AccessRequest", `{requestRef: {name: web}, oidc: {}}`},
			{`needs exactly one of clusterRef and requestRef`, "AccessRequest", `{requestRef: {name: web}, clusterRef: {name: web}}`},
			{
				`unknown field "spec.permissions[0].disableAutomaticNamespaceCreation"`, "AccessRequest",
				`{requestRef: {name: web}, permissions: [{namespace: shop, rules: [], disableAutomaticNamespaceCreation: true}]}`,
			},
			{
				`unknown field "spec.profile"`, "Cluster",
				`{clusterProviderRef: {name: gardener, profile: aws}, tenancy: Exclusive, profile: gardener.aws}`,
			},
			{
				`unknown field "spec.clusterConfigs"`, "Cluster",
				`{clusterProviderRef: {name: gardener, profile: aws}, tenancy: Exclusive, clusterConfigs: [{name: small}]}`,
			},
		} {
			file := m.file("refused.yaml", "{apiVersion: cluster.openmcp.cloud/v1alpha1, kind: "+refused.kind+", metadata: {name: refused}, spec: "+
				refused.spec+"}\n")
			printed, err := m.try("kubectl apply -n " + w.namespace + " -f " + file)
			Expect(err).To(HaveOccurred(), refused.answer)
			Expect(printed).To(ContainSubstring(refused.answer))
			answers = append(answers, refused.answer)
		}
		Expect(promised).To(Equal(answers), "the rows of the page")
	})

	It("cluster-request C75: keep a cluster that exists with the commands of their page", func(ctx SpecContext) {
		m := newMigration()
		w := &world{namespace: "kept", ctx: ctx}
		w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
		w.purpose("own", openmcpv1alpha1.PurposeSpec{Dedicated: true})
		existing := &openmcpv1alpha1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "web", Finalizers: []string{"example.com/provider"}},
			Spec: openmcpv1alpha1.ClusterSpec{
				ClusterProviderRef: openmcpv1alpha1.ClusterProviderReference{Name: gardenerProvider, Profile: "aws"},
				Purposes:           []openmcpv1alpha1.PurposeName{"own"}, Tenancy: openmcpv1alpha1.TenancyExclusive,
			},
		}
		w.create(existing)
		m.file("request.yaml", `{apiVersion: cluster.openmcp.cloud/v1alpha1, kind: ClusterRequest, spec: {purposes: [own]},
metadata: {namespace: kept, name: web, annotations: {cluster.openmcp.cloud/operation: ignore}}}`)
		m.run(strings.ReplaceAll(m.sh[1], "-n shop", "-n kept"))

		_, cluster := w.granted(&openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "web"}})
		Expect(cluster.UID).To(Equal(existing.UID))
		patch(w, cluster, func(c *openmcpv1alpha1.Cluster) {
			c.Finalizers = slices.DeleteFunc(c.Finalizers, func(f string) bool { return f == "example.com/provider" })
		})
	})
})
