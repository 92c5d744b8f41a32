// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

const modulePath = "github.com/placement-hub/placement-hub"

// ErrNoCheckout means that the working directory is not inside a checkout of this repository.
var ErrNoCheckout = errors.New("the working directory is not inside a checkout of " + modulePath)

// Checkout is a checkout of this repository.
type Checkout struct {
	Root string // absolute
}

// FindCheckout returns the checkout that contains the working directory. It returns ErrNoCheckout if there is none.
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
		// The nested modules of the repository have longer paths, so the search continues above them.
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

// Programs are binaries that a nested module of the repository pins: the module is test/<Name>, and the binaries are built into bin/<Name>.
type Programs struct {
	Name   string
	Pinned []PinnedModule
}

// PinnedModule is a Go module whose version is that of a program.
type PinnedModule struct {
	Name string // in StampFile and in messages
	Path string
}

// ControlPlane is a Kubernetes control plane with kubectl.
var ControlPlane = Programs{Name: "controlplane", Pinned: []PinnedModule{
	{Name: "kubernetes", Path: "k8s.io/kubernetes"},
	{Name: "etcd", Path: "go.etcd.io/etcd/server/v3"},
}}

// BuildDir returns the directory where this checkout builds the programs.
func (c Checkout) BuildDir(programs Programs) string {
	return filepath.Join(c.Root, "bin", programs.Name)
}

// ModuleDir returns the directory of the Go module that pins the programs.
func (c Checkout) ModuleDir(programs Programs) string {
	return filepath.Join(c.Root, "test", programs.Name)
}

// Pin is the version of a PinnedModule.
type Pin struct {
	Name    string
	Version string // for example v1.37.0
}

// Pins are the pinned versions of the programs of a checkout.
type Pins []Pin

// Pins reads the versions of the programs from their module. It returns an error if the module lacks a program.
func (c Checkout) Pins(programs Programs) (Pins, error) {
	path := filepath.Join(c.ModuleDir(programs), "go.mod")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the pinned versions of %s: %w", programs.Name, err)
	}
	file, err := modfile.ParseLax(path, content, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the pinned versions of %s: %w", programs.Name, err)
	}
	var pins Pins
	for _, module := range programs.Pinned {
		i := slices.IndexFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == module.Path })
		if i < 0 {
			return nil, fmt.Errorf("%s must require %s", path, module.Path)
		}
		pins = append(pins, Pin{Name: module.Name, Version: file.Require[i].Mod.Version})
	}
	return pins, nil
}

// String lists the names and versions.
func (p Pins) String() string {
	pins := make([]string, 0, len(p))
	for _, pin := range p {
		pins = append(pins, pin.Name+" "+pin.Version)
	}
	return strings.Join(pins, ", ")
}

// Version returns the version of the module with this name; "" if there is none.
func (p Pins) Version(name string) string {
	for _, pin := range p {
		if pin.Name == name {
			return pin.Version
		}
	}
	return ""
}

// StampFile is the file of a build directory with the versions and the platform of its binaries.
const StampFile = "VERSION"

// Stamp returns the content of StampFile for these versions on this platform.
func (p Pins) Stamp() string {
	var stamp strings.Builder
	for _, pin := range p {
		fmt.Fprintf(&stamp, "%s %s\n", pin.Name, pin.Version)
	}
	fmt.Fprintf(&stamp, "platform %s/%s\n", runtime.GOOS, runtime.GOARCH)
	return stamp.String()
}

// BuildIsCurrent reports whether the binaries in the build directory have the pinned versions and this platform.
func (c Checkout) BuildIsCurrent(programs Programs) (bool, error) {
	pins, err := c.Pins(programs)
	if err != nil {
		return false, err
	}
	stamp, err := os.ReadFile(filepath.Join(c.BuildDir(programs), StampFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the version of the built %s: %w", programs.Name, err)
	}
	return string(stamp) == pins.Stamp(), nil
}
