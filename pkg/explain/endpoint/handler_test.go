// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
)

// reviewer knows tokens by their users, and lets each user get the objects of the namespace of that name.
type reviewer struct{ reviews atomic.Int32 }

func (r *reviewer) AuthenticateRequest(request *http.Request) (*authenticator.Response, bool, error) {
	r.reviews.Add(1)
	token, bears := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	switch {
	case !bears:
		return nil, false, nil
	case strings.HasPrefix(token, "expired"):
		return nil, false, errors.New("invalid bearer token, token has expired")
	default:
		return &authenticator.Response{User: &user.DefaultInfo{Name: token}}, true, nil
	}
}

func (r *reviewer) Authorize(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	switch {
	case asked.GetUser().GetName() == "unlucky":
		return authorizer.DecisionNoOpinion, "", errors.New("no reply of the API server")
	case asked.GetVerb() == "get" && asked.GetUser().GetName() == asked.GetNamespace():
		return authorizer.DecisionAllow, "", nil
	default:
		return authorizer.DecisionDeny, "", nil
	}
}

// explainer explains "x", and blocks while blocked is not nil.
type explainer struct {
	explained atomic.Int32
	running   atomic.Int32
	most      atomic.Int32
	blocked   chan struct{}
}

func (e *explainer) Asked(question *Question) ([]access.Asked, error) {
	var asked []access.Asked
	for _, object := range question.Objects {
		if object.Kind != "Thing" {
			return nil, errors.New("objects: use Thing")
		}
		asked = append(asked, access.Asked{
			Verb: access.VerbGet, Resource: schema.GroupVersionResource{Resource: "things"}, Namespace: question.Namespace, Name: object.Name,
		})
	}
	return asked, nil
}

func (e *explainer) Explain(ctx context.Context, question *Question) (Answer, error) {
	e.explained.Add(1)
	e.most.Store(max(e.most.Load(), e.running.Add(1)))
	defer e.running.Add(-1)
	if e.blocked != nil {
		select {
		case <-e.blocked:
		case <-ctx.Done():
			return Answer{}, ctx.Err()
		}
	}

	switch question.Objects[0].Name {
	case "x":
		return Answer{Output: "because"}, nil
	case "large":
		return Answer{Output: strings.Repeat("x", maxInFlightOfUser/2+1)}, nil
	case "unreadable":
		return Answer{}, fmt.Errorf("reading: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "n1", nil))
	case "broken":
		return Answer{}, errors.New("etcd://secret is unreachable")
	default:
		return Answer{}, &AnswerError{errors.New("there is no Thing " + question.Objects[0].Name)}
	}
}

func post(ctx context.Context, h http.Handler, token, body string) (int, Answer, http.Header) {
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, Path, strings.NewReader(body))
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, request)
	var answer Answer
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		answer.Error = "no JSON: " + recorder.Body.String()
	}
	return recorder.Code, answer, recorder.Header()
}

func question(namespace, name string) string {
	return `{"namespace":"` + namespace + `","objects":[{"kind":"Thing","name":"` + name + `"}],"output":"table"}`
}

