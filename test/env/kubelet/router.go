// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Router connects the API server to the Pods of Services, as kube-proxy on its node would: kube-apiserver sends the requests for webhooks through
// it by HTTP CONNECT, because an egress selector says so.
type Router struct {
	directory string // of the socket
	listener  net.Listener
	server    *http.Server
	serving   sync.WaitGroup
	kubelet   atomic.Pointer[Kubelet]
}

// dialTimeout bounds the connection to a Pod.
const dialTimeout = 5 * time.Second

// NewRouter starts a router without Pods: start the API server with APIServerArgs, and then a kubelet for Route.
func NewRouter(ctx context.Context) (*Router, error) {
	directory, err := os.MkdirTemp("", "router-") // A socket has a short path.
	if err != nil {
		return nil, fmt.Errorf("making a directory for a socket: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", filepath.Join(directory, "socket"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listening for the API server: %w", err), os.RemoveAll(directory))
	}
	r := &Router{directory: directory, listener: listener}
	r.server = &http.Server{Handler: http.HandlerFunc(r.connect), ReadHeaderTimeout: dialTimeout}
	r.serving.Go(func() { r.server.Serve(listener) }) //nolint:errcheck // It ends by Close.
	return r, nil
}

// APIServerArgs writes the configuration of the egress selector, and returns the flags of kube-apiserver for it.
func (r *Router) APIServerArgs() ([]string, error) {
	path := filepath.Join(r.directory, "egress.yaml")
	content := `apiVersion: apiserver.k8s.io/v1beta1
kind: EgressSelectorConfiguration
egressSelections:
- name: cluster
  connection:
    proxyProtocol: HTTPConnect
    transport:
      uds:
        udsName: ` + r.listener.Addr().String() + "\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return nil, fmt.Errorf("writing the configuration of the egress selector: %w", err)
	}
	return []string{"--egress-selector-config-file=" + path}, nil
}

// Route connects Services to the Pods of a kubelet from now on.
func (r *Router) Route(k *Kubelet) { r.kubelet.Store(k) }

// Close ends the router; connections that are in use end with the programs that use them.
func (r *Router) Close() error {
	err := r.server.Close()
	r.serving.Wait()
	return errors.Join(err, os.RemoveAll(r.directory))
}

// connect answers CONNECT for the cluster IP and port of a Service.
func (r *Router) connect(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodConnect {
		http.Error(w, "use CONNECT", http.StatusMethodNotAllowed)
		return
	}
	address, err := r.resolve(request.Context(), request.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	to, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(request.Context(), "tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	from, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		to.Close() //nolint:errcheck // Nothing was sent.
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if _, err := from.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		from.Close() //nolint:errcheck // The API server is gone.
		to.Close()   //nolint:errcheck // Nothing was sent.
		return
	}
	closeBoth := sync.OnceFunc(func() {
		from.Close() //nolint:errcheck // One of both is closed already.
		to.Close()   //nolint:errcheck // One of both is closed already.
	})
	go func() {
		defer closeBoth()
		io.Copy(to, buffered) //nolint:errcheck // The end of a connection is an error.
	}()
	go func() {
		defer closeBoth()
		io.Copy(from, to) //nolint:errcheck // The end of a connection is an error.
	}()
}

// resolve returns the address of a ready Pod of the Service with a cluster IP and port. An address of loopback is its own: that of a webhook by
// URL.
func (r *Router) resolve(ctx context.Context, hostPort string) (string, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", hostPort, err)
	}
	if host == localAddress {
		return hostPort, nil
	}
	k := r.kubelet.Load()
	if k == nil {
		return "", errors.New("there is no kubelet yet")
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	services, err := k.client.CoreV1().Services(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("listing services: %w", err)
	}
	for i := range services.Items {
		service := &services.Items[i]
		if service.Spec.ClusterIP != host {
			continue
		}
		for _, has := range service.Spec.Ports {
			if strconv.Itoa(int(has.Port)) != port {
				continue
			}
			selected := labels.SelectorFromSet(service.Spec.Selector)
			address := k.ready(service.Namespace, selected, func(of *corev1.Pod) int32 { return numberOf(of, has) })
			if address == "" {
				return "", fmt.Errorf("service %s/%s has no ready Pod", service.Namespace, service.Name)
			}
			return address, nil
		}
	}
	return "", fmt.Errorf("no service has the address %s", hostPort)
}

// numberOf returns the number of a port of a Service's target at a Pod.
func numberOf(of *corev1.Pod, port corev1.ServicePort) int32 {
	if number := port.TargetPort.IntVal; number != 0 {
		return number
	}
	for i := range of.Spec.Containers {
		for _, has := range of.Spec.Containers[i].Ports {
			if has.Name == port.TargetPort.StrVal {
				return has.ContainerPort
			}
		}
	}
	return 0
}
