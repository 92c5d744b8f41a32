// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/admission"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/dryrun"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// A hub that may not be asked about a write has the answer that is computed, and the reason.
var _ = Describe("writes that the API server is not asked about", Ordered, ContinueOnFailure, func() {
	const namespace = "writes-offline"
	const dropped = "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n" +
		"metadata: {name: p, namespace: " + namespace + "}\nspec: {numberOfClusters: 1}\n"
	var (
		placement map[string]any
		notes     []string // of the policies, about the objects that were applied last
	)

	BeforeAll(func(ctx SpecContext) {
		Expect(suite.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
		placement = fieldsOf(strings.Replace(dropped, "1}", "1, tolerations: [{key: gpu}]}", 1))
		newKubectl(ctx)([]any{placement}, true, "apply", "--server-side")
	})

	// user returns a client of a user who may list all, and do more with Placements. One whose name begins with "reader" may get Namespaces.
	user := func(ctx context.Context, name string, verbs ...string) client.Client {
		for role, rule := range map[string]rbacv1.PolicyRule{
			name + "-reads": {APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list"}},
			name + "-namespaces": {APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: map[bool][]string{
				true: {"get"}, false: {"list"},
			}[strings.HasPrefix(name, "reader")]},
			name + "-placements": {APIGroups: []string{"cluster.open-cluster-management.io"}, Resources: []string{"placements"}, Verbs: verbs},
		} {
			Expect(suite.Client.Create(ctx, &rbacv1.ClusterRole{
				ObjectMeta: metav1.ObjectMeta{Name: role}, Rules: []rbacv1.PolicyRule{rule},
			})).To(Succeed())
			Expect(suite.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: role},
				Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}},
				RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			})).To(Succeed())
		}
		config, err := suite.ControlPlane.UserConfig(name)
		Expect(err).NotTo(HaveOccurred())
		made, err := client.New(config, client.Options{Scheme: system.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		return made
	}
	// applied asks about a file, and returns what becomes of its Placement.
	applied := func(ctx context.Context, hub client.Client, file string, how statefile.Writes) explain.Applied {
		GinkgoHelper()
		definitions, err := manifests.Definitions()
		Expect(err).NotTo(HaveOccurred())
		changes, err := statefile.NewChangeReader(definitions, statefile.Namespace{})
		Expect(err).NotTo(HaveOccurred())
		changes.Read("file.yaml", []byte(file))
		objects, err := changes.Manifests()
		Expect(err).NotTo(HaveOccurred())
		state, err := hubstate.AllFromCluster(ctx, hub, "")
		Expect(err).NotTo(HaveOccurred())
		how.Asked, err = dryrun.Ask(ctx, hub, objects, &how)
		Expect(err).NotTo(HaveOccurred())
		Expect(dryrun.Namespaces(ctx, hub, objects, &how)).To(Succeed())
		_, all, err := changes.Apply(state, &how)
		Expect(err).NotTo(HaveOccurred())
		at := slices.IndexFunc(all, func(one explain.Applied) bool { return one.Kind.Kind == "Placement" })
		Expect(at).NotTo(Equal(-1))
		notes = changes.ReviewNotes()
		return all[at]
	}

	It("is asked about the others", func(ctx SpecContext) {
		one := applied(ctx, suite.Client, dropped, statefile.Writes{})
		Expect(one.Offline).To(BeEmpty())
		Expect(one.Result.Gone).To(Equal([]string{"spec.tolerations"}))
	})

	It("says so to a user who may not get the object", func(ctx SpecContext) {
		one := applied(ctx, user(ctx, "lister", "list"), dropped, statefile.Writes{})
		Expect(one.Offline).To(Equal("this user may not get them"))
		Expect(one.Doubt).To(BeEmpty())
		Expect(one.Result.Gone).To(Equal([]string{"spec.tolerations"}))
	})

	It("says so to a user who may not write the object", func(ctx SpecContext) {
		one := applied(ctx, user(ctx, "getter", "list", "get"), dropped, statefile.Writes{})
		Expect(one.Offline).To(Equal("this user may not patch them"))
		Expect(one.Result.Gone).To(Equal([]string{"spec.tolerations"}))
	})

	It("has the same answer of the hub for a tenant whose file drops a field", func(ctx SpecContext) {
		explainer := &answers.Explainer{
			Hub: tools.Hub{
				Settings: tools.Settings{Delivered: federation.DefaultKinds(), Requests: system.DefaultRequests()},
				Client:   suite.Client, Limited: true, Now: time.Now,
			},
			Definitions: tools.Definitions{CRDs: sync.OnceValues(manifests.Definitions), Policies: admission.Once(manifests.Policies)},
		}
		answer, err := explainer.Explain(ctx, &endpoint.Question{
			Command: endpoint.CommandDiff, Namespace: namespace, Manifests: dropped, Output: "json",
			Objects: []endpoint.Object{{Group: "cluster.open-cluster-management.io", Kind: "Placement", Name: "p"}},
		})
		Expect(err).NotTo(HaveOccurred())
		var differences explain.Differences
		Expect(json.Unmarshal([]byte(answer.Output), &differences)).To(Succeed())
		Expect(differences.Notes).To(ConsistOf("1 field of live objects that the files do not set would go"))
		Expect(differences.Refused).To(BeEmpty())
		Expect(differences.Placements).To(HaveLen(1))
		Expect(differences.Placements[0].Notes).To(ContainElement(ContainSubstring("spec.tolerations")))
	})

	It("takes the Namespace of the same files as there", func(ctx SpecContext) {
		file := strings.ReplaceAll(dropped, namespace, "writes-later") + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: writes-later}\n"
		one := applied(ctx, suite.Client, file, statefile.Writes{})
		Expect(one.Offline).To(Equal("their Namespace does not exist yet"))
		Expect(one.Result.New).To(BeTrue())
		Expect(one.Result.Refused).To(BeEmpty())

		one = applied(ctx, suite.Client, strings.ReplaceAll(dropped, namespace, "writes-never"), statefile.Writes{})
		Expect(one.Result.Refused).To(ConsistOf(ContainSubstring(`namespaces "writes-never" not found`)))
	})

	It("is judged by the policies that the command brings, with the Namespaces of the hub", func(ctx SpecContext) {
		const exempt = "writes-exempt"
		Expect(suite.Client.Create(ctx, &corev1.Namespace{
			ObjectMeta: metav1.ObjectMeta{Name: exempt, Labels: map[string]string{suite.AdmissionLabel: "off"}},
		})).To(Succeed())
		how := statefile.Writes{Review: admission.NewReviewer(ctx, admission.Once(manifests.Policies))}
		wrong := strings.Replace(dropped, "1}", "-1}", 1)
		inExempt := strings.ReplaceAll(wrong, namespace, exempt)
		inNew := strings.ReplaceAll(wrong, namespace, "writes-new") + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: writes-new"
		denied := ContainSubstring("denied request: spec.numberOfClusters: Invalid value: -1: must be 0 or more")

		reader := user(ctx, "reader", "list")
		Expect(applied(ctx, reader, wrong, how).Result.Refused).To(ConsistOf(denied))
		Expect(applied(ctx, reader, inExempt, how).Result.Refused).To(BeEmpty())
		Expect(notes).To(BeEmpty())

		By("leaving out those that read the labels of a Namespace that may not be read")
		Expect(applied(ctx, user(ctx, "stranger", "list"), wrong, how).Result.Refused).To(BeEmpty())
		Expect(notes).To(ConsistOf("not evaluated, because Namespaces may not be read: admission policies: " +
			"open-cluster-management-placement-hub-placements, open-cluster-management-placement-hub-vocabulary"))

		By("with a Namespace that does not exist yet")
		Expect(applied(ctx, suite.Client, inNew+"}\n", how).Result.Refused).To(ConsistOf(denied))
		Expect(applied(ctx, suite.Client, inNew+", labels: {"+suite.AdmissionLabel+": 'off'}}\n", how).Result.Refused).To(BeEmpty())

		By("leaving what the API server answers to it")
		Eventually(ctx, func() []string { return applied(ctx, suite.Client, wrong, how).Result.Refused }).Should(ConsistOf(denied))
		Expect(applied(ctx, suite.Client, inExempt, how).Result.Refused).To(BeEmpty())
		how.Review = func(*admission.World, int, []admission.Request) ([]admission.Answer, error) {
			return nil, errors.New("they are not needed")
		}
		Expect(applied(ctx, suite.Client, inExempt, how).Result.Refused).To(BeEmpty())
	})

	It("shows conflicts as kubectl does", func(ctx SpecContext) {
		serverSide := statefile.Writes{Chosen: writes.Write{Method: writes.ServerSide, FieldManager: "ci"}}
		changed := strings.Replace(dropped, "1}", "2}", 1)
		one := applied(ctx, suite.Client, changed, serverSide)
		Expect(one.Result.Refused).To(ConsistOf(And(
			ContainSubstring(`Apply failed with 1 conflict: conflict with "kubectl": .spec.numberOfClusters`),
			ContainSubstring("--force-conflicts"))))
		serverSide.Chosen.Force = true
		Expect(applied(ctx, suite.Client, changed, serverSide).Result.Refused).To(BeEmpty())
	})

	It("shows that a webhook refuses a write", func(ctx SpecContext) {
		hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "writes-effects"},
			Webhooks: []admissionregistrationv1.ValidatingWebhook{{
				Name: "effects.example.com", SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNoneOnDryRun),
				AdmissionReviewVersions: []string{"v1"}, FailurePolicy: ptr.To(admissionregistrationv1.Fail),
				ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/")},
				Rules: []admissionregistrationv1.RuleWithOperations{{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{"cluster.open-cluster-management.io"}, APIVersions: []string{"*"}, Resources: []string{"placements"},
					},
				}},
			}},
		}
		Expect(suite.Client.Create(ctx, hooks)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, hooks)).To(Succeed()) })
		Eventually(ctx, func() string {
			return fmt.Sprint(applied(ctx, suite.Client, dropped, statefile.Writes{}).Result.Refused)
		}).Should(ContainSubstring("effects.example.com"), "a webhook that cannot be reached refuses the real write")
	})
})
