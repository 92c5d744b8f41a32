// SPDX-License-Identifier: Apache-2.0

package workagent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// The files of Options.Dir.
const (
	hubFile    = "hub.kubeconfig"
	memberFile = "member.kubeconfig"
	logFile    = "work-agent.log"
	pidFile    = "work-agent.pid"
)

// stopTimeout is how long an agent may take to end its requests.
const stopTimeout = 5 * time.Second

// Options configure an agent.
type Options struct {
	// Cluster is the name of the ManagedCluster and of its namespace on the hub.
	Cluster string
	// Hub and Member are client configurations for the two API servers, with the rights of HubUser and MemberUser.
	Hub, Member *rest.Config
	// Dir has the kubeconfigs and the log, and is created if needed. Each running agent needs its own one.
	Dir string
	// Binary is the path of the agent; empty means that of binaries.FindOCM.
	Binary string
	// Resync is the interval in which the agent applies each ManifestWork again, lengthened by up to a half; 0 means OCM's four minutes.
	Resync time.Duration
	// StatusSync is the interval in which the agent reads the applied objects for the status of the ManifestWorks, lengthened by up to nine
	// tenths; 0 means OCM's ten seconds.
	StatusSync time.Duration
	// Evict is how long the agent keeps the objects of a ManifestWork that is gone without its doing; 0 means OCM's hour.
	Evict time.Duration
}

// Agent is a started work agent. Its methods are safe for concurrent use.
type Agent struct {
	process  *process.Process
	once     sync.Once
	stopping chan struct{} // closed by Stop
	stopErr  error
}

// Start starts an agent, which runs until Stop. It does not wait for the API servers: the agent tries until they answer. An agent that an
// earlier run left in the directory is killed first; ctx bounds only that.
func Start(ctx context.Context, o Options) (*Agent, error) {
	agent, err := start(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("starting the work agent of cluster %s: %w", o.Cluster, err)
	}
	return agent, nil
}

func start(ctx context.Context, o Options) (*Agent, error) {
	if o.Binary == "" {
		found, err := binaries.FindOCM(binaries.WorkAgent)
		if err != nil {
			return nil, err
		}
		o.Binary = found.Path
	}
	// An absolute path identifies the process of an earlier run.
	directory, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("resolving its directory: %w", err)
	}
	o.Dir = directory
	if err := o.prepareDirectory(ctx); err != nil {
		return nil, err
	}
	started, err := process.Start(process.Command{
		Name: binaries.WorkAgent, Path: o.Binary, Args: o.arguments(), LogPath: o.file(logFile),
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(o.file(pidFile), []byte(strconv.Itoa(started.PID())), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("recording its process: %w", err), started.Kill())
	}
	return &Agent{process: started, stopping: make(chan struct{})}, nil
}

// prepareDirectory kills the agent of an earlier run and writes the kubeconfigs.
func (o Options) prepareDirectory(ctx context.Context) error {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return fmt.Errorf("making its directory: %w", err)
	}
	if err := o.killLeftover(ctx); err != nil {
		return err
	}
	for name, config := range map[string]*rest.Config{hubFile: o.Hub, memberFile: o.Member} {
		content, err := localplane.Kubeconfig(config)
		if err != nil {
			return err
		}
		if err := os.WriteFile(o.file(name), content, 0o600); err != nil {
			return fmt.Errorf("writing a kubeconfig: %w", err)
		}
	}
	return nil
}

// killLeftover kills the agent that an earlier run started in this directory and did not stop.
func (o Options) killLeftover(ctx context.Context) error {
	content, err := os.ReadFile(o.file(pidFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the process of an earlier run: %w", err)
	}
	pid, err := strconv.Atoi(string(content))
	if err != nil {
		return fmt.Errorf("reading the process of an earlier run from %s: %w; if none runs, remove the file", o.file(pidFile), err)
	}
	if _, err := process.KillLeftover(ctx, pid, binaries.WorkAgent, o.Dir); err != nil {
		return err
	}
	return nil
}

// arguments returns the flags of the agent.
func (o Options) arguments() []string {
	arguments := []string{
		"--spoke-cluster-name=" + o.Cluster,
		"--workload-source-config=" + o.file(hubFile),
		"--spoke-kubeconfig=" + o.file(memberFile),
		// By its id the agent finds what it applied for an earlier URL of the hub, and evicts it.
		"--agent-id=" + o.Cluster,
	}
	for _, interval := range []struct {
		flag  string
		value time.Duration
	}{
		{"--resync-interval", o.Resync},
		{"--status-sync-interval", o.StatusSync},
		{"--appliedmanifestwork-eviction-grace-period", o.Evict},
	} {
		if interval.value != 0 {
			arguments = append(arguments, interval.flag+"="+interval.value.String())
		}
	}
	return arguments
}

// file returns a path in the directory.
func (o Options) file(name string) string { return filepath.Join(o.Dir, name) }

// Wait returns nil when ctx ends or the agent is stopped, and an error that quotes the log when the agent exits by itself.
func (a *Agent) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-a.stopping:
		return nil
	case <-a.process.Done():
	}
	select {
	case <-a.stopping: // it was stopped, both channels were ready
		return nil
	default:
		return a.process.ExitError()
	}
}

// Stop ends the agent. What it has applied stays. Further calls return the result of the first one.
func (a *Agent) Stop() error {
	a.once.Do(func() {
		close(a.stopping)
		a.stopErr = a.process.Terminate(stopTimeout)
	})
	return a.stopErr
}
