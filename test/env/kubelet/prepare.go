// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/env/loopback"
)

// prepare checks that the Pod can run here, and returns the arguments of its process with the path of the program first.
func (p *pod) prepare(ctx context.Context) (*exec.Cmd, error) {
	of := p.seen()
	program, arguments, err := p.program(of)
	if err != nil {
		return nil, err
	}
	for number, name := range p.ports() {
		flag, known := program.Listen[name]
		if !known {
			return nil, fmt.Errorf("the tests' kubelet knows no flag for the port %s of the image %s", name, p.container.Image)
		}
		address, err := loopback.FreeAddress(ctx)
		if err != nil {
			return nil, err
		}
		p.addresses[number] = address
		arguments = append(arguments, flag+"="+address)
	}
	environment, err := p.environment(of)
	if err != nil {
		return nil, err
	}
	directory, err := p.makeDirectory(ctx, of)
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(directory, kubeconfigFile)
	for _, flag := range program.Flags {
		arguments = append(arguments, strings.NewReplacer("$KUBECONFIG", kubeconfig, "$NAMESPACE", of.Namespace).Replace(flag))
	}
	command := exec.Command(program.Path, arguments...) //nolint:noctx // The kubelet ends it with a grace period.
	command.Dir = directory
	command.Env = append([]string{"KUBECONFIG=" + kubeconfig, "TMPDIR=" + directory, "HOME=" + directory}, environment...)
	return command, nil
}

// ports returns the names of the ports of the container by number: the number itself for one that only a probe has.
func (p *pod) ports() map[int32]string {
	ports := map[int32]string{}
	for _, probe := range []*corev1.Probe{p.container.LivenessProbe, p.container.ReadinessProbe} {
		if probe != nil && probe.HTTPGet != nil && probe.HTTPGet.Port.IntVal != 0 {
			ports[probe.HTTPGet.Port.IntVal] = probe.HTTPGet.Port.String()
		}
	}
	for _, port := range p.container.Ports {
		ports[port.ContainerPort] = port.Name
	}
	return ports
}

const kubeconfigFile = "kubeconfig"

// program returns what to run with which arguments, or why the Pod cannot run here.
func (p *pod) program(of *corev1.Pod) (program Program, arguments []string, err error) {
	if len(of.Spec.Containers) != 1 || len(of.Spec.InitContainers) > 0 {
		return program, nil, errors.New("the tests' kubelet runs Pods with one container")
	}
	p.container = of.Spec.Containers[0]
	program, known := p.kubelet.options.Images[p.container.Image]
	if !known || len(p.container.Command) > 0 {
		return program, nil, fmt.Errorf("the tests' kubelet runs the entrypoints of known images, and not %q of the image %s",
			p.container.Command, p.container.Image)
	}
	for _, volume := range of.Spec.Volumes {
		if volume.EmptyDir == nil && volume.Projected == nil {
			return program, nil, fmt.Errorf("the tests' kubelet has no volumes like %s", volume.Name)
		}
	}
	arguments = slices.Clone(p.container.Args)
	if program.Command != "" {
		if len(arguments) == 0 || arguments[0] != program.Command {
			return program, nil, fmt.Errorf("the tests' kubelet runs %s of the image %s", program.Command, p.container.Image)
		}
		arguments = arguments[1:]
	}
	return program, arguments, nil
}

// environment returns the variables of the container.
func (p *pod) environment(of *corev1.Pod) ([]string, error) {
	known := map[string]string{
		"metadata.name": of.Name, "metadata.namespace": of.Namespace, "metadata.uid": string(of.UID),
		"spec.nodeName": of.Spec.NodeName, "spec.serviceAccountName": of.Spec.ServiceAccountName, "status.podIP": localAddress,
	}
	var environment []string
	for _, variable := range p.container.Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil {
			if from.FieldRef == nil || known[from.FieldRef.FieldPath] == "" {
				return nil, fmt.Errorf("the tests' kubelet cannot set the variable %s from its source", variable.Name)
			}
			value = known[from.FieldRef.FieldPath]
		}
		environment = append(environment, variable.Name+"="+value)
	}
	return environment, nil
}

// makeDirectory makes the directory of the process, with a kubeconfig that has a token of the ServiceAccount of the Pod.
func (p *pod) makeDirectory(ctx context.Context, of *corev1.Pod) (string, error) {
	requests, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: of.Name, UID: of.UID},
	}}
	accounts := p.kubelet.client.CoreV1().ServiceAccounts(of.Namespace)
	token, err := accounts.CreateToken(requests, of.Spec.ServiceAccountName, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting a token: %w", err)
	}
	config := rest.AnonymousClientConfig(p.kubelet.options.Config)
	config.BearerToken = token.Status.Token
	content, err := localplane.Kubeconfig(config)
	if err != nil {
		return "", fmt.Errorf("writing a kubeconfig: %w", err)
	}
	directory := filepath.Join(p.kubelet.options.Directory, string(of.UID))
	if err := os.Mkdir(directory, 0o700); err != nil {
		return "", fmt.Errorf("making the directory of the pod: %w", err)
	}
	return directory, os.WriteFile(filepath.Join(directory, kubeconfigFile), content, 0o600)
}
