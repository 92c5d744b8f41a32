// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	clusterGroup  = clusterv1.GroupName
	registerGroup = "register.open-cluster-management.io"
)

// mustMatch is the rule about the name of a binding (docs/spec/consumers.md U15).
const mustMatch = "The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet"

// person is somebody the API server knows, with no rights but those that a spec grants.
type person struct {
	client.Client
	user string
}

// ways are those in which a person can come to the API server.
var ways = map[string]func(ctx context.Context, f *suite.Fixture, short string) *person{
	"a client certificate":     func(_ context.Context, f *suite.Fixture, short string) *person { return certified(f, short) },
	"impersonation":            func(_ context.Context, f *suite.Fixture, short string) *person { return impersonated(f, short) },
	"a ServiceAccount's token": serviceAccount,
}

// certified comes with a client certificate.
func certified(f *suite.Fixture, short string, groups ...string) *person {
	GinkgoHelper()
	config, err := suite.ControlPlane.UserConfig(f.Name(short), groups...)
	Expect(err).NotTo(HaveOccurred())
	return newPerson(config, f.Name(short))
}

// impersonated is somebody whom an admin speaks for.
func impersonated(f *suite.Fixture, short string) *person {
	GinkgoHelper()
	config := suite.ControlPlane.AdminConfig()
	config.Impersonate = rest.ImpersonationConfig{UserName: f.Name(short), Groups: []string{"system:authenticated"}}
	return newPerson(config, f.Name(short))
}

// serviceAccount is a ServiceAccount of this fixture with its token.
func serviceAccount(ctx context.Context, f *suite.Fixture, short string) *person {
	GinkgoHelper()
	f.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: short}})
	config, err := suite.ControlPlane.ServiceAccountConfig(ctx, f.Namespace, short)
	Expect(err).NotTo(HaveOccurred())
	return newPerson(config, "system:serviceaccount:"+f.Namespace+":"+short)
}

func newPerson(config *rest.Config, user string) *person {
	GinkgoHelper()
	c, err := client.New(config, client.Options{Scheme: system.Scheme(), Mapper: suite.Client.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	return &person{Client: c, user: user}
}

// subject is the person in the words of RBAC, which takes a ServiceAccount by its user name too.
func (p *person) subject() rbacv1.Subject {
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: p.user}
}

// tries asks the API server whether the person could create an object. Files with the object get the same answer, but for lack of a right.
func (p *person) tries(ctx context.Context, object client.Object) error {
	GinkgoHelper()
	given, ok := object.DeepCopyObject().(client.Object) // The answer replaces the object.
	Expect(ok).To(BeTrue())
	err := client.NewDryRunClient(p).Create(ctx, object)
	agreeOnCreation(ctx, given, err)
	return err
}

// changes asks the API server whether the person could change an object as it is now, and again when the hub was faster.
func changes[T any, P interface {
	*T
	client.Object
}](ctx context.Context, p *person, object P, change func(P)) error {
	for {
		fresh := P(new(T))
		if err := suite.Client.Get(ctx, client.ObjectKeyFromObject(object), fresh); err != nil {
			return fmt.Errorf("reading what is to be changed: %w", err)
		}
		old, ok := fresh.DeepCopyObject().(P)
		if !ok {
			return fmt.Errorf("%T is no object", fresh)
		}
		change(fresh)
		given, _ := fresh.DeepCopyObject().(P)
		if err := client.NewDryRunClient(p).Update(ctx, fresh); !apierrors.IsConflict(err) {
			agreeOnUpdate(ctx, old, given, err)
			return err
		}
	}
}

var grants atomic.Int64

// grantTo gives rights in the whole hub, and returns how to take them back. The API server knows of both a moment later.
func grantTo(ctx context.Context, f *suite.Fixture, subject rbacv1.Subject, rules ...rbacv1.PolicyRule) (revoke func()) {
	GinkgoHelper()
	name := f.Name(fmt.Sprintf("grant%d", grants.Add(1)))
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	f.Create(ctx, role)
	return bindRole(ctx, f, subject, name)
}

// bindRole gives the rights of a ClusterRole in the whole hub, and returns how to take them back.
func bindRole(ctx context.Context, f *suite.Fixture, subject rbacv1.Subject, role string) (revoke func()) {
	GinkgoHelper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: f.Name(fmt.Sprintf("grant%d", grants.Add(1)))},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{subject},
	}
	f.Create(ctx, binding)
	return func() { Expect(suite.Client.Delete(ctx, binding)).To(Succeed()) }
}

