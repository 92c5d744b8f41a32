// SPDX-License-Identifier: Apache-2.0

package access

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// secret returns the Secret of the AccessRequest; nil if there is none.
func (w *world) kubeconfigSecret() *corev1.Secret {
	w.t.Helper()
	secret := &corev1.Secret{}
	err := w.hub.Get(w.t.Context(), client.ObjectKey{Namespace: deployer.Namespace, Name: clusterrequest.SecretName(deployer.Name)}, secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// expectKeysOfKubeconfig (docs/spec/ecosystem.md E31) fails unless host, ca.crt and token are those of the kubeconfig in the Secret.
func expectKeysOfKubeconfig(t *testing.T, secret *corev1.Secret) {
	t.Helper()
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data[KubeconfigKey])
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{HostKey: config.Host, CAKey: string(config.CAData), TokenKey: config.BearerToken}
	got := map[string]string{}
	for key := range want {
		got[key] = string(secret.Data[key])
	}
	if diff := cmp.Diff(want, got); diff != "" || config.BearerToken == "" || config.Host == "" || len(config.CAData) == 0 {
		t.Errorf("cluster-request C73: keys beside the kubeconfig (-of the kubeconfig +got):\n%s", diff)
	}
}

func TestAccessIsGiven(t *testing.T) {
	w := newWorld(t, resolvedAccess(), cluster(gardener))
	writes, result := w.mustReconcile()
	if len(writes) == 0 || writes[0] != "patch hub *v1alpha1.AccessRequest" {
		t.Errorf("cluster-request 4.1.6: the finalizer comes first: %v", writes)
	}
	if last := writes[len(writes)-1]; last != "status hub *v1alpha1.AccessRequest" {
		t.Errorf("the status comes last: %v", writes)
	}
	id := clusterrequest.NewAccess("test", gardener, resolvedAccess()).ID
	want := []string{"Role shop/reader", "RoleBinding shop/" + id + "-0", "ServiceAccount " + clusterrequest.AccessNamespace + "/" + id}

	if diff := cmp.Diff(want, w.onMember()); diff != "" {
		t.Errorf("cluster-request C29: objects on the cluster (-want +got):\n%s", diff)
	}
	access := w.access()
	if access.Status.Status != openmcpv1alpha1.RequestGranted || access.Status.SecretRef == nil || access.Status.ObservedGeneration != 1 {
		t.Errorf("status %+v", access.Status)
	}
	if access.Status.Message != "" {
		t.Errorf("P9: a granted AccessRequest says %q", access.Status.Message)
	}

	secret := w.kubeconfigSecret()
	if secret == nil || !metav1.IsControlledBy(secret, access) || !strings.Contains(string(secret.Data[KubeconfigKey]), "token-1") {
		t.Fatalf("Secret %+v", secret)
	}
	expectKeysOfKubeconfig(t, secret)
	if got := timeOf(secret.Data[ExpirationKey]); !got.Equal(start.Add(lifetime)) {
		t.Errorf("the token expires at %s", got)
	}
	if want := 8 * time.Hour; result.RequeueAfter != want {
		t.Errorf("cluster-request C38: renewed after %s, want %s", result.RequeueAfter, want)
	}

	if writes, _ := w.mustReconcile(); len(writes) > 0 || w.tokens != 1 {
		t.Errorf("law 4: a second look writes %v and makes %d tokens", writes, w.tokens)
	}
}

func TestTokensAreRenewed(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(*world)
		tokens int
	}{
		{"cluster-request C38: before 80 % of its life", func(w *world) { w.clock.SetTime(start.Add(8*time.Hour - time.Second)) }, 1},
		{"cluster-request C38: after 80 % of its life", func(w *world) { w.clock.SetTime(start.Add(8 * time.Hour)) }, 2},
		{"cluster-request 4.1.6: somebody has edited the kubeconfig", func(w *world) {
			secret := w.kubeconfigSecret()
			secret.Data[KubeconfigKey] = []byte("no kubeconfig")
			if err := w.hub.Update(w.t.Context(), secret); err != nil {
				w.t.Fatal(err)
			}
		}, 2},
		{"cluster-request C73: somebody has edited the host, the certificate authority and the token beside the kubeconfig", func(w *world) {
			secret := w.kubeconfigSecret()
			secret.Data[HostKey], secret.Data[TokenKey] = []byte("https://elsewhere"), []byte("another")
			delete(secret.Data, CAKey)
			if err := w.hub.Update(w.t.Context(), secret); err != nil {
				w.t.Fatal(err)
			}
		}, 1},
		{"cluster-request 4.1.6: somebody has edited the time of expiry", func(w *world) {
			secret := w.kubeconfigSecret()
			secret.Data[ExpirationKey] = []byte("never")
			if err := w.hub.Update(w.t.Context(), secret); err != nil {
				w.t.Fatal(err)
			}
		}, 2},
		{"cluster-request 4.1.6: the ServiceAccount is another one", func(w *world) {
			accounts := &corev1.ServiceAccountList{}
			if err := w.member.List(w.t.Context(), accounts); err != nil || len(accounts.Items) != 1 {
				w.t.Fatal(accounts.Items, err)
			}
			if err := w.member.Delete(w.t.Context(), &accounts.Items[0]); err != nil {
				w.t.Fatal(err)
			}
		}, 2},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, resolvedAccess(), cluster(gardener))
			w.mustReconcile()
			tc.change(w)
			w.mustReconcile()
			if w.tokens != tc.tokens {
				t.Errorf("%d tokens, want %d", w.tokens, tc.tokens)
			}
			expectKeysOfKubeconfig(t, w.kubeconfigSecret())
			if writes, _ := w.mustReconcile(); len(writes) > 0 {
				t.Errorf("law 4: a settled access writes %v", writes)
			}
		})
	}
}

