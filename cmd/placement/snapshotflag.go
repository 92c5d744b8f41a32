// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/snapshot"
)

// snapshotFlag is the path of a snapshot that a command reads in place of a hub; empty for a hub.
type snapshotFlag string

// add adds the flag. does says what the command does with a snapshot.
func (f *snapshotFlag) add(flags *pflag.FlagSet, does string) {
	flags.StringVarP((*string)(f), "filename", "f", "", "Snapshot to "+does+" in place of a hub, or - for standard input.")
}

// open reads the snapshot, and returns a client for it. Flags that select a hub are errors.
func (f *snapshotFlag) open(hub *hubFlags, stdin io.Reader) (*snapshot.Snapshot, *hubstate.SnapshotClient, error) {
	if hub.connects() != "" {
		return nil, nil, &usageError{fmt.Errorf("--filename: a snapshot is read, so %s means nothing; leave out one or the other", hub.connects())}
	}
	var name string
	var content []byte
	err := readPaths("--filename", []string{string(*f)}, stdin, func(file string, read []byte) { name, content = file, read })
	if err != nil {
		return nil, nil, err
	}
	taken, err := snapshot.Decode(content)
	if err != nil {
		return nil, nil, inFiles(fmt.Errorf("--filename: %s: %w", name, err))
	}
	reader, err := hubstate.NewSnapshotClient(taken, scheme.New())
	return taken, reader, err
}
