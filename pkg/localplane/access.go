// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
)

const (
	adminUser  = "placement-hub-admin"
	adminGroup = "system:masters"
)

// tokenSeconds is the lifetime of the tokens of ServiceAccountConfig: a day.
const tokenSeconds = 24 * 60 * 60

// AdminConfig returns a client configuration with all rights and without a rate limit. The caller may modify it.
func (c *ControlPlane) AdminConfig() *rest.Config {
	return rest.CopyConfig(c.admin)
}

// UserConfig returns a client configuration for a user in groups, with a new client certificate. The user has the rights that RBAC grants
// these names. The rate of requests is unlimited.
func (c *ControlPlane) UserConfig(user string, groups ...string) (*rest.Config, error) {
	certificate, key, err := c.authority.client(user, groups)
	if err != nil {
		return nil, err
	}
	config := c.anonymousConfig()
	config.CertData, config.KeyData = certificate, key
	return config, nil
}

// ServiceAccountConfig returns a client configuration with a token of an existing ServiceAccount, valid for a day or until the account is
// deleted. The rate of requests is unlimited.
func (c *ControlPlane) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	client, err := corev1client.NewForConfig(c.AdminConfig())
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](tokenSeconds)},
	}
	token, err := client.ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("requesting a token of service account %s/%s: %w", namespace, name, err)
	}
	config := c.anonymousConfig()
	config.BearerToken = token.Status.Token
	return config, nil
}

// anonymousConfig returns a configuration that trusts the API server, and has no identity.
func (c *ControlPlane) anonymousConfig() *rest.Config {
	return &rest.Config{
		Host:            c.url,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.pem},
		QPS:             -1,
	}
}

// Kubeconfig returns a client configuration as a kubeconfig file that refers to no other file. It accepts certificates and bearer tokens;
// other ways to authenticate are an error.
func Kubeconfig(config *rest.Config) ([]byte, error) {
	if config.ExecProvider != nil || config.AuthProvider != nil || config.Username != "" {
		return nil, fmt.Errorf("a kubeconfig for %s can hold a certificate or a token only, not a plugin or a password", config.Host)
	}
	config = rest.CopyConfig(config)
	if err := rest.LoadTLSFiles(config); err != nil {
		return nil, fmt.Errorf("reading the certificates for a kubeconfig: %w", err)
	}
	const name = "placement-hub"
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   config.Host,
		CertificateAuthorityData: config.CAData,
		TLSServerName:            config.ServerName,
		InsecureSkipTLSVerify:    config.Insecure,
	}
	kubeconfig.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData,
		ClientKeyData:         config.KeyData,
		Token:                 config.BearerToken,
	}
	kubeconfig.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	kubeconfig.CurrentContext = name
	content, err := clientcmd.Write(*kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig for %s: %w", config.Host, err)
	}
	return content, nil
}