func TestRemovedPermissionsGo(t *testing.T) {
	w := newWorld(t, resolvedAccess(), cluster(gardener))
	w.mustReconcile()
	w.change(func(a *openmcpv1alpha1.AccessRequest) {
		a.Spec.Permissions = nil
		a.Spec.RoleRefs = []openmcpv1alpha1.RoleReference{{Kind: openmcpv1alpha1.KindClusterRole, Name: "view"}}
	})
	w.mustReconcile()
	id := clusterrequest.NewAccess("test", gardener, resolvedAccess()).ID
	want := []string{"ClusterRoleBinding " + id + "-ref-0", "ServiceAccount " + clusterrequest.AccessNamespace + "/" + id}

	if diff := cmp.Diff(want, w.onMember()); diff != "" {
		t.Errorf("cluster-request C32, C44: objects on the cluster (-want +got):\n%s", diff)
	}
	if err := w.member.Get(t.Context(), client.ObjectKey{Name: "shop"}, &corev1.Namespace{}); err != nil {
		t.Errorf("cluster-request 4.1.6: a created namespace stays: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		member  client.Object
		change  func(*openmcpv1alpha1.AccessRequest)
		admin   error
		status  openmcpv1alpha1.RequestPhase
		word    string
		message string
	}{
		{
			reason: "cluster-request C35: a Role of the name", member: &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "reader"}},
			status: openmcpv1alpha1.RequestDenied, word: openmcpv1alpha1.ReasonRoleExists, message: "Role shop/reader exists on the cluster",
		},
		{
			reason: "cluster-request C44: a namespace that may not be created",
			change: func(a *openmcpv1alpha1.AccessRequest) { a.Spec.Permissions[0].CreateNamespace = ptr.To(false) },
			status: openmcpv1alpha1.RequestPending, word: openmcpv1alpha1.ReasonNamespaceNotFound, message: "namespace shop does not exist",
		},
		{
			reason: "cluster-request C45: no access", admin: ErrNoAccess,
			status: openmcpv1alpha1.RequestDenied, word: openmcpv1alpha1.ReasonNoAccess, message: "gives no access",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			access := resolvedAccess()
			if tc.change != nil {
				tc.change(access)
			}
			w := newWorld(t, access, cluster(gardener))
			w.admin = tc.admin

			if tc.member != nil {
				if err := w.member.Create(t.Context(), tc.member); err != nil {
					t.Fatal(err)
				}
			}
			_, result := w.mustReconcile()
			if result.RequeueAfter != firstRetry {
				t.Errorf("tried again after %s", result.RequeueAfter)
			}

			status := w.access().Status
			if status.Status != tc.status || status.Reason != tc.word || !strings.Contains(status.Message, tc.message) {
				t.Errorf("status %+v", status)
			}
			if made := w.onMember(); len(made) > 0 || w.kubeconfigSecret() != nil {
				t.Errorf("something is made: %v", made)
			}
			if writes, result := w.mustReconcile(); len(writes) > 0 || result.RequeueAfter != 2*firstRetry {
				t.Errorf("law 4: a refusal that stays writes %v, and is tried again after %s", writes, result.RequeueAfter)
			}
		})
	}
}

func TestASecretOfOthersStays(t *testing.T) {
	foreign := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: deployer.Namespace, Name: clusterrequest.SecretName(deployer.Name), UID: "foreign"},
		Data:       map[string][]byte{"a": []byte("b")},
	}
	w := newWorld(t, resolvedAccess(), cluster(gardener), foreign)
	w.mustReconcile()
	status := w.access().Status
	if status.Status != openmcpv1alpha1.RequestPending || !strings.Contains(status.Message, "is not of this AccessRequest") {
		t.Errorf("status %+v", status)
	}

	w.change(func(a *openmcpv1alpha1.AccessRequest) { a.Status.Conditions[0].Status = metav1.ConditionFalse })
	w.mustReconcile()
	if secret := w.kubeconfigSecret(); secret == nil || string(secret.Data["a"]) != "b" {
		t.Errorf("cluster-request 4.1.6: the Secret of somebody else is %+v", secret)
	}
}