func TestE1aQuestionsAndAttacks(t *testing.T) {
	for _, tc := range []struct {
		reason, token, body string
		code                int
		want                Answer
		asksFirst           bool // the request is refused before an explanation
	}{
		{reason: "who may get the object", token: "team-a", body: question("team-a", "x"), code: 200, want: Answer{Output: "because"}},
		{
			reason: "an object that does not exist", token: "team-a", body: question("team-a", "y"), code: 200,
			want: Answer{Error: "there is no Thing y"},
		},
		{
			reason: "an error inside is not shown", token: "team-a", body: question("team-a", "broken"), code: 500,
			want: Answer{Error: "the hub has no explanation"},
		},
		{
			reason: "what the hub may not read", token: "team-a", body: question("team-a", "unreadable"), code: 501,
			want: Answer{Error: "the hub itself may not read what decides about it"},
		},
		{reason: "no token", body: question("team-a", "x"), code: 401, want: Answer{Error: "bearer token"}, asksFirst: true},
		{
			reason: "an expired token", token: "expired", body: question("team-a", "x"), code: 401, want: Answer{Error: "bearer token"},
			asksFirst: true,
		},
		{
			reason: "an object of another namespace", token: "team-b", body: question("team-a", "x"), code: 403,
			want: Answer{Error: `user "team-b" may not get things x in namespace team-a`}, asksFirst: true,
		},
		{
			reason: "one that does not exist in another namespace", token: "team-b", body: question("team-a", "y"), code: 403,
			want: Answer{Error: `user "team-b" may not get things y in namespace team-a`}, asksFirst: true,
		},
		{
			reason: "a second object that is not permitted", token: "team-a", code: 400, asksFirst: true,
			body: `{"namespace":"team-a","objects":[{"kind":"Thing","name":"x"},{"kind":"Thing","name":""}]}`,
			want: Answer{Error: "objects[1]: kind and name are required"},
		},
		{
			reason: "no namespace", token: "team-a", body: question("", "x"), code: 400, want: Answer{Error: "namespace: it is required"},
			asksFirst: true,
		},
		{reason: "nothing", token: "team-a", body: ``, code: 400, want: Answer{Error: "no question in JSON"}, asksFirst: true},
		{
			reason: "a kind that is not explained", token: "team-a", code: 400, want: Answer{Error: "use Thing"}, asksFirst: true,
			body: `{"namespace":"team-a","objects":[{"kind":"Secret","name":"x"}]}`,
		},
		{
			reason: "many objects", token: "team-a", code: 400, want: Answer{Error: "objects: 21 are too many"}, asksFirst: true,
			body: `{"namespace":"team-a","objects":[` + strings.Repeat(`{},`, MaxNames) + `{}]}`,
		},
		{
			reason: "a huge body", token: "team-a", code: 413, want: Answer{Error: "more than 1048576 bytes"}, asksFirst: true,
			body: `{"namespace":"` + strings.Repeat("a", maxBodyBytes) + `"}`,
		},
		{
			reason: "a huge body without a token", code: 401, want: Answer{Error: "bearer token"}, asksFirst: true,
			body: strings.Repeat("a", 2*maxBodyBytes),
		},
		{
			reason: "an API server that does not reply", token: "unlucky", body: question("unlucky", "x"), code: 500,
			want: Answer{Error: "the hub has no explanation"}, asksFirst: true,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			r, e := &reviewer{}, &explainer{}
			code, answer, header := post(t.Context(), New(r, r, e), tc.token, tc.body)
			if code != tc.code || answer.Output != tc.want.Output || !strings.Contains(answer.Error, tc.want.Error) ||
				(answer.Error == "") != (tc.want.Error == "") {
				t.Errorf("%d %+v, want %d %+v", code, answer, tc.code, tc.want)
			}
			if e.explained.Load() > 0 == tc.asksFirst {
				t.Errorf("%d explanations", e.explained.Load())
			}

			if got := header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("Cache-Control %q", got)
			}
		})
	}
}

func TestOnlyPOST(t *testing.T) {
	r := &reviewer{}
	recorder := httptest.NewRecorder()
	New(r, r, &explainer{}).ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, Path, http.NoBody))
	if recorder.Code != http.StatusMethodNotAllowed || recorder.Header().Get("Allow") != http.MethodPost || r.reviews.Load() != 0 {
		t.Errorf("%d %v after %d reviews", recorder.Code, recorder.Header(), r.reviews.Load())
	}
}

