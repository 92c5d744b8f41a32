package env

import (
	"fmt"
	"io"
	"time"
)

// startTimeout bounds Start: an API server on a loaded machine may need a minute.
const startTimeout = 3 * time.Minute

// Options configure an environment. The zero value is a temporary API server.
type Options struct {
	// DataDir has the data, keys and logs, and is created if needed. A later Start with the same directory finds the same objects,
	// certificate authority and keys. Empty means a temporary directory, which Stop removes.
	DataDir string
	// ControllerManager also starts kube-controller-manager, with the garbage collector and the controllers of namespaces, ServiceAccounts
	// and aggregated ClusterRoles.
	ControllerManager bool
	// AuditLog records every request, without bodies, for Environment.Audit and Environment.Writes.
	AuditLog bool
	// Log receives progress lines for the user; nil means silent.
	Log io.Writer
	// APIServerArgs are additional flags of kube-apiserver, such as "--feature-gates=Name=true". They come last and override earlier flags.
	APIServerArgs []string
	// Assets are the binaries to run; nil means those of FindAssets.
	Assets *Assets
}

// logf writes a progress line. It ignores errors, which must not stop a control plane.
func (o Options) logf(format string, arguments ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, format+"\n", arguments...)
	}
}

// assets returns the binaries to run. It returns an error if a required one is missing.
func (o Options) assets() (Assets, error) {
	var assets Assets
	if o.Assets != nil {
		assets = *o.Assets
	} else {
		found, err := FindAssets()
		if err != nil {
			return Assets{}, err
		}
		assets = found
	}
	if o.ControllerManager && assets.ControllerManager == "" {
		return Assets{}, fmt.Errorf("no kube-controller-manager in %s: run `make assets`, or put the binary there", assets.Dir)
	}
	return assets, nil
}
