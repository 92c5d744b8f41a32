// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/snapshot"
)

// Snapshot is the path of a snapshot that a command reads in place of a hub; empty for a hub.
type Snapshot string

// Add adds the flag. does says what the command does with a snapshot.
func (s *Snapshot) Add(flags *pflag.FlagSet, does string) {
	flags.StringVarP((*string)(s), "filename", "f", "", "Snapshot to "+does+" in place of a hub, or - for standard input.")
}

// Open reads the snapshot, and returns a client for it. Flags that select a hub are errors.
func (s *Snapshot) Open(hub *Hub, stdin io.Reader) (*snapshot.Snapshot, *hubstate.SnapshotClient, error) {
	if hub.Connects() != "" {
		return nil, nil, exit.Mistake(fmt.Errorf("--filename: a snapshot is read, so %s means nothing; leave out one or the other", hub.Connects()))
	}
	var name string
	var content []byte
	err := ReadPaths("--filename", []string{string(*s)}, stdin, func(file string, read []byte) { name, content = file, read })
	if err != nil {
		return nil, nil, err
	}
	taken, err := snapshot.Decode(content)
	if err != nil {
		return nil, nil, exit.InFiles(fmt.Errorf("--filename: %s: %w", name, err))
	}
	reader, err := hubstate.NewSnapshotClient(taken, scheme.New())
	return taken, reader, err
}
