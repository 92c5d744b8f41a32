// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/request/websocket"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
)

// reviewed counts reviews of the tokens of requests, which it finds as authenticatorfactory does. Tokens that begin with good are accepted; what
// follows a slash is the user.
type reviewed struct {
	count int
	last  string
	// fails is the error of every review; nil for none.
	fails error
}

func (r *reviewed) AuthenticateToken(_ context.Context, token string) (*authenticator.Response, bool, error) {
	r.count++
	r.last = token
	if r.fails != nil {
		return nil, false, r.fails
	}
	if !strings.HasPrefix(token, "good") {
		return nil, false, nil
	}
	_, name, _ := strings.Cut(token, "/")
	return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, true, nil
}

func (r *reviewed) AuthenticateRequest(request *http.Request) (*authenticator.Response, bool, error) {
	return union.New(bearertoken.New(r), websocket.NewProtocolAuthenticator(r)).AuthenticateRequest(request)
}

// docs/spec/trust.md T23: ten thousand invented tokens in ten seconds are reviewed twenty times a second, those from one address twice, and
// known tokens and those from other addresses are accepted meanwhile.
func TestT23InventedTokensAreReviewedSeldom(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		addresses int
		most      int
	}{
		{"from one address", 1, 20 + 10*2},
		{"from many addresses", 1000, 20 + 10*20},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			now := time.Unix(0, 0)
			all := &reviewed{}
			bounded := boundedReviews{newReviewBounds(func() time.Time { return now }), all}
			ask := func(token, address string) error {
				request := &http.Request{Header: http.Header{"Authorization": {"Bearer " + token}}, RemoteAddr: address + ":1234"}
				_, accepted, err := bounded.AuthenticateRequest(request)
				if err == nil && !accepted {
					err = errors.New("not accepted")
				}
				return err
			}
			if err := ask("good-and-known", "10.0.0.1"); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second)

			before, refused := all.count, 0
			for n := range 10_000 {
				now = now.Add(time.Millisecond)
				err := ask(fmt.Sprintf("bad-%d", n), fmt.Sprintf("10.1.%d.%d", n%tc.addresses/250, n%tc.addresses%250))
				if errors.Is(err, access.ErrTooManyTokens) {
					refused++
				} else if err == nil {
					t.Fatal("an invented token is accepted")
				}
			}
			if reviews := all.count - before; reviews > tc.most || reviews+refused != 10_000 {
				t.Errorf("%d reviews and %d refusals, want %d reviews at most", reviews, refused, tc.most)
			}
			if err := ask("good-and-known", "10.1.0.0"); err != nil {
				t.Errorf("a known token: %v", err)
			}
			if err := ask("good-and-new", "10.2.0.0"); tc.addresses == 1 && err != nil {
				t.Errorf("a new token from another address: %v", err)
			}
			now = now.Add(time.Second)
			if err := ask("good-and-newer", "10.2.0.0"); err != nil {
				t.Errorf("a new token a second later: %v", err)
			}
		})
	}
}

// slowReviews are reviews that begin only when the test lets them.
type slowReviews struct {
	reviewed

	began, next chan struct{}
}

func (r *slowReviews) AuthenticateRequest(request *http.Request) (*authenticator.Response, bool, error) {
	r.began <- struct{}{}
	<-r.next
	return r.reviewed.AuthenticateRequest(request)
}

// A browser that opens a hundred pages with its first token sends a hundred requests at once, and the bound counts one review.
func TestT23RequestsThatComeAtOnceShareTheirFirstReview(t *testing.T) {
	const requests = 100
	for _, tc := range []struct {
		token string
		// refused is the number of requests that are refused by the bound.
		refused int
	}{
		{"good/ada", 0},
		{"bad", requests - newTokens},
	} {
		t.Run(tc.token, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all := &slowReviews{began: make(chan struct{}, requests), next: make(chan struct{}, requests)}
				bounded := boundedReviews{newReviewBounds(time.Now), all}
				errs := make(chan error, requests)
				for range requests {
					go func() {
						_, _, err := bounded.AuthenticateRequest(
							&http.Request{Header: http.Header{"Authorization": {"Bearer " + tc.token}}, RemoteAddr: "10.0.0.1:1"})
						errs <- err
					}()
				}
				synctest.Wait()
				if began := len(all.began); began != 1 {
					t.Errorf("%d reviews began at once, want 1", began)
				}
				refused := 0
				for range requests {
					all.next <- struct{}{}
					synctest.Wait() // One after the other: no more than that run at a time are tested elsewhere.
				}
				for range requests {
					if err := <-errs; errors.Is(err, access.ErrTooManyTokens) {
						refused++
					} else if accepted := err == nil; accepted != (tc.token != "bad") {
						t.Errorf("accepted %v: %v", accepted, err)
					}
				}
				if refused < tc.refused || tc.refused == 0 && refused > 0 {
					t.Errorf("%d requests were refused, want %d", refused, tc.refused)
				}
				if left := len(bounded.reviewed); left != 0 {
					t.Errorf("%d reviews are still waited for", left)
				}
			})
		})
	}
}

