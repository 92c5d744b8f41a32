package env

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

	"github.com/placement-hub/placement-hub/test/env/internal/process"
)

// defaultPrefix is the etcd prefix of the first API server: the default of kube-apiserver.
const defaultPrefix = "/registry"

// etcdStopTimeout is how long etcd may take to close a database that is kept.
const etcdStopTimeout = 10 * time.Second

// Environment is a running control plane. Its methods are safe for concurrent use.
type Environment struct {
	options   Options
	assets    Assets
	directory *dataDirectory
	authority *authority
	prefix    string // in etcd
	etcdURL   string
	url       string
	admin     *rest.Config

	controllerManager *process.Process // nil without Options.ControllerManager
	// The servers with the ports on which etcd and the API server restart.
	etcdServer, apiServerServer server

	owner     *Environment     // whose etcd this is; nil: our own
	mu        sync.Mutex       // guards the fields below
	etcd      *process.Process // nil when the etcd belongs to owner
	apiServer *process.Process
	// crashed are the binaries that Crash has killed and Recover has not restarted.
	crashed  []string
	closed   bool
	tenants  []*Environment // the further environments on our etcd
	prefixes []string       // those in use on our etcd

	auditMu     sync.Mutex // guards the fields below
	auditRead   int64      // how many bytes of the audit log Writes has parsed
	auditWrites []auditv1.Event

	stopOnce sync.Once
	stopping chan struct{}
	stopErr  error
}

// Start starts a control plane and returns when it is ready. ctx and a timeout of three minutes bound only the start; the control plane
// runs until Stop. The error quotes the log of a program that failed.
func Start(ctx context.Context, o Options) (*Environment, error) {
	sweepAbandoned(ctx, o)
	e := &Environment{options: o, prefix: defaultPrefix, prefixes: []string{defaultPrefix}, stopping: make(chan struct{})}
	return e.run(ctx)
}

// AnotherAPIServer starts another API server, with controllers if o requires them, on the etcd of e. It has its own objects below prefix, a
// single path element such as "/second", and its own certificate authority and keys. Its Stop leaves etcd running; Stop of e stops it too.
func (e *Environment) AnotherAPIServer(ctx context.Context, prefix string, o Options) (*Environment, error) {
	owner := e
	if e.owner != nil {
		owner = e.owner
	}
	prefix = "/" + strings.TrimPrefix(prefix, "/")
	if len(prefix) == 1 || strings.Contains(prefix[1:], "/") {
		return nil, fmt.Errorf("etcd prefix %q: must be a single path element, such as \"/second\"", prefix)
	}
	if err := owner.reserve(prefix); err != nil {
		return nil, err
	}
	another := &Environment{options: o, owner: owner, prefix: prefix, etcdURL: owner.etcdURL, stopping: make(chan struct{})}
	if _, err := another.run(ctx); err != nil {
		owner.release(another)
		return nil, err
	}
	if err := owner.adopt(another); err != nil {
		return nil, errors.Join(err, another.Stop())
	}
	return another, nil
}

var errStopped = errors.New("the environment is stopped: its etcd cannot serve another API server")

// reserve reserves an etcd prefix for another environment.
func (e *Environment) reserve(prefix string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errStopped
	}
	if slices.Contains(e.prefixes, prefix) {
		return fmt.Errorf("etcd prefix %q: in use by another API server of this environment; choose another one", prefix)
	}
	e.prefixes = append(e.prefixes, prefix)
	return nil
}

// adopt registers another environment that has started, so that Stop stops it.
func (e *Environment) adopt(tenant *Environment) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errStopped
	}
	e.tenants = append(e.tenants, tenant)
	return nil
}

// release unregisters another environment. Its prefix is free for a successor, which sees its objects.
func (e *Environment) release(tenant *Environment) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.tenants = slices.DeleteFunc(e.tenants, func(t *Environment) bool { return t == tenant })
	e.prefixes = slices.DeleteFunc(e.prefixes, func(p string) bool { return p == tenant.prefix })
}

// run starts the programs; after an error none of them runs.
func (e *Environment) run(ctx context.Context) (*Environment, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var err error
	if e.assets, err = e.options.assets(); err != nil {
		return nil, err
	}
	if e.directory, err = openDataDirectory(ctx, e.options.DataDir); err != nil {
		return nil, err
	}
	if err := e.startPrograms(ctx); err != nil {
		return nil, fmt.Errorf("starting a control plane: %w", errors.Join(err, e.Stop()))
	}
	return e, nil
}

func (e *Environment) startPrograms(ctx context.Context) error {
	var err error
	if e.authority, err = ensureAuthority(e.directory); err != nil {
		return err
	}
	if e.owner == nil {
		if err := e.startEtcd(ctx); err != nil {
			return err
		}
	}
	if err := e.startAPIServer(ctx); err != nil {
		return err
	}
	if e.options.ControllerManager {
		return e.startControllerManager(ctx)
	}
	return nil
}

// Wait returns nil when ctx ends or the environment is stopped. It returns an error that quotes the log when a program that ran at the call
// of Wait exits by itself or is killed by Crash.
func (e *Environment) Wait(ctx context.Context) error {
	ended := make(chan *process.Process, 3)
	returned := make(chan struct{})
	defer close(returned)
	for _, p := range e.programs() {
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
	case <-e.stopping:
		return nil
	case p := <-ended:
		select {
		case <-e.stopping: // it was stopped, both channels were ready
			return nil
		default:
			return p.ExitError()
		}
	}
}

// programs returns the processes of this environment in the order in which they stop.
func (e *Environment) programs() []*process.Process {
	e.mu.Lock()
	defer e.mu.Unlock()
	var running []*process.Process
	for _, p := range []*process.Process{e.controllerManager, e.apiServer, e.etcd} {
		if p != nil {
			running = append(running, p)
		}
	}
	return running
}

// Stop ends the control plane and, unless it has a data directory, removes all its files. Further calls return the result of the first one.
func (e *Environment) Stop() error {
	e.stopOnce.Do(func() { e.stopErr = e.stop() })
	return e.stopErr
}

func (e *Environment) stop() error {
	close(e.stopping)
	e.mu.Lock()
	e.closed = true
	tenants := slices.Clone(e.tenants)
	e.mu.Unlock()

	var errs []error
	for _, tenant := range tenants {
		errs = append(errs, tenant.Stop())
	}
	for _, p := range e.programs() {
		if p.Name() == EtcdBinary && !e.directory.temporary {
			errs = append(errs, p.Terminate(etcdStopTimeout))
			continue
		}
		// Open watches would delay the exit of an API server for long, and all its state is in etcd.
		errs = append(errs, p.Kill())
	}
	errs = append(errs, e.directory.close())
	if e.owner != nil {
		e.owner.release(e)
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stopping the control plane in %s: %w", e.directory.path, err)
	}
	return nil
}

// DataDir returns the directory with the data, keys and logs.
func (e *Environment) DataDir() string { return e.directory.path }