// roleHere gives the rights of a ClusterRole in the namespace of the fixture.
func roleHere(ctx context.Context, f *suite.Fixture, subject rbacv1.Subject, role string) {
	GinkgoHelper()
	f.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: fmt.Sprintf("grant%d", grants.Add(1))},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{subject},
	})
}

// right is a rule of RBAC about one resource, by names or of every name.
func right(group, resource string, verbs []string, names ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: verbs, ResourceNames: names}
}

func mayWrite(resource string) rbacv1.PolicyRule {
	return right(clusterGroup, resource, []string{"get", "list", "create", "update", "patch", "delete"})
}

func mayBind(sets ...string) rbacv1.PolicyRule {
	return right(clusterGroup, "managedclustersets/bind", []string{"create"}, sets...)
}

func mayJoin(sets ...string) rbacv1.PolicyRule {
	return right(clusterGroup, "managedclustersets/join", []string{"create"}, sets...)
}

func mayAccept(clusters ...string) rbacv1.PolicyRule {
	return right(registerGroup, "managedclusters/accept", []string{"update"}, clusters...)
}

// can asks the authorizer about a subject.
func can(ctx context.Context, user string, attributes authorizationv1.ResourceAttributes) bool {
	GinkgoHelper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, Groups: []string{"system:authenticated"}, ResourceAttributes: &attributes,
	}}
	Expect(suite.Client.Create(ctx, review)).To(Succeed())
	return review.Status.Allowed
}

// newBinding is a binding of this fixture's namespace, which is not made.
func newBinding(f *suite.Fixture, name, set string) *clusterv1beta2.ManagedClusterSetBinding {
	return &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: name},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}
}

// newCluster is a cluster of this fixture in a set, which is not made.
func newCluster(f *suite.Fixture, short, set string, edits ...func(*clusterv1.ManagedCluster)) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: f.Name(short), Labels: map[string]string{suite.FixtureLabel: f.Namespace, clusterv1beta2.ClusterSetLabel: set},
	}}
	for _, edit := range edits {
		edit(cluster)
	}
	return cluster
}

// accessInForce waits until the API server has taken up the policies about bindings and clusters.
func accessInForce(ctx context.Context, f *suite.Fixture) {
	GinkgoHelper()
	Eventually(func() error { return ask(ctx, newBinding(f, "a", "b")) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(beInvalid(mustMatch))
	Eventually(func() error { return ask(ctx, newCluster(f, "not.a-namespace", "")) }).WithContext(ctx).WithTimeout(suite.Timeout).
		Should(beInvalid("metadata.name format is not correct: "))
}

// notAllowedToBind is the denial of a binding (docs/spec/consumers.md U15).
func notAllowedToBind(p *person, set string) OmegaMatcher {
	return beForbidden(fmt.Sprintf("user %q is not allowed to bind cluster set %q", p.user, set))
}

// cannotMove is the denial of a change of sets.
func cannotMove(p *person, set string) OmegaMatcher {
	return beForbidden(fmt.Sprintf("user %q cannot add/remove a ManagedCluster to/from ManagedClusterSet %q", p.user, set))
}

// cannotAccept is the denial to accept a cluster, which begins with upstream's sentence.
func cannotAccept(p *person, cluster string) OmegaMatcher {
	return And(
		beForbidden(fmt.Sprintf("user %q cannot update the HubAcceptsClient field", p.user)),
		beForbidden(fmt.Sprintf("for ManagedCluster %q", cluster)),
	)
}

func beForbidden(words string) OmegaMatcher { return beRefused(http.StatusForbidden, words) }

func beInvalid(words string) OmegaMatcher { return beRefused(http.StatusUnprocessableEntity, words) }

// beRefused matches an answer of the API server by its code and by what it says.
func beRefused(code int32, words string) OmegaMatcher {
	codeOf := func(err error) int32 {
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			return status.Status().Code
		}
		return 0
	}
	return And(HaveOccurred(), WithTransform(codeOf, Equal(code)), MatchError(ContainSubstring(words)))
}
