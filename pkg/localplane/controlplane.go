// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// defaultPrefix is the etcd prefix of the first API server: the default of kube-apiserver.
const defaultPrefix = "/registry"

// etcdStopTimeout is how long etcd may take to close a database that is kept.
const etcdStopTimeout = 10 * time.Second

// ControlPlane is a running control plane. Its methods are safe for concurrent use.
type ControlPlane struct {
	options   Options
	assets    binaries.Assets
	directory *dataDirectory
	attached  bool // another process runs the programs and owns the directory
	authority *authority
	prefix    string // in etcd
	etcdURL   string
	url       string
	admin     *rest.Config

	controllerManager *process.Process // nil without Options.ControllerManager and Options.Workloads
	scheduler         *process.Process // nil without Options.Workloads
	// The servers with the ports on which etcd and the API server restart.
	etcdServer, apiServerServer server

	owner     *ControlPlane    // whose etcd this is; nil: our own, or that of StartAPIServer
	mu        sync.Mutex       // guards the fields below
	etcd      *process.Process // nil when the etcd is not our own
	apiServer *process.Process
	// crashed are the binaries that Crash has killed and Recover has not restarted.
	crashed  []string
	closed   bool
	tenants  []*ControlPlane // the further control planes on our etcd
	prefixes []string        // those in use on our etcd

	auditStart  int64      // the length in bytes of the part of the audit log that is older than c
	auditMu     sync.Mutex // guards the fields below
	auditRead   int64      // how many bytes of the audit log Writes has parsed
	auditWrites []auditv1.Event

	stopOnce sync.Once
	stopping chan struct{}
	stopErr  error
}

// Start starts a control plane and returns when it is ready. ctx and a timeout of three minutes bound only the start; the control plane
// runs until Stop. The error quotes the log of a program that failed.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	sweepAbandoned(ctx, o)
	c := &ControlPlane{options: o, prefix: defaultPrefix, prefixes: []string{defaultPrefix}, stopping: make(chan struct{})}
	return c.run(ctx)
}

// StartAPIServer starts an API server on an etcd that others run, and controllers if o requires them. Its objects are below prefix, such as
// "/clusters/team-a/c1". etcd has the client URLs of all members, "http://127.0.0.1:2379"; etcd asks for no credentials.
func StartAPIServer(ctx context.Context, etcd []string, prefix string, o Options) (*ControlPlane, error) {
	c := &ControlPlane{
		options: o, prefix: prefix, prefixes: []string{prefix}, etcdURL: strings.Join(etcd, ","), stopping: make(chan struct{}),
	}
	return c.run(ctx)
}

// AnotherAPIServer starts another API server, with controllers if o requires them, on the etcd of c. It has its own objects below prefix, a
// single path element such as "/second", and its own certificate authority and keys. Its Stop leaves etcd running; Stop of c stops it too.
func (c *ControlPlane) AnotherAPIServer(ctx context.Context, prefix string, o Options) (*ControlPlane, error) {
	owner := c
	if c.owner != nil {
		owner = c.owner
	}
	prefix = "/" + strings.TrimPrefix(prefix, "/")
	if len(prefix) == 1 || strings.Contains(prefix[1:], "/") {
		return nil, fmt.Errorf("etcd prefix %q: must be a single path element, such as \"/second\"", prefix)
	}
	if err := owner.reserve(prefix); err != nil {
		return nil, err
	}
	another := &ControlPlane{options: o, owner: owner, prefix: prefix, etcdURL: owner.etcdURL, stopping: make(chan struct{})}
	if _, err := another.run(ctx); err != nil {
		owner.release(another)
		return nil, err
	}
	if err := owner.adopt(another); err != nil {
		return nil, errors.Join(err, another.Stop())
	}
	return another, nil
}

var errStopped = errors.New("the control plane is stopped: its etcd cannot serve another API server")

// reserve reserves an etcd prefix for another control plane.
func (c *ControlPlane) reserve(prefix string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errStopped
	}
	if slices.Contains(c.prefixes, prefix) {
		return fmt.Errorf("etcd prefix %q: in use by another API server of this control plane; choose another one", prefix)
	}
	c.prefixes = append(c.prefixes, prefix)
	return nil
}

