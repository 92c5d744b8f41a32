// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
)

// reviewed counts reviews; tokens that begin with good are accepted.
type reviewed struct{ count int }

func (r *reviewed) AuthenticateRequest(request *http.Request) (*authenticator.Response, bool, error) {
	r.count++
	token := strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer ")
	if !strings.HasPrefix(token, "good") {
		return nil, false, errors.New("invalid bearer token")
	}
	return &authenticator.Response{User: &user.DefaultInfo{Name: token}}, true, nil
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

// What cannot be a token is not reviewed.
func TestT23WhatIsNoTokenIsNotReviewed(t *testing.T) {
	all := &reviewed{}
	bounded := boundedReviews{NewReviewBounds(), all}
	for _, header := range []string{
		"Bearer ", "Bearer good token", "Bearer good\ttoken", "Bearer goodé", "Bearer good" + strings.Repeat("x", maxTokenBytes),
	} {
		_, accepted, err := bounded.AuthenticateRequest(&http.Request{Header: http.Header{"Authorization": {header}}})
		if accepted || err != nil || all.count > 0 {
			t.Errorf("%.20q: accepted %v, error %v, %d reviews", header, accepted, err, all.count)
		}
	}
}
