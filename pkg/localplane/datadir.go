// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/localplane/filelock"
	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// An abandoned temporary data directory is recognised by both names. A directory that a user chose has another lock file, so it is never
// removed.
const (
	temporaryPattern = "placement-env-"
	temporaryLock    = "temporary.lock"
	chosenLock       = "lock"
)

// dataDirectory is the locked directory of one control plane.
type dataDirectory struct {
	path      string // absolute
	temporary bool
	lock      *filelock.Lock
	children  []child
}

// child is an entry of the file of process ids.
type child struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
}

// openDataDirectory locks the directory, or a new temporary one if path is empty, and kills the processes that an earlier run left in it.
func openDataDirectory(ctx context.Context, path string) (*dataDirectory, error) {
	d := &dataDirectory{temporary: path == ""}
	if err := d.claim(path); err != nil {
		return nil, err
	}
	if err := d.killLeftovers(ctx); err != nil {
		return nil, errors.Join(err, d.lock.Release())
	}
	return d, nil
}

// claim creates and locks the directory. Another process can remove a temporary directory between its creation and its lock; then claim
// creates another one.
func (d *dataDirectory) claim(path string) error {
	for {
		if err := d.make(path); err != nil {
			return fmt.Errorf("making the data directory: %w", err)
		}
		name := chosenLock
		if d.temporary {
			name = temporaryLock
		}
		lock, err := filelock.Try(d.file(name))
		switch {
		case d.temporary && (errors.Is(err, filelock.ErrLocked) || errors.Is(err, fs.ErrNotExist)):
			continue
		case errors.Is(err, filelock.ErrLocked):
			return fmt.Errorf("the data directory %s is in use: stop the process that uses it, or choose another directory: %w",
				d.path, err)
		case err != nil:
			return fmt.Errorf("locking the data directory: %w", err)
		case d.temporary && !lock.Valid():
			if err := lock.Release(); err != nil {
				return err
			}
			continue
		}
		d.lock = lock
		return nil
	}
}

func (d *dataDirectory) make(path string) (err error) {
	if d.temporary {
		d.path, err = os.MkdirTemp("", temporaryPattern)
		return err
	}
	if d.path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("resolving %s: %w", path, err)
	}
	return os.MkdirAll(d.path, 0o700)
}

// file returns a path in the directory.
func (d *dataDirectory) file(name ...string) string {
	return filepath.Join(append([]string{d.path}, name...)...)
}

// killLeftovers kills the processes that an earlier run of this directory started and did not stop.
func (d *dataDirectory) killLeftovers(ctx context.Context) error {
	content, err := os.ReadFile(d.file("children.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the processes of an earlier run: %w", err)
	}
	var children []child
	if err := json.Unmarshal(content, &children); err != nil {
		return fmt.Errorf("reading the processes of an earlier run from %s: %w; if none of them runs, remove the file",
			d.file("children.json"), err)
	}
	for _, child := range children {
		if _, err := process.KillLeftover(ctx, child.PID, child.Name, d.path); err != nil {
			return err
		}
	}
	return d.saveChildren()
}

// record writes down a started process, in case this process dies before it can stop it.
func (d *dataDirectory) record(p *process.Process) error {
	d.children = append(d.children, child{Name: p.Name(), PID: p.PID()})
	return d.saveChildren()
}

func (d *dataDirectory) saveChildren() error {
	content, err := json.Marshal(d.children)
	if err != nil {
		return fmt.Errorf("noting the started processes: %w", err)
	}
	return d.replace("children.json", content)
}

// port returns the port of the API server in the last run; 0 if there was none.
func (d *dataDirectory) port() (int, error) {
	content, err := os.ReadFile(d.file("port"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the port of the last run: %w", err)
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("reading the port of the last run from %s: %w; remove the file to get a new port", d.file("port"), err)
	}
	return port, nil
}

func (d *dataDirectory) savePort(port int) error {
	return d.replace("port", []byte(strconv.Itoa(port)+"\n"))
}

// replace writes a file atomically.
func (d *dataDirectory) replace(name string, content []byte) error {
	temporary := d.file(name + ".new")
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return fmt.Errorf("writing the data directory: %w", err)
	}
	if err := os.Rename(temporary, d.file(name)); err != nil {
		return fmt.Errorf("writing the data directory: %w", err)
	}
	return nil
}

// close unlocks the directory after its processes have ended, and removes a temporary one.
func (d *dataDirectory) close() error {
	d.children = nil
	var err error
	if d.temporary {
		if err = os.RemoveAll(d.path); err != nil {
			err = fmt.Errorf("removing the data directory: %w", err)
		}
	} else {
		err = d.saveChildren()
	}
	return errors.Join(err, d.lock.Release())
}

// RemoveDataDir removes the data directory of a control plane that is stopped, after it has killed the processes that an earlier run left
// there. A directory that does not exist is no error, one that a running control plane uses is.
func RemoveDataDir(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	d, err := openDataDirectory(ctx, path)
	if err != nil {
		return err
	}
	d.temporary = true // Its close removes the files.
	return d.close()
}

// sweepAbandoned removes the temporary directories of control planes whose process died without Stop and, on systems where children outlive
// their parent, kills the processes. It logs errors and continues, because they do not concern this run.
func sweepAbandoned(ctx context.Context, o Options) {
	abandoned, err := filepath.Glob(filepath.Join(os.TempDir(), temporaryPattern+"*", temporaryLock))
	if err != nil {
		o.logf("looking for abandoned directories: %v", err)
		return
	}
	for _, path := range abandoned {
		lock, err := filelock.Try(path)
		if err != nil { // in use, removed meanwhile, or of another user
			continue
		}
		d := &dataDirectory{path: filepath.Dir(path), temporary: true, lock: lock}
		if err := errors.Join(d.killLeftovers(ctx), d.close()); err != nil {
			o.logf("removing an abandoned directory: %v", err)
			continue
		}
		o.logf("removed %s, which an earlier run left behind", d.path)
	}
}
