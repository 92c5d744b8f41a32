// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	localAddress = "127.0.0.1"
	// The delays before a container that has ended is started again.
	firstBackOff, mostBackOff = time.Second, 10 * time.Second
	// requestTimeout bounds a request of the kubelet.
	requestTimeout = 30 * time.Second
)

// pod is a Pod and the process of its container.
type pod struct {
	kubelet   *Kubelet
	container corev1.Container
	addresses map[int32]string // of the ports of the container; it does not change once the process runs

	changed chan struct{} // has an entry after the Pod has changed
	killed  chan struct{} // is closed when the Pod is gone
	killing sync.Once

	mu       sync.Mutex // guards the fields below
	latest   *corev1.Pod
	isReady  bool
	restarts int32
	last     corev1.ContainerState // of the process before
	reported string                // what the status was written for last
}

func newPod(k *Kubelet, seen *corev1.Pod) *pod {
	return &pod{kubelet: k, latest: seen, changed: make(chan struct{}, 1), killed: make(chan struct{}), addresses: map[int32]string{}}
}

func (p *pod) update(seen *corev1.Pod) {
	p.mu.Lock()
	p.latest = seen
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *pod) kill() { p.killing.Do(func() { close(p.killed) }) }

func (p *pod) seen() *corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latest
}

func (p *pod) addressIfReady(port int32) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isReady {
		return ""
	}
	return p.addresses[port]
}

// run runs the container of the Pod until the Pod is gone or the kubelet stops.
func (p *pod) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	command, err := p.prepare(ctx)
	if err != nil {
		p.refuse(ctx, err)
		return
	}
	for backOff := firstBackOff; ; backOff = min(2*backOff, mostBackOff) {
		ended, err := p.runOnce(ctx, command)
		if err != nil && ctx.Err() == nil {
			p.kubelet.fail(fmt.Errorf("pod %s: %w", describe(p.seen()), err))
		}
		if ctx.Err() != nil || p.isGone() {
			return
		}
		state := corev1.ContainerState{Terminated: ended}
		switch policy := p.seen().Spec.RestartPolicy; {
		case p.seen().DeletionTimestamp != nil:
			p.report(ctx, phaseOf(ended), state, false)
			p.confirmDeletion(ctx)
			return
		case policy == corev1.RestartPolicyNever, policy == corev1.RestartPolicyOnFailure && ended.ExitCode == 0:
			p.report(ctx, phaseOf(ended), state, false)
			p.waitForDeletion(ctx)
			return
		}
		p.mu.Lock()
		p.restarts++
		p.last = state
		p.mu.Unlock()
		p.report(ctx, corev1.PodRunning, waiting("CrashLoopBackOff", "the process has ended"), false)
		if !p.pause(ctx, backOff) {
			p.confirmDeletion(ctx)
			return
		}
	}
}

