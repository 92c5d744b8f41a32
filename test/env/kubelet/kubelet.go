// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Program is what runs for the containers of an image.
type Program struct {
	// Path is the path of the binary.
	Path string
	// Command is the first argument of the containers, where the image has no entrypoint; empty where it has one.
	Command string
	// Listen has the flag that sets the address on which the process listens, for each name of a port of the container, or for its number where
	// only probes have it.
	Listen map[string]string
	// Flags are added to the arguments, with the values of $KUBECONFIG and $NAMESPACE.
	Flags []string
}

// Options configure a kubelet.
type Options struct {
	// Config is for an administrator of the control plane.
	Config *rest.Config
	// Node is the name of a Node that exists.
	Node string
	// Images are the programs by the name of the image.
	Images map[string]Program
	// Directory is where the kubelet keeps kubeconfigs, temporary files and logs.
	Directory string
}

// Kubelet runs the Pods of a node. It is safe for concurrent use.
type Kubelet struct {
	options Options
	client  kubernetes.Interface

	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	pods   map[types.UID]*pod
	errors []error
}

// Start runs the Pods of a node until Stop. It returns an error if they cannot be listed.
func Start(ctx context.Context, options Options) (*Kubelet, error) {
	client, err := kubernetes.NewForConfig(options.Config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	k := &Kubelet{options: options, client: client, stop: stop, pods: map[types.UID]*pod{}}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(list *metav1.ListOptions) {
		list.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", options.Node).String()
	}))
	informer := factory.Core().V1().Pods().Informer()
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { k.see(ctx, object) },
		UpdateFunc: func(_, object any) { k.see(ctx, object) },
		DeleteFunc: k.forget,
	})
	if err != nil {
		stop()
		return nil, fmt.Errorf("watching pods: %w", err)
	}
	factory.StartWithContext(ctx)
	k.running.Go(func() {
		<-ctx.Done()
		factory.Shutdown()
	})
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		stop()
		return nil, errors.New("listing pods: the kubelet was stopped")
	}
	return k, nil
}

// Stop kills all processes, and returns the errors of the kubelet itself: those of requests and of processes that could not be started.
func (k *Kubelet) Stop() error {
	k.stop()
	k.running.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	return errors.Join(k.errors...)
}

// see starts the worker of a new Pod, or gives the worker the changed Pod.
func (k *Kubelet) see(ctx context.Context, object any) {
	seen, isPod := object.(*corev1.Pod)
	if !isPod {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	p, known := k.pods[seen.UID]
	if !known {
		p = newPod(k, seen)
		k.pods[seen.UID] = p
		k.running.Go(func() { p.run(ctx) })
		return
	}
	p.update(seen)
}

// forget kills the processes of a Pod that is gone.
func (k *Kubelet) forget(object any) {
	if unknown, isUnknown := object.(cache.DeletedFinalStateUnknown); isUnknown {
		object = unknown.Obj
	}
	gone, isPod := object.(*corev1.Pod)
	if !isPod {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if p := k.pods[gone.UID]; p != nil {
		p.kill()
		delete(k.pods, gone.UID)
	}
}

// fail records an error of the kubelet.
func (k *Kubelet) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.errors = append(k.errors, err)
}

// Log returns what the containers of a Pod have written so far, also after its end.
func (k *Kubelet) Log(namespace, name string) (string, error) {
	content, err := os.ReadFile(k.logFile(namespace, name))
	if err != nil {
		return "", fmt.Errorf("reading the log of pod %s/%s: %w", namespace, name, err)
	}
	return string(content), nil
}

func (k *Kubelet) logFile(namespace, name string) string {
	return filepath.Join(k.options.Directory, namespace+"_"+name+".log")
}

// ready returns the address of a port of a Pod that is ready, and is selected; "" if there is none. Of several, each is as likely.
func (k *Kubelet) ready(namespace string, selector labels.Selector, port func(*corev1.Pod) int32) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.pods { // Go's order is random.
		if seen := p.seen(); seen.Namespace == namespace && selector.Matches(labels.Set(seen.Labels)) && seen.DeletionTimestamp == nil {
			if address := p.addressIfReady(port(seen)); address != "" {
				return address
			}
		}
	}
	return ""
}
