package env

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// WorkBinary is the name of the binary with the work manager, work agent and ManifestWork webhook of OCM.
const WorkBinary = "work"

// OCMVariable is the environment variable with a directory of OCM programs.
const OCMVariable = "OCM_ASSETS"

// ErrNoOCM means that no directory with the OCM programs was found.
var ErrNoOCM = errors.New("no work manager of Open Cluster Management found: run `make assets-ocm` (it builds it from Go modules), " +
	"or set " + OCMVariable + " to a directory that has " + WorkBinary)

// OCMAssets are the paths of the OCM programs.
type OCMAssets struct {
	Work string

	Dir    string // the directory that holds them
	Source string // description of the place for messages
}

// OCM has the work manager and work agent of Open Cluster Management, which consume PlacementDecisions.
var OCM = binaries.Programs{Name: "ocm", Pinned: []binaries.PinnedModule{{Name: "ocm", Path: "open-cluster-management.io/ocm"}}}

// FindOCM searches for the OCM programs in the directory in $OCM_ASSETS and in bin/ocm of the checkout. It returns ErrNoOCM with the
// reasons if neither has them.
func FindOCM() (OCMAssets, error) {
	directory, source, skipped, err := binaries.FindProgram(OCM, WorkBinary, OCMVariable, os.Getenv(OCMVariable))
	if err != nil {
		return OCMAssets{}, err
	}
	if directory == "" {
		return OCMAssets{}, fmt.Errorf("%w (%s)", ErrNoOCM, strings.Join(skipped, "; "))
	}
	return OCMAssets{Work: filepath.Join(directory, WorkBinary), Dir: directory, Source: source}, nil
}
