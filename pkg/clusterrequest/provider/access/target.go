// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// target is a cluster on which access is given.
type target struct {
	client client.Client
	config *rest.Config
}

// newTarget returns the cluster of a client configuration. It sends no request: the kinds are known.
func newTarget(config *rest.Config) (*target, error) {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"Namespace", "ServiceAccount"} {
		mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), scopeOf(kind == "Namespace"))
	}
	for _, kind := range []string{"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"} {
		mapper.Add(rbacv1.SchemeGroupVersion.WithKind(kind), scopeOf(kind == "ClusterRole" || kind == "ClusterRoleBinding"))
	}

	c, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("make a client of %s: %w", config.Host, err)
	}
	return &target{client: client.WithFieldOwner(c, fieldManager), config: config}, nil
}

func scopeOf(cluster bool) meta.RESTScope {
	if cluster {
		return meta.RESTScopeRoot
	}
	return meta.RESTScopeNamespace
}

// anonymous returns the client configuration without credentials.
func (t *target) anonymous() *rest.Config { return rest.AnonymousClientConfig(t.config) }

// token makes a token of a ServiceAccount, without its time of creation.
func (t *target) token(ctx context.Context, account *corev1.ServiceAccount, lifetime time.Duration) (token, error) {
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(lifetime / time.Second))},
	}
	if err := t.client.SubResource("token").Create(ctx, account, request); err != nil {
		return token{}, fmt.Errorf("make a token on the cluster: %w", err)
	}
	return token{value: request.Status.Token, expires: request.Status.ExpirationTimestamp.Time}, nil
}

// give makes the objects of an access what they should be, and returns the ServiceAccount. It writes nothing when an object of another owner
// has the name of one of them, or a namespace is missing that it may not create.
func (t *target) give(ctx context.Context, access *clusterrequest.Access) (*corev1.ServiceAccount, error) {
	present, err := t.present(ctx, access.ID)
	if err != nil {
		return nil, err
	}
	if err := t.check(ctx, access, present); err != nil {
		return nil, err
	}

	for _, name := range append([]string{access.Account.Namespace}, access.Create...) {
		if err := t.createNamespace(ctx, name); err != nil {
			return nil, err
		}
	}
	wanted := wantedOf(access)
	if err := t.write(ctx, present, wanted); err != nil {
		return nil, err
	}
	return &wanted.accounts[0], t.prune(ctx, present, wanted)
}

// withdraw deletes all objects of an access. Namespaces stay.
func (t *target) withdraw(ctx context.Context, id string) error {
	present, err := t.present(ctx, id)
	if err != nil {
		return err
	}
	return t.prune(ctx, present, &accessObjects{})
}

// createNamespace creates a namespace that does not exist.
func (t *target) createNamespace(ctx context.Context, name string) error {
	exists, err := t.exists(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil || exists {
		return err
	}
	err = t.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating namespace %s on the cluster: %w", name, err)
	}
	return nil
}

// exists reports whether the cluster has an object, and reads it.
func (t *target) exists(ctx context.Context, object client.Object) (bool, error) {
	err := t.client.Get(ctx, client.ObjectKeyFromObject(object), object)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading %s on the cluster: %w", describe(object), err)
	}
	return true, nil
}

// describe names an object of a cluster with its kind.
func describe(object client.Object) string {
	kinds, _, err := clientgoscheme.Scheme.ObjectKinds(object)
	if err != nil {
		return nameOf(client.ObjectKeyFromObject(object))
	}
	return kinds[0].Kind + " " + nameOf(client.ObjectKeyFromObject(object))
}

func nameOf(key types.NamespacedName) string {
	if key.Namespace == "" {
		return key.Name
	}
	return key.String()
}

// check returns a refusal if the objects of an access cannot be written.
func (t *target) check(ctx context.Context, access *clusterrequest.Access, present *accessObjects) error {
	for _, name := range access.Need {
		exists, err := t.exists(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if err != nil {
			return err
		}
		if !exists {
			return &refusal{openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonNamespaceNotFound, fmt.Sprintf(
				"namespace %s does not exist on the cluster: create it there, or set createNamespace of its permission", name)}
		}
	}

	for _, object := range wantedOf(access).missing(present) {
		exists, err := t.exists(ctx, object)
		if err != nil {
			return err
		}
		if exists && object.GetLabels()[openmcpv1alpha1.AccessIDLabel] != access.ID {
			return &refusal{openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonRoleExists, fmt.Sprintf(
				"%s exists on the cluster and is not of this AccessRequest: use another name, or name it in roleRefs", describe(object))}
		}
	}
	return nil
}
