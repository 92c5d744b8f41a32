// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/turns"
)

// timeout bounds a request, with reading, reviews, waiting and the evaluation.
const timeout = 30 * time.Second

const (
	// maxConcurrent bounds the evaluations at a time, so that questions do not starve the controllers.
	maxConcurrent = 2
	// maxOpen bounds the requests at a time, before it is known who sends them.
	maxOpen = 50
	// maxOpenOfUser bounds the questions of a user at a time; one of them is evaluated.
	maxOpenOfUser = 4
)

// retryAfter is the Retry-After header, in seconds.
const retryAfter = "2"

// Explainer explains with the rights of the hub. It is safe for concurrent use.
type Explainer interface {
	// Asked returns the rights that permit a Question, which is valid and has a command. It reads no object. An error says what is wrong with the
	// Question.
	Asked(question *Question) ([]access.Asked, error)
	// Explain returns the explanation, limited to what the namespace of the Question shows. The error is one for the caller if it is an
	// *AnswerError; the Answer has none.
	Explain(ctx context.Context, question *Question) (Answer, error)
}

// AnswerError is an error that the caller is shown: it names nothing that the caller may not know.
type AnswerError struct{ Err error }

func (e *AnswerError) Error() string { return e.Err.Error() }
func (e *AnswerError) Unwrap() error { return e.Err }

// statusError is an error with the HTTP status code of its response.
type statusError struct {
	code int
	err  error
}

func (e *statusError) Error() string { return e.err.Error() }
func (e *statusError) Unwrap() error { return e.err }

func refuse(code int, format string, arguments ...any) error {
	return &statusError{code: code, err: fmt.Errorf(format, arguments...)}
}

// Handler serves explanations. It is safe for concurrent use.
type Handler struct {
	authenticator authenticator.Request
	authority     access.Authorizer
	explainer     Explainer

	open  chan struct{}
	turns *turns.Turns
}

var _ http.Handler = (*Handler)(nil)

// New returns a Handler. The arguments must be safe for concurrent use.
func New(authenticator authenticator.Request, authority access.Authorizer, explainer Explainer) *Handler {
	return &Handler{
		authenticator: authenticator, authority: authority, explainer: explainer, open: make(chan struct{}, maxOpen),
		turns: turns.New(maxConcurrent, maxOpenOfUser),
	}
}

// ServeHTTP serves POST. Every response is an Answer in JSON, errors included.
func (h *Handler) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	ctx, cancel := context.WithTimeout(request.Context(), timeout)
	defer cancel()
	answer, err := h.serve(ctx, w, request)
	if err == nil {
		respond(ctx, w, http.StatusOK, answer)
		return
	}

	refused := &statusError{code: http.StatusInternalServerError, err: errors.New("the hub has no explanation; try again, or see the log of the hub")}
	if answered := (*AnswerError)(nil); errors.As(err, &answered) {
		answer.Error = answered.Error()
		respond(ctx, w, http.StatusOK, answer)
		return
	} else if !errors.As(err, &refused) {
		klog.FromContext(ctx).Error(err, "Cannot explain an object to a user")
	}

	switch refused.code {
	case http.StatusMethodNotAllowed:
		w.Header().Set("Allow", http.MethodPost)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", retryAfter)
	}
	respond(ctx, w, refused.code, Answer{Error: refused.Error()})
}

func respond(ctx context.Context, w http.ResponseWriter, code int, answer Answer) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		klog.FromContext(ctx).V(4).Info("The caller did not take the explanation", "err", err)
	}
}

// serve authenticates the caller before it reads the body, and authorizes before it reads objects.
func (h *Handler) serve(ctx context.Context, w http.ResponseWriter, request *http.Request) (Answer, error) {
	if request.Method != http.MethodPost {
		return Answer{}, refuse(http.StatusMethodNotAllowed, "method %s: use POST, as placement explain does", request.Method)
	}
	select {
	case h.open <- struct{}{}:
		defer func() { <-h.open }()
	default:
		return Answer{}, refuse(http.StatusServiceUnavailable, "the hub has %d requests for explanations; ask again in some seconds", maxOpen)
	}

	caller, err := h.authenticate(ctx, request)
	if err != nil {
		return Answer{}, err
	}
	own, joined := h.turns.Join(caller.GetName())
	if !joined {
		return Answer{}, refuse(http.StatusTooManyRequests, "user %q has %d questions already; ask again in some seconds",
			caller.GetName(), maxOpenOfUser)
	}
	defer h.turns.Leave(caller.GetName())

	question, err := read(ctx, w, request)
	if err != nil {
		return Answer{}, err
	}
	if err := h.authorize(ctx, caller, question); err != nil {
		return Answer{}, err
	}

	done := h.turns.Take(ctx, own)
	if done == nil {
		return Answer{}, refuse(http.StatusServiceUnavailable, "other questions are being answered; ask again in some seconds")
	}
	defer done()

	answer, err := h.explainer.Explain(ctx, question)
	if answered := (*AnswerError)(nil); apierrors.IsForbidden(err) && !errors.As(err, &answered) {
		klog.FromContext(ctx).V(2).Info("The hub may not read what decides about an object", "err", err)
		return Answer{}, refuse(http.StatusNotImplemented, "the hub itself may not read what decides about it: "+
			"the system is not installed, or a role is missing")
	}
	if ctx.Err() != nil { // An evaluation that was cancelled has no result.
		return Answer{}, refuse(http.StatusServiceUnavailable, "the explanation took longer than %s; ask again in some seconds", timeout)
	}
	return answer, err
}

// authenticate returns the user of the bearer token.
func (h *Handler) authenticate(ctx context.Context, request *http.Request) (user.Info, error) {
	response, known, err := h.authenticator.AuthenticateRequest(request)
	if err != nil || !known || response == nil || response.User == nil {
		klog.FromContext(ctx).V(2).Info("A question comes without a token that the API server accepts", "err", err)
		return nil, refuse(http.StatusUnauthorized, "send a bearer token that the hub's API server accepts")
	}
	return response.User, nil
}

// authorize returns an error with status 403 if the caller may not ask.
func (h *Handler) authorize(ctx context.Context, caller user.Info, question *Question) error {
	asked, err := h.explainer.Asked(question)
	if err != nil {
		return &statusError{code: http.StatusBadRequest, err: err}
	}
	err = access.Check(ctx, h.authority, caller, asked...)
	if refusal := (*access.RefusalError)(nil); errors.As(err, &refusal) {
		klog.FromContext(ctx).V(2).Info("Refused a question", "user", caller.GetName(), "namespace", question.Namespace)
		return &statusError{code: http.StatusForbidden, err: refusal}
	}
	return err
}

// read returns the Question in the body.
func read(ctx context.Context, w http.ResponseWriter, request *http.Request) (*Question, error) {
	if deadline, is := ctx.Deadline(); is {
		// A body that comes slowly must not hold the place of the user longer. Recorders of tests have no connection.
		if err := http.NewResponseController(w).SetReadDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return nil, fmt.Errorf("limiting the time to read a question: %w", err)
		}
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBodyBytes))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", tooLarge.Limit)
	}

	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the body could not be read: %w", err)
	}
	question := &Question{}
	if err := json.Unmarshal(text, question); err != nil {
		return nil, refuse(http.StatusBadRequest, "the body is no question in JSON: %w", err)
	}
	question.complete()

	if err := question.validate(); err != nil {
		return nil, &statusError{code: http.StatusBadRequest, err: err}
	}
	return question, nil
}