// phaseOf returns the phase of a Pod whose container has ended for good.
func phaseOf(ended *corev1.ContainerStateTerminated) corev1.PodPhase {
	if ended.ExitCode == 0 {
		return corev1.PodSucceeded
	}
	return corev1.PodFailed
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func describe(of *corev1.Pod) string { return of.Namespace + "/" + of.Name }

func (p *pod) isGone() bool {
	select {
	case <-p.killed:
		return true
	default:
		return false
	}
}

// refuse reports that the Pod cannot run here, and waits for its end.
func (p *pod) refuse(ctx context.Context, why error) {
	if ctx.Err() != nil || p.isGone() {
		return
	}
	p.report(ctx, corev1.PodPending, waiting("CreateContainerConfigError", why.Error()), false)
	p.waitForDeletion(ctx)
}

// waitForDeletion waits until a Pod without a process is deleted, and confirms that.
func (p *pod) waitForDeletion(ctx context.Context) {
	for p.seen().DeletionTimestamp == nil {
		select {
		case <-ctx.Done():
			return
		case <-p.killed:
			return
		case <-p.changed:
		}
	}
	p.confirmDeletion(ctx)
}

// pause waits, and reports whether the Pod is to run after that.
func (p *pod) pause(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	for p.seen().DeletionTimestamp == nil {
		select {
		case <-ctx.Done():
			return false
		case <-p.killed:
			return false
		case <-timer.C:
			return true
		case <-p.changed:
		}
	}
	return false
}

// confirmDeletion deletes a Pod of which nothing runs any more.
func (p *pod) confirmDeletion(ctx context.Context) {
	if ctx.Err() != nil || p.isGone() {
		return
	}
	requests, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	of := p.seen()
	err := p.kubelet.client.CoreV1().Pods(of.Namespace).Delete(requests, of.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64), Preconditions: metav1.NewUIDPreconditions(string(of.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
		p.kubelet.fail(fmt.Errorf("deleting pod %s: %w", describe(of), err))
	}
}

// runOnce runs the process to its end, which it brings about when the Pod is deleted or the liveness probe fails.
func (p *pod) runOnce(ctx context.Context, prepared *exec.Cmd) (*corev1.ContainerStateTerminated, error) {
	of := p.seen()
	log, err := os.OpenFile(p.kubelet.logFile(of.Namespace, of.Name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return notStarted(err), fmt.Errorf("opening the log: %w", err)
	}
	defer log.Close()                      //nolint:errcheck // The process has its own descriptor.
	command := exec.Command(prepared.Path) //nolint:noctx // See end.
	command.Args, command.Dir, command.Env = prepared.Args, prepared.Dir, prepared.Env
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return notStarted(err), fmt.Errorf("starting %s: %w", command.Path, err)
	}
	started := metav1.Now()
	done := make(chan struct{})
	var waited error
	go func() {
		waited = command.Wait()
		close(done)
	}()
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}
	hasReadiness := p.container.ReadinessProbe != nil
	p.report(ctx, corev1.PodRunning, running, !hasReadiness)

	probes, stopProbes := context.WithCancel(ctx)
	defer stopProbes()
	failed := make(chan struct{}, 1)
	var probing sync.WaitGroup
	p.probe(probes, &probing, p.container.ReadinessProbe, func(ready bool) { p.report(ctx, corev1.PodRunning, running, ready) })
	p.probe(probes, &probing, p.container.LivenessProbe, func(alive bool) {
		if !alive {
			select {
			case failed <- struct{}{}:
			default:
			}
		}
	})
	reason := p.wait(ctx, done, failed)
	if reason != "" {
		p.end(ctx, command, done)
	}
	<-done
	stopProbes()
	probing.Wait()

	ended := &corev1.ContainerStateTerminated{
		ExitCode: int32(command.ProcessState.ExitCode()),
		Reason:   "Completed", StartedAt: started, FinishedAt: metav1.Now(),
	}
	if status, isUnix := command.ProcessState.Sys().(syscall.WaitStatus); isUnix && status.Signaled() {
		ended.Signal = int32(status.Signal())
		ended.ExitCode = 128 + ended.Signal // As a shell and a container runtime report it.
	}
	if ended.ExitCode != 0 {
		ended.Reason, ended.Message = "Error", waited.Error()+" "+reason
	}
	return ended, nil
}

func notStarted(why error) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", Message: why.Error(), FinishedAt: metav1.Now()}
}

// wait waits until the process ends, and returns "", or until it is to be ended, and returns why.
func (p *pod) wait(ctx context.Context, done, failed <-chan struct{}) string {
	for {
		select {
		case <-done:
			return ""
		case <-ctx.Done():
			return "the kubelet stops"
		case <-p.killed:
			return "the Pod is gone"
		case <-failed:
			return "the liveness probe failed"
		case <-p.changed:
			if p.seen().DeletionTimestamp != nil {
				return "the Pod is deleted"
			}
		}
	}
}

// end ends a process: after preStop by SIGTERM, and after the grace period by SIGKILL. A Pod that is gone has no grace.
func (p *pod) end(ctx context.Context, command *exec.Cmd, done <-chan struct{}) {
	of := p.seen()
	var grace, preStop time.Duration
	if seconds := of.Spec.TerminationGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	if seconds := of.DeletionGracePeriodSeconds; seconds != nil {
		grace = time.Duration(*seconds) * time.Second
	}
	if hooks := p.container.Lifecycle; hooks != nil && hooks.PreStop != nil && hooks.PreStop.Sleep != nil {
		preStop = min(grace, time.Duration(hooks.PreStop.Sleep.Seconds)*time.Second)
	}
	for _, step := range []struct {
		after  time.Duration
		signal os.Signal
	}{{preStop, syscall.SIGTERM}, {grace - preStop, syscall.SIGKILL}} {
		select {
		case <-time.After(step.after):
		case <-ctx.Done():
		case <-p.killed:
		case <-done:
			return
		}
		if err := command.Process.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			p.kubelet.fail(fmt.Errorf("ending the process of pod %s: %w", describe(of), err))
		}
	}
}
