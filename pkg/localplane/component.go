// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"

	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// component is a client of the API server that serves its health over TLS: kube-controller-manager or kube-scheduler.
type component struct {
	name, path string
	health     string   // the URL path that answers when it runs
	arguments  []string // besides those of every component
	// ready returns an error while the component has not begun its work; nil means that its health is enough.
	ready func(context.Context) error
}

// startComponent starts a component as the user and with the rights that it has in production.
func (c *ControlPlane) startComponent(ctx context.Context, component component) (*process.Process, error) {
	config, err := c.UserConfig("system:" + component.name)
	if err != nil {
		return nil, err
	}
	kubeconfig, err := Kubeconfig(config)
	if err != nil {
		return nil, err
	}
	kubeconfigFile := component.name + ".kubeconfig"
	if err := c.directory.replace(kubeconfigFile, kubeconfig); err != nil {
		return nil, err
	}
	client, err := c.trustingClient()
	if err != nil {
		return nil, err
	}
	started, _, err := c.start(ctx, server{
		name: component.name,
		launch: func(port int) (*process.Process, error) {
			return process.Start(process.Command{
				Name: component.name,
				Path: component.path,
				Args: append([]string{
					"--kubeconfig=" + c.directory.file(kubeconfigFile),
					"--leader-elect=false",
					"--bind-address=" + loopback,
					fmt.Sprintf("--secure-port=%d", port),
					"--tls-cert-file=" + c.directory.file(servingCertificateFile),
					"--tls-private-key-file=" + c.directory.file(servingKeyFile),
					"--kube-api-qps=200",
					"--kube-api-burst=400",
				}, component.arguments...),
				LogPath: c.directory.file(component.name + ".log"),
			})
		},
		ready: func(ctx context.Context, port int) error {
			_, err := exchange(ctx, client, http.MethodGet, "https://"+address(port)+component.health, "")
			if err != nil || component.ready == nil {
				return err
			}
			return component.ready(ctx)
		},
	})
	return started, err
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