// A request whose client goes away does not wait for the review of another.
func TestARequestThatEndsDoesNotWaitForAReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &slowReviews{began: make(chan struct{}, 1), next: make(chan struct{})}
		bounded := boundedReviews{newReviewBounds(time.Now), all}
		request := &http.Request{Header: http.Header{"Authorization": {"Bearer good"}}, RemoteAddr: "10.0.0.1:1"}
		first := make(chan error, 1)
		go func() {
			_, _, err := bounded.AuthenticateRequest(request.Clone(t.Context()))
			first <- err
		}()
		<-all.began
		ctx, gone := context.WithCancel(t.Context())
		gone()
		if _, _, err := bounded.AuthenticateRequest(request.Clone(ctx)); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
		close(all.next)
		if err := <-first; err != nil {
			t.Errorf("the request whose review ran: %v", err)
		}
	})
}

// What cannot be a token is not reviewed.
func TestT23WhatIsNoTokenIsNotReviewed(t *testing.T) {
	all := &reviewed{}
	bounded := boundedReviews{NewReviewBounds(), all}
	for _, header := range []string{
		"", "Bearer", "Bearer ", "Bearer  good", "Bearer good token", "Bearer good\ttoken", "bearer\tgood", "Bearer goodé", "Basic good",
		"Bearer good" + strings.Repeat("x", maxTokenBytes),
	} {
		_, accepted, err := bounded.AuthenticateRequest(&http.Request{Header: http.Header{"Authorization": {header}}})
		if accepted || err != nil || all.count > 0 {
			t.Errorf("%.20q: accepted %v, error %v, %d reviews", header, accepted, err, all.count)
		}
	}
}

// The bound counts each request whose token the API server would be asked about, however the token is sent.
func TestT23TokensCountInEveryForm(t *testing.T) {
	for _, tc := range []struct {
		reason string
		header http.Header
		// reviewed reports whether the form carries a token.
		reviewed bool
	}{
		{"as clients send it", http.Header{"Authorization": {"Bearer bad"}}, true},
		{"the scheme in lower case", http.Header{"Authorization": {"bearer bad"}}, true},
		{"the scheme in upper case", http.Header{"Authorization": {"BEARER bad"}}, true},
		{"spaces around it", http.Header{"Authorization": {"  bEARER bad  "}}, true},
		{"the protocol of a WebSocket", http.Header{
			"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
			"Sec-Websocket-Protocol": {"base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte("bad")) + ", v4"},
		}, false},
		{"the protocol of a WebSocket beside a header", http.Header{
			"Authorization": {"Bearer bad"}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"},
			"Sec-Websocket-Protocol": {"base64url.bearer.authorization.k8s.io." + base64.RawURLEncoding.EncodeToString([]byte("worse")) + ", v4"},
		}, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			now := time.Unix(0, 0)
			all := &reviewed{}
			bounded := boundedReviews{newReviewBounds(func() time.Time { return now }), all}
			refused := 0
			for range 1000 {
				request := &http.Request{Header: tc.header.Clone(), RemoteAddr: "10.0.0.1:1"}
				_, accepted, err := bounded.AuthenticateRequest(request)
				if errors.Is(err, access.ErrTooManyTokens) {
					refused++
				}
				if accepted {
					t.Fatal("an invented token is accepted")
				}
			}
			if want := map[bool]int{true: newTokens, false: 0}[tc.reviewed]; all.count != want || tc.reviewed && refused != 1000-want {
				t.Errorf("%d reviews and %d refusals, want %d reviews", all.count, refused, want)
			}
			if tc.reviewed && all.last != "bad" {
				t.Errorf("the token %q was reviewed, want bad", all.last)
			}
		})
	}
}

