// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/turns"
)

// The reviews of unknown tokens are bounded. Every client that reaches a port of the hub can send such tokens (docs/spec/trust.md R9).
const (
	// newTokens and newTokensAtOnce bound the reviews of unknown tokens in a second and at a time. Requests from one address get the part
	// addressShare of that for long, and newTokens at once.
	newTokens       = 20
	newTokensAtOnce = 8
	addressShare    = 10
	// knownFor is how long a token is known after it was accepted last, and maxKnown the number of known ones, and that of addresses.
	knownFor = 10 * time.Minute
	maxKnown = 10_000
	// maxTokenBytes is the size of the largest token that is reviewed: API servers refuse larger headers.
	maxTokenBytes = 64 << 10
)

// ReviewBounds bounds the reviews of unknown tokens of a process, on all its ports together. It is safe for concurrent use.
type ReviewBounds struct {
	now     func() time.Time
	all     *rate.Limiter
	running chan struct{}
	known   *turns.Cache[[sha256.Size]byte, time.Time] // when a token was accepted last, by its hash

	mu        sync.Mutex
	addresses map[string]*rate.Limiter
	// reviewed are the unknown tokens whose review runs, by their hash. The channel is closed when it has ended.
	reviewed map[[sha256.Size]byte]chan struct{}
}

// NewReviewBounds returns bounds without known tokens.
func NewReviewBounds() *ReviewBounds { return newReviewBounds(time.Now) }

func newReviewBounds(now func() time.Time) *ReviewBounds {
	return &ReviewBounds{
		now: now, all: rate.NewLimiter(newTokens, newTokens), running: make(chan struct{}, newTokensAtOnce),
		known: turns.NewCache[[sha256.Size]byte, time.Time](maxKnown), addresses: map[string]*rate.Limiter{},
		reviewed: map[[sha256.Size]byte]chan struct{}{},
	}
}

// boundedReviews are reviews within the bounds.
type boundedReviews struct {
	*ReviewBounds

	reviews authenticator.Request
}

var _ authenticator.Request = boundedReviews{}

// AuthenticateRequest implements authenticator.Request. The error is access.ErrTooManyTokens where the review of an unknown token has to wait. The
// authenticator sees the one token that is counted here, in one form, so that no other form of a token is reviewed.
func (b boundedReviews) AuthenticateRequest(request *http.Request) (*authenticator.Response, bool, error) {
	token := tokenOf(request)
	asked := request.Clone(request.Context())
	asked.Header.Del("Sec-WebSocket-Protocol") // It may carry a token; no server of the hub takes WebSockets.
	asked.Header.Del("Authorization")
	if token == "" { // A client certificate may say who it is.
		return b.reviews.AuthenticateRequest(asked) //nolint:wrapcheck // No token is reviewed.
	}
	asked.Header.Set("Authorization", "Bearer "+token)
	hash := sha256.Sum256([]byte(token))
	ended, err := b.begin(request, hash)
	if err != nil {
		return nil, false, err
	}
	defer ended()

	response, accepted, err := b.reviews.AuthenticateRequest(asked)
	if !accepted || err != nil || response == nil || response.User == nil {
		if request.Context().Err() == nil && !failed(err) {
			b.known.Remove(hash) // The next review counts like that of an unknown token.
		}
		return response, accepted, err //nolint:wrapcheck // It is that of the review.
	}
	b.known.Add(turns.TenantOf(response.User), hash, b.now())
	request.Header.Del("Authorization") // As the authenticators of an API server do.
	return response, true, nil
}

// begin returns when the review of a token may begin; the caller calls ended after it. The review of a known token may begin at once. One that is
// unknown counts, unless the same token is reviewed already: the request waits for that review then, and counts only if the token is still unknown,
// so that a client may send several requests at once with its first token. The error is access.ErrTooManyTokens, or that of the request's context.
func (b *ReviewBounds) begin(request *http.Request, hash [sha256.Size]byte) (ended func(), err error) {
	if b.isKnown(hash) {
		return func() {}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if review, runs := b.reviewed[hash]; runs {
		b.mu.Unlock()
		select {
		case <-review:
		case <-request.Context().Done():
		}
		b.mu.Lock()
		if err := request.Context().Err(); err != nil {
			return nil, err
		}
	}
	if b.isKnown(hash) { // A review may have ended since the first look.
		return func() {}, nil
	}
	if !b.allowed(request) {
		return nil, access.ErrTooManyTokens
	}
	select {
	case b.running <- struct{}{}:
	default:
		return nil, access.ErrTooManyTokens
	}
	review := make(chan struct{})
	b.reviewed[hash] = review // The latest of several.
	return func() {
		<-b.running
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.reviewed[hash] == review {
			delete(b.reviewed, hash)
		}
		close(review)
	}, nil
}

// tokenOf returns the bearer token in the header Authorization; empty if there is none, or if its characters or its size are those of no token. The
// scheme may be in any case.
func tokenOf(request *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(request.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") || len(token) > maxTokenBytes ||
		strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return token
}

// failed reports whether a review had no result, so that it says nothing of the token. Reviewers that try several authenticators join their errors.
func failed(err error) bool {
	if several, are := err.(utilerrors.Aggregate); are { //nolint:errorlint // It is joined here, and not wrapped.
		return slices.ContainsFunc(several.Errors(), failed)
	}
	var status apierrors.APIStatus
	var transport *url.Error
	return errors.As(err, &status) || errors.As(err, &transport) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func (b *ReviewBounds) isKnown(hash [sha256.Size]byte) bool {
	accepted, known := b.known.Get(hash)
	return known && b.now().Before(accepted.Add(knownFor))
}

// allowed reports whether an unknown token may be reviewed now. What an address has too many of does not count for the others. The caller holds
// b.mu.
func (b *ReviewBounds) allowed(request *http.Request) bool {
	host, _, err := net.SplitHostPort(request.RemoteAddr)
	if err != nil {
		host = request.RemoteAddr
	}
	now := b.now()
	address := b.addresses[host]
	if address == nil {
		if len(b.addresses) >= maxKnown {
			for other, limiter := range b.addresses {
				if limiter.TokensAt(now) >= newTokens {
					delete(b.addresses, other)
				}
			}
		}
		address = rate.NewLimiter(newTokens/addressShare, newTokens)
		if len(b.addresses) < maxKnown {
			b.addresses[host] = address
		}
	}
	return address.AllowN(now, 1) && b.all.AllowN(now, 1)
}