// A user who floods the endpoint has one evaluation at a time and few that wait; another user is served meanwhile.
func TestE1aAFloodOfOneUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := &reviewer{}, &explainer{blocked: make(chan struct{})}
		h := New(r, r, e)
		codes := make(chan int, 100)
		for range 20 {
			go func() {
				code, _, _ := post(t.Context(), h, "team-a", question("team-a", "x"))
				codes <- code
			}()
		}
		synctest.Wait()

		if e.running.Load() != 1 || len(codes) != 20-maxOpenOfUser {
			t.Errorf("%d evaluations of one user at a time, %d refused", e.running.Load(), len(codes))
		}
		go func() {
			code, _, _ := post(t.Context(), h, "team-b", question("team-b", "x"))
			if code != http.StatusOK {
				t.Errorf("another user gets %d", code)
			}
		}()
		synctest.Wait()

		if e.running.Load() != maxConcurrent {
			t.Errorf("%d evaluations, want one of the other user too", e.running.Load())
		}
		close(e.blocked)
		synctest.Wait()
		counts := map[int]int{}
		for range 20 {
			counts[<-codes]++
		}

		if counts[http.StatusOK] != maxOpenOfUser || counts[http.StatusTooManyRequests] != 20-maxOpenOfUser {
			t.Errorf("codes %v", counts)
		}
		if h.turns.Users() != 0 {
			t.Errorf("%d users are kept", h.turns.Users())
		}
	})
}

// Many users together have two evaluations at a time, and those who wait for longer than the timeout are asked to come again.
func TestE1aAFloodOfManyUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, e := &reviewer{}, &explainer{blocked: make(chan struct{})}
		h := New(r, r, e)
		codes := make(chan int, 100)
		for i := range 80 {
			name := "team-" + strings.Repeat("x", i+1)
			go func() {
				code, _, _ := post(t.Context(), h, name, question(name, "x"))
				codes <- code
			}()
		}

		synctest.Wait()
		if e.running.Load() != maxConcurrent || len(codes) != 80-maxOpen {
			t.Errorf("%d evaluations, %d refused", e.running.Load(), len(codes))
		}
		counts := map[int]int{}
		for range 80 {
			counts[<-codes]++ // The clock of the test moves on to the timeout.
		}

		if counts[http.StatusServiceUnavailable] != 80 || e.most.Load() > maxConcurrent {
			t.Errorf("codes %v, %d evaluations at once", counts, e.most.Load())
		}
	})
}

// docs/spec/trust.md T21: two hundred accounts of one namespace without a right, whose bodies do not come, hold neither places nor turns of others.
func TestT21AccountsOfANamespaceAreOneTenant(t *testing.T) {
	r, e := &reviewer{}, &explainer{}
	h := New(r, r, e)
	ctx, cancel := context.WithCancel(t.Context())
	var senders sync.WaitGroup
	defer senders.Wait()
	defer cancel()
	refused := make(chan int, 200)
	for n := range 200 {
		body, end := io.Pipe()
		context.AfterFunc(ctx, func() { _ = end.Close() })
		senders.Go(func() {
			request := httptest.NewRequestWithContext(ctx, http.MethodPost, Path, body)
			request.Header.Set("Authorization", fmt.Sprintf("Bearer system:serviceaccount:attacker:%d", n))
			recorder := httptest.NewRecorder()
			h.ServeHTTP(recorder, request)
			refused <- recorder.Code
		})
	}
	for range 200 - maxOpenOfUser {
		if code := <-refused; code != http.StatusTooManyRequests {
			t.Fatalf("an account gets %d, want that its namespace has too many questions", code)
		}
	}
	for n := range 17 {
		name := fmt.Sprintf("team-%d", n)
		if code, answer, _ := post(t.Context(), h, name, question(name, "x")); code != http.StatusOK || answer.Output == "" {
			t.Errorf("user %s gets %d %+v", name, code, answer)
		}
	}
}

// unread is a response whose writes block until read is closed.
type unread struct {
	*httptest.ResponseRecorder

	writing chan struct{}
	read    chan struct{}
}

func (u *unread) Write(text []byte) (int, error) {
	u.writing <- struct{}{}
	<-u.read
	return len(text), nil
}

// docs/spec/trust.md T22: a question counts until its answer is written. Other tenants do not wait while a user does not read an answer.
func TestT22AnswersCountUntilTheyAreRead(t *testing.T) {
	r, e := &reviewer{}, &explainer{}
	h := New(r, r, e)
	writing, read := make(chan struct{}), make(chan struct{})
	var answers sync.WaitGroup
	for range maxOpenOfUser {
		answers.Go(func() {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, strings.NewReader(question("attacker", "x")))
			request.Header.Set("Authorization", "Bearer attacker")
			h.ServeHTTP(&unread{httptest.NewRecorder(), writing, read}, request)
		})
		<-writing
	}
	if code, _, _ := post(t.Context(), h, "attacker", question("attacker", "x")); code != http.StatusTooManyRequests {
		t.Errorf("a further question gets %d", code)
	}
	if code, _, _ := post(t.Context(), h, "team-a", question("team-a", "x")); code != http.StatusOK {
		t.Errorf("another user gets %d", code)
	}
	close(read)
	answers.Wait()
	if code, _, _ := post(t.Context(), h, "attacker", question("attacker", "x")); code != http.StatusOK {
		t.Errorf("a question after the answers were read gets %d", code)
	}
}