// adopt registers another control plane that has started, so that Stop stops it.
func (c *ControlPlane) adopt(tenant *ControlPlane) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errStopped
	}
	c.tenants = append(c.tenants, tenant)
	return nil
}

// release unregisters another control plane. Its prefix is free for a successor, which sees its objects.
func (c *ControlPlane) release(tenant *ControlPlane) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tenants = slices.DeleteFunc(c.tenants, func(plane *ControlPlane) bool { return plane == tenant })
	c.prefixes = slices.DeleteFunc(c.prefixes, func(p string) bool { return p == tenant.prefix })
}

// run starts the programs; after an error none of them runs.
func (c *ControlPlane) run(ctx context.Context) (*ControlPlane, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var err error
	if c.assets, err = c.options.assets(); err != nil {
		return nil, err
	}
	if c.directory, err = openDataDirectory(ctx, c.options.DataDir); err != nil {
		return nil, err
	}
	if err := c.startPrograms(ctx); err != nil {
		return nil, fmt.Errorf("starting a control plane: %w", errors.Join(err, c.Stop()))
	}
	return c, nil
}

func (c *ControlPlane) startPrograms(ctx context.Context) error {
	var err error
	if c.authority, err = ensureAuthority(c.directory); err != nil {
		return err
	}
	if c.etcdURL == "" {
		if err := c.startEtcd(ctx); err != nil {
			return err
		}
	}
	if err := c.startAPIServer(ctx); err != nil {
		return err
	}
	if c.options.ControllerManager || c.options.Workloads {
		if err := c.startControllerManager(ctx); err != nil {
			return err
		}
	}
	if c.options.Workloads {
		return c.startScheduler(ctx)
	}
	return nil
}

// Wait returns nil when ctx ends or the control plane is stopped. It returns an error that quotes the log when a program that ran at the
// call of Wait exits by itself or is killed by Crash.
func (c *ControlPlane) Wait(ctx context.Context) error {
	programs := c.programs()
	ended := make(chan *process.Process, len(programs))
	returned := make(chan struct{})
	defer close(returned)
	for _, p := range programs {
		go func() {
			select {
			case <-p.Done():
				ended <- p
			case <-returned:
			}
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case <-c.stopping:
		return nil
	case p := <-ended:
		select {
		case <-c.stopping: // it was stopped, both channels were ready
			return nil
		default:
			return p.ExitError()
		}
	}
}

// Ready returns nil if the API server answers that it is ready. It returns an error that quotes the log if one of the programs has exited.
func (c *ControlPlane) Ready(ctx context.Context) error {
	for _, p := range c.programs() {
		if p.Exited() {
			return p.ExitError()
		}
	}
	return apiServerReady(ctx, c.AdminConfig())
}

// programs returns the processes of this control plane in the order in which they stop.
func (c *ControlPlane) programs() []*process.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	var running []*process.Process
	for _, p := range []*process.Process{c.scheduler, c.controllerManager, c.apiServer, c.etcd} {
		if p != nil {
			running = append(running, p)
		}
	}
	return running
}

// Stop ends the control plane and, unless it has a data directory, removes all its files. Further calls return the result of the first one.
func (c *ControlPlane) Stop() error {
	c.stopOnce.Do(func() { c.stopErr = c.stop() })
	return c.stopErr
}

func (c *ControlPlane) stop() error {
	close(c.stopping)
	c.mu.Lock()
	c.closed = true
	tenants := slices.Clone(c.tenants)
	c.mu.Unlock()

	var errs []error
	for _, tenant := range tenants {
		errs = append(errs, tenant.Stop())
	}
	for _, p := range c.programs() {
		if p.Name() == binaries.Etcd && !c.directory.temporary {
			errs = append(errs, p.Terminate(etcdStopTimeout))
			continue
		}
		// Open watches would delay the exit of an API server for long, and all its state is in etcd.
		errs = append(errs, p.Kill())
	}
	if !c.attached {
		errs = append(errs, c.directory.close())
	}
	if c.owner != nil {
		c.owner.release(c)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stopping the control plane in %s: %w", c.directory.path, err)
	}
	return nil
}

// EtcdURL returns the client URL of the etcd, or of several, separated by commas.
func (c *ControlPlane) EtcdURL() string { return c.etcdURL }

// DataDir returns the directory with the data, keys and logs.
func (c *ControlPlane) DataDir() string { return c.directory.path }
