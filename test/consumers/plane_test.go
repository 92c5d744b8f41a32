// SPDX-License-Identifier: Apache-2.0

package consumers

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/env/loopback"
	"github.com/placement-hub/placement-hub/test/program"
)

// plane is a control plane with a hub that reaches it through a proxy, and OCM's work manager, which reaches it directly.
type plane struct {
	test   *testing.T // the programs live as long as this test, which may have subtests
	client client.WithWatch
	proxy  *faults.Proxy
	hub    *running
	// hubConfig is the path of the kubeconfig with which the hub runs.
	hubConfig string
}

// startPlane starts all of it.
func startPlane(t *testing.T) *plane {
	t.Helper()
	environment, err := localplane.Start(t.Context(), localplane.Options{})
	program.Must(t, err)
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})

	program.Must(t, manifests.Install(t.Context(), environment.AdminConfig()))
	installWorks(t, environment.AdminConfig())
	scheme := system.Scheme()
	program.Must(t, workv1.Install(scheme))
	program.Must(t, workv1alpha1.Install(scheme))
	admin := rest.CopyConfig(environment.AdminConfig())
	admin.QPS = -1
	admin.WarningHandler = rest.NoWarnings{}

	p := &plane{test: t}
	p.client, err = client.NewWithWatch(admin, client.Options{Scheme: scheme})
	program.Must(t, err)

	account, err := environment.ServiceAccountConfig(t.Context(), manifests.Namespace, manifests.ServiceAccount)
	program.Must(t, err)
	p.proxy, err = faults.Start(account)
	program.Must(t, err)
	t.Cleanup(func() {
		if err := p.proxy.Close(); err != nil {
			t.Error(err)
		}
	})

	p.hubConfig = kubeconfig(t, p.proxy.Config())
	p.startHub()
	startWorkManager(t, kubeconfig(t, environment.AdminConfig()))
	return p
}

// startWorkManager starts OCM's work manager and returns when it serves. It cannot look for an address itself: port 0 means to it that it does not
// serve, which it does not survive.
func startWorkManager(t *testing.T, kubeconfig string) {
	t.Helper()
	address, err := loopback.FreeAddress(t.Context())
	program.Must(t, err)
	manager := start(t, underTest.work, "manager", "--kubeconfig", kubeconfig, "--namespace", "default",
		"--listen", address, "--disable-leader-election", "--feature-gates=ManifestWorkReplicaSet=true",
		"--kube-api-qps", "2000", "--kube-api-burst", "2000")

	eventually(t, "waiting for the work manager", func() error {
		if manager.Ended() {
			t.Fatalf("the work manager has ended:\n%s", manager.log())
		}
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		return connection.Close()
	})
}

// startHub starts the hub without the controller that taints every cluster of which nobody says that it is available.
func (p *plane) startHub() {
	p.test.Helper()
	p.hub = start(p.test, underTest.hub, "controller", "--kubeconfig", p.hubConfig, "--controllers=*,-managedcluster-taints",
		"--listen=127.0.0.1:0", "--webhook-listen=127.0.0.1:0", "--disable-leader-election=true")
}

// installWorks has the API server know ManifestWorks and ManifestWorkReplicaSets, as the API module defines them.
func installWorks(t *testing.T, config *rest.Config) {
	t.Helper()

	// The definitions lie beside the Go types that go.mod and vendor name.
	for name, version := range map[string]string{
		"0000_00_work.open-cluster-management.io_manifestworks.crd.yaml":           "v1",
		"0000_00_work.open-cluster-management.io_manifestworkreplicasets.crd.yaml": "v1alpha1",
	} {
		program.Must(t, installDefinition(t.Context(), config, "open-cluster-management.io/api/work/"+version, name))
	}
}

func installDefinition(ctx context.Context, config *rest.Config, pkg, name string) (err error) {
	directory, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		return err
	}
	file, err := os.Open(filepath.Join(strings.TrimSpace(string(directory)), name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	objects, err := manifests.Decode(file, name)
	if err != nil {
		return err
	}
	for _, object := range objects {
		delete(object.Object, "status")
	}
	return manifests.Apply(ctx, config, objects)
}