func TestAccessIsWithdrawn(t *testing.T) {
	for _, tc := range []struct {
		reason string
		end    func(*world)
	}{
		{"cluster-request C42: Resolved is False", func(w *world) {
			w.change(func(a *openmcpv1alpha1.AccessRequest) { a.Status.Conditions[0].Status = metav1.ConditionFalse })
		}},
		{"cluster-request 4.1.6: the AccessRequest is being deleted", func(w *world) {
			if err := w.hub.Delete(w.t.Context(), w.access()); err != nil {
				w.t.Fatal(err)
			}
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, resolvedAccess(), cluster(gardener))
			w.mustReconcile()
			tc.end(w)
			w.admin = errAway
			if _, _, err := w.reconcileOnce(); !errors.Is(err, errAway) || !slices.Contains(w.access().Finalizers, openmcpv1alpha1.AccessFinalizer) {
				t.Errorf("cluster-request C36: the finalizer has to wait for the cluster: %v, %v", err, w.access().Finalizers)
			}
			if len(w.onMember()) == 0 {
				t.Error("the objects are gone although the cluster did not answer")
			}

			w.admin = nil
			writes, _ := w.mustReconcile()
			if made := w.onMember(); len(made) > 0 || w.kubeconfigSecret() != nil {
				t.Errorf("left on the cluster: %v", made)
			}
			if writes[len(writes)-1] != "patch hub *v1alpha1.AccessRequest" {
				t.Errorf("the finalizer comes last: %v", writes)
			}
		})
	}
}

func TestAccessToALostClusterIsReleased(t *testing.T) {
	access := resolvedAccess()
	access.Finalizers, access.DeletionTimestamp = []string{openmcpv1alpha1.AccessFinalizer}, &metav1.Time{Time: start}
	access.Labels = map[string]string{openmcpv1alpha1.ProviderLabel: gardener}
	w := newWorld(t, access)
	w.admin = errAway // It is not asked for.
	w.mustReconcile()
	if err := w.hub.Get(t.Context(), deployer, access); !apierrors.IsNotFound(err) {
		t.Errorf("cluster-request C36: the AccessRequest is still there: %v, %v", err, access.Finalizers)
	}
}

func TestAccessOfOthersIsLeftAlone(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		cluster *openmcpv1alpha1.Cluster
		change  func(*openmcpv1alpha1.AccessRequest)
	}{
		{"cluster-request C37: the Cluster of another provider", cluster("other"), nil},
		{"cluster-request 4.1.6: resolved for a former generation", cluster(gardener), func(a *openmcpv1alpha1.AccessRequest) { a.Generation = 2 }},
		{"T4: a label leads nowhere", cluster("other"), func(a *openmcpv1alpha1.AccessRequest) {
			a.Labels = map[string]string{openmcpv1alpha1.ProviderLabel: gardener}
		}},
		{"cluster-request 4.1.6: the hub has not found the Cluster", cluster(gardener), func(a *openmcpv1alpha1.AccessRequest) {
			a.Status.ClusterRef = nil
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			access := resolvedAccess()
			if tc.change != nil {
				tc.change(access)
			}
			w := newWorld(t, access, tc.cluster)
			if writes, _ := w.mustReconcile(); len(writes) > 0 {
				t.Errorf("writes %v", writes)
			}
		})
	}
}

// An access that works stays granted while its cluster does not answer.
func TestAFailureLeavesAGrantedAccess(t *testing.T) {
	w := newWorld(t, resolvedAccess(), cluster(gardener))
	w.mustReconcile()
	w.admin = errAway
	if _, _, err := w.reconcileOnce(); !errors.Is(err, errAway) {
		t.Errorf("got %v", err)
	}
	if status := w.access().Status; status.Status != openmcpv1alpha1.RequestGranted || w.kubeconfigSecret() == nil {
		t.Errorf("law 6: status %+v", status)
	}

	w = newWorld(t, resolvedAccess(), cluster(gardener))
	w.admin = errAway
	if _, _, err := w.reconcileOnce(); !errors.Is(err, errAway) {
		t.Errorf("got %v", err)
	}
	if status := w.access().Status; status.Status != openmcpv1alpha1.RequestPending || status.Reason != openmcpv1alpha1.ReasonError {
		t.Errorf("a new access says %+v", status)
	}
}
