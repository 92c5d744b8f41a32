package env

import (
	"fmt"
	"io"
	"time"
)

// startTimeout bounds Start: an API server on a loaded machine may need a minute.
const startTimeout = 3 * time.Minute

// Options of an environment. The zero value is a temporary API server.
type Options struct {
	// DataDir holds the data, keys and logs; it is made if needed. A later Start with the same directory finds the same
	// objects, certificate authority and keys. Empty: a temporary directory, removed by Stop.
	DataDir string
	// ControllerManager also runs kube-controller-manager, with the garbage collector and the controllers of namespaces,
	// service accounts and aggregated cluster roles.
	ControllerManager bool
	// AuditLog records every request, without bodies, for Environment.Audit and Environment.Writes.
	AuditLog bool
	// Log receives progress lines for a person. Nil: silent.
	Log io.Writer
	// APIServerArgs are further flags of kube-apiserver, such as "--feature-gates=Name=true". They come last, so they win.
	APIServerArgs []string
	// Assets are the binaries to run. Nil: those of FindAssets.
	Assets *Assets
}

// logf writes a progress line. A log that cannot be written is no reason to fail a control plane.
func (o Options) logf(format string, arguments ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, format+"\n", arguments...)
	}
}

// assets returns the binaries to run, all of those that the options need.
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
