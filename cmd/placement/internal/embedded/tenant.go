// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
)

// The tenant is a ServiceAccount with the role edit in a namespace of the sample fleet. It has a token, because the explanations of a hub take no
// client certificate.
const (
	tenantNamespace = "team-a"
	tenantAccount   = "tenant"
	tenantSuffix    = "-" + tenantNamespace
	// tenantTokenSeconds are 30 days, which is longer than a hub on a laptop runs.
	tenantTokenSeconds = 30 * 24 * 60 * 60
)

// writeTenant writes the kubeconfig of the tenant beside that of the administrator, and adds the command that selects it to the lines of access. It
// does nothing if the namespace of the tenant is not there.
func (h *Hub) writeTenant(ctx context.Context) error {
	if h.options.Sample.Name != sampleFleet {
		return nil
	}
	admin := h.environment.AdminConfig()
	hub, err := kubernetes.NewForConfig(admin)
	if err != nil {
		return fmt.Errorf("making a client for %s: %w", admin.Host, err)
	}
	if _, err := hub.CoreV1().Namespaces().Get(ctx, tenantNamespace, metav1.GetOptions{}); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("looking for the namespace %s: %w", tenantNamespace, err)
	}
	if err := manifests.Apply(ctx, admin, tenantObjects()); err != nil {
		return fmt.Errorf("making the tenant: %w", err)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](tenantTokenSeconds)}}
	request, err = hub.CoreV1().ServiceAccounts(tenantNamespace).CreateToken(ctx, tenantAccount, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("requesting a token for the tenant: %w", err)
	}
	content, err := tenantKubeconfig(admin, request.Status.Token)
	if err != nil {
		return err
	}
	path := h.options.Kubeconfig + tenantSuffix
	file, err := writeContent(path, content)
	if err != nil {
		return err
	}
	if h.options.DataDir == "" {
		h.tenant = file
	}
	h.access = append(h.access, "as a tenant, with edit in "+tenantNamespace+" alone: "+exportLine(path))
	return nil
}

// tenantKubeconfig returns a kubeconfig with a token, whose context has the namespace of the tenant.
func tenantKubeconfig(admin *rest.Config, token string) ([]byte, error) {
	config := rest.AnonymousClientConfig(admin)
	config.BearerToken = token
	content, err := localplane.Kubeconfig(config)
	if err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of the tenant: %w", err)
	}
	loaded, err := clientcmd.Load(content)
	if err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of the tenant: %w", err)
	}
	loaded.Contexts[loaded.CurrentContext].Namespace = tenantNamespace
	if content, err = clientcmd.Write(*loaded); err != nil {
		return nil, fmt.Errorf("writing the kubeconfig of the tenant: %w", err)
	}
	return content, nil
}

// tenantObjects returns the ServiceAccount of the tenant, and its role.
func tenantObjects() []*unstructured.Unstructured {
	name := map[string]any{"namespace": tenantNamespace, "name": tenantAccount}
	return []*unstructured.Unstructured{
		{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": name}},
		{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": name,
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "namespace": tenantNamespace, "name": tenantAccount}},
		}},
	}
}
