// SPDX-License-Identifier: Apache-2.0

package clusteradm

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// clusteradm is a user who sends the requests of that command: discovery, then a look at what is there, then a creation or an update of
// the whole object, and a watch until it has worked. Specs name the command whose requests they send.
type clusteradm struct {
	client.WithWatch

	user      string
	namespace string // --namespace
}

// grant is what a user may do, in a namespace or, when that is "", everywhere.
type grant struct {
	namespace string
	rules     []rbacv1.PolicyRule
}

// everywhere and inNamespace make a grant of rules, each as "verb,verb group/resource,resource name,name"; the names may be left out.
func everywhere(rules ...string) grant { return inNamespace("", rules...) }

func inNamespace(namespace string, rules ...string) grant {
	made := grant{namespace: namespace}
	for _, rule := range rules {
		words := strings.Fields(rule)
		group, resources, _ := strings.Cut(words[1], "/")
		policy := rbacv1.PolicyRule{APIGroups: []string{group}, Verbs: strings.Split(words[0], ","), Resources: strings.Split(resources, ",")}
		if len(words) > 2 {
			policy.ResourceNames = strings.Split(words[2], ",")
		}
		made.rules = append(made.rules, policy)
	}
	return made
}

// tenant is a user who may edit placements and bindings in the namespace of the fixture, see all sets, and bind these
// (docs/spec/consumers.md U18, U19).
func tenant(ctx context.Context, f *suite.Fixture, sets ...string) *clusteradm {
	GinkgoHelper()
	grants := []grant{
		inNamespace(f.Namespace,
			"get,list,watch,create,update,patch,delete "+clusterv1.GroupName+"/placements,managedclustersetbindings",
			"get,list,watch "+clusterv1.GroupName+"/placementdecisions"),
		everywhere("get,list " + clusterv1.GroupName + "/managedclustersets"),
	}
	if len(sets) > 0 {
		grants = append(grants, everywhere("create "+clusterv1.GroupName+"/managedclustersets/bind "+strings.Join(sets, ",")))
	}
	return as(ctx, f, "tenant", grants...)
}

// admin is a user who looks after clusters and sets, and after nothing else.
func admin(ctx context.Context, f *suite.Fixture) *clusteradm {
	GinkgoHelper()
	return as(ctx, f, "admin", everywhere(
		"get,list,watch,create,update,delete "+clusterv1.GroupName+"/managedclustersets",
		"get,list,watch,update "+clusterv1.GroupName+"/managedclusters",
		"create "+clusterv1.GroupName+"/managedclustersets/join,managedclustersets/bind",
		"list "+clusterv1.GroupName+"/managedclustersetbindings"))
}

// as is a user with a client certificate and these rights.
func as(ctx context.Context, f *suite.Fixture, short string, grants ...grant) *clusteradm {
	GinkgoHelper()
	scheme := system.Scheme()
	Expect(workv1.Install(scheme)).To(Succeed())
	user := f.Name(short)
	config, err := suite.ControlPlane.UserConfig(user)
	Expect(err).NotTo(HaveOccurred())
	api, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	for i, g := range grants {
		give(ctx, user, fmt.Sprintf("%s-%d", user, i), g)
	}
	for _, g := range grants {
		for _, rule := range g.rules {
			awaitRight(ctx, api, g.namespace, rule)
		}
	}
	return &clusteradm{WithWatch: api, user: user, namespace: f.Namespace}
}

// give makes a ClusterRole of a grant, and binds the user to it until the end of the spec.
func give(ctx context.Context, user, name string, g grant) {
	GinkgoHelper()
	reference := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	var binding client.Object = &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: reference, Subjects: subjects}
	if g.namespace != "" {
		binding = &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: g.namespace, Name: name}, RoleRef: reference, Subjects: subjects,
		}
	}

	for _, object := range []client.Object{&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: g.rules}, binding} {
		Expect(suite.Client.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { //nolint:contextcheck // The spec's own is over then.
			Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, object))).To(Succeed())
		})
	}
}

// awaitRight waits until the API server knows of a right.
func awaitRight(ctx context.Context, api client.Client, namespace string, rule rbacv1.PolicyRule) {
	GinkgoHelper()
	resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
	asked := &authorizationv1.ResourceAttributes{
		Namespace: namespace, Group: rule.APIGroups[0], Resource: resource, Subresource: subresource, Verb: rule.Verbs[0],
	}
	if len(rule.ResourceNames) > 0 {
		asked.Name = rule.ResourceNames[0]
	}

	Eventually(func(g Gomega) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: asked}}
		g.Expect(api.Create(ctx, review)).To(Succeed())
		g.Expect(review.Status.Allowed).To(BeTrue(), "%+v", asked)
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// getOrCreate looks for an object and makes it when it is not there, as all "clusteradm create" do. It reports whether it was there.
func (c *clusteradm) getOrCreate(ctx context.Context, object client.Object) (existed bool, err error) {
	looked, ok := object.DeepCopyObject().(client.Object)
	Expect(ok).To(BeTrue())
	if err := c.Get(ctx, client.ObjectKeyFromObject(object), looked); !apierrors.IsNotFound(err) {
		return err == nil, err
	}
	return false, c.Create(ctx, object)
}

// watchUntil watches one object by its name, and returns the function that waits for an event that is as wanted.
func (c *clusteradm) watchUntil(
	ctx context.Context, list client.ObjectList, namespace, name string, wanted func(watch.Event) bool,
) (wait func()) {
	GinkgoHelper()
	watcher, err := c.Watch(ctx, list, client.InNamespace(namespace), named(name))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watcher.Stop)
	return func() {
		GinkgoHelper()
		Eventually(watcher.ResultChan()).WithContext(ctx).WithTimeout(suite.Timeout).Should(Receive(Satisfy(wanted)))
	}
}

// named is the field selector metadata.name=name.
func named(name string) client.MatchingFields {
	return client.MatchingFields{metav1.ObjectNameField: name}
}

// isDeleted reports whether an object has gone.
func isDeleted(event watch.Event) bool { return event.Type == watch.Deleted }
