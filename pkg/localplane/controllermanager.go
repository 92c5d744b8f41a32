package localplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// controllers are the controllers of kube-controller-manager that a hub needs; none of them controls nodes, pods or workloads.
var controllers = []string{
	"garbage-collector-controller",
	"namespace-controller",
	"serviceaccount-controller",
	"serviceaccount-token-controller",
	"clusterrole-aggregation-controller",
	"validatingadmissionpolicy-status-controller",
}

// startControllerManager starts kube-controller-manager as the user and with the rights that it has in production.
func (c *ControlPlane) startControllerManager(ctx context.Context) error {
	config, err := c.UserConfig("system:kube-controller-manager")
	if err != nil {
		return err
	}
	kubeconfig, err := Kubeconfig(config)
	if err != nil {
		return err
	}
	const kubeconfigFile = "kube-controller-manager.kubeconfig"
	if err := c.directory.replace(kubeconfigFile, kubeconfig); err != nil {
		return err
	}
	serviceAccountKey, err := ensureServiceAccountKey(c.directory)
	if err != nil {
		return err
	}
	client, err := c.trustingClient()
	if err != nil {
		return err
	}
	server := server{
		name: binaries.ControllerManager,
		launch: func(port int) (*process.Process, error) {
			return process.Start(process.Command{
				Name: binaries.ControllerManager,
				Path: c.assets.ControllerManager,
				Args: []string{
					"--kubeconfig=" + c.directory.file(kubeconfigFile),
					"--controllers=" + strings.Join(controllers, ","),
					"--use-service-account-credentials",
					"--service-account-private-key-file=" + serviceAccountKey,
					"--leader-elect=false",
					"--bind-address=" + loopback,
					fmt.Sprintf("--secure-port=%d", port),
					"--tls-cert-file=" + c.directory.file(servingCertificateFile),
					"--tls-private-key-file=" + c.directory.file(servingKeyFile),
					"--kube-api-qps=200",
					"--kube-api-burst=400",
				},
				LogPath: c.directory.file("kube-controller-manager.log"),
			})
		},
		ready: func(ctx context.Context, port int) error { return c.controllersReady(ctx, client, port) },
	}
	c.controllerManager, _, err = c.start(ctx, server)
	return err
}

// trustingClient is an anonymous client that trusts the serving certificates of this control plane.
func (c *ControlPlane) trustingClient() (*http.Client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.authority.pem) {
		return nil, errors.New("the certificate authority holds no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	return &http.Client{Transport: transport}, nil
}

// controllersReady asks for /healthz, and for the account that the service account controller makes.
func (c *ControlPlane) controllersReady(ctx context.Context, client *http.Client, port int) error {
	if _, err := exchange(ctx, client, http.MethodGet, "https://"+address(port)+"/healthz", ""); err != nil {
		return err
	}
	accounts, err := corev1client.NewForConfig(c.admin)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	_, err = accounts.ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("waiting for the default service account: %w", err)
	}
	return nil
}
