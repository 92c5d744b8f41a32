// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// probe calls the handler of a probe in its period until ctx ends. It calls verdict with true after as many successes in a row as the success
// threshold says, and with false after as many failures as the failure threshold says.
func (p *pod) probe(ctx context.Context, running *sync.WaitGroup, probe *corev1.Probe, verdict func(bool)) {
	if probe == nil {
		return
	}
	running.Go(func() {
		client := &http.Client{
			Timeout: time.Duration(probe.TimeoutSeconds) * time.Second,
			// A kubelet does not check certificates either.
			Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		}
		var succeeded, failed int32
		for wait := max(time.Duration(probe.InitialDelaySeconds)*time.Second, 500*time.Millisecond); ; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			if err := p.try(ctx, client, probe.HTTPGet); ctx.Err() != nil {
				return
			} else if err == nil {
				succeeded, failed = succeeded+1, 0
			} else {
				succeeded, failed = 0, failed+1
			}
			if succeeded >= probe.SuccessThreshold {
				verdict(true)
			}
			if failed >= probe.FailureThreshold {
				verdict(false)
			}
			wait = time.Duration(probe.PeriodSeconds) * time.Second
		}
	})
}

// try returns an error unless the handler answers with success.
func (p *pod) try(ctx context.Context, client *http.Client, handler *corev1.HTTPGetAction) error {
	if handler == nil {
		return errors.New("the tests' kubelet has no other probes than httpGet")
	}
	port, err := p.probePort(handler)
	if err != nil {
		return err
	}
	url := strings.ToLower(string(handler.Scheme)) + "://" + p.addresses[port] + handler.Path
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	if err := response.Body.Close(); err != nil {
		return fmt.Errorf("probing: %w", err)
	}
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("probing: the answer is %s", response.Status)
	}
	return nil
}

// probePort returns the number of the port of a probe.
func (p *pod) probePort(probe *corev1.HTTPGetAction) (int32, error) {
	if number := probe.Port.IntVal; number != 0 {
		return number, nil
	}
	for _, has := range p.container.Ports {
		if has.Name == probe.Port.StrVal {
			return has.ContainerPort, nil
		}
	}
	return 0, errors.New("no port " + strconv.Quote(strings.TrimSpace(probe.Port.String())))
}
