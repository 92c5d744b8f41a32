// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/authenticatorfactory"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	authenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
)

// gate admits a request when the hub's API server authenticates its bearer token (TokenReview) and authorizes its user for the path
// (SubjectAccessReview on the non-resource URL). It differs from controller-runtime's filter in two ways: an unknown token is answered with
// 401 and not 500, and the handler finds the user in the context (request.UserFrom).
type gate struct {
	authenticator authenticator.Request
	authorizer    authorizer.Authorizer
}

// reviewQPS and reviewBurst bound the requests for reviews, which do not wait for those of the controllers.
const (
	reviewQPS   = 50
	reviewBurst = 100
)

// newGate returns a gate. authorities sign the client certificates that it accepts; nil for none.
func newGate(
	bounds *ReviewBounds, config *rest.Config, client *http.Client, authorities dynamiccertificates.CAContentProvider,
) (*gate, error) {
	config = rest.CopyConfig(config)
	config.RateLimiter, config.QPS, config.Burst = nil, reviewQPS, reviewBurst
	tokens, err := authenticationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making the client for token reviews: %w", err)
	}
	access, err := authorizationv1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making the client for access reviews: %w", err)
	}
	// These are the defaults of an aggregated API server, k8s.io/apiserver/pkg/server/options.
	retry := &wait.Backoff{Duration: 500 * time.Millisecond, Factor: 1.5, Jitter: 0.2, Steps: 5}
	g := &gate{}
	reviews, _, err := authenticatorfactory.DelegatingAuthenticatorConfig{
		Anonymous:                &apiserver.AnonymousAuthConfig{Enabled: false},
		TokenAccessReviewClient:  tokens,
		TokenAccessReviewTimeout: 10 * time.Second,
		CacheTTL:                 10 * time.Second,
		WebhookRetryBackoff:      retry,

		ClientCertificateCAContentProvider: authorities,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("setting up delegated authentication: %w", err)
	}
	g.authenticator = boundedReviews{bounds, reviews}
	g.authorizer, err = authorizerfactory.DelegatingAuthorizerConfig{
		SubjectAccessReviewClient: access,
		AllowCacheTTL:             10 * time.Second,
		DenyCacheTTL:              10 * time.Second,
		WebhookRetryBackoff:       retry,
	}.New()
	if err != nil {
		return nil, fmt.Errorf("setting up delegated authorization: %w", err)
	}
	return g, nil
}

// Reviews returns what authenticates the bearer token of a request (TokenReview), and what authorizes users (SubjectAccessReview). Both cache
// the replies of the API server for ten seconds.
func (b *ReviewBounds) Reviews(config *rest.Config, client *http.Client) (authenticator.Request, authorizer.Authorizer, error) {
	g, err := newGate(b, config, client, nil)
	if err != nil {
		return nil, nil, err
	}
	return g.authenticator, g.authorizer, nil
}

// protect wraps a handler with the gate.
func (g *gate) protect(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		logger := klog.FromContext(req.Context()).WithValues("path", req.URL.Path)
		response, known, err := g.authenticator.AuthenticateRequest(req)
		if errors.Is(err, access.ErrTooManyTokens) {
			w.Header().Set("Retry-After", access.RetryAfter)
			http.Error(w, err.Error(), http.StatusTooManyRequests)
			return
		}
		if err != nil || !known {
			logger.V(2).Info("Unauthenticated request", "err", err)
			http.Error(w, "Unauthorized: send a bearer token that the hub's API server accepts", http.StatusUnauthorized)
			return
		}
		decision, reason, err := g.authorizer.Authorize(req.Context(), authorizer.AttributesRecord{
			User: response.User,
			Verb: strings.ToLower(req.Method),
			Path: req.URL.Path,
		})
		if err != nil {
			logger.Error(err, "Cannot ask the API server for authorization", "user", response.User.GetName())
			http.Error(w, "the hub's API server could not be asked for authorization; try again", http.StatusInternalServerError)
			return
		}
		if decision != authorizer.DecisionAllow {
			logger.V(2).Info("Unauthorized request", "user", response.User.GetName(), "reason", reason)
			http.Error(w, fmt.Sprintf("Forbidden: user %q may not %.20s the non-resource URL %.300q; a ClusterRole with that nonResourceURL "+
				"grants it",
				response.User.GetName(), strings.ToLower(req.Method), req.URL.Path), http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, req.WithContext(request.WithUser(req.Context(), response.User)))
	})
}
