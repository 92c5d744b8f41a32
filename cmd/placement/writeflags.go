// SPDX-License-Identifier: Apache-2.0

package main

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

// writeFlags say how the objects of files are written to the hub.
type writeFlags struct {
	serverSide, forceConflicts, replace bool
	fieldManager                        string
	// writes are the flags.
	writes *pflag.FlagSet
}

func (f *writeFlags) addWrites(flags *pflag.FlagSet) {
	f.writes = pflag.NewFlagSet("writes", pflag.ContinueOnError)
	f.writes.BoolVar(&f.serverSide, serverSideFlag, false,
		"Compare with kubectl apply --server-side, or with the client-side kubectl apply if false. "+
			"Default: as the managedFields of each object say that it was applied last.")
	f.writes.StringVar(&f.fieldManager, fieldManagerFlag, writes.Kubectl, "Field manager of --server-side.")
	f.writes.BoolVar(&f.forceConflicts, forceConflictsFlag, false,
		"With --server-side, take fields from other field managers, as kubectl apply does.")
	f.writes.BoolVar(&f.replace, "replace", false, "Compare with kubectl replace.")
	flags.AddFlagSet(f.writes)
}

// checkWrites reports flags that contradict each other.
func (f *writeFlags) checkWrites() error {
	switch {
	case f.replace && f.changed(serverSideFlag):
		return errors.New("--replace: objects are replaced or applied, so --server-side means nothing; leave out one or the other")
	case !f.serverSide && f.changed(fieldManagerFlag):
		return errors.New("--field-manager: it is that of server-side apply; add --server-side, or leave it out")
	case !f.serverSide && f.forceConflicts:
		return errors.New("--force-conflicts: conflicts are those of server-side apply; add --server-side, or leave it out")
	case f.serverSide && f.fieldManager == "":
		return errors.New("--field-manager: server-side apply needs a name; name one, or leave it out")
	default:
		return nil
	}
}

func (f *writeFlags) changed(name string) bool { return f.writes != nil && f.writes.Changed(name) }

// chosen returns the write that the flags name; without a Method if they name none.
func (f *writeFlags) chosen() writes.Write {
	switch {
	case f.replace:
		return writes.Write{Method: writes.Replace}
	case f.serverSide:
		return writes.Write{Method: writes.ServerSide, FieldManager: f.fieldManager, Force: f.forceConflicts}
	case f.changed(serverSideFlag):
		return writes.Write{Method: writes.ClientSide}
	default:
		return writes.Write{}
	}
}
