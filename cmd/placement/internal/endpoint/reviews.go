// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"crypto/sha256"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apiserver/pkg/authentication/authenticator"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
)

// The reviews of unknown tokens are bounded. Every client that reaches a port of the hub can send such tokens (docs/spec/trust.md R9).
const (
	// newTokens and newTokensAtOnce bound the reviews of unknown tokens in a second and at a time. Requests from one address get the part
	// addressShare of that for long, and newTokens at once.
	newTokens       = 20
	newTokensAtOnce = 8
	addressShare    = 10
	// knownFor is how long a token is known after it was accepted last, and maxKnown the number of known ones and of addresses.
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

	mu        sync.Mutex
	known     map[[sha256.Size]byte]time.Time // when the token was accepted last
	addresses map[string]*rate.Limiter
}

// NewReviewBounds returns bounds without known tokens.
func NewReviewBounds() *ReviewBounds { return newReviewBounds(time.Now) }

func newReviewBounds(now func() time.Time) *ReviewBounds {
	return &ReviewBounds{
		now: now, all: rate.NewLimiter(newTokens, newTokens), running: make(chan struct{}, newTokensAtOnce),
		known: map[[sha256.Size]byte]time.Time{}, addresses: map[string]*rate.Limiter{},
	}
}

// boundedReviews are reviews within the bounds.
type boundedReviews struct {
	*ReviewBounds

	reviews authenticator.Request
}

var _ authenticator.Request = boundedReviews{}

// AuthenticateRequest implements authenticator.Request. The error is access.ErrTooManyTokens where the review of an unknown token has to wait.
func (b boundedReviews) AuthenticateRequest(request *http.Request) (*authenticator.Response, bool, error) {
	token, bears := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	if !bears {
		return b.reviews.AuthenticateRequest(request) //nolint:wrapcheck // No token is reviewed.
	}
	if token == "" || len(token) > maxTokenBytes || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, false, nil // It is no token of any issuer.
	}
	hash := sha256.Sum256([]byte(token))
	if !b.isKnown(hash) {
		if !b.allowed(request) {
			return nil, false, access.ErrTooManyTokens
		}
		select {
		case b.running <- struct{}{}:
			defer func() { <-b.running }()
		default:
			return nil, false, access.ErrTooManyTokens
		}
	}

	response, accepted, err := b.reviews.AuthenticateRequest(request)
	if accepted && err == nil {
		b.accept(hash)
	}
	return response, accepted, err //nolint:wrapcheck // It is that of the review.
}

func (b *ReviewBounds) isKnown(hash [sha256.Size]byte) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	accepted, known := b.known[hash]
	return known && b.now().Before(accepted.Add(knownFor))
}

// accept notes that a token was accepted.
func (b *ReviewBounds) accept(hash [sha256.Size]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	if len(b.known) >= maxKnown {
		for other, accepted := range b.known {
			if !now.Before(accepted.Add(knownFor)) {
				delete(b.known, other)
			}
		}
	}
	if len(b.known) < maxKnown {
		b.known[hash] = now
	}
}

// allowed reports whether an unknown token may be reviewed now. What an address has too many of does not count for the others.
func (b *ReviewBounds) allowed(request *http.Request) bool {
	host, _, err := net.SplitHostPort(request.RemoteAddr)
	if err != nil {
		host = request.RemoteAddr
	}
	b.mu.Lock()
	defer b.mu.Unlock()
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
