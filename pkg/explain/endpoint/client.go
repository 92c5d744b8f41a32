// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// clientTimeout leaves the endpoint its own timeout.
	clientTimeout = timeout + 5*time.Second
	// maxAnswerBytes bounds an Answer.
	maxAnswerBytes = 64 << 20
)

// Address is where the endpoint is, and whom to trust there.
type Address struct {
	URL string
	// Authorities are certificate authorities in PEM; empty means those of the system.
	Authorities []byte
	// ServerName is the host name that the certificate must have; empty means the host of the URL.
	ServerName string
}

// Discover reads the Address that the hub has published in its namespace.
func Discover(ctx context.Context, hub client.Reader, namespace string) (Address, error) {
	published := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: namespace, Name: ConfigMap}
	switch err := hub.Get(ctx, key, published); {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return Address{}, fmt.Errorf("no address of its explanations is in ConfigMap %s; name the namespace of the hub with --hub-namespace, or the "+
			"address with --endpoint", key)
	case err != nil:
		return Address{}, fmt.Errorf("reading ConfigMap %s: %w", key, err)
	}

	address := Address{URL: published.Data[URLKey], Authorities: []byte(published.Data[AuthoritiesKey])}
	if len(address.Authorities) == 0 {
		return Address{}, fmt.Errorf("ConfigMap %s has no %s, without which nobody is trusted there", key, AuthoritiesKey)
	}
	return address, nil
}

// Controllers returns the controllers that the hub runs, as it has published them in its namespace; nil if it has published none, or not to
// this user.
func Controllers(ctx context.Context, hub client.Reader, namespace string) ([]string, error) {
	published := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: namespace, Name: ConfigMap}
	switch err := hub.Get(ctx, key, published); {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err), apierrors.IsUnauthorized(err): // The reads of an explanation report the last one.
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading ConfigMap %s, which says which controllers the hub runs: %w", key, err)
	}
	listed := published.Data[ControllersKey]
	if listed == "" {
		return nil, nil
	}
	return strings.Split(listed, ","), nil
}

// Ask asks a Question with the bearer token of a configuration, also one of a file or an exec plugin. The token is sent to the host of the
// Address alone, after its certificate was verified; redirects are not followed. The error is an *AnswerError if the hub has answered with it.
func Ask(ctx context.Context, config *rest.Config, address Address, question Question) (Answer, error) {
	target, transport, err := transportFor(config, address)
	if err != nil {
		return Answer{}, err
	}
	text, err := json.Marshal(question)
	if err != nil {
		return Answer{}, fmt.Errorf("encoding the question: %w", err)
	}

	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(text))
	if err != nil {
		return Answer{}, fmt.Errorf("asking %s: %w", target, err)
	}
	request.Header.Set("Content-Type", "application/json")
	asker := &http.Client{
		Transport: transport, Timeout: clientTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}

	response, err := asker.Do(request) //nolint:bodyclose // readAnswer closes it.
	if err != nil {
		return Answer{}, fmt.Errorf("the hub cannot be reached there: %w%s", err, hintUnreached(target, err))
	}
	answer, err := readAnswer(response)
	if err != nil {
		return Answer{}, fmt.Errorf("asking %s: %w", target, err)
	}

	switch {
	case response.StatusCode != http.StatusOK:
		return Answer{}, &StatusError{Code: response.StatusCode, Text: "the hub answers " + response.Status + ": " + answer.Error}
	case answer.Error != "":
		return answer, &AnswerError{Err: errors.New(answer.Error)}
	default:
		return answer, nil
	}
}

// hintUnreached returns what to do about an address that cannot be connected to. Only the address of a Service has a hint: clients outside of the
// cluster of the hub cannot reach it. An error that a server has answered with has none.
func hintUnreached(target string, err error) string {
	address, parseErr := url.Parse(target)
	host := ""
	if parseErr == nil {
		host = address.Hostname()
	}
	unreached, failed := (*net.OpError)(nil), (*url.Error)(nil)
	connecting := errors.As(err, &unreached) && (unreached.Op == "dial" || unreached.Op == "proxyconnect") ||
		errors.As(err, &failed) && failed.Timeout()
	if !connecting || !strings.HasSuffix(host, ".svc") && !strings.Contains(host, ".svc.") {
		return ""
	}
	return "\nonly clients in the cluster of the hub reach " + host + ": ask an admin of the hub to publish another address (explanations.url " +
		"of the chart, or --explain-address), or name one with --endpoint, such as https://localhost:9443 while this forwards to it: " +
		forwarding(host)
}

// forwarding returns the command that forwards to the Service with a host name.
func forwarding(host string) string {
	service, rest, _ := strings.Cut(host, ".")
	namespace, _, _ := strings.Cut(rest, ".")
	return "kubectl port-forward -n " + namespace + " service/" + service + " 9443:443"
}

func readAnswer(response *http.Response) (answer Answer, err error) {
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes))
	if err != nil {
		return answer, fmt.Errorf("reading the answer: %w", err)
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return answer, fmt.Errorf("%s is no explanation of a hub: %w", response.Status, err)
	}
	return answer, nil
}

// transportFor returns the URL to ask, and a transport that sends the token of a configuration and none of its other credentials.
func transportFor(config *rest.Config, address Address) (string, http.RoundTripper, error) {
	target, err := url.Parse(address.URL)
	if err != nil {
		return "", nil, fmt.Errorf("the address of the hub's explanations: %w", err)
	}

	switch {
	case target.Scheme != "https" || target.Hostname() == "":
		return "", nil, fmt.Errorf("the address of the hub's explanations must be https://HOST:PORT, is %q", address.URL)
	case config.Impersonate.UserName != "" || config.Impersonate.UID != "" || len(config.Impersonate.Groups) > 0:
		return "", nil, errors.New("the hub's explanations are for the owner of a token, so they cannot be asked for by impersonation")
	case config.BearerToken == "" && config.BearerTokenFile == "" && config.ExecProvider == nil && config.AuthProvider == nil:
		return "", nil, errors.New("the hub's explanations need a bearer token, and the kubeconfig has none: client certificates are not sent; " +
			"use a context with a token, such as that of kubectl create token")
	}

	if target.Path == "" || target.Path == "/" {
		target.Path = Path
	}

	transport, err := rest.TransportFor(&rest.Config{
		Host: target.Host, BearerToken: config.BearerToken, BearerTokenFile: config.BearerTokenFile, ExecProvider: config.ExecProvider,
		AuthProvider: config.AuthProvider, AuthConfigPersister: config.AuthConfigPersister, UserAgent: config.UserAgent,
		TLSClientConfig: rest.TLSClientConfig{CAData: address.Authorities, ServerName: address.ServerName},
	})
	if err != nil {
		return "", nil, fmt.Errorf("preparing to ask %s: %w", target, err)
	}
	return target.String(), transport, nil
}

// StatusError is a response without an explanation: a right is missing, or there is no time.
type StatusError struct {
	Code int
	Text string
}

func (e *StatusError) Error() string { return e.Text }

// Answered reports whether the hub has answered, also with an error about the question.
func Answered(err error) bool {
	answer := (*AnswerError)(nil)
	return err == nil || errors.As(err, &answer)
}

// Unanswered returns the error about missing rights of a user whom the hub does not explain the object either.
func Unanswered(refused, asked error) error {
	return fmt.Errorf("%w\nthe hub does not explain it instead: %w", refused, asked)
}
