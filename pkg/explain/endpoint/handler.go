// SPDX-License-Identifier: Apache-2.0

package endpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/turns"
	"github.com/placement-hub/placement-hub/pkg/slowclients"
)

// timeout bounds a request, with reading, reviews, waiting and the evaluation.
const timeout = 30 * time.Second

const (
	// maxConcurrent bounds the evaluations at a time, so that questions do not starve the controllers.
	maxConcurrent = 2
	// maxOpen bounds the questions at a time, until their answers are written.
	maxOpen = 50
	// maxOpenOfUser bounds those of a tenant, also while their bodies are read; one of them is evaluated.
	maxOpenOfUser = 4
	// maxInFlight bounds the bytes of answers that are being written, and maxInFlightOfUser those of a tenant. Of larger answers one at a time is
	// written.
	maxInFlight       = 32 << 20
	maxInFlightOfUser = 8 << 20
	// maxErrorBytes bounds the error of a refusal, which may repeat what a caller without rights has sent.
	maxErrorBytes = 1 << 10
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

	turns *turns.Turns
	open  *turns.Places
	// inFlight counts the bytes of answers that clients have not taken yet.
	inFlight *turns.Bytes
}

var _ http.Handler = (*Handler)(nil)

// New returns a Handler. The arguments must be safe for concurrent use.
func New(authenticator authenticator.Request, authority access.Authorizer, explainer Explainer) *Handler {
	return &Handler{
		authenticator: authenticator, authority: authority, explainer: explainer,
		turns: turns.New(maxConcurrent, maxOpenOfUser), open: turns.NewPlaces(maxOpen), inFlight: turns.NewBytes(maxInFlight, maxInFlightOfUser),
	}
}

// ServeHTTP serves POST. Every response is an Answer in JSON, errors included.
func (h *Handler) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	ctx, cancel := context.WithTimeout(request.Context(), timeout)
	defer cancel()
	// The places of the request are left when the answer is written.
	var leaving []func()
	defer func() {
		for _, leave := range slices.Backward(leaving) {
			leave()
		}
	}()
	answer, err := h.serve(ctx, w, request, func(leave func()) { leaving = append(leaving, leave) })
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
	respond(ctx, w, refused.code, Answer{Error: Shortened(refused.Error(), maxErrorBytes)})
}

// Shortened returns a text, or the begin and the end of one that has more than some bytes: refusals end with what to do.
func Shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	half := most/2 - 4
	return strings.ToValidUTF8(text[:half], "") + " … " + strings.ToValidUTF8(text[len(text)-half:], "")
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

// errBusy is about a question for which the hub has no time.
func errBusy() error {
	return refuse(http.StatusServiceUnavailable, "other questions are being answered; ask again in some seconds")
}

// serve authenticates the caller before it reads the body, reads that before the question takes a place, and authorizes before it reads objects. It
// calls later with what is to be done once the answer is written.
func (h *Handler) serve(
	ctx context.Context, w http.ResponseWriter, request *http.Request, later func(leave func()),
) (Answer, error) {
	if request.Method != http.MethodPost {
		return Answer{}, refuse(http.StatusMethodNotAllowed, "method %s: use POST, as placement explain does", request.Method)
	}
	caller, err := h.authenticate(ctx, request)
	if err != nil {
		return Answer{}, err
	}
	tenant := turns.TenantOf(caller)
	own, joined := h.turns.Join(tenant)
	if !joined {
		return Answer{}, refuse(http.StatusTooManyRequests, "%q has %d questions already; ask again in some seconds", tenant, maxOpenOfUser)
	}
	later(func() { h.turns.Leave(tenant) })

	question, err := read(w, request)
	if err != nil {
		return Answer{}, err
	}
	ctx, leave, entered := h.open.Enter(ctx, tenant)
	if !entered {
		return Answer{}, errBusy()
	}
	later(leave)
	if err := h.authorize(ctx, caller, question); err != nil {
		return Answer{}, err
	}

	done := h.turns.Take(ctx, own)
	if done == nil {
		return Answer{}, errBusy()
	}
	defer done()
	answer, err := h.explain(access.WithCaller(ctx, h.authority, caller), question)
	if ctx.Err() != nil { // The error says that the time is over, or that the place was taken.
		return answer, err
	}
	size := len(answer.Output)
	if err != nil {
		size += len(err.Error())
	}
	// The turn is kept meanwhile, so that no more answers are made than are taken. It is that of the tenant alone while other answers of the tenant
	// are not.
	release, wait := h.inFlight.Acquire(ctx, tenant, int64(size), func() { h.turns.Suspend(own) })
	if wait != nil {
		return Answer{}, errBusy()
	}
	later(release)
	return answer, err
}

// explain returns the answer to a question.
func (h *Handler) explain(ctx context.Context, question *Question) (Answer, error) {
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
	if errors.Is(err, access.ErrTooManyTokens) {
		return nil, &statusError{code: http.StatusTooManyRequests, err: err}
	}
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
func read(w http.ResponseWriter, request *http.Request) (*Question, error) {
	text, err := slowclients.ReadBody(w, request, maxBodyBytes)
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
