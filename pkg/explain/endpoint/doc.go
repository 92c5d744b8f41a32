// SPDX-License-Identifier: Apache-2.0

// Package endpoint serves explanations over HTTPS to users who may read an object, and not all that decides about it (docs/spec/differences.md
// E1a), and simulations, comparisons and reports of what they may write or list. Client asks it.
//
//	POST /explanations   a Question in JSON; the response is an Answer
//
// It promises: a caller is authenticated by a bearer token that the hub's API server accepts for itself (TokenReview), and access.Check permits
// the question (SubjectAccessReview) before any object is read, so that existing and missing objects are refused alike. The work is bounded: the
// body, the objects and kinds of a question, the time, the questions at once in all and of each user, and one evaluation of each user at a time.
// It runs on the goroutine of the request and takes no lock of a controller.
//
// It never keeps or logs a token, and writes nothing.
package endpoint
