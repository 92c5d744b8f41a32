package env

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/mod/modfile"
)

const modulePath = "github.com/placement-hub/placement-hub"

// ErrNoCheckout says that the working directory is not inside a checkout of this repository.
var ErrNoCheckout = errors.New("the working directory is not inside a checkout of " + modulePath)

// Checkout is a checkout of this repository.
type Checkout struct {
	Root string // absolute
}

// FindCheckout returns the checkout that holds the working directory. The error is ErrNoCheckout when there is none.
func FindCheckout() (Checkout, error) {
	directory, err := os.Getwd()
	if err != nil {
		return Checkout{}, fmt.Errorf("finding the checkout: %w", err)
	}
	for {
		content, err := os.ReadFile(filepath.Join(directory, "go.mod"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Checkout{}, fmt.Errorf("finding the checkout: %w", err)
		}
		// The nested modules of the repository have longer paths, so the walk goes on above them.
		if err == nil && modfile.ModulePath(content) == modulePath {
			return Checkout{Root: directory}, nil
		}
		parent := filepath.Dir(directory)
		if parent == directory {
			return Checkout{}, ErrNoCheckout
		}
		directory = parent
	}
}

// BuildDir is where the control plane binaries of this checkout are built.
func (c Checkout) BuildDir() string { return filepath.Join(c.Root, "bin", "controlplane") }

// ModuleDir is the Go module that pins the control plane.
func (c Checkout) ModuleDir() string { return filepath.Join(c.Root, "test", "controlplane") }

// Pins are the versions of the control plane that a checkout asks for.
type Pins struct {
	Kubernetes string // for example v1.37.0
	Etcd       string
}

// Pins reads the versions from the control plane module.
func (c Checkout) Pins() (Pins, error) {
	path := filepath.Join(c.ModuleDir(), "go.mod")
	content, err := os.ReadFile(path)
	if err != nil {
		return Pins{}, fmt.Errorf("reading the pinned control plane versions: %w", err)
	}
	file, err := modfile.ParseLax(path, content, nil)
	if err != nil {
		return Pins{}, fmt.Errorf("reading the pinned control plane versions: %w", err)
	}
	var pins Pins
	for _, require := range file.Require {
		switch require.Mod.Path {
		case "k8s.io/kubernetes":
			pins.Kubernetes = require.Mod.Version
		case "go.etcd.io/etcd/server/v3":
			pins.Etcd = require.Mod.Version
		}
	}
	if pins.Kubernetes == "" || pins.Etcd == "" {
		return Pins{}, fmt.Errorf("%s must require k8s.io/kubernetes and go.etcd.io/etcd/server/v3", path)
	}
	return pins, nil
}

// StampFile is the file of a build directory that says which versions and platform its binaries are.
const StampFile = "VERSION"

// Stamp is the content of StampFile for these versions on this platform.
func (p Pins) Stamp() string {
	return fmt.Sprintf("kubernetes %s\netcd %s\nplatform %s/%s\n", p.Kubernetes, p.Etcd, runtime.GOOS, runtime.GOARCH)
}

// BuildIsCurrent reports whether the binaries in the build directory are of the pinned versions and this platform.
func (c Checkout) BuildIsCurrent() (bool, error) {
	pins, err := c.Pins()
	if err != nil {
		return false, err
	}
	stamp, err := os.ReadFile(filepath.Join(c.BuildDir(), StampFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the version of the built control plane: %w", err)
	}
	return string(stamp) == pins.Stamp(), nil
}
