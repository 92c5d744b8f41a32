// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The names of the binaries of Open Cluster Management.
const (
	// Work has the work manager, work agent and ManifestWork webhook; tests run its work manager as a consumer of PlacementDecisions.
	Work = "work"
	// WorkAgent has the work agent, with shorter intervals if flags say so; see pkg/localplane/workagent.
	WorkAgent = "work-agent"
	// UpstreamPlacement is the placement controller that the hub replaces; tests have both decide one after the other.
	UpstreamPlacement = "upstream-placement"
)

// OCMVariable is the environment variable with a directory of binaries of Open Cluster Management.
const OCMVariable = "OCM_ASSETS"

// OCM has Work, WorkAgent and UpstreamPlacement.
var OCM = Programs{Name: "ocm", Pinned: []PinnedModule{{Name: "ocm", Path: "open-cluster-management.io/ocm"}}}

// ErrNoOCM means that no directory with a binary of Open Cluster Management was found.
var ErrNoOCM = errors.New("no binary of Open Cluster Management found")

// ocmTargets are the targets of make that build the binaries.
var ocmTargets = map[string]string{Work: "assets-ocm", WorkAgent: "assets-agent", UpstreamPlacement: "assets-upstream"}

// OCMBinary is a binary of Open Cluster Management.
type OCMBinary struct {
	Path   string
	Dir    string // the directory that holds it
	Source string // description of the place for messages
}

// FindOCM searches for a binary of OCM in the directory in $OCM_ASSETS and in bin/ocm of the checkout. It returns ErrNoOCM with the reasons
// and with what builds the binary if neither has it.
func FindOCM(name string) (OCMBinary, error) {
	directory, source, skipped, err := FindProgram(OCM, name, OCMVariable, os.Getenv(OCMVariable))
	if err != nil {
		return OCMBinary{}, err
	}
	if directory == "" {
		return OCMBinary{}, fmt.Errorf("%w: run `make %s` (it builds %s from Go modules), or set %s to a directory that has it (%s)",
			ErrNoOCM, ocmTargets[name], name, OCMVariable, strings.Join(skipped, "; "))
	}
	return OCMBinary{Path: filepath.Join(directory, name), Dir: directory, Source: source}, nil
}
