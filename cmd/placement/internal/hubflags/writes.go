// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"errors"

	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/pkg/explain/writes"
)

// The flags that kubectl has too.
const (
	serverSideFlag     = "server-side"
	fieldManagerFlag   = "field-manager"
	forceConflictsFlag = "force-conflicts"
)

// Writes say how the objects of files are written to the hub.
type Writes struct {
	serverSide, forceConflicts, replace bool
	fieldManager                        string
	// writes are the flags.
	writes *pflag.FlagSet
}

// AddWrites adds the flags.
func (w *Writes) AddWrites(flags *pflag.FlagSet) {
	w.writes = pflag.NewFlagSet("writes", pflag.ContinueOnError)
	w.writes.BoolVar(&w.serverSide, serverSideFlag, false,
		"Compare with kubectl apply --server-side, or with the client-side kubectl apply if false. "+
			"Default: as the managedFields of each object say that it was applied last.")
	w.writes.StringVar(&w.fieldManager, fieldManagerFlag, writes.Kubectl, "Field manager of --server-side.")
	w.writes.BoolVar(&w.forceConflicts, forceConflictsFlag, false,
		"With --server-side, take fields from other field managers, as kubectl apply does.")
	w.writes.BoolVar(&w.replace, "replace", false, "Compare with kubectl replace.")
	flags.AddFlagSet(w.writes)
}

// CheckWrites reports flags that contradict each other.
func (w *Writes) CheckWrites() error {
	switch {
	case w.replace && w.changed(serverSideFlag):
		return errors.New("--replace: objects are replaced or applied, so --server-side means nothing; leave out one or the other")
	case !w.serverSide && w.changed(fieldManagerFlag):
		return errors.New("--field-manager: it is that of server-side apply; add --server-side, or leave it out")
	case !w.serverSide && w.forceConflicts:
		return errors.New("--force-conflicts: conflicts are those of server-side apply; add --server-side, or leave it out")
	case w.serverSide && w.fieldManager == "":
		return errors.New("--field-manager: server-side apply needs a name; name one, or leave it out")
	default:
		return nil
	}
}

func (w *Writes) changed(name string) bool { return w.writes != nil && w.writes.Changed(name) }

// Chosen returns the write that the flags name; without a Method if they name none.
func (w *Writes) Chosen() writes.Write {
	switch {
	case w.replace:
		return writes.Write{Method: writes.Replace}
	case w.serverSide:
		return writes.Write{Method: writes.ServerSide, FieldManager: w.fieldManager, Force: w.forceConflicts}
	case w.changed(serverSideFlag):
		return writes.Write{Method: writes.ClientSide}
	default:
		return writes.Write{}
	}
}
