// SPDX-License-Identifier: Apache-2.0

package planes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/placement-hub/placement-hub/pkg/localplane"
)

const (
	// mostIdle is how many control planes wait for the next test. An idle one takes 3 % of a core.
	mostIdle = 3
	// restTimeout is how long the objects of a control plane may take to come to rest.
	restTimeout = time.Minute
)

// keeper starts and lends control planes.
type keeper struct {
	log io.Writer

	mu      sync.Mutex // guards the fields below
	changed *sync.Cond // idle, restoring or closed
	idle    []*kept
	// restoring is how many control planes will be idle soon, and waiting how many clients wait for them.
	restoring, waiting int
	closed             bool
}

// kept is a control plane of a keeper.
type kept struct {
	*localplane.ControlPlane
	original *snapshot
}

// Keep lends control planes to the clients of the listener until ctx ends; then it stops them and closes the listener. It writes to log, line
// by line, what it does.
func Keep(ctx context.Context, listener net.Listener, log io.Writer) error {
	k := &keeper{log: &lockedWriter{writer: log}}
	k.changed = sync.NewCond(&k.mu)
	stop := context.AfterFunc(ctx, func() { listener.Close() }) //nolint:errcheck // It ends Accept.
	defer stop()

	var clients sync.WaitGroup
	for {
		connection, err := listener.Accept()
		if err != nil {
			clients.Wait()
			if ctx.Err() != nil {
				err = nil
			}
			return errors.Join(err, k.close())
		}
		clients.Go(func() {
			if err := k.serve(ctx, connection); err != nil && ctx.Err() == nil {
				k.logf("%v", err)
			}
		})
	}
}

// serve lends a control plane to a client until the client closes the connection.
func (k *keeper) serve(ctx context.Context, connection net.Conn) error {
	stop := context.AfterFunc(ctx, func() { connection.Close() }) //nolint:errcheck // It ends the read.
	defer stop()
	defer connection.Close() //nolint:errcheck // The client is gone then.

	plane, err := k.take(ctx)
	if err != nil {
		return errors.Join(err, json.NewEncoder(connection).Encode(offer{Error: err.Error()}))
	}
	where, err := plane.Running()
	if err != nil {
		return errors.Join(err, plane.Stop())
	}
	if err := json.NewEncoder(connection).Encode(offer{Running: where}); err != nil {
		return errors.Join(fmt.Errorf("answering: %w", err), plane.Stop())
	}
	said := make([]byte, len(unused))
	if _, err := io.ReadFull(connection, said); err != nil || !bytes.Equal(said, unused) {
		k.logf("the client of %s was killed", plane.DataDir())
		return plane.Stop()
	}
	if !k.beginRestore() {
		return plane.Stop()
	}
	connection.Close() //nolint:errcheck // The client waits for the end of the connection.
	return k.restore(ctx, plane)
}

// take returns an idle control plane, or starts one.
func (k *keeper) take(ctx context.Context) (*kept, error) {
	if plane := k.takeIdle(); plane != nil {
		return plane, nil
	}
	plane, err := startInstalled(ctx, k.log)
	if err != nil {
		return nil, err
	}
	original, err := takeSnapshot(ctx, plane.EtcdURL())
	if err != nil {
		return nil, errors.Join(err, plane.Stop())
	}
	k.logf("started %s with %d objects", plane.DataDir(), len(original.objects))
	return &kept{plane, original}, nil
}

// takeIdle returns an idle control plane, or one that is being restored once it is idle, or nil.
func (k *keeper) takeIdle() *kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.idle) == 0 && k.restoring > k.waiting {
		k.waiting++
		k.changed.Wait()
		k.waiting--
	}
	last := len(k.idle) - 1
	if last < 0 {
		return nil
	}
	plane := k.idle[last]
	k.idle = k.idle[:last]
	return plane
}

// restore makes a control plane what it was at its start, for the next client. beginRestore has allowed it.
func (k *keeper) restore(ctx context.Context, plane *kept) error {
	start := time.Now()
	err := plane.original.restore(ctx, plane.EtcdURL())
	if err == nil {
		err = plane.Ready(ctx)
	}
	if k.endRestore(plane, err == nil) {
		k.logf("restored %s in %s", plane.DataDir(), time.Since(start).Round(time.Millisecond))
		return nil
	}
	if err != nil {
		err = fmt.Errorf("restoring %s: %w", plane.DataDir(), err)
	}
	return errors.Join(err, plane.Stop())
}

// beginRestore reports whether another control plane is to be restored.
func (k *keeper) beginRestore() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || len(k.idle)+k.restoring >= mostIdle+k.waiting {
		return false
	}
	k.restoring++
	return true
}

// endRestore makes a control plane idle if it was restored, and reports whether it did.
func (k *keeper) endRestore(plane *kept, restored bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.restoring--
	k.changed.Broadcast()
	if !restored || k.closed {
		return false
	}
	k.idle = append(k.idle, plane)
	return true
}

// close stops the idle control planes.
func (k *keeper) close() error {
	k.mu.Lock()
	idle := k.idle
	k.idle, k.closed = nil, true
	k.changed.Broadcast()
	k.mu.Unlock()
	errs := make([]error, 0, len(idle))
	for _, plane := range idle {
		errs = append(errs, plane.Stop())
	}
	return errors.Join(errs...)
}

func (k *keeper) logf(format string, arguments ...any) {
	fmt.Fprintf(k.log, format+"\n", arguments...)
}

// lockedWriter makes a writer safe for concurrent use.
type lockedWriter struct {
	mu     sync.Mutex
	writer io.Writer
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.writer.Write(p) //nolint:wrapcheck // It is this writer.
}

// inheritedSocket is the file descriptor of the socket on which Main listens: the first one after those of input, output and errors.
const inheritedSocket = 3

// Main is the main function of a process that lends control planes until it is interrupted. Its output says what it does.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := net.FileListener(os.NewFile(inheritedSocket, "socket"))
	if err == nil {
		err = Keep(ctx, listener, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lending control planes:", err)
		os.Exit(1) //nolint:gocritic // The process ends.
	}
}
