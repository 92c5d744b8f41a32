// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"fmt"
	"io"
	"time"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// startTimeout bounds Start: an API server on a loaded machine may need a minute.
const startTimeout = 3 * time.Minute

// Options configure a control plane. The zero value is a temporary API server.
type Options struct {
	// DataDir has the data, keys and logs, and is created if needed. A later Start with the same directory finds the same objects,
	// certificate authority and keys. Empty means a temporary directory, which Stop removes.
	DataDir string
	// ControllerManager also starts kube-controller-manager, with the garbage collector and the controllers of namespaces, ServiceAccounts
	// and aggregated ClusterRoles.
	ControllerManager bool
	// Quota adds the controller of ResourceQuotas to those of ControllerManager, so that quotas count.
	Quota bool
	// Workloads also starts kube-scheduler, and kube-controller-manager with the controllers of workloads, so that pods are made and bound
	// to the Nodes of ControlPlane.CreateNode. No controller taints these Nodes or evicts their pods for want of a kubelet.
	Workloads bool
	// AuditLog records every request, without bodies, for ControlPlane.Audit and ControlPlane.Writes.
	AuditLog bool
	// Log receives progress lines for the user; nil means silent.
	Log io.Writer
	// APIServerArgs are additional flags of kube-apiserver, such as "--feature-gates=Name=true". They come last and override earlier flags.
	APIServerArgs []string
	// Assets are the binaries to run; nil means those of binaries.Find.
	Assets *binaries.Assets
}

// logf writes a progress line. It ignores errors, which must not stop a control plane.
func (o Options) logf(format string, arguments ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, format+"\n", arguments...)
	}
}

// assets returns the binaries to run. It returns an error if a required one is missing.
func (o Options) assets() (binaries.Assets, error) {
	var assets binaries.Assets
	if o.Assets != nil {
		assets = *o.Assets
	} else {
		found, err := binaries.Find()
		if err != nil {
			return binaries.Assets{}, err
		}
		assets = found
	}
	if (o.ControllerManager || o.Workloads) && assets.ControllerManager == "" {
		return binaries.Assets{}, fmt.Errorf("no kube-controller-manager in %s: run `make assets`, or put the binary there", assets.Dir)
	}
	if o.Workloads && assets.Scheduler == "" {
		return binaries.Assets{}, fmt.Errorf("no kube-scheduler in %s: run `make assets-scheduler`, or put the binary there", assets.Dir)
	}
	return assets, nil
}