// An accepted token goes no further than to its review, and is known in every form of its header.
func TestAcceptedTokensAreKnownInEveryForm(t *testing.T) {
	now := time.Unix(0, 0)
	all := &reviewed{}
	bounded := boundedReviews{newReviewBounds(func() time.Time { return now }), all}
	for range 10 * newTokens {
		request := &http.Request{Header: http.Header{"Authorization": {"bearer good/ada"}}}
		response, accepted, err := bounded.AuthenticateRequest(request)
		if err != nil || !accepted || response.User.GetName() != "ada" {
			t.Fatalf("response %v, accepted %v, error %v", response, accepted, err)
		}
		if left := request.Header.Get("Authorization"); left != "" {
			t.Fatalf("the request keeps the header %q", left)
		}
	}
}

// A token that was accepted and is no longer, such as that of a deleted account, counts like an invented one.
func TestT23TokensThatAreNoLongerAcceptedAreUnknown(t *testing.T) {
	now := time.Unix(0, 0)
	all := &reviewed{}
	bounded := boundedReviews{newReviewBounds(func() time.Time { return now }), all}
	hash := sha256.Sum256([]byte("bad"))
	bounded.known.Add("ada", hash, now)
	for range 1000 {
		if _, accepted, _ := bounded.AuthenticateRequest(&http.Request{Header: http.Header{"Authorization": {"Bearer bad"}}}); accepted {
			t.Fatal("the token is accepted")
		}
	}
	if all.count > 1+newTokens {
		t.Errorf("%d reviews, want %d at most", all.count, 1+newTokens)
	}
}

// A review without a result, as while the API server does not answer, does not make a known token unknown.
func TestT23AReviewThatFailsForgetsNoToken(t *testing.T) {
	for _, tc := range []struct {
		reason string
		fails  error
		known  bool
	}{
		{"a rejection", errors.New("the account is deleted"), false},
		{"a timeout of the API server", apierrors.NewTimeoutError("etcd is slow", 1), true},
		{"no connection", &url.Error{Op: "Post", URL: "https://127.0.0.1", Err: errors.New("refused")}, true},
		{"the end of the time of a review", context.DeadlineExceeded, true},
	} {
		all := &reviewed{}
		bounded := boundedReviews{newReviewBounds(time.Now), all}
		request := func() *http.Request {
			return &http.Request{Header: http.Header{"Authorization": {"Bearer good"}}, RemoteAddr: "10.0.0.1:1"}
		}
		if _, accepted, err := bounded.AuthenticateRequest(request()); err != nil || !accepted {
			t.Fatal(accepted, err)
		}
		all.fails = tc.fails
		if _, accepted, err := bounded.AuthenticateRequest(request()); err == nil || accepted {
			t.Fatalf("%s: accepted %v: %v", tc.reason, accepted, err)
		}
		if known := bounded.isKnown(sha256.Sum256([]byte("good"))); known != tc.known {
			t.Errorf("%s: known %v, want %v", tc.reason, known, tc.known)
		}
	}
}

// Ten thousand accepted tokens of the accounts of a namespace do not keep those of others from being known.
func TestT21KnownTokensAreThoseOfAllTenants(t *testing.T) {
	now := time.Unix(0, 0)
	all := &reviewed{}
	bounded := boundedReviews{newReviewBounds(func() time.Time { return now }), all}
	ask := func(token string) error {
		_, _, err := bounded.AuthenticateRequest(&http.Request{Header: http.Header{"Authorization": {"Bearer " + token}}, RemoteAddr: token})
		return err
	}
	const account = "/system:serviceaccount:team-a:"
	bounded.all = rate.NewLimiter(rate.Inf, 0) // They take longer than this test, within which none is forgotten for its age.
	for n := range maxKnown + 10 {
		now = now.Add(time.Millisecond)
		if err := ask(fmt.Sprintf("good-%d%srobot-%d", n, account, n%200)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 50 {
		if err := ask(fmt.Sprintf("good/user-%d", n)); err != nil {
			t.Fatal(err)
		}
	}
	bounded.all = rate.NewLimiter(0, 0)
	for n := range 50 {
		if err := ask(fmt.Sprintf("good/user-%d", n)); err != nil {
			t.Errorf("the token of user %d is not known: %v", n, err)
		}
	}
	if err := ask(fmt.Sprintf("good-%d%srobot-%d", maxKnown+9, account, (maxKnown+9)%200)); err != nil {
		t.Errorf("the latest token of the tenant with many: %v", err)
	}
	if err := ask("good-0" + account + "robot-0"); !errors.Is(err, access.ErrTooManyTokens) {
		t.Errorf("error %v for the oldest token of the tenant with many, want that it is not known", err)
	}
	if known := bounded.known.Len(); known != maxKnown {
		t.Errorf("%d tokens are known, want %d", known, maxKnown)
	}
}
