// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"fmt"
	"net/http"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// The files of a data directory that several programs read.
const (
	servingCertificateFile = "apiserver.crt"
	servingKeyFile         = "apiserver.key"
	auditFile              = "audit.log"
	auditPolicyFile        = "audit-policy.yaml"
)

// startAPIServer starts kube-apiserver and sets up access to it.
func (c *ControlPlane) startAPIServer(ctx context.Context) error {
	if err := c.writeAPIServerFiles(); err != nil {
		return err
	}
	serviceAccountKey, err := ensureServiceAccountKey(c.directory)
	if err != nil {
		return err
	}
	certificate, key, err := c.authority.client(adminUser, []string{adminGroup})
	if err != nil {
		return err
	}
	preferred, err := c.directory.port()
	if err != nil {
		return err
	}
	launch := func(port int) (*process.Process, error) {
		return process.Start(process.Command{
			Name:    binaries.APIServer,
			Path:    c.assets.APIServer,
			Args:    c.apiServerArgs(port, serviceAccountKey),
			LogPath: c.directory.file("kube-apiserver.log"),
		})
	}
	server := server{
		name:      binaries.APIServer,
		preferred: preferred,
		launch: func(port int) (*process.Process, error) {
			c.url = "https://" + address(port)
			c.admin = c.anonymousConfig()
			c.admin.CertData, c.admin.KeyData = certificate, key
			return launch(port)
		},
		ready: func(ctx context.Context, _ int) error { return apiServerReady(ctx, c.admin) },
	}
	started, port, err := c.start(ctx, server)
	if err != nil {
		return err
	}
	c.apiServer = started
	server.preferred, server.fixed, server.launch = port, true, launch
	c.apiServerServer = server
	return c.directory.savePort(port)
}

// writeAPIServerFiles writes the files that are new at each start: the serving certificate, so that it does not expire in an old data
// directory, and the audit policy.
func (c *ControlPlane) writeAPIServerFiles() error {
	certificate, key, err := c.authority.server()
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name    string
		content []byte
	}{
		{servingCertificateFile, certificate},
		{servingKeyFile, key},
		{auditPolicyFile, []byte(auditPolicy)},
	} {
		if err := c.directory.replace(file.name, file.content); err != nil {
			return err
		}
	}
	// The audit log has only the requests of this run.
	if err := os.Remove(c.directory.file(auditFile)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("removing the audit log of the last run: %w", err)
	}
	return nil
}

func (c *ControlPlane) apiServerArgs(port int, serviceAccountKey string) []string {
	arguments := []string{
		"--etcd-servers=" + c.etcdURL,
		"--etcd-prefix=" + c.prefix,
		"--bind-address=" + loopback,
		"--advertise-address=" + loopback,
		fmt.Sprintf("--secure-port=%d", port),
		"--tls-cert-file=" + c.directory.file(servingCertificateFile),
		"--tls-private-key-file=" + c.directory.file(servingKeyFile),
		"--client-ca-file=" + c.authority.file,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + serviceAccountKey,
		"--service-account-signing-key-file=" + serviceAccountKey,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC",
		// Without a network no client reaches the service "kubernetes", and its endpoints must not be loopback.
		"--endpoint-reconciler-type=none",
	}
	if c.options.AuditLog {
		arguments = append(arguments,
			"--audit-policy-file="+c.directory.file(auditPolicyFile),
			"--audit-log-path="+c.directory.file(auditFile),
			"--audit-log-format=json",
			"--audit-log-mode=blocking",
			"--audit-log-maxsize=0", // no rotation: all of it is read back
		)
	}
	return append(arguments, c.options.APIServerArgs...)
}

// apiServerReady requests /readyz and the namespace "default", which /readyz does not cover.
func apiServerReady(ctx context.Context, admin *rest.Config) error {
	httpClient, err := rest.HTTPClientFor(admin)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if _, err := exchange(ctx, httpClient, http.MethodGet, admin.Host+"/readyz", ""); err != nil {
		return err
	}
	return namespaceExists(ctx, admin, httpClient, metav1.NamespaceDefault)
}

func namespaceExists(ctx context.Context, admin *rest.Config, httpClient *http.Client, name string) error {
	client, err := corev1client.NewForConfigAndClient(admin, httpClient)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	_, err = client.Namespaces().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("waiting for the namespace %q: %w", name, err)
	}
	return nil
}
