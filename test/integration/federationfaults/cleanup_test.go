// SPDX-License-Identifier: Apache-2.0

package federationfaults

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	cronJobs = "batch/v1/CronJob"
	// others is a finalizer of another controller.
	others = "example.com/others"
)

// documented returns a section of docs/federation.md, and the blocks of a language in it.
func documented(title, language string) (section string, blocks []string) {
	GinkgoHelper()
	content, err := os.ReadFile("../../../docs/federation.md")
	Expect(err).NotTo(HaveOccurred())
	_, section, found := strings.Cut(string(content), "\n### "+title+"\n")
	Expect(found).To(BeTrue(), "no section %q", title)
	section, _, _ = strings.Cut(section, "\n### ")
	for _, match := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, match[1])
	}
	return section, blocks
}

// shell runs commands as an administrator types them.
func shell(ctx context.Context, commands string) {
	GinkgoHelper()
	assets, err := binaries.Find()
	Expect(err).NotTo(HaveOccurred())
	Expect(assets.Kubectl).NotTo(BeEmpty(), "no kubectl beside the control plane: run `make assets`")
	content, err := localplane.Kubeconfig(suite.ControlPlane.AdminConfig())
	Expect(err).NotTo(HaveOccurred())
	directory := GinkgoT().TempDir()
	kubeconfig := filepath.Join(directory, "kubeconfig")
	Expect(os.WriteFile(kubeconfig, content, 0o600)).To(Succeed())

	command := exec.CommandContext(ctx, "sh", "-euc", commands)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+directory,
		"PATH="+filepath.Dir(assets.Kubectl)+string(os.PathListSeparator)+os.Getenv("PATH"))

	printed, err := command.CombinedOutput()
	GinkgoWriter.Printf("%s\n%s\n", commands, printed)
	Expect(err).NotTo(HaveOccurred(), "%s\n%s", commands, printed)
	Expect(string(printed)).NotTo(MatchRegexp(`(?i)error|warning`))
}

// worksOf returns the works of the objects of a kind in the namespace.
func (w *world) worksOf(ctx context.Context, g Gomega, kind string) []workv1.ManifestWork {
	list := &workv1.ManifestWorkList{}
	g.Expect(suite.Client.List(ctx, list, client.MatchingLabels{federation.NamespaceLabel: w.Namespace, federation.KindLabel: kind})).To(Succeed())
	return list.Items
}

var _ = Describe("The commands of docs/federation.md that clean up", Ordered, func() {
	It("leave objects of kinds that are not delivered without works and finalizers, and everything else as it is", func(ctx SpecContext) {
		install()
		_, granting := documented("More kinds", "yaml")
		Expect(granting).To(HaveLen(1))
		grants, err := manifests.Decode(strings.NewReader(granting[0]), "docs/federation.md")
		Expect(err).NotTo(HaveOccurred())
		Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), grants)).To(Succeed())
		for _, object := range grants {
			DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, object)).To(Succeed()) })
		}

		start := func(ctx context.Context, settings ...func(*system.Options)) {
			GinkgoHelper()
			suite.StopHub()
			suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), settings...)
		}
		DeferCleanup(func(ctx SpecContext) { start(ctx) })
		w := newWorld(ctx)
		w.members(ctx, "set", 1, 2, always("aboard"))
		w.configMap(ctx, "cm", selecting(wave, "aboard"))
		w.configMap(ctx, "mine", selecting(wave, "ashore"))

		job := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "nightly", Finalizers: []string{others}}}
		job.Spec.Schedule = "0 3 * * *"
		job.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}
		Expect(suite.Client.Create(ctx, job)).To(Succeed())
		DeferCleanup(suite.DropFinalizers, job)

		seen := func(object client.Object) client.Object {
			GinkgoHelper()
			Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			return object
		}
		configMapNamed := func(name string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
		}

		start(ctx, delivering, func(o *system.Options) { o.FederatedKinds = []string{cronJobs} })
		w.expectDelivered(ctx, "cm", "c001", "c002")
		Eventually(func(g Gomega) { g.Expect(w.worksOf(ctx, g, "CronJob")).To(HaveLen(2)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(seen(job).GetFinalizers()).To(Equal([]string{others, federation.Finalizer}))

		// What earlier specs have left goes by itself, and kubectl would take long for it.
		Eventually(func(g Gomega) {
			list := &corev1.ConfigMapList{}
			g.Expect(suite.Client.List(ctx, list)).To(Succeed())
			for i := range list.Items {
				if list.Items[i].Namespace != w.Namespace {
					g.Expect(list.Items[i].Finalizers).NotTo(ContainElement(federation.Finalizer))
				}
			}
		}).WithContext(ctx).WithTimeout(suite.SettleTimeout).WithPolling(suite.AuditInterval).Should(Succeed())

		By("ending the delivery of one kind")
		start(ctx, delivering)
		section, commands := documented("Fewer kinds, or none", "sh")
		Expect(commands).To(HaveLen(2))
		shell(ctx, commands[0])

		Expect(w.worksOf(ctx, Default, "CronJob")).To(BeEmpty())
		Expect(seen(job).GetFinalizers()).To(Equal([]string{others}))
		Consistently(func(g Gomega) []workv1.ManifestWork { return w.worksOf(ctx, g, "CronJob") }).
			WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(BeEmpty(), "nothing restores them")
		w.expectDelivered(ctx, "cm", "c001", "c002")
		Expect(seen(configMapNamed("cm")).GetFinalizers()).To(ContainElement(federation.Finalizer))

		By("ending all deliveries")
		start(ctx)
		untouched := seen(configMapNamed("mine")).GetResourceVersion()
		kinds := regexp.MustCompile("`(configmaps [a-z. 0-9]+)`").FindStringSubmatch(strings.ReplaceAll(section, "\n", " "))
		Expect(kinds).NotTo(BeNil())
		Expect(strings.Fields(kinds[1])).To(HaveLen(len(federation.DefaultKinds())))
		shell(ctx, commands[1])

		_, removing, found := strings.Cut(commands[0], "\n\n")
		Expect(found).To(BeTrue())
		Expect(removing).To(ContainSubstring("for kind in cronjobs.batch;"))
		shell(ctx, strings.Replace(removing, "cronjobs.batch", kinds[1], 1))

		Expect(w.worksOf(ctx, Default, "ConfigMap")).To(BeEmpty())
		Expect(seen(configMapNamed("cm")).GetFinalizers()).To(BeEmpty())
		Expect(seen(configMapNamed("mine")).GetResourceVersion()).To(Equal(untouched))
		Expect(suite.Client.Delete(ctx, configMapNamed("cm"))).To(Succeed())
		suite.ExpectGone(ctx, configMapNamed("cm"))
	})
})