// docs/spec/trust.md T22: tenants who do not read large answers take their own shares of the bytes in flight. They keep no turn while they wait for
// that.
func TestT22LargeAnswersOfTenantsWhoDoNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reviewer{}
		h := New(r, r, &explainer{})
		writing, read := make(chan struct{}, 100), make(chan struct{})
		var answers sync.WaitGroup
		for n := range maxConcurrent + 1 {
			name := fmt.Sprintf("attacker-%d", n)
			for range maxOpenOfUser - 1 {
				answers.Go(func() {
					request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, strings.NewReader(question(name, "large")))
					request.Header.Set("Authorization", "Bearer "+name)
					h.ServeHTTP(&unread{httptest.NewRecorder(), writing, read}, request)
				})
			}
		}
		synctest.Wait()
		if len(writing) != maxConcurrent+1 {
			t.Errorf("%d answers are being written, want one of each tenant", len(writing))
		}
		began := time.Now()
		code, answer, _ := post(t.Context(), h, "team-a", question("team-a", "large"))
		if took := time.Since(began); code != http.StatusOK || took > time.Second {
			t.Errorf("another user gets %d %.100s after %v", code, answer.Error, took)
		}
		close(read)
		answers.Wait()
	})
}

// docs/spec/trust.md T22: what a caller without rights sends is hardly repeated.
func TestT22RefusalsRepeatLittle(t *testing.T) {
	long := strings.Repeat("x", 512<<10)
	for reason, body := range map[string]string{
		"a command":        `{"namespace":"team-a","command":"` + long + `","objects":[{"kind":"Thing","name":"x"}]}`,
		"an output":        `{"namespace":"team-a","output":"` + long + `","objects":[{"kind":"Thing","name":"x"}]}`,
		"a namespace":      question(long, "x"),
		"a name":           question("team-a", long),
		"a name in quotes": question("team-a", strings.Repeat(`\n`, 100<<10)),
		"a number":         `{"limit":1` + strings.Repeat("0", 512<<10) + `}`,
		"many names": `{"namespace":"team-a","objects":[` + strings.Repeat(`{"kind":"Thing","name":"`+long[:200]+`"},`, 19) +
			`{"kind":"Thing","name":"x"}]}`,
	} {
		r := &reviewer{}
		recorder := httptest.NewRecorder()
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer nobody")
		New(r, r, &explainer{}).ServeHTTP(recorder, request)
		if recorder.Code != http.StatusBadRequest && recorder.Code != http.StatusForbidden || recorder.Body.Len() > 2*maxErrorBytes {
			t.Errorf("%s: status %d with %d bytes", reason, recorder.Code, recorder.Body.Len())
		}
		if reason == "many names" && !strings.Contains(recorder.Body.String(), "permits the explanation") {
			t.Errorf("the refusal does not say what to do: %s", recorder.Body)
		}
	}
}

// docs/spec/trust.md T23: the answer to an unknown token among many says when to come again.
func TestT23ManyUnknownTokens(t *testing.T) {
	h := New(busy{}, &reviewer{}, &explainer{})
	code, answer, header := post(t.Context(), h, "team-a", question("team-a", "x"))
	if code != http.StatusTooManyRequests || header.Get("Retry-After") == "" || !strings.Contains(answer.Error, "try again") {
		t.Errorf("got %d %+v %v", code, answer, header)
	}
}

type busy struct{}

func (busy) AuthenticateRequest(*http.Request) (*authenticator.Response, bool, error) {
	return nil, false, access.ErrTooManyTokens
}
